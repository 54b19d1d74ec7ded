"""The names that were probably meant, for messages about names that are not there."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """ "; did you mean 'a' or 'b'?", or "" where no name is near."""
    import difflib

    near = difflib.get_close_matches(str(name), list(names), n=3)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""

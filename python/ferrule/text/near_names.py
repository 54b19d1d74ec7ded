"""Suggestions of similar names for messages about unknown names."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return "; did you mean 'a' or 'b'?" with the most similar names; "" if there are none."""
    import difflib

    names = list(names)
    # The search takes quadratic time: a model may have 100,000 names, or names of megabytes.
    if sum(map(len, names)) > 100_000 or len(str(name)) > 1000:
        return ""
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.7)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""

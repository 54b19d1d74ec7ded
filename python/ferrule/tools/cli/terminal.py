"""The output of the verbs: coloured on a terminal, otherwise plain text of a fixed width."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 120  # characters, if the output is not a terminal


@contextlib.contextmanager
def console() -> Iterator[Console]:
    """Yield a console whose output is written at the end, without trailing blanks in table lines."""
    from rich.console import Console

    out = Console(
        width=None if sys.stdout.isatty() else WIDTH, highlight=False, markup=False, emoji=False, force_jupyter=False
    )
    with out.capture() as captured:
        yield out
    text = "".join(line.rstrip() + "\n" for line in captured.get().splitlines())
    encoding = sys.stdout.encoding or "utf-8"  # a terminal may not have all characters
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))

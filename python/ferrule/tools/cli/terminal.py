"""Where the verbs print: coloured on a terminal, else plain text of one width, whatever the machine."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 120  # characters, where nobody looks


@contextlib.contextmanager
def console() -> Iterator[Console]:
    """What is printed to it goes out in the end, without the blanks with which tables end their lines."""
    from rich.console import Console

    out = Console(
        width=None if sys.stdout.isatty() else WIDTH, highlight=False, markup=False, emoji=False, force_jupyter=False
    )
    with out.capture() as captured:
        yield out
    sys.stdout.write("".join(line.rstrip() + "\n" for line in captured.get().splitlines()))

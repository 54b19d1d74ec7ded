"""Where the verbs print: coloured for a terminal, else plain text of one width, whatever the machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 120  # characters, where nobody looks


def console(error: bool = False) -> Console:
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else WIDTH
    return Console(file=stream, width=width, soft_wrap=False, highlight=False, markup=False, emoji=False)

"""What a state or a distance looks like in HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.testing.report.numbers import distance, several
from ferrule.testing.report.state import State

if TYPE_CHECKING:
    from ferrule.testing.report.matrix import Cell

# Short, for there are thousands of cells.
CLASSES = {
    State.CRASHED: "k",
    State.WRONG: "w",
    State.WITHIN: "b",
    State.EXACT: "x",
    State.UNSUPPORTED: "u",
    State.NOT_RUN: "n",
}


def symbol_rules() -> str:
    """The symbols, once for all cells."""
    return "".join(f'.{name}::before{{content:"{state.symbol}"}}' for state, name in CLASSES.items())


def symbol(state: State) -> str:
    return f'<i class="s {CLASSES[state]}"></i>'


def told(cell: Cell) -> str:
    """What a cell says, in words: `softmax float32: within bound, 1.7 of 4.0 ulp; 12 checks, 340 runs`."""
    words = f"{cell.op} {cell.dtype}: {cell.state.word}"
    if cell.ulp is not None:
        allowed = f" of {distance(cell.allowed)}" if cell.allowed is not None else ""
        words += f", {distance(cell.ulp)}{allowed} ulp"
    if not cell.state.ran:
        return words
    return f"{words}; {several(len(cell.records), 'check')}, {several(cell.runs, 'run')}"


def share(cell: Cell) -> float | None:
    """How much of what it may be off by a cell is off by."""
    if cell.state is not State.WITHIN or not cell.allowed or cell.ulp is None or not cell.allowed < float("inf"):
        return None
    return max(0.0, min(1.0, cell.ulp / cell.allowed))

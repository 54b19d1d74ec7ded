"""The data of the templates for the matrix of a target: ops as rows, dtypes as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ferrule.testing.report.matrix import Cell, Matrix
from ferrule.testing.report.numbers import distance, several
from ferrule.testing.report.state import State

# The HTML class of each state: short, since a page has thousands of cells.
CLASSES = {
    State.CRASHED: "k",
    State.WRONG: "w",
    State.WITHIN: "b",
    State.EXACT: "x",
    State.UNSUPPORTED: "u",
    State.NOT_RUN: "n",
}
OP_WIDTH = 19.0  # the width of the column of names, in percent
GAP = 0.9


@dataclass(frozen=True)
class Group:
    """The ops of a kind: rows of cells, and the names of ops without any case."""

    kind: str
    rows: list[tuple[str, list[Cell]]]
    without: str


def values(matrix: Matrix) -> dict[str, Any]:
    """The variables of kit/macros.html.j2."""
    return {
        "matrix": matrix,
        "classes": CLASSES,
        "groups": groups,
        "is_empty": _is_empty,
        "share": share,
        "tooltip": tooltip,
        "number": _number,
        "several": several,
    }


def groups(matrix: Matrix, target: str) -> list[Group]:
    """The groups of a target that have at least one row."""
    made = []
    for kind, ops in matrix.groups.items():
        cells = {op: matrix.row(target, op) for op in ops}
        rows = [(op, row) for op, row in cells.items() if not all(map(_is_empty, row))]
        without = ", ".join(op for op, row in cells.items() if all(map(_is_empty, row)))
        if rows:
            made.append(Group(kind, rows, without))
    return made


def columns(matrix: Matrix) -> dict[str, object]:
    """The widths of the columns in percent, and the numbers of the columns at which a family of dtypes begins."""
    families = [dtype.rstrip("0123456789").removeprefix("b") for dtype in matrix.dtypes]
    begins = [n for n in range(1, len(families)) if families[n] != families[n - 1]]
    width = (100 - OP_WIDTH - GAP * len(begins)) / max(1, len(families))
    return {
        "first": OP_WIDTH,
        "width": f"{width:.2f}",
        "with_gap": f"{width + GAP:.2f}",
        "begins": [n + 2 for n in begins],
    }


def tooltip(cell: Cell) -> str:
    """Describe a cell: `softmax float32: within bound, 1.7 of 4.0 ulp; 12 checks, 340 runs`."""
    words = f"{cell.op} {cell.dtype}: {cell.state.word}"
    if cell.ulp is not None:
        allowed = f" of {distance(cell.allowed)}" if cell.allowed is not None else ""
        words += f", {distance(cell.ulp)}{allowed} ulp"
    if not cell.state.ran:
        return words
    return f"{words}; {several(len(cell.records), 'check')}, {several(cell.runs, 'run')}"


def share(cell: Cell) -> float | None:
    """The fraction of the allowed error that the cell uses."""
    if cell.state is not State.WITHIN or not cell.allowed or cell.ulp is None or not cell.allowed < float("inf"):
        return None
    return max(0.0, min(1.0, cell.ulp / cell.allowed))


def _is_empty(cell: Cell) -> bool:
    return cell.state is State.NO_CASE


def _number(cell: Cell) -> str:
    """The distance; empty for an exact cell with distance 0, and for a cell that did not run."""
    return distance(cell.ulp) if cell.state.ran and (cell.ulp or cell.state is not State.EXACT) else ""

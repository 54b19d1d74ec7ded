"""The matrix of a target as an HTML table: ops down, dtypes across."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ferrule.testing.report.markup import CLASSES, share, told
from ferrule.testing.report.numbers import distance, several
from ferrule.testing.report.state import State
from ferrule.text.html_text import safe

if TYPE_CHECKING:
    from ferrule.testing.report.matrix import Cell, Matrix

OP_WIDTH = 19.0  # of the column of names, in percent
GAP = 0.9


def grid(matrix: Matrix, target: str, links: Mapping[tuple[str, str, str], str]) -> str:
    """`links` has the id of what tells more of a cell; without one the cell is no link."""
    head = "".join(f"<th scope=col>{safe(dtype)}" for dtype in matrix.dtypes)
    bodies = "".join(_group(matrix, target, kind, links) for kind in matrix.groups)
    label = safe(f"{target}: ops by dtypes")
    return f'<table class=grid aria-label="{label}"><thead><tr><th scope=col>op{head}</thead>{bodies}</table>'


def column_rules(matrix: Matrix) -> str:
    """Columns of one width, and a gap where the next family of dtypes begins."""
    families = [dtype.rstrip("0123456789").removeprefix("b") for dtype in matrix.dtypes]
    begins = [n for n in range(1, len(families)) if families[n] != families[n - 1]]
    width = (100 - OP_WIDTH - GAP * len(begins)) / max(1, len(families))
    rules = f".grid thead th{{width:{width:.2f}%}}.grid thead th:first-child{{width:{OP_WIDTH}%}}"
    for column in (n + 2 for n in begins):
        rules += f".grid thead th:nth-child({column}){{width:{width + GAP:.2f}%}}"
        rules += f".grid tr>:nth-child({column}){{padding-left:10px}}"
    return rules


def _group(matrix: Matrix, target: str, kind: str, links: Mapping[tuple[str, str, str], str]) -> str:
    """The ops of a kind; those for which there is no case at all are only named, and nothing is where all are such."""
    ops = matrix.groups[kind]
    rows = {
        op: _row(matrix, target, op, links)
        for op in ops
        if any(c.state is not State.NO_CASE for c in matrix.row(target, op))
    }
    if not rows:
        return ""
    without = ", ".join(op for op in ops if op not in rows)
    count = f"{several(len(rows), 'op')}" + (f"; no case of {safe(without)}" if without else "")
    head = f"<tr class=g><th scope=rowgroup colspan={len(matrix.dtypes) + 1}>{safe(kind)} <small>{count}</small>"
    return f"<tbody>{head}{''.join(rows.values())}</tbody>"


def _row(matrix: Matrix, target: str, op: str, links: Mapping[tuple[str, str, str], str]) -> str:
    cells = "".join(_cell(cell, links.get((target, op, cell.dtype))) for cell in matrix.row(target, op))
    return f"<tr><th scope=row>{safe(op)}{cells}\n"


def _cell(cell: Cell, link: str | None) -> str:
    if cell.state is State.NO_CASE:
        return "<td>"
    used = share(cell)
    bar = f" style=--u:{used:.2f}" if used is not None else ""
    text = distance(cell.ulp) if cell.state.ran and (cell.ulp or cell.state is not State.EXACT) else ""
    name = CLASSES[cell.state]
    if link is None:
        return f'<td><span class={name}{bar} title="{safe(told(cell))}">{text}</span>'
    return f'<td><a class={name}{bar} href=#{link} title="{safe(told(cell))}">{text}</a>'

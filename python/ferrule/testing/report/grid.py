"""The matrix of a target as an HTML table: ops down, dtypes across."""

from __future__ import annotations

from collections.abc import Mapping

from ferrule.testing.report.markup import CLASSES, safe, share, told
from ferrule.testing.report.matrix import Cell, Matrix
from ferrule.testing.report.numbers import distance, several
from ferrule.testing.report.state import State


def grid(matrix: Matrix, target: str, links: Mapping[tuple[str, str, str], str]) -> str:
    """`links` has the id of what tells more of a cell; without one the cell is no link."""
    head = "".join(f"<th scope=col>{safe(dtype)}" for dtype in matrix.dtypes)
    bodies = "".join(
        f"<tbody><tr class=g><th scope=rowgroup colspan={len(matrix.dtypes) + 1}>{safe(kind)} "
        f"<small>{several(len(ops), 'op')}</small>"
        + "".join(_row(matrix, target, op, links) for op in ops)
        + "</tbody>"
        for kind, ops in matrix.groups.items()
    )
    return f"<table class=grid><thead><tr><th scope=col>op{head}</thead>{bodies}</table>"


def family_rules(matrix: Matrix) -> str:
    """A gap where the next family of dtypes begins."""
    families = [dtype.rstrip("0123456789").removeprefix("b") for dtype in matrix.dtypes]
    begins = [n for n in range(1, len(families)) if families[n] != families[n - 1]]
    return "".join(f".grid tr>:nth-child({n + 2}):not([colspan]){{padding-left:10px}}" for n in begins)


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

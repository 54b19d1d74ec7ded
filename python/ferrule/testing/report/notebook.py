"""The matrix in a notebook: only the grids, without scripts, with their own colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.testing.report import grid
from ferrule.text.html_templates import render

if TYPE_CHECKING:
    from ferrule.testing.report.matrix import Matrix


def notebook_html(matrix: Matrix) -> str:
    """The HTML of the matrix. Each target can be folded; the first is open."""
    return render("kit/notebook.html.j2", grid.values(matrix))

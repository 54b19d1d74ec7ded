"""The matrix in a notebook: only the grids, without scripts, with their own colours."""

from __future__ import annotations

from ferrule.testing.report import grid
from ferrule.testing.report.matrix import Matrix
from ferrule.text.html_templates import render


class NotebookMatrix(Matrix):
    """A matrix that a notebook shows as grids."""

    def _repr_html_(self) -> str:
        return notebook_html(self)


def notebook_html(matrix: Matrix) -> str:
    """The HTML of the matrix. Each target can be folded; the first is open."""
    return render("kit/notebook.html.j2", grid.values(matrix))

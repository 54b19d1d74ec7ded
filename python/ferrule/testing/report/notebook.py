"""The matrix as a notebook shows it: the grids alone, without scripts, in colours of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.testing.report import grid
from ferrule.text.html_templates import render

if TYPE_CHECKING:
    from ferrule.testing.report.matrix import Matrix


def notebook_html(matrix: Matrix) -> str:
    """A target opens on its title; the first is open."""
    return render("kit/notebook.html.j2", grid.values(matrix))

"""The matrix as a notebook shows it: the grids alone, without scripts, in colours of their own."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from ferrule.testing.report.grid import grid
from ferrule.testing.report.markup import CLASSES, symbol, symbol_rules
from ferrule.testing.report.state import State
from ferrule.text.html_text import safe

if TYPE_CHECKING:
    from ferrule.testing.report.matrix import Matrix

SCOPE = ".ferrule-matrix"


def notebook_html(matrix: Matrix) -> str:
    """A target opens on its title; the first is open."""
    rules = files(__package__).joinpath("notebook.css").read_text("utf-8")
    parts = []
    for number, target in enumerate(matrix.targets):
        counts = matrix.counts(target)
        marks = " ".join(f"{symbol(s)}{counts[s]} {s.word}&ensp;" for s in State if s in CLASSES and counts[s])
        opened = " open" if number == 0 else ""
        title = f"<summary><b>{safe(target)}</b>&ensp;{marks}</summary>"
        parts.append(f"<details{opened}>{title}{grid(matrix, target, {})}</details>")
    scoped = symbol_rules().replace("}.", "}" + SCOPE + " .")
    return f'<div class="{SCOPE[1:]}"><style>{rules}{SCOPE} {scoped}</style>{"".join(parts) or "no case ran"}</div>'

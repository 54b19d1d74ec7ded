"""How many cells of a target are how far from the truth, as bars."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ferrule.testing.report.markup import CLASSES
from ferrule.testing.report.matrix import Cell
from ferrule.testing.report.numbers import INFINITY
from ferrule.testing.report.state import State

# Up to and with; the nearest number is at most half a unit off.
BINS = ((0.0, "0"), (0.5, "to 0.5"), (1.0, "to 1"), (2.0, "to 2"), (4.0, "to 4"), (16.0, "to 16"), (256.0, "to 256"))
LAST = "more"
FLOATING = re.compile("b?float")


def distance_bars(cells: Sequence[Cell]) -> str:
    """Empty where nothing was measured."""
    names = [*(name for _, name in BINS), LAST, INFINITY]
    found: dict[str, dict[State, int]] = {name: {} for name in names}
    for cell in cells:
        if cell.worst is not None and cell.state.ran and FLOATING.match(cell.worst.result):
            states = found[_bin(cell.worst.ulp or 0.0)]
            states[cell.state] = states.get(cell.state, 0) + 1
    totals = {name: sum(states.values()) for name, states in found.items()}
    most = max(totals.values())
    if not most:
        return ""
    rows = (
        f"<tr><th scope=row>{name}<td>{totals[name] or ''}<td>{_bar(found[name], most)}"
        for name in names
        if totals[name] or name not in (LAST, INFINITY)
    )
    return f"<table class=bars><thead><tr><th scope=col>ulp<th scope=col>cells<th></thead>{''.join(rows)}</table>"


def _bin(ulp: float) -> str:
    if not math.isfinite(ulp):
        return INFINITY
    return next((name for end, name in BINS if ulp <= end), LAST)


def _bar(states: dict[State, int], most: int) -> str:
    return "".join(
        f"<i class=f{CLASSES[state]} style=--w:{100 * count / most:.1f}%></i>"
        for state, count in sorted(states.items(), key=lambda item: list(State).index(item[0]), reverse=True)
    )

"""A histogram of the cells of a target by their distance from the truth."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ferrule.testing.report.matrix import Cell
from ferrule.testing.report.numbers import INFINITY
from ferrule.testing.report.state import State

# Inclusive upper ends. The nearest number is at most half a unit from the truth.
BINS = ((0.0, "0"), (0.5, "to 0.5"), (1.0, "to 1"), (2.0, "to 2"), (4.0, "to 4"), (16.0, "to 16"), (256.0, "to 256"))
LAST = "more"
FLOATING = re.compile("b?float")


def distance_bars(cells: Sequence[Cell]) -> list[dict[str, object]]:
    """The rows of the chart; empty if no distance was measured."""
    names = [*(name for _, name in BINS), LAST, INFINITY]
    found: dict[str, dict[State, int]] = {name: {} for name in names}
    for cell in cells:
        if cell.worst is not None and cell.state.ran and FLOATING.match(cell.worst.result):
            states = found[_bin(cell.worst.ulp or 0.0)]
            states[cell.state] = states.get(cell.state, 0) + 1
    totals = {name: sum(states.values()) for name, states in found.items()}
    most = max(totals.values())
    if not most:
        return []
    return [
        {"name": name, "total": totals[name], "bars": _bars(found[name], most)}
        for name in names
        if totals[name] or name not in (LAST, INFINITY)
    ]


def _bin(ulp: float) -> str:
    if not math.isfinite(ulp):
        return INFINITY
    return next((name for end, name in BINS if ulp <= end), LAST)


def _bars(states: dict[State, int], most: int) -> list[tuple[State, str]]:
    """The states of a bar, each with its width in percent."""
    return [
        (state, f"{100 * count / most:.1f}")
        for state, count in sorted(states.items(), key=lambda item: list(State).index(item[0]), reverse=True)
    ]

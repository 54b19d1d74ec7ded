"""The data of the templates for the benchmark: the time of a call beside NumPy's."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ferrule.testing.report import numbers
from ferrule.testing.report.record import Record

FULL = 32.0  # the ratio, faster or slower, at which a bar is full


def speed_rows(records: Sequence[Record]) -> list[dict[str, object]]:
    """The rows of the benchmark, slowest relative to NumPy first."""
    ranked = sorted(records, key=lambda r: numbers.ratio(r.nanoseconds or 0.0, r.peer_nanoseconds) or math.inf)
    return [_row(record) for record in ranked]


def _row(record: Record) -> dict[str, object]:
    ours, theirs = record.nanoseconds or 0.0, record.peer_nanoseconds
    faster = numbers.ratio(ours, theirs)
    return {
        "case": record.case,
        "where": record.where,
        "ours": numbers.time(ours),
        "theirs": numbers.time(theirs) if theirs is not None else "",
        "faster": numbers.times(faster),
        "bar": _bar(faster),
    }


def _bar(faster: float | None) -> dict[str, str] | None:
    """A logarithmic bar from the middle: to the right where ferrule is faster, to the left where it is slower."""
    if not faster or not math.isfinite(faster):
        return None
    length = max(-1.0, min(1.0, math.log(faster) / math.log(FULL)))
    return {"look": "fast" if length >= 0 else "slow", "length": f"{abs(length) * 50:.0f}"}

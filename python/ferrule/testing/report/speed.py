"""The benchmark as an HTML table: a call's time beside NumPy's."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ferrule.testing.report import numbers
from ferrule.testing.report.record import Record
from ferrule.text.html_text import safe

FULL = 32.0  # times as fast or as slow, at which a bar is full


def speed_table(records: Sequence[Record]) -> str:
    """Slowest against NumPy first."""
    ranked = sorted(records, key=lambda r: numbers.ratio(r.nanoseconds or 0.0, r.peer_nanoseconds) or math.inf)
    rows = "\n".join(_row(record) for record in ranked)
    return (
        "<table class=speed><thead><tr><th scope=col>case<th scope=col>problem<th scope=col>ferrule<th scope=col>NumPy"
        f"<th scope=col colspan=2>as fast as NumPy</thead>{rows}</table>"
    )


def _row(record: Record) -> str:
    ours, theirs = record.nanoseconds or 0.0, record.peer_nanoseconds
    faster = numbers.ratio(ours, theirs)
    peer = numbers.time(theirs) if theirs is not None else ""
    return (
        f"<tr><th scope=row>{safe(record.case)}<td>{safe(record.where)}<td>{numbers.time(ours)}<td>{peer}"
        f"<td>{numbers.times(faster)}<td>{_bar(faster)}"
    )


def _bar(faster: float | None) -> str:
    """From the middle to the right where ferrule is faster, to the left where it is slower, in powers of two."""
    if not faster or not math.isfinite(faster):
        return ""
    length = max(-1.0, min(1.0, math.log(faster) / math.log(FULL)))
    return f"<i class=bar><i class={'fast' if length >= 0 else 'slow'} style=--w:{abs(length) * 50:.0f}%></i></i>"

"""Formats numbers with few digits and a unit."""

from __future__ import annotations

import math

UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
INFINITY = "∞"


def distance(ulp: float | None) -> str:
    """Format a distance in ULP in at most five characters: `0.5`, `37`, `4.2e9`."""
    if ulp is None:
        return ""
    if not math.isfinite(ulp):
        return "nan" if math.isnan(ulp) else INFINITY
    if ulp == 0:
        return "0"
    if ulp < 0.05:
        return "<0.1"
    if ulp < 9.95:
        return f"{ulp:.1f}"
    if ulp < 9999.5:
        return f"{ulp:.0f}"
    mantissa, _, exponent = f"{ulp:.1e}".partition("e")
    return f"{mantissa if int(exponent) < 10 else mantissa[:-2]}e{int(exponent)}"


def time(nanoseconds: float) -> str:
    """Format a time with three digits: `1.24 µs`."""
    unit, size = next(((unit, size) for unit, size in UNITS if nanoseconds >= size), UNITS[-1])
    value = nanoseconds / size
    return f"{value:.{max(0, 2 - int(math.log10(max(value, 1.0))))}f} {unit}"


def ratio(ours: float, theirs: float | None) -> float | None:
    """The speed relative to the peer: 2 means twice as fast."""
    return theirs / ours if theirs is not None and ours > 0 else None


def times(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}×" if value >= 100 else f"{value:.1f}×" if value >= 10 else f"{value:.2f}×"  # noqa: RUF001


def several(count: int, one: str, many: str = "") -> str:
    """Format a count with its noun: `1 check`, `12,345 checks`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"

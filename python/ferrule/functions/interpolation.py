"""Values between two others, without overflow on the way."""

from __future__ import annotations

from ferrule.array.array import Array
from ferrule.array.recording import apply


def between(lower: Array, upper: Array, share: Array, is_lower: Array | None = None) -> Array:
    """Return the values at a share, from 0 to 1, of the way from the lower to the upper values.

    The difference of large numbers of opposite signs may be infinite; a weighted sum of them is not. An infinity fills
    the whole way to the other value; between two of opposite signs the result is NaN.

    `is_lower`: where the result is the lower value, in place of where the share is 0.
    """
    step = upper - lower
    rest = 1 - share
    is_first_half = apply("less", (share, 0.5), {})
    values = apply("where", (is_first_half, lower + step * share, upper - step * rest), {})
    is_too_wide = apply("isinf", (step,), {}) & apply("isfinite", (lower,), {}) & apply("isfinite", (upper,), {})
    values = apply("where", (is_too_wide, lower * rest + upper * share, values), {})
    has_infinity = apply("isinf", (lower,), {}) | apply("isinf", (upper,), {})
    values = apply("where", (has_infinity, lower + upper, values), {})
    if is_lower is None:
        is_lower = apply("equal", (share, 0), {})
    is_lower = is_lower | apply("equal", (lower, upper), {})
    return apply("where", (is_lower, lower, values), {})


def middle_of(lower: Array, upper: Array) -> Array:
    """Return the mean of two arrays, rounded once; it does not overflow, although their sum may."""
    total = lower + upper
    return apply("where", (apply("isinf", (total,), {}), lower * 0.5 + upper * 0.5, total * 0.5), {})

"""Rounding to a number of decimals."""

from __future__ import annotations

import math
from typing import SupportsIndex

import numpy as np

from ferrule.array.array import Array
from ferrule.array.attributes import one_integer
from ferrule.array.recording import apply, as_operand
from ferrule.dtypes.classification import is_inexact
from ferrule.functions.conversion import cast
from ferrule.functions.creation import zeros_like
from ferrule.functions.intermediate_dtypes import widened

__all__ = ["round"]


def round(x: Array, /, decimals: SupportsIndex = 0) -> Array:
    """The nearest number with so many decimals, ties to even.

    Parameters
    ----------
    x : array_like
        The elements.
    decimals : int
        The number of decimals. Negative ones round to tens, hundreds and so on.

    Returns
    -------
    Array
        The rounded elements, in the dtype and shape of x. As in NumPy, floating-point elements are multiplied by a
        power of ten, rounded and divided; those whose product leaves the range stay.

    Raises
    ------
    InvalidArgumentError
        `decimals` is not an integer.

    Examples
    --------
    >>> fe.round(fe.asarray([0.5, 1.5, 2.4])).tolist()
    [0.0, 2.0, 2.0]
    >>> fe.round(fe.asarray([15, 25, 31]), -1).tolist()
    [20, 20, 30]
    """
    places = one_integer(decimals, "round", "decimals")
    x = as_operand("round", x)
    if not is_inexact(x.dtype):
        return _to_tens(x, 10**-places) if places < 0 else apply("round", (x,), {})
    if places == 0:
        return apply("round", (x,), {})
    wide = widened(x)
    scale = 10.0 ** abs(places) if abs(places) < 309 else math.inf
    if places < 0:
        has_scale = scale <= float(np.finfo(wide.dtype).max)
        result = apply("round", (wide / scale,), {}) * scale if has_scale else wide * 0.0
        is_rounded = apply("isfinite", (wide,), {})
    else:  # numbers whose product leaves the range have no more decimals
        scaled = wide * scale
        result, is_rounded = apply("round", (scaled,), {}) / scale, apply("isfinite", (scaled,), {})
    return cast(apply("where", (is_rounded, result, wide), {}), x.dtype)


def _to_tens(x: Array, unit: int) -> Array:
    """Return integers rounded to a multiple of a power of ten, ties to even multiples; beyond the dtype they wrap."""
    if unit > np.iinfo(np.int64).max:
        return zeros_like(x)
    wide = cast(x, "uint64" if x.dtype.name == "uint64" else "int64")
    count = wide // unit
    below = wide - count * unit
    above = unit - below
    is_tie = apply("equal", (below, above), {})
    is_odd = apply("equal", (count % 2, 1), {})
    is_up = apply("greater", (below, above), {}) | (is_tie & is_odd)
    return cast((count + cast(is_up, wide.dtype)) * unit, x.dtype)

"""The reductions that leave out NaN, which reduction_functions.toml describes."""

from __future__ import annotations

import math
from typing import Any, Literal

from ferrule.array.array import Array, Axes
from ferrule.array.attributes import one_real
from ferrule.array.recording import apply, as_operand
from ferrule.dtypes.classification import is_floating, is_inexact
from ferrule.errors import InvalidArgumentError
from ferrule.functions.conversion import cast
from ferrule.functions.creation import arange
from ferrule.functions.intermediate_dtypes import widened
from ferrule.functions.interpolation import middle_of
from ferrule.functions.movement import reshape, take
from ferrule.functions.order_statistics import last_axis_sorted, median_of
from ferrule.functions.reduction import all as all_of, any as any_of, argmax, argmin, mean


def nansum(x: Array, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    x = as_operand("nansum", x)
    return x.sum(axis, dtype=dtype, keepdims=keepdims, where=_numbers(x))


def nanprod(x: Array, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    x = as_operand("nanprod", x)
    return x.prod(axis, dtype=dtype, keepdims=keepdims, where=_numbers(x))


def nanmean(x: Array, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    x = as_operand("nanmean", x)
    return x.mean(axis, dtype=dtype, keepdims=keepdims, where=_numbers(x))


def nanvar(x: Array, *, axis: Axes = None, dtype: Any = None, ddof: float = 0.0, keepdims: bool = False) -> Array:
    x, less = as_operand("nanvar", x), one_real(ddof, "nanvar", "ddof")
    where = _numbers(x)
    spread = x.var(axis, dtype=dtype, ddof=less, keepdims=keepdims, where=where)
    if where is True:
        return spread
    enough = apply("greater", (where.sum(axis, keepdims=keepdims), less), {})
    return apply("where", (enough, spread, math.nan), {})


def nanstd(x: Array, *, axis: Axes = None, dtype: Any = None, ddof: float = 0.0, keepdims: bool = False) -> Array:
    x, less = as_operand("nanstd", x), one_real(ddof, "nanstd", "ddof")
    where = _numbers(x)
    spread = x.std(axis, dtype=dtype, ddof=less, keepdims=keepdims, where=where)
    if where is True:
        return spread
    enough = apply("greater", (where.sum(axis, keepdims=keepdims), less), {})
    return apply("where", (enough, spread, math.nan), {})


def nanmax(x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    x = as_operand("nanmax", x)
    where = _numbers(x)
    if where is True:
        return x.max(axis, keepdims=keepdims)
    filled = apply("where", (where, x, -math.inf), {})
    result = filled.max(axis, keepdims=keepdims)
    return apply("where", (any_of(where, axis=axis, keepdims=keepdims), result, math.nan), {})


def nanmin(x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    x = as_operand("nanmin", x)
    where = _numbers(x)
    if where is True:
        return x.min(axis, keepdims=keepdims)
    filled = apply("where", (where, x, math.inf), {})
    result = filled.min(axis, keepdims=keepdims)
    return apply("where", (any_of(where, axis=axis, keepdims=keepdims), result, math.nan), {})


def nanmedian(x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    x = as_operand("nanmedian", x)
    if not is_floating(x.dtype):
        return median_of("nanmedian", x, axis, keepdims)
    rows, shape = last_axis_sorted("nanmedian", x, axis, keepdims)  # NaN comes last
    length = rows.shape[1]
    if length == 0:
        return reshape(mean(rows, axis=1), shape)  # NaN
    count = (~apply("isnan", (rows,), {})).sum(1)
    starts = arange(rows.shape[0], device=x.device) * length
    middle = [starts + apply("maximum", (place, 0), {}) for place in ((count - 1) // 2, count // 2)]
    lower, upper = (widened(take(reshape(rows, (rows.shape[0] * length,)), place)) for place in middle)
    return reshape(cast(middle_of(lower, upper), x.dtype), shape)


def _numbers(x: Array) -> Any:
    """Return which elements are not NaN; True if the dtype has no NaN."""
    return ~apply("isnan", (x,), {}) if is_inexact(x.dtype) else True


def without_nan(x: Array, substitute: float) -> Array:
    """Return the array with a number in the places of NaN."""
    return apply("where", (apply("isnan", (x,), {}), substitute, x), {}) if is_inexact(x.dtype) else x


def index_of_extreme(op: Literal["argmax", "argmin"], x: Array, axis: int | None, keepdims: bool) -> Array:
    """Return the index of the greatest or least element that is not NaN.

    Raises InvalidArgumentError if all elements are NaN.
    """
    if is_inexact(x.dtype) and bool(any_of(all_of(apply("isnan", (x,), {}), axis=axis))):
        raise InvalidArgumentError(f"nan{op}: all elements of a slice are NaN")
    filled = without_nan(x, -math.inf if op == "argmax" else math.inf)
    return {"argmax": argmax, "argmin": argmin}[op](filled, axis=axis, keepdims=keepdims)

"""Reductions with the arguments of NumPy's methods: `where` selects elements, `dtype` is that of the computation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, Axes
from ferrule.array.attributes import flag, one_real, refuse_out, sizes
from ferrule.array.recording import as_operand
from ferrule.dtypes.classification import as_dtype
from ferrule.errors import InvalidArgumentError
from ferrule.functions import conversion, movement, reduction
from ferrule.functions.intermediate_dtypes import resulting, widened
from ferrule.functions.type_information import result_type


def _total(
    reduce: Callable[..., Array],
    neutral: int,
    x: Array,
    *,
    axis: Axes = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: float | None = None,
    where: Any = True,
) -> Array:
    caller = reduce.__name__
    if where is True and dtype is not None and as_dtype(dtype) != "bool":
        refuse_out(caller, out)
        return reduce(x, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial)
    x = _selected(caller, _in_dtype(caller, x, dtype, out), where, neutral)
    return _back(reduce(x, axis=axis, keepdims=keepdims, initial=initial), dtype)


sum = partial(_total, reduction.sum, 0)
prod = partial(_total, reduction.prod, 1)


def mean(
    x: Array,
    *,
    axis: Axes = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: Any = True,
) -> Array:
    x = _in_dtype("mean", x, dtype, out)
    if where is True:
        return _back(reduction.mean(x, axis=axis, keepdims=keepdims), dtype)
    means = _mean_of("mean", widened(x), where, axis, keepdims)
    return _back(conversion.cast(means, resulting(x.dtype)), dtype)


def _spread(
    reduce: Callable[..., Array],
    root: bool,
    x: Array,
    *,
    axis: Axes = None,
    dtype: Any = None,
    out: None = None,
    ddof: float = 0.0,
    keepdims: bool = False,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    caller = reduce.__name__
    x = _in_dtype(caller, x, dtype, out)
    less = _divisor_difference(caller, ddof, correction)
    if where is True and mean is None:
        return _back(reduce(x, axis=axis, correction=less, keepdims=keepdims), dtype)
    spread = _variance_of(caller, widened(x), where, axis, less, keepdims, mean, root)
    return _back(conversion.cast(spread, _dtype_of_variance(caller, x, mean)), dtype)


var = partial(_spread, reduction.var, False)
std = partial(_spread, reduction.std, True)


def _extreme(
    reduce: Callable[..., Array],
    x: Array,
    *,
    axis: Axes = None,
    out: None = None,
    keepdims: bool = False,
    initial: float | None = None,
    where: Any = True,
) -> Array:
    caller = reduce.__name__
    refuse_out(caller, out)
    if where is not True and initial is None:
        raise InvalidArgumentError(f"{caller}: where= needs initial=, the result where no element counts")
    x = x if initial is None else _selected(caller, x, where, initial)
    return reduce(x, axis=axis, keepdims=keepdims, initial=initial)


max = partial(_extreme, reduction.max)
min = partial(_extreme, reduction.min)


def _truth(
    reduce: Callable[..., Array],
    neutral: bool,
    x: Array,
    *,
    axis: Axes = None,
    out: None = None,
    keepdims: bool = False,
    where: Any = True,
) -> Array:
    caller = reduce.__name__
    refuse_out(caller, out)
    if where is not True:
        x = _selected(caller, conversion.cast(as_operand(caller, x), "bool"), where, neutral)
    return reduce(x, axis=axis, keepdims=keepdims)


all = partial(_truth, reduction.all, True)
any = partial(_truth, reduction.any, False)


def _index(
    reduce: Callable[..., Array], x: Array, *, axis: int | None = None, out: None = None, keepdims: bool = False
) -> Array:
    refuse_out(reduce.__name__, out)
    return reduce(x, axis=axis, keepdims=keepdims)


argmax = partial(_index, reduction.argmax)
argmin = partial(_index, reduction.argmin)


def _divisor_difference(caller: str, ddof: object, correction: object) -> float:
    """Return what variances subtract from the number of elements."""
    return one_real(ddof, caller, "ddof") if correction is None else one_real(correction, caller, "correction")


def _in_dtype(caller: str, x: Array, dtype: Any, out: object) -> Array:
    """Return the array in the dtype in which NumPy would compute."""
    refuse_out(caller, out)
    x = as_operand(caller, x)
    return x if dtype is None else conversion.cast(x, as_dtype(dtype))


def _back(x: Array, dtype: Any) -> Array:
    """Return the result in the dtype that was asked for: sums of integers are computed in 64 bits."""
    return x if dtype is None else conversion.cast(x, as_dtype(dtype))


def _dtype_of_variance(caller: str, x: Array, mean: Any) -> np.dtype[Any]:
    dtype = resulting(x.dtype)
    return dtype if mean is None else result_type(dtype, as_operand(caller, mean, x).dtype)


def _selected(caller: str, x: Array, where: Any, otherwise: float) -> Array:
    """Return x with another value in place of the elements that do not count."""
    if where is True:
        return x
    x = as_operand(caller, x)
    return recording.apply("where", (_mask(caller, where, x), x, recording.number_like(caller, otherwise, x)), {})


def _mean_of(caller: str, x: Array, where: Any, axis: Axes, keepdims: bool) -> Array:
    """Return the mean of the elements that count; x is of a dtype to compute in, see `intermediate`."""
    chosen = _selected(caller, x, where, 0)
    total, count = reduction.sum(chosen, axis=axis, keepdims=True), _count_of(caller, where, x, axis)
    # The sum may leave the range although the mean is in it. The mean of all elements, with zeros in it, does not.
    of_all = reduction.mean(chosen, axis=axis, keepdims=True)
    is_finite = recording.apply("isfinite", (total,), {})
    length = reduction.reduced_size(caller, x, axis)
    means = recording.apply("where", (is_finite, total / count, of_all * (length / count)), {})
    return _without(caller, means, axis, keepdims)


def _variance_of(
    caller: str, x: Array, where: Any, axis: Axes, less: float, keepdims: bool, mean: Any, root: bool = False
) -> Array:
    """Return the variance of the elements that count, or its root; x is of a dtype of `intermediate`."""
    center = _mean_of(caller, x, where, axis, True) if mean is None else as_operand(caller, mean, x)
    half = _selected(caller, x * 0.5 - center * 0.5, where, 0)  # the distance itself may leave the range
    # The division by a power of two is exact, so the division by the rest of the count is the only rounding.
    length = reduction.reduced_size(caller, x, axis)
    first = 2.0 ** (length - 1 if length else 0).bit_length()
    part = reduction.sum_of_squares(half, axis, True, first / 4, root)
    rest = recording.apply("maximum", (_count_of(caller, where, x, axis) - less, 0), {}) / first
    return _without(caller, part / (recording.apply("sqrt", (rest,), {}) if root else rest), axis, keepdims)


def _count_of(caller: str, where: Any, x: Array, axis: Axes) -> Array:
    """Return how many elements count, in the dtype of x, with the reduced axes kept."""
    counts = _mask(caller, where, x)
    every = movement.broadcast_to(counts, x.shape)
    return conversion.cast(reduction.sum(every, axis=axis, keepdims=True), x.dtype)


def _mask(caller: str, where: Any, x: Array) -> Array:
    return conversion.cast(as_operand(caller, where, x), "bool")


def _without(caller: str, x: Array, axis: Axes, keepdims: bool) -> Array:
    """Remove the axes that a reduction kept, unless `keepdims`."""
    if flag(keepdims, caller, "keepdims"):
        return x
    return movement.squeeze(x, tuple(range(x.ndim)) if axis is None else sizes(axis, caller, "axis"))

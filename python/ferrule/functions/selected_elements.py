"""Reductions of the elements that a mask selects, as the argument `where` of NumPy's methods."""

from __future__ import annotations

import math
from typing import Any

from ferrule.array import recording
from ferrule.array.array import Array, Axes
from ferrule.array.attributes import axes_of, flag, sizes
from ferrule.array.recording import as_operand
from ferrule.functions import conversion, movement, reduction


def selected(caller: str, x: Array, where: Any, otherwise: float) -> Array:
    """Return x with another value in place of the elements that do not count."""
    if where is True:
        return x
    x = as_operand(caller, x)
    return recording.apply("where", (_mask(caller, where, x), x, recording.number_like(caller, otherwise, x)), {})


def mean_of(caller: str, x: Array, where: Any, axis: Axes, keepdims: bool) -> Array:
    """Return the mean of the elements that count; x is of a dtype to compute in, see `intermediate`."""
    total = reduction.sum(selected(caller, x, where, 0), axis=axis, keepdims=True)
    return _without(caller, total / _count_of(caller, where, x, axis), axis, keepdims)


def variance_of(
    caller: str, x: Array, where: Any, axis: Axes, less: float, keepdims: bool, mean: Any, root: bool = False
) -> Array:
    """Return the variance of the elements that count, or its root; x is of a dtype of `intermediate`."""
    center = mean_of(caller, x, where, axis, True) if mean is None else as_operand(caller, mean, x)
    distance = selected(caller, x - center, where, 0)
    # What is divided by a power of two, and then by the rest of the number of elements, is not rounded twice.
    length = math.prod(x.shape if axis is None else [x.shape[k] for k in axes_of(caller, axis, x.ndim)])
    first = 2.0 ** max(length - 1, 0).bit_length()
    part = reduction.sum_of_squares(distance, axis, True, first, root)
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

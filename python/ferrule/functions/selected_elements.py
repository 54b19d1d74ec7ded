"""Reductions of the elements that a mask selects, as the argument `where` of NumPy's methods."""

from __future__ import annotations

from typing import Any

from ferrule.array import recording
from ferrule.array.array import Array, Axes
from ferrule.array.attributes import flag, sizes
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


def variance_of(caller: str, x: Array, where: Any, axis: Axes, less: float, keepdims: bool, mean: Any) -> Array:
    """Return the variance of the elements that count; x is of a dtype to compute in, see `intermediate`."""
    center = mean_of(caller, x, where, axis, True) if mean is None else as_operand(caller, mean, x)
    distance = x - center
    total = reduction.sum(selected(caller, distance * distance, where, 0), axis=axis, keepdims=True)
    count = _count_of(caller, where, x, axis) - less
    return _without(caller, total / recording.apply("maximum", (count, 0), {}), axis, keepdims)


def _count_of(caller: str, where: Any, x: Array, axis: Axes) -> Array:
    """Return how many elements count, in the dtype of x, with the reduced axes kept."""
    counts = _mask(caller, where, x)
    every = movement.broadcast_to(conversion.cast(counts, "int64"), x.shape)
    return conversion.cast(reduction.sum(every, axis=axis, keepdims=True), x.dtype)


def _mask(caller: str, where: Any, x: Array) -> Array:
    return conversion.cast(as_operand(caller, where, x), "bool")


def _without(caller: str, x: Array, axis: Axes, keepdims: bool) -> Array:
    """Remove the axes that a reduction kept, unless `keepdims`."""
    if flag(keepdims, caller, "keepdims"):
        return x
    return movement.squeeze(x, tuple(range(x.ndim)) if axis is None else sizes(axis, caller, "axis"))

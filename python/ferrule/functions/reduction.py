"""Reductions with NumPy's ways of naming axes: None is all of them, () is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsFloat

from ferrule.array.array import Array
from ferrule.array.attributes import one_integer, sizes
from ferrule.array.recording import apply, as_operand
from ferrule.dtypes.classification import is_floating
from ferrule.errors import InvalidArgumentError
from ferrule.functions.conversion import astype, cast
from ferrule.functions.movement import reshape

Axes = int | Sequence[int] | None


def sum(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Sum over axes; integers in 64 bits."""
    return _reduce("sum", x, axis, keepdims)


def prod(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Product over axes; integers in 64 bits."""
    return _reduce("prod", x, axis, keepdims)


def mean(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Arithmetic mean over axes; of integers in float32."""
    return _reduce("mean", _floating("mean", x), axis, keepdims)


def var(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Variance over axes: the squared distances to the mean, over their number less `correction`."""
    if not isinstance(correction, SupportsFloat):
        raise InvalidArgumentError(f"var: correction is a number, not {correction!r}")
    return _reduce("var", _floating("var", x), axis, keepdims, correction=float(correction))


def std(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Standard deviation over axes: the root of the variance, which of halves is not rounded before."""
    x = _floating("std", x)
    wide = astype(x, "float32") if x.dtype.itemsize < 4 else x
    root = apply("sqrt", (var(wide, axis=axis, correction=correction, keepdims=keepdims),), {})
    return cast(root, x.dtype)


def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Greatest element over axes; NaN if any is NaN."""
    return _reduce("max", x, axis, keepdims)


def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Least element over axes; NaN if any is NaN."""
    return _reduce("min", x, axis, keepdims)


def all(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Whether all elements over axes are true, that is not zero."""
    return _reduce("all", cast(x, "bool"), axis, keepdims)


def any(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Whether any element over axes is true, that is not zero."""
    return _reduce("any", cast(x, "bool"), axis, keepdims)


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the greatest element along an axis, or of all elements; the first of equals."""
    return _index("argmax", x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the least element along an axis, or of all elements; the first of equals."""
    return _index("argmin", x, axis, keepdims)


def _reduce(op: str, x: Array, axis: Axes, keepdims: bool, **attributes: object) -> Array:
    if axis is not None:
        axes = sizes(axis, op, "axis")
        if not axes:  # to the op an empty list means all axes: reduce an axis of one element that we add
            x = as_operand(op, x)
            return reshape(_reduce(op, reshape(x, (x.size, 1)), -1, False, **attributes), x.shape)
        attributes["axis"] = axes
    return apply(op, (x,), {**attributes, "keepdims": keepdims})


def _index(op: str, x: Array, axis: int | None, keepdims: bool) -> Array:
    if axis is not None:
        return apply(op, (x,), {"axis": one_integer(axis, op, "axis"), "keepdims": keepdims})
    x = as_operand(op, x)
    index = apply(op, (reshape(x, (x.size,)),), {"axis": 0, "keepdims": keepdims})
    return reshape(index, (1,) * x.ndim) if keepdims else index


def _floating(op: str, x: Array) -> Array:
    x = as_operand(op, x)
    return x if is_floating(x.dtype) else astype(x, "float32")

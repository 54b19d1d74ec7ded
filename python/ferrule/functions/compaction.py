"""Functions whose result has a length that depends on values."""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import axis_of, one_integer
from ferrule.array.recording import as_operand
from ferrule.array.symbols import Symbol, refuse
from ferrule.errors import InvalidArgumentError
from ferrule.functions.conversion import cast
from ferrule.functions.creation import arange
from ferrule.functions.movement import reshape

__all__ = ["compress", "nonzero"]


def nonzero(x: Array, /, *, size: SupportsIndex | None = None, fill_value: int = 0) -> tuple[Array, ...]:
    """Return the indices of the elements that are not zero.

    Parameters
    ----------
    x : Array
        An array of at least 1 dimension.
    size : int, optional
        The length of the results: the first indices, padded with `fill_value`. A traced function needs it, because the
        number of indices depends on values.
    fill_value : int
        The padding. -1 can be told from an index: `(indices >= 0).sum()` is then the number of indices.

    Returns
    -------
    tuple of Array of shape (count,)
        One int64 array for each axis of x, in the order of the elements.

    Raises
    ------
    InvalidArgumentError
        x has 0 dimensions, or `size` is negative.
    TracingError
        x is being traced, and `size` is not given.

    Examples
    --------
    >>> [i.tolist() for i in fe.nonzero(fe.asarray([[0, 7], [8, 0]]))]
    [[0, 1], [1, 0]]
    >>> [i.tolist() for i in fe.nonzero(fe.asarray([[0, 7], [8, 0]]), size=3, fill_value=-1)]
    [[0, 1, -1], [1, 0, -1]]
    """
    x = as_operand("nonzero", x)
    if x.ndim == 0:
        raise InvalidArgumentError("nonzero: an array of 0 dimensions has no axis; use reshape(x, (1,))")
    indices, count = recording.apply_all("nonzero", (x,), {"size": _size("nonzero", size, x)})
    indices = _filled("nonzero", indices, count, 0, size, fill_value)
    return tuple(indices[:, axis] for axis in range(x.ndim))


def nonzero_count(x: Array) -> Array:
    """Return the number of elements that are not zero."""
    flat = x if x.ndim == 1 else reshape(x, (x.size,))
    return recording.apply_all("nonzero", (flat,), {"size": 0})[1]


def compress(
    condition: Array,
    x: Array,
    /,
    *,
    axis: SupportsIndex | None = None,
    size: SupportsIndex | None = None,
    fill_value: float = 0,
) -> Array:
    """Return the slices of x along an axis for which the condition is true.

    Parameters
    ----------
    condition : Array of shape (length,)
        Nonzero for the slices to keep. It may be shorter than the axis; the remaining slices are left out.
    x : Array
        The array to take slices from.
    axis : int, optional
        The axis; by default x is flattened.
    size : int, optional
        The length of the result: the first slices, padded with `fill_value`. A traced function needs it, because the
        number of slices depends on values.
    fill_value : number
        The padding, which must be representable in x's dtype.

    Returns
    -------
    Array
        In the shape of x, with the number of slices, or `size`, as the length of the axis.

    Raises
    ------
    InvalidArgumentError
        The condition does not have 1 dimension, or is longer than the axis, or `size` is negative.
    TracingError
        An argument is being traced, and `size` is not given.

    Examples
    --------
    >>> fe.compress(fe.asarray([True, False, True]), fe.asarray([1, 2, 3])).tolist()
    [1, 3]
    >>> fe.compress(fe.asarray([True, False, True]), fe.asarray([1, 2, 3]), size=4, fill_value=-1).tolist()
    [1, 3, -1, -1]
    """
    x, condition = as_operand("compress", x, condition), as_operand("compress", condition, x)
    if condition.ndim != 1:
        raise InvalidArgumentError(f"compress: the condition has one dimension, not the shape {condition.shape}")
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    place = axis_of("compress", axis, x.ndim)
    if condition.shape[0] > x.shape[place]:
        raise InvalidArgumentError(
            f"compress: a condition of {condition.shape[0]} is longer than axis {place} of {x.shape}"
        )
    x = x[(*(slice(None),) * place, slice(condition.shape[0]))]
    attributes = {"axis": place, "size": _size("compress", size, x, condition)}
    slices, count = recording.apply_all("compress", (x, cast(condition, "bool")), attributes)
    return _filled("compress", slices, count, place, size, fill_value)


def _size(caller: str, size: SupportsIndex | None, *operands: Array) -> int:
    if size is not None:
        number = one_integer(size, caller, "size")
        if number < 0:
            raise InvalidArgumentError(f"{caller}: size is {number}")
        return number
    if any(isinstance(operand._handle, Symbol) for operand in operands):
        refuse(f"{caller} without size=")
    return -1


def _filled(caller: str, x: Array, count: Array, axis: int, size: SupportsIndex | None, fill_value: float) -> Array:
    """Return x with `fill_value` in place of the zeros that the op has written from `count` on along an axis."""
    if isinstance(fill_value, np.generic):
        fill_value = fill_value.item()
    if not is_number(fill_value):
        raise InvalidArgumentError(f"{caller}: fill_value must be one number, not {fill_value!r}")
    if size is None or (type(fill_value) is int and fill_value == 0):
        return x
    places = reshape(arange(x.shape[axis], device=x.device), [-1 if k == axis else 1 for k in range(x.ndim)])
    is_found = recording.apply("less", (places, count), {})
    return recording.apply("where", (is_found, x, recording.number_like(caller, fill_value, x, exact=True)), {})

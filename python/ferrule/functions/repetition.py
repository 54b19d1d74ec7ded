"""Repeating elements and whole arrays: `broadcast_arrays`, `meshgrid`, `repeat`, `tile`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import Shape, axis_of, is_index, one_integer, one_of, sizes
from ferrule.array.host_memory import MAX_DIMENSIONS, check_ndim, enough_memory
from ferrule.array.numbers import shown
from ferrule.array.recording import as_companion, as_operand
from ferrule.array.symbols import Symbol, refuse
from ferrule.dtypes.classification import is_block
from ferrule.errors import DTypeError, InvalidArgumentError, OutOfMemoryError
from ferrule.functions.creation import device_of, full
from ferrule.functions.movement import broadcast_to, expand_dims, reshape, take

__all__ = ["broadcast_arrays", "broadcast_shapes", "meshgrid", "repeat", "tile"]


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """Broadcast arrays to their common shape.

    Parameters
    ----------
    *arrays : Array
        The arrays.

    Returns
    -------
    list of Array
        Views of the common shape, with the dtypes of the arrays.

    Raises
    ------
    InvalidArgumentError
        The shapes do not broadcast.

    Examples
    --------
    >>> [x.tolist() for x in fe.broadcast_arrays(fe.asarray([1, 2]), fe.asarray([[3], [4]]))]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    operands = [as_companion("broadcast_arrays", array, *arrays) for array in arrays]
    shape = common_shape("broadcast_arrays", *(array.shape for array in operands))
    return [broadcast_to(array, shape) for array in operands]


def broadcast_shapes(*shapes: Shape) -> tuple[int, ...]:
    """Return the shape that shapes broadcast to.

    Parameters
    ----------
    *shapes : int or sequence of int
        The shapes.

    Returns
    -------
    tuple of int
        Their common shape.

    Raises
    ------
    InvalidArgumentError
        The shapes do not broadcast, or have too many dimensions.

    Examples
    --------
    >>> fe.broadcast_shapes((3, 1), (2,))
    (3, 2)
    """
    all_sizes = [sizes(shape, "broadcast_shapes") for shape in shapes]
    for lengths in all_sizes:
        check_ndim("broadcast_shapes", len(lengths))
        if any(length < 0 for length in lengths):
            raise InvalidArgumentError(f"broadcast_shapes: {lengths} has a negative size")
    return common_shape("broadcast_shapes", *all_sizes)


def common_shape(caller: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that the shapes broadcast to."""
    rank = max(map(len, shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for place, size in enumerate(shape, rank - len(shape)):
            if size != 1 and result[place] not in (1, size):
                raise InvalidArgumentError(f"{caller}: the shapes {', '.join(map(str, shapes))} do not broadcast")
            if size != 1:
                result[place] = size
    return tuple(result)


def meshgrid(*arrays: Array, indexing: str = "xy") -> list[Array]:
    """Return the coordinates of a grid from the coordinates along each axis.

    Parameters
    ----------
    *arrays : Array of shape (n,)
        The coordinates along each axis.
    indexing : {"xy", "ij"}
        "ij": array i varies along axis i of the results. "xy": the first two axes are exchanged.

    Returns
    -------
    list of Array
        For each array, its values repeated along the other axes. All have one shape, with an axis for each array.

    Raises
    ------
    InvalidArgumentError
        An array does not have 1 dimension, or `indexing` is something else.

    Examples
    --------
    >>> x, y = fe.meshgrid(fe.asarray([1, 2, 3]), fe.asarray([4, 5]))
    >>> x.tolist(), y.tolist()
    ([[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]])
    """
    one_of(("xy", "ij"), indexing, "meshgrid", "indexing")
    operands = [as_companion("meshgrid", array, *arrays) for array in arrays]
    check_ndim("meshgrid", len(operands))
    for array in operands:
        if array.ndim > 1:
            raise InvalidArgumentError(f"meshgrid: takes arrays of 1 dimension, not of shape {array.shape}")
    axes = list(range(len(operands)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    shape = [1] * len(operands)
    for array, axis in zip(operands, axes, strict=True):
        shape[axis] = array.size
    along = [
        reshape(array, [array.size if place == axis else 1 for place in range(len(operands))])
        for array, axis in zip(operands, axes, strict=True)
    ]
    return [_spread(array, shape) for array in along]


def _spread(x: Array, shape: Sequence[int]) -> Array:
    """Return x broadcast to a shape, as an array of its own and not as a read-only view."""
    return recording.apply("broadcast_to", (x,), {"shape": shape})


def repeat(x: Array, repeats: object, /, *, axis: SupportsIndex | None = None) -> Array:
    """Repeat each element.

    Parameters
    ----------
    x : Array
        The array.
    repeats : int or Array of int
        How often each element is repeated; an array has one number for each index along the axis, or one for all. The
        length of the result then depends on its values, so it may not be traced.
    axis : int, optional
        The axis; by default x is flattened.

    Returns
    -------
    Array
        In x's shape, except along the axis.

    Raises
    ------
    DTypeError
        The numbers are not integers.
    InvalidArgumentError
        A number is negative, or there is not one number for each index.
    OutOfRangeError
        The axis is out of range.
    TracingError
        `repeats` is being traced.

    Examples
    --------
    >>> fe.repeat(fe.asarray([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    >>> fe.repeat(fe.asarray([1, 2, 3]), fe.asarray([2, 0, 1])).tolist()
    [1, 1, 3]
    """
    x = as_operand("repeat", x, repeats)
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    place = axis_of("repeat", axis, x.ndim)
    if isinstance(repeats, Array) and is_number(repeats):
        refuse("repeat, whose result has a length that depends on its second argument,", repeats._handle)
    if is_index(repeats) and not isinstance(repeats, (Array, np.ndarray)):
        return _repeated(x, one_integer(repeats, "repeat", "repeats"), place)
    counts = _counts(x, repeats)
    length = x.shape[place]
    if counts.ndim == 0 or counts.shape == (1,):
        return _repeated(x, int(counts.reshape(())), place)
    if counts.shape != (length,):
        raise InvalidArgumentError(
            f"repeat: repeats has shape {counts.shape}, and axis {place} of x, which has shape {x.shape}, needs "
            f"({length},)"
        )
    if counts.size and counts.min() < 0:
        raise InvalidArgumentError(f"repeat: repeats has the negative number {counts.min()}")
    total = sum(counts.tolist())
    _check_size("repeat", (*x.shape[:place], total, *x.shape[place + 1 :]), x)
    with enough_memory(f"repeat of {x.shape} to {total} elements along axis {place}"):
        indices = np.repeat(np.arange(length), counts)
    return take(x, indices, axis=place)


def _counts(x: Array, repeats: object) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    if isinstance(repeats, (list, tuple)):
        repeats = np.asarray(sizes(repeats, "repeat", "repeats"), dtype=object)
        if not all(-(2**63) <= count < 2**63 for count in repeats):
            raise InvalidArgumentError("repeat: a number of repeats does not fit into int64")
        repeats = repeats.astype(np.int64)
    counts = as_operand("repeat", repeats, x)
    if counts.dtype.kind not in "iu":
        raise DTypeError(f"repeat: repeats are integers, not dtype {counts.dtype}")
    if isinstance(counts._handle, Symbol):
        refuse("repeat, whose result has a length that depends on its second argument,", counts._handle)
    host = np.asarray(counts)
    if host.dtype == np.uint64 and host.size and host.max() >= 2**63:
        raise InvalidArgumentError(f"repeat: repeats has {host.max()}, and must be below 2**63")
    return host.astype(np.int64)


def _repeated(x: Array, count: int, axis: int) -> Array:
    if count < 0:
        raise InvalidArgumentError(f"repeat: repeats is {shown(count)}, and must not be negative")
    shape = (*x.shape[: axis + 1], count, *x.shape[axis + 1 :])
    result = (*x.shape[:axis], x.shape[axis] * count, *x.shape[axis + 1 :])
    _check_size("repeat", result, x)
    if count == 1:
        return x._copied("repeat")
    if x.ndim == MAX_DIMENSIONS:
        return take(x, np.repeat(np.arange(x.shape[axis]), count), axis=axis)
    return reshape(_spread(expand_dims(x, axis=axis + 1), shape), result)


def _check_size(caller: str, shape: Sequence[int], x: Array) -> None:
    itemsize = 1 if is_block(x.dtype) else x.itemsize
    if math.prod(size for size in shape if size) * itemsize >= 2**63:
        raise OutOfMemoryError(f"{caller}: no machine has the memory for shape ({', '.join(map(shown, shape))})")


def tile(x: Array, repetitions: Sequence[SupportsIndex], /) -> Array:
    """Join copies of an array along its axes.

    Parameters
    ----------
    x : Array
        The array.
    repetitions : int or sequence of int
        The number of copies along each axis. The shorter one of `repetitions` and x's shape is filled up with ones in
        front.

    Returns
    -------
    Array
        The joined array.

    Raises
    ------
    InvalidArgumentError
        A number is negative or not an integer.

    Examples
    --------
    >>> fe.tile(fe.asarray([[1, 2]]), (2, 2)).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    x = as_operand("tile", x)
    counts = sizes(repetitions, "tile", "repetitions")
    for count in counts:
        if count < 0:
            raise InvalidArgumentError(f"tile: repetitions has the negative number {shown(count)}")
    rank = max(x.ndim, len(counts))
    check_ndim("tile", rank)
    counts = (*(1,) * (rank - len(counts)), *counts)
    shape = (*(1,) * (rank - x.ndim), *x.shape)
    result = tuple(size * count for size, count in zip(shape, counts, strict=True))
    _check_size("tile", result, x)
    if 0 in result:
        return full(result, 0, dtype=x.dtype, device=device_of(x))
    # An axis that is repeated becomes two: the copies and the elements. Axes of length 1 need no second one.
    split: list[int] = []
    spread: list[int] = []
    for size, count in zip(shape, counts, strict=True):
        if count != 1 and size != 1:
            split.append(1)
            spread.append(count)
        split.append(size)
        spread.append(size if size != 1 else count)
    if len(split) > MAX_DIMENSIONS:
        tiled = reshape(x, shape)
        for axis, count in enumerate(counts):
            if count != 1:
                tiled = take(tiled, np.tile(np.arange(tiled.shape[axis]), count), axis=axis)
        return tiled
    return reshape(_spread(reshape(x, split), spread), result)

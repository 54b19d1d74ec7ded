"""Reshaping, joining, splitting, padding, and taking elements at indices."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Never, SupportsIndex

import numpy as np

from ferrule import _ferrule
from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import (
    Shape,
    axes_of,
    axis_of,
    is_index,
    one_integer,
    one_of,
    optional_flag,
    refuse_more,
    sizes,
)
from ferrule.array.host_memory import check_ndim, enough_memory
from ferrule.array.numbers import shown
from ferrule.array.recording import as_companion, as_operand
from ferrule.array.symbols import Symbol
from ferrule.dtypes.classification import is_block
from ferrule.errors import DTypeError, Error, InvalidArgumentError, NumberOverflowError
from ferrule.functions import views
from ferrule.functions.conversion import as_index_dtype, cast
from ferrule.functions.index_bounds import check_bounds, known

__all__ = [
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "matrix_transpose",
    "moveaxis",
    "pad",
    "permute_dims",
    "reshape",
    "split",
    "squeeze",
    "stack",
    "take",
    "take_along_axis",
]

_PADDING_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def reshape(x: Array, /, shape: Shape, *more: Never, copy: bool | None = None) -> Array:
    """Return the elements of x in another shape, in C order.

    Parameters
    ----------
    x : Array
        The array.
    shape : int or sequence of int
        The shape, with as many elements as x. One size may be -1: it is computed from the others.
    *more
        Not accepted: pass the shape as one tuple. Further positional arguments raise InvalidArgumentError.
    copy : bool, optional
        True copies the elements. None and False give a view where the strides allow it; where they do not, None
        copies, and False raises an error.

    Returns
    -------
    Array
        An array of the shape.

    Raises
    ------
    InvalidArgumentError
        The shape has another number of elements, or is not one tuple; or `copy=False`, and a copy is needed.

    Examples
    --------
    >>> fe.reshape(fe.arange(6), (2, -1)).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    refuse_more(more, "reshape", "pass the shape as one tuple: reshape(x, (2, 3))")
    copy = optional_flag(copy, "reshape", "copy")
    lengths = sizes(shape, "reshape")
    check_ndim("reshape", len(lengths))
    others = -math.prod(lengths)
    if type(x) is Array and lengths.count(-1) == 1 and others > 0 and x.size % others == 0:
        lengths = tuple(x.size // others if size == -1 else size for size in lengths)
    step = views.Reshaped(lengths)
    is_view = not copy and type(x) is Array and views.is_viewed(x, lengths)
    reshaped = views.cut(x, step) if is_view else step.of(x)
    if copy is False and not _is_viewed(as_operand("reshape", x), reshaped.shape):
        raise InvalidArgumentError(f"reshape: {x.shape} to {reshaped.shape} needs a copy, which copy=False forbids")
    return recording.apply("copy", (reshaped,), {}) if copy else reshaped


def _is_viewed(x: Array, shape: tuple[int, ...]) -> bool:
    """Whether strides can express x in another shape. A traced or pending array counts as dense."""
    strides = x._handle.strides if isinstance(x._handle, _ferrule.Array) else None
    if strides is None or x.size == 0:
        return True
    # Axes that follow one another in memory are one run. A run must end where an axis of the shape ends.
    ends: list[int] = []
    before = None
    for size, stride in zip(x.shape, strides, strict=True):
        if size == 1:
            continue
        count = size * (ends[-1] if ends else 1)
        if before == stride * size:
            ends[-1] = count
        else:
            ends.append(count)
        before = stride
    return {*ends} <= {*itertools.accumulate(shape, operator.mul)}


def permute_dims(x: Array, /, axes: Sequence[SupportsIndex], *more: Never) -> Array:
    """Return a view of x with its axes in another order.

    Parameters
    ----------
    x : Array
        The array.
    axes : sequence of int
        The axes of x in the order of the result.
    *more
        Not accepted: pass the axes as one tuple. Further positional arguments raise InvalidArgumentError.

    Returns
    -------
    Array
        The view. Blocks of a block dtype lie along the last axis: where it moves, the result is decoded to float32,
        though not before it is needed. A product `y @ x.T` reads the blocks themselves.

    Raises
    ------
    InvalidArgumentError
        `axes` is not a permutation of the axes of x, or is not one tuple.

    Examples
    --------
    >>> fe.permute_dims(fe.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    refuse_more(more, "permute_dims", "pass the axes as one tuple: permute_dims(x, (1, 0))")
    order = sizes(axes, "permute_dims", "axes")
    if isinstance(x, Array) and is_block(x.dtype) and order and order[-1] not in (-1, len(order) - 1):
        x = cast(x, "float32")
    return views.cut(x, views.Permuted(tuple(axis + len(order) if -len(order) <= axis < 0 else axis for axis in order)))


def matrix_transpose(x: Array, /) -> Array:
    """Return a view of x with its last two axes exchanged.

    Parameters
    ----------
    x : Array of shape (..., m, n)
        The array.

    Returns
    -------
    Array of shape (..., n, m)
        The view.

    Raises
    ------
    InvalidArgumentError
        x has fewer than 2 dimensions.

    Examples
    --------
    >>> fe.matrix_transpose(fe.asarray([[1, 2], [3, 4]])).tolist()
    [[1, 3], [2, 4]]
    """
    x = as_operand("matrix_transpose", x)
    if x.ndim < 2:
        raise InvalidArgumentError(f"matrix_transpose: needs at least 2 dimensions, not {x.ndim}")
    axes = list(range(x.ndim))
    axes[-2:] = axes[-1], axes[-2]
    return permute_dims(x, axes)


def moveaxis(
    x: Array,
    source: SupportsIndex | Sequence[SupportsIndex],
    destination: SupportsIndex | Sequence[SupportsIndex],
    /,
) -> Array:
    """Return a view of x with axes moved; the others stay in order.

    Parameters
    ----------
    x : Array
        The array.
    source : int or sequence of int
        The axes to move.
    destination : int or sequence of int
        Their positions in the result.

    Returns
    -------
    Array
        The view.

    Raises
    ------
    InvalidArgumentError
        `source` and `destination` differ in length, or name an axis twice.
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.moveaxis(fe.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    >>> fe.moveaxis(fe.ones((2, 3, 4)), (0, 1), (-1, 0)).shape
    (3, 4, 2)
    """
    x = as_operand("moveaxis", x)
    moved = axes_of("moveaxis", source, x.ndim, "source")
    places = axes_of("moveaxis", destination, x.ndim, "destination")
    if len(moved) != len(places):
        raise InvalidArgumentError(f"moveaxis: {len(moved)} axes to move to {len(places)} places")
    order = [axis for axis in range(x.ndim) if axis not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return permute_dims(x, order)


def expand_dims(x: Array, /, axis: SupportsIndex | Sequence[SupportsIndex] = 0) -> Array:
    """Return a view of x with new axes of length 1.

    Parameters
    ----------
    x : Array
        The array.
    axis : int or sequence of int
        The positions of the new axes in the result.

    Returns
    -------
    Array
        The view.

    Raises
    ------
    OutOfRangeError
        An axis is out of range.
    InvalidArgumentError
        An axis is named twice, or the result has too many dimensions.

    Examples
    --------
    >>> fe.expand_dims(fe.ones(3), 1).shape
    (3, 1)
    >>> fe.expand_dims(fe.ones(3), (0, 2)).shape
    (1, 3, 1)
    """
    x = as_operand("expand_dims", x)
    rank = x.ndim + len(sizes(axis, "expand_dims", "axis"))
    check_ndim("expand_dims", rank)
    new = axes_of("expand_dims", axis, rank)
    lengths = iter(x.shape)
    return reshape(x, [1 if place in new else next(lengths) for place in range(rank)])


def squeeze(x: Array, /, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Array:
    """Return a view of x without axes of length 1.

    Parameters
    ----------
    x : Array
        The array.
    axis : int or sequence of int, optional
        The axes to remove; by default all axes of length 1.

    Returns
    -------
    Array
        The view.

    Raises
    ------
    InvalidArgumentError
        An axis to remove does not have length 1.
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.squeeze(fe.ones((1, 3, 1))).shape
    (3,)
    """
    x = as_operand("squeeze", x)
    if axis is None:
        return reshape(x, tuple(size for size in x.shape if size != 1))
    gone = axes_of("squeeze", axis, x.ndim)
    for place in gone:
        if x.shape[place] != 1:
            raise InvalidArgumentError(f"squeeze: axis {place} of {x.shape} has {x.shape[place]} elements, not one")
    return reshape(x, tuple(size for place, size in enumerate(x.shape) if place not in gone))


def broadcast_to(x: Array, /, shape: Shape, *more: Never) -> Array:
    """Return a view of x that is broadcast to a shape.

    Parameters
    ----------
    x : Array
        The array.
    shape : int or sequence of int
        A shape that x broadcasts to.
    *more
        Not accepted: pass the shape as one tuple. Further positional arguments raise InvalidArgumentError.

    Returns
    -------
    Array
        The view, of shape `shape`.

    Raises
    ------
    InvalidArgumentError
        x does not broadcast to the shape, or the shape is not one tuple.

    Examples
    --------
    >>> fe.broadcast_to(fe.arange(2), (2, 2)).tolist()
    [[0, 1], [0, 1]]
    """
    refuse_more(more, "broadcast_to", "pass the shape as one tuple: broadcast_to(x, (2, 3))")
    lengths = sizes(shape, "broadcast_to")
    check_ndim("broadcast_to", len(lengths))
    return views.cut(x, views.ReadOnly("broadcast_to", (("shape", lengths),)))


def flip(x: Array, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Array:
    """Reverse the order of the elements along axes.

    Parameters
    ----------
    x : Array
        The array.
    axis : int or sequence of int, optional
        The axes; by default all.

    Returns
    -------
    Array
        An array of x's shape.

    Raises
    ------
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.flip(fe.arange(3)).tolist()
    [2, 1, 0]
    """
    x = as_operand("flip", x)
    places = axes_of("flip", axis, x.ndim)
    return x[tuple(slice(None, None, -1) if place in places else slice(None) for place in range(x.ndim))]


def _operands(op: str, arrays: Sequence[Array]) -> list[Array]:
    if not isinstance(arrays, Iterable):
        raise InvalidArgumentError(f"{op}: takes a list or tuple of arrays, not {type(arrays).__name__}")
    try:
        together = [*arrays]
    except TypeError as error:  # an array of 0 dimensions
        raise InvalidArgumentError(f"{op}: takes a list or tuple of arrays: {error}") from error
    # Only an operand that is not an array yet needs the others. There may be very many arrays.
    return [
        array if type(array) is Array and not is_number(array) else as_companion(op, array, *together)
        for array in together
    ]


def concat(arrays: Sequence[Array], /, *more: Never, axis: SupportsIndex | None = 0) -> Array:
    """Join arrays along an axis.

    Parameters
    ----------
    arrays : sequence of Array
        Arrays whose shapes are equal except along the axis.
    *more
        Not accepted: pass the arrays as one list or tuple. Further positional arguments raise InvalidArgumentError.
    axis : int, optional
        The axis; None flattens the arrays first.

    Returns
    -------
    Array
        The joined array.

    Raises
    ------
    InvalidArgumentError
        There are no arrays, they are not in one list or tuple, the shapes do not match, or the axis is out of range.

    Examples
    --------
    >>> fe.concat([fe.arange(2), fe.arange(3)]).tolist()
    [0, 1, 0, 1, 2]
    """
    refuse_more(more, "concat", "pass the arrays as one list or tuple: concat([x, y], axis=0)")
    inputs = _operands("concat", arrays)
    if not inputs:
        raise InvalidArgumentError("concat: there are no arrays")
    if axis is None:
        inputs, axis = [reshape(array, (-1,)) for array in inputs], 0
    return recording.apply("concat", inputs, {"axis": one_integer(axis, "concat", "axis")})


def stack(arrays: Sequence[Array], /, *more: Never, axis: SupportsIndex = 0) -> Array:
    """Join arrays of equal shape along a new axis.

    Parameters
    ----------
    arrays : sequence of Array
        The arrays.
    *more
        Not accepted: pass the arrays as one list or tuple. Further positional arguments raise InvalidArgumentError.
    axis : int
        The position of the new axis in the result.

    Returns
    -------
    Array
        The joined array, with one dimension more.

    Raises
    ------
    InvalidArgumentError
        There are no arrays, they are not in one list or tuple, or the shapes differ.

    Examples
    --------
    >>> fe.stack([fe.arange(2), fe.arange(2)], axis=1).tolist()
    [[0, 0], [1, 1]]
    """
    refuse_more(more, "stack", "pass the arrays as one list or tuple: stack([x, y], axis=0)")
    inputs = _operands("stack", arrays)
    if not inputs:
        raise InvalidArgumentError("stack: there are no arrays")
    if len({array.shape for array in inputs}) > 1:
        raise InvalidArgumentError(f"stack: the shapes differ: {', '.join(str(array.shape) for array in inputs)}")
    return concat([expand_dims(array, axis=axis) for array in inputs], axis=axis)


def split(x: Array, /, sections: int | Sequence[int], *, axis: SupportsIndex = 0) -> list[Array]:
    """Split an array along an axis.

    Parameters
    ----------
    x : Array
        The array.
    sections : int or sequence of int
        The number of equal parts, or the indices at which a new part begins.
    axis : int
        The axis.

    Returns
    -------
    list of Array
        The parts.

    Raises
    ------
    InvalidArgumentError
        The axis does not divide into that many equal parts.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> [part.tolist() for part in fe.split(fe.arange(4), 2)]
    [[0, 1], [2, 3]]
    >>> [part.tolist() for part in fe.split(fe.arange(4), [1])]
    [[0], [1, 2, 3]]
    """
    x = as_operand("split", x)
    place = axis_of("split", axis, x.ndim)
    length = x.shape[place]
    if is_index(sections):
        sections = one_integer(sections, "split", "sections")
        if sections < 1 or length % sections != 0:
            raise InvalidArgumentError(f"split: {length} elements do not divide into {shown(sections)} equal parts")
        ends = list(range(0, length + 1, length // sections)) if length else [0] * (sections + 1)
    else:
        ends = [0, *sizes(sections, "split", "sections"), length]
    before = (slice(None),) * place
    return [x[(*before, slice(start, end))] for start, end in pairwise(ends)]


def pad(
    x: Array,
    widths: object,
    /,
    mode: str = "constant",
    *,
    value: float | Array = 0,
    constant_values: float | Array | None = None,
) -> Array:
    """Add elements before and after the elements of x along each axis.

    Parameters
    ----------
    x : Array
        The array.
    widths : int, pair of int, or sequence of pairs
        The numbers of elements to add, as in NumPy: one number, a pair (before, after), or a pair for each axis.
    mode : {"constant", "edge", "reflect", "symmetric", "wrap"}
        What is added, as in NumPy: a value, copies of the outermost element, the elements mirrored at the outermost
        element or at the border, or the elements from the other end.
    value : number or Array
        The value to add. A Python number must be representable in x's dtype; an array of 0 dimensions promotes with x.
    constant_values : number or Array, optional
        NumPy's name of `value`.

    Returns
    -------
    Array
        The padded array.

    Raises
    ------
    InvalidArgumentError
        `widths` are not such integers, there is no such mode, or an axis of length 0 has no elements to repeat.
    NumberOverflowError
        `value` does not fit into x's dtype.

    Examples
    --------
    >>> fe.pad(fe.asarray([1, 2]), (1, 2), value=9).tolist()
    [9, 1, 2, 9, 9]
    >>> fe.pad(fe.asarray([1, 2, 3]), 2, mode="reflect").tolist()
    [3, 2, 1, 2, 3, 2, 1]
    """
    x = as_operand("pad", x)
    one_of(_PADDING_MODES, mode, "pad", "mode")
    try:
        pairs = np.broadcast_to(np.asarray(widths), (x.ndim, 2))
    except ValueError as error:
        raise InvalidArgumentError(
            f"pad: widths are a number, a pair, or a pair for each of {x.ndim} axes, not {widths!r}"
        ) from error
    if pairs.dtype.kind not in "iu":
        what = f"dtype {pairs.dtype}" if pairs.dtype.kind == "O" else repr(widths)
        raise InvalidArgumentError(f"pad: widths are integers of 64 bits, not {what}")
    if mode != "constant":
        return _padded_with_elements(x, pairs.tolist(), mode) if pairs.any() else x._another("pad()")
    value = value if constant_values is None else constant_values
    attributes = {"before": pairs[:, 0].tolist(), "after": pairs[:, 1].tolist()}
    filling = recording.number_like("pad", value, x, exact=True) if is_number(value) else value
    return recording.apply("pad", (x, filling), attributes)


def _padded_with_elements(x: Array, pairs: list[list[int]], mode: str) -> Array:
    """Take the elements of each axis at the indices that NumPy's padding of the indices gives."""
    for axis, (before, after) in enumerate(pairs):
        if before < 0 or after < 0:
            raise InvalidArgumentError(f"pad: widths must not be negative with mode={mode!r}, and are {pairs!r}")
        if not before and not after:
            continue
        if x.shape[axis] == 0:
            raise InvalidArgumentError(f"pad: axis {axis} has length 0, and so no elements for mode={mode!r}")
        with enough_memory(f"pad: axis {axis} with {before} elements before and {after} behind"):
            indices = np.pad(np.arange(x.shape[axis]), (before, after), mode=mode)  # type: ignore[call-overload]
        x = take(x, indices, axis=axis)
    return x


def take(x: Array, indices: object, /, *, axis: SupportsIndex | None = None) -> Array:
    """Take elements at indices along an axis.

    Parameters
    ----------
    x : Array
        The array.
    indices : array_like of int
        The indices; negative ones count from the end.
    axis : int, optional
        The axis; it may be omitted if x has one dimension.

    Returns
    -------
    Array
        The elements: the axes of `indices` replace the axis of x.

    Raises
    ------
    DTypeError
        The indices are not integers.
    InvalidArgumentError
        x does not have one dimension, and `axis` is not given.
    OutOfRangeError
        The axis is out of range, or an index is: at once where the host has its value, else when the result is
        computed.

    Examples
    --------
    >>> fe.take(fe.asarray([10, 20, 30]), [2, 0, -2]).tolist()
    [30, 10, 20]
    """
    x = as_operand("take", x, indices)
    if axis is None:
        if x.ndim != 1:
            raise InvalidArgumentError(f"take: needs an axis for {x.ndim} dimensions")
        axis = 0
    place = axis_of("take", axis, x.ndim)
    return take_elements(x, _indices("take", indices, x, place), place)


def take_elements(x: Array, indices: Array, axis: int) -> Array:
    """Return the elements at indices, which were checked if the host has their values."""
    _check_without_kernel("take", x, indices, axis)
    return recording.apply("take", (x, as_index_dtype(indices)), {"axis": axis})


def take_along_axis(x: Array, indices: object, /, *, axis: SupportsIndex = -1) -> Array:
    """Take elements at indices along an axis, with other indices at each place of the other axes.

    Parameters
    ----------
    x : Array
        The array.
    indices : array_like of int
        The indices, with as many dimensions as x; negative ones count from the end. The other axes of x and the indices
        are broadcast.
    axis : int
        The axis.

    Returns
    -------
    Array
        The elements, in the broadcast shape, with the length of the indices along the axis.

    Raises
    ------
    DTypeError
        The indices are not integers.
    InvalidArgumentError
        The indices have another number of dimensions, or their shape does not broadcast.
    OutOfRangeError
        The axis is out of range, or an index is: at once where the host has its value, else when the result is
        computed.

    Examples
    --------
    >>> x = fe.asarray([[3, 1, 2], [4, 6, 5]])
    >>> fe.take_along_axis(x, fe.argsort(x)).tolist()
    [[1, 2, 3], [4, 5, 6]]
    """
    x = as_operand("take_along_axis", x)
    place = axis_of("take_along_axis", axis, x.ndim)
    places = _indices("take_along_axis", indices, x, place)
    if places.ndim != x.ndim:
        raise InvalidArgumentError(
            f"take_along_axis: x has {x.ndim} dimensions and the indices have {places.ndim}; they need equally many"
        )
    try:
        shape = list(np.broadcast_shapes(*((*a.shape[:place], 1, *a.shape[place + 1 :]) for a in (x, places))))
    except ValueError as error:
        raise InvalidArgumentError(
            f"take_along_axis: the shapes {x.shape} and {places.shape} do not broadcast in the axes other than {place}"
        ) from error
    size, count = x.shape[place], places.shape[place]
    x = _broadcast(x, (*shape[:place], size, *shape[place + 1 :]))
    places = _broadcast(as_index_dtype(places), (*shape[:place], count, *shape[place + 1 :]))
    _check_without_kernel("take_along_axis", x, places, place)
    return recording.apply("take_along_axis", (x, places), {"axis": place})


def _broadcast(x: Array, shape: tuple[int, ...]) -> Array:
    return x if x.shape == shape else broadcast_to(x, shape)


def _indices(op: str, indices: object, x: Array, axis: int) -> Array:
    """Return indices of an axis as an array of integers, checked if the host has their values."""
    if isinstance(indices, (list, tuple)):
        try:
            indices = np.asarray(indices, dtype=np.int64)
        except OverflowError as error:
            raise NumberOverflowError(f"{op}: an index does not fit into int64") from error
        except (TypeError, ValueError) as error:
            if isinstance(error, Error):
                raise
            raise InvalidArgumentError(f"{op}: the indices are not integers: {error}") from error
    places = as_operand(op, indices, x)
    if places.dtype.kind not in "iu":
        raise DTypeError(f"{op}: indices are integers, not dtype {places.dtype}")
    values = indices if isinstance(indices, np.ndarray) else known(places)
    if values is not None:
        check_bounds(op, values, axis, x.shape[axis])
    return places


def _check_without_kernel(op: str, x: Array, indices: Array, axis: int) -> None:
    """Check the indices of an array without elements, for which no kernel runs."""
    if x.size == 0 and indices.size and not isinstance(indices._handle, Symbol):
        check_bounds(op, np.asarray(indices), axis, x.shape[axis])

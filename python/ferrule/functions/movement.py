"""Shapes, joins, padding and elements at indices."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Never, SupportsIndex

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import Shape, axis_of, one_integer, refuse_more, sizes
from ferrule.array.numbers import shown
from ferrule.array.recording import as_operand
from ferrule.array.symbols import Symbol
from ferrule.errors import DTypeError, Error, InvalidArgumentError, NumberOverflowError, OutOfRangeError
from ferrule.functions.conversion import as_int64


def reshape(x: Array, /, shape: Shape, *more: Never) -> Array:
    """x in another shape of as many elements; one size may be -1."""
    refuse_more(more, "reshape", "pass the shape as one tuple: reshape(x, (2, 3))")
    return recording.apply("reshape", (x,), {"shape": sizes(shape, "reshape")})


def permute_dims(x: Array, /, axes: Sequence[SupportsIndex], *more: Never) -> Array:
    """x with its axes in another order."""
    refuse_more(more, "permute_dims", "pass the axes as one tuple: permute_dims(x, (1, 0))")
    return recording.apply("permute_dims", (x,), {"axes": sizes(axes, "permute_dims", "axes")})


def matrix_transpose(x: Array, /) -> Array:
    """x with its last two axes exchanged."""
    if x.ndim < 2:
        raise InvalidArgumentError(f"matrix_transpose: needs at least 2 dimensions, not {x.ndim}")
    axes = list(range(x.ndim))
    axes[-2:] = axes[-1], axes[-2]
    return permute_dims(x, axes)


def moveaxis(x: Array, source: SupportsIndex, destination: SupportsIndex, /) -> Array:
    """x with one axis moved; the others stay in order."""
    axes = list(range(x.ndim))
    axes.insert(axis_of("moveaxis", destination, x.ndim), axes.pop(axis_of("moveaxis", source, x.ndim)))
    return permute_dims(x, axes)


def expand_dims(x: Array, /, *, axis: SupportsIndex = 0) -> Array:
    """x with an axis of one element put in."""
    place = axis_of("expand_dims", axis, x.ndim + 1)
    return reshape(x, (*x.shape[:place], 1, *x.shape[place:]))


def squeeze(x: Array, /, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Array:
    """x without the given axes of one element; without any such axis unless some are given."""
    if axis is None:
        return reshape(x, tuple(size for size in x.shape if size != 1))
    gone = {axis_of("squeeze", place, x.ndim) for place in sizes(axis, "squeeze", "axis")}
    for place in gone:
        if x.shape[place] != 1:
            raise InvalidArgumentError(f"squeeze: axis {place} of {x.shape} has {x.shape[place]} elements, not one")
    return reshape(x, tuple(size for place, size in enumerate(x.shape) if place not in gone))


def broadcast_to(x: Array, /, shape: Shape, *more: Never) -> Array:
    """x repeated to a shape that it broadcasts to, without a copy."""
    refuse_more(more, "broadcast_to", "pass the shape as one tuple: broadcast_to(x, (2, 3))")
    return recording.apply("broadcast_to", (x,), {"shape": sizes(shape, "broadcast_to")})


def flip(x: Array, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Array:
    """x with the order along axes, or all of them, reversed."""
    x = as_operand("flip", x)
    places = (
        range(x.ndim) if axis is None else {axis_of("flip", place, x.ndim) for place in sizes(axis, "flip", "axis")}
    )
    return x[tuple(slice(None, None, -1) if place in places else slice(None) for place in range(x.ndim))]


def _operands(op: str, arrays: Sequence[Array]) -> list[Array]:
    if not isinstance(arrays, Iterable):
        raise InvalidArgumentError(f"{op}: takes a list or tuple of arrays, not {type(arrays).__name__}")
    together = [*arrays]
    # Others are looked at only beside what is no array of ferrule's yet: they may be very many.
    return [
        array if type(array) is Array and not is_number(array) else as_operand(op, array, *together)
        for array in together
    ]


def concat(arrays: Sequence[Array], /, *more: Never, axis: SupportsIndex | None = 0) -> Array:
    """Arrays joined along an axis; flattened first when axis is None."""
    refuse_more(more, "concat", "pass the arrays as one list or tuple: concat([x, y], axis=0)")
    inputs = _operands("concat", arrays)
    if not inputs:
        raise InvalidArgumentError("concat: there are no arrays")
    if axis is None:
        inputs, axis = [reshape(array, (-1,)) for array in inputs], 0
    return recording.apply("concat", inputs, {"axis": one_integer(axis, "concat", "axis")})


def stack(arrays: Sequence[Array], /, *more: Never, axis: SupportsIndex = 0) -> Array:
    """Arrays of one shape joined along a new axis."""
    refuse_more(more, "stack", "pass the arrays as one list or tuple: stack([x, y], axis=0)")
    inputs = _operands("stack", arrays)
    if len({array.shape for array in inputs}) > 1:
        raise InvalidArgumentError(f"stack: the shapes differ: {', '.join(str(array.shape) for array in inputs)}")
    return concat([expand_dims(array, axis=axis) for array in inputs], axis=axis)


def split(x: Array, /, sections: int | Sequence[int], *, axis: SupportsIndex = 0) -> list[Array]:
    """x cut along an axis: into so many equal parts, or before each of the given places."""
    x = as_operand("split", x)
    place = axis_of("split", axis, x.ndim)
    length = x.shape[place]
    if isinstance(sections, SupportsIndex) and not isinstance(sections, np.ndarray):
        sections = operator.index(sections)
        if sections < 1 or length % sections != 0:
            raise InvalidArgumentError(f"split: {length} elements do not divide into {shown(sections)} equal parts")
        ends = list(range(0, length + 1, length // sections)) if length else [0] * (sections + 1)
    else:
        ends = [0, *sizes(sections, "split", "sections"), length]
    before = (slice(None),) * place
    return [x[(*before, slice(start, end))] for start, end in pairwise(ends)]


def pad(x: Array, widths: object, /, *, value: float | Array = 0) -> Array:
    """x with elements of `value` around it; widths as NumPy's: a number, a pair, or a pair for each axis.

    A Python number must be one of x's dtype; an array of 0 dimensions promotes with x.
    """
    x = as_operand("pad", x)
    try:
        pairs = np.broadcast_to(np.asarray(widths), (x.ndim, 2))
    except ValueError as error:
        raise InvalidArgumentError(
            f"pad: widths are a number, a pair, or a pair for each of {x.ndim} axes, not {widths!r}"
        ) from error
    if pairs.dtype.kind not in "iu":
        what = f"dtype {pairs.dtype}" if pairs.dtype.kind == "O" else repr(widths)
        raise InvalidArgumentError(f"pad: widths are integers of 64 bits, not {what}")
    attributes = {"before": pairs[:, 0].tolist(), "after": pairs[:, 1].tolist()}
    filling = recording.number_like("pad", value, x, exact=True) if is_number(value) else value
    return recording.apply("pad", (x, filling), attributes)


def take(x: Array, indices: object, /, *, axis: SupportsIndex | None = None) -> Array:
    """Elements of x at indices along an axis, which may be left out for one dimension. Negative indices count from the
    end."""
    if axis is None:
        if x.ndim != 1:
            raise InvalidArgumentError(f"take: needs an axis for {x.ndim} dimensions")
        axis = 0
    if isinstance(indices, (list, tuple)):
        try:
            indices = np.asarray(indices, dtype=np.int64)
        except OverflowError as error:
            raise NumberOverflowError("take: an index does not fit into int64") from error
        except (TypeError, ValueError) as error:
            if isinstance(error, Error):
                raise
            raise InvalidArgumentError(f"take: the indices are no integers: {error}") from error
    places = as_operand("take", indices, x)
    if places.dtype.kind not in "iu":
        raise DTypeError(f"take: indices are integers, not dtype {places.dtype}")
    if places.dtype.name != "int32":
        places = as_int64(places)
    place = axis_of("take", axis, x.ndim)
    if x.size == 0 and places.size and not isinstance(places._handle, Symbol):
        _check_bounds(places, place, x.shape[place])  # nothing is computed that would find it
    return recording.apply("take", (x, places), {"axis": place})


def _check_bounds(places: Array, axis: int, size: int) -> None:
    known = np.asarray(places)
    outside = known[(known < -size) | (known >= size)]
    if outside.size:
        raise OutOfRangeError(f"take: index {int(outside[0])} is out of range for axis {axis} with {size} elements")

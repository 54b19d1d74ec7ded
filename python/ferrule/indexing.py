"""`x[key]` and `x[key] = v`: integers, slices, None, Ellipsis, and one integer array."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ferrule import _record
from ferrule._errors import InvalidArgumentError, OutOfRangeError, UnsupportedError
from ferrule._symbols import Symbol, refuse
from ferrule.array import Array
from ferrule.manipulation import as_operand, astype, broadcast_to, reshape, take

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EVERYTHING = slice(None)


def get(x: Array, key: object) -> Array:
    """Views, and `take` where an integer array stands in the key."""
    if isinstance(key, slice) or type(key) is int:
        key = (key,)
    items = _complete(x, key)
    starts, lengths, steps, shape = [], [], [], []
    gather: tuple[int, Array] | None = None
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        size = x.shape[axis]
        if isinstance(item, slice):
            start, stop, step = item.indices(size)
            length = len(range(start, stop, step))
            starts.append(start if length else 0)
            shape.append(length)
        elif isinstance(item, Array):
            if gather is not None:
                raise UnsupportedError(
                    "x[key]: at most one integer array stands in a key; take one axis after the other"
                )
            gather = (len(shape), item)
            starts.append(0)
            length, step = size, 1
            shape.append(size)
        else:
            starts.append(_in_range(item, axis, size))
            length, step = 1, 1
        lengths.append(length)
        steps.append(step)
        axis += 1
    result = x
    if tuple(lengths) != x.shape or any(step != 1 for step in steps):
        result = _record.apply("slice", (x,), {"starts": starts, "sizes": lengths, "steps": steps})
    if tuple(shape) != result.shape:
        result = reshape(result, shape)
    if gather:
        return take(result, gather[1], axis=gather[0])
    return x._snapshot() if result is x else result


def put(x: Array, key: object, value: object) -> Array:
    """x with `value` at `key`: a choice between x and the value spread over x's shape."""
    value = astype(as_operand("x[key] = value", value, x), x.dtype, copy=False)
    if isinstance(key, (Array, np.ndarray)) and key.dtype.kind == "b":
        return _put_by_mask(x, as_operand("x[mask] = value", key, x), value)
    items = _complete(x, key)
    positions: list[NDArray[np.int64] | None] = []  # of each axis of x; None for all of it
    shape: list[int] = []  # of x[key]
    kept: list[int] = []  # of x[key], with one element for an axis that an integer took
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        size = x.shape[axis]
        if isinstance(item, slice):
            places = np.arange(size)[item]
            positions.append(None if len(places) == size and (item.step or 1) > 0 else places)
            shape.append(len(places))
        elif isinstance(item, Array):
            places = _known_indices(item, axis, size)
            positions.append(places)
            shape.append(len(places))
        else:
            places = np.asarray([_in_range(item, axis, size)])
            positions.append(places)
        kept.append(len(places))
        axis += 1
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = reshape(value, value.shape[1:])
    spread = reshape(broadcast_to(value, shape), kept)
    if 0 in kept:
        return x
    mask: Array | None = None
    for place, chosen in enumerate(positions):
        if chosen is None:
            continue
        source = np.zeros(x.shape[place], dtype=np.int64)
        source[chosen] = np.arange(len(chosen))
        hit = np.zeros(x.shape[place], dtype=np.bool_)
        hit[chosen] = True
        spread = take(spread, source, axis=place)
        along = as_operand("x[key] = value", hit.reshape([-1 if k == place else 1 for k in range(x.ndim)]), x)
        mask = along if mask is None else _record.apply("logical_and", (mask, along), {})
    return spread if mask is None else _record.apply("where", (mask, spread, x), {})


def _put_by_mask(x: Array, mask: Array, value: Array) -> Array:
    if mask.shape != x.shape[: mask.ndim]:
        raise InvalidArgumentError(f"x[mask] = value: the mask has shape {mask.shape}, x has {x.shape}")
    if value.ndim > x.ndim - mask.ndim and value.size != 1:
        raise UnsupportedError(
            f"x[mask] = value: a value of shape {value.shape} has an element for each place that the mask chooses, "
            "whose number is not known before it is computed; use where"
        )
    if value.size == 1:
        value = reshape(value, ())
    mask = reshape(mask, mask.shape + (1,) * (x.ndim - mask.ndim))
    return broadcast_to(_record.apply("where", (mask, value, x), {}), x.shape)


def _complete(x: Array, key: object) -> list[Any]:
    """The key as slices, integers, None and integer arrays: one for each axis, no Ellipsis, nothing left out."""
    given = key if isinstance(key, tuple) else (key,)
    items = [_item(x, item) for item in given]
    ellipses = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise OutOfRangeError("x[key]: more than one Ellipsis")
    axes = sum(item is not None and item is not Ellipsis for item in items)
    if axes > x.ndim:
        raise OutOfRangeError(f"x[key]: {axes} indices for an array of {x.ndim} dimensions")
    place = ellipses[0] if ellipses else len(items)
    return [*items[:place], *[_EVERYTHING] * (x.ndim - axes), *items[place + 1 :]]


def _item(x: Array, item: object) -> object:
    if item is None or item is Ellipsis or isinstance(item, slice) or type(item) is int:
        return item
    if isinstance(item, (list, np.ndarray)):
        item = np.asarray(item, dtype=np.int64) if isinstance(item, list) and not item else np.asarray(item)
    if isinstance(item, (bool, np.bool_)) or (isinstance(item, (Array, np.ndarray)) and item.dtype.kind == "b"):
        raise UnsupportedError(
            "x[mask]: how many elements a mask chooses is not known before it is computed; use where(mask, x, other)"
        )
    if isinstance(item, (Array, np.ndarray)):
        if item.dtype.kind not in "iu":
            raise OutOfRangeError(f"x[key]: an index array has integers, not dtype {item.dtype}")
        return as_operand("x[key]", item, x)
    if isinstance(item, SupportsIndex):
        return operator.index(item)
    raise OutOfRangeError(f"x[key]: a {type(item).__name__} is no index: int, slice, None, ... and integer arrays are")


def _in_range(index: int, axis: int, size: int) -> int:
    if not -size <= index < size:
        raise OutOfRangeError(f"x[key]: index {index} is out of range for axis {axis} with {size} elements")
    return index % size


def _known_indices(indices: Array, axis: int, size: int) -> NDArray[np.int64]:
    if isinstance(indices._handle, Symbol):
        refuse("x[indices] = value")
    if indices.ndim != 1:
        raise UnsupportedError(f"x[indices] = value: the indices have {indices.ndim} dimensions; flatten them first")
    places = np.asarray(indices).astype(np.int64)
    for place in places:
        _in_range(int(place), axis, size)
    return np.where(places < 0, places + size, places)

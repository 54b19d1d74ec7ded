"""`x[key]` and `x[key] = value`: integers, slices, None, Ellipsis, and one integer array.

As in NumPy, an integer beside an index array counts as an index array. If slices or None separate the index arrays,
the axes of the indices come first in the result.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.host_memory import enough_memory
from ferrule.array.numbers import shown
from ferrule.array.recording import as_operand
from ferrule.array.symbols import Symbol, refuse
from ferrule.dtypes.classification import is_block
from ferrule.errors import DTypeError, InvalidArgumentError, OutOfRangeError, UnsupportedError
from ferrule.functions.conversion import cast
from ferrule.functions.movement import broadcast_to, permute_dims, reshape, take
from ferrule.functions.slicing import cut, written

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EVERYTHING = slice(None)


def get(x: Array, key: object) -> Array:
    """Return `x[key]`: a view, or a `take` if the key has an integer array."""
    if isinstance(key, slice) or type(key) is int:
        key = (key,)
    given = _items(x, key)
    items = _complete(x, given)
    starts, lengths, steps, shape = [], [], [], []
    moving: dict[int, tuple[Array, int]] = {}  # start and length of axes whose start is a number of a traced call
    gather: tuple[int, Array] | None = None
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        size = x.shape[axis]
        if isinstance(item, slice) and (moved := _moving_slice(item, size)) is not None:
            moving[axis] = moved
            starts.append(0)
            length, step = size, 1
            shape.append(moved[1])
        elif isinstance(item, slice):
            chosen = _range_of(item, size)
            length, step = len(chosen), chosen.step
            starts.append(chosen.start if length else 0)
            shape.append(length)
        elif _is_traced_int(item):
            moving[axis] = recording.number_of("index", item, size), 1
            starts.append(0)
            length, step = size, 1
        elif isinstance(item, Array):
            if gather is not None:
                raise UnsupportedError("x[key]: a key takes at most one integer array; index one axis at a time")
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
        result = recording.apply("slice", (x,), {"starts": starts, "sizes": lengths, "steps": steps})
    if moving:
        begins = [moving[axis][0] if axis in moving else 0 for axis in range(x.ndim)]
        lengths = [moving[axis][1] if axis in moving else length for axis, length in enumerate(lengths)]
        result = cut("x[key]", result, begins, lengths)
    if tuple(shape) != result.shape:
        result = reshape(result, shape)
    if gather is None:
        return x._snapshot("x[key]") if result is x else result
    place, indices = gather
    taken = take(result, indices, axis=place)
    return _moved_to_front(taken, place, indices.ndim) if _comes_first(given) else taken


def put(x: Array, key: object, value: object) -> Array:
    """Return x with `value` at `key`: a slice is written, or `where` selects from x and the broadcast value."""
    if is_block(x.dtype):
        raise DTypeError(f"x[key] = value: x has the dtype {x.dtype}, whose blocks are not written; cast x to float32")
    if is_number(value):
        value = recording.number_like("x[key] = value", value, x)
    elif type(value) is complex:
        value = recording.complex_like("x[key] = value", value, x)
    else:
        value = cast(as_operand("x[key] = value", value, x), x.dtype)
    if isinstance(key, list):
        key = _as_indices(key)
    if isinstance(key, (Array, np.ndarray)) and key.dtype.kind == "b":
        return _put_by_mask(x, as_operand("x[mask] = value", key, x), value)
    given = _items(x, key)
    items = _complete(x, given)
    gathered: tuple[int, int] | None = None  # the first axis of x[key] that the index array gives, and their number
    positions: list[range | NDArray[np.int64] | None] = []  # the indices along each axis of x; None for all
    starts: list[int | Array] = []  # the start along each axis, as long as the elements written form one slice
    shape: list[int] = []  # of x[key]
    kept: list[int] = []  # the shape of x[key] with length 1 for each axis that an integer removes
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        size = x.shape[axis]
        if isinstance(item, slice) and (moved := _moving_slice(item, size)) is not None:
            shape.append(moved[1])
            kept.append(moved[1])
            starts.append(moved[0])
        elif isinstance(item, slice):
            chosen = _range_of(item, size)
            shape.append(len(chosen))
            kept.append(len(chosen))
            positions.append(None if chosen == range(size) else chosen)
            if chosen.step == 1:
                starts.append(chosen.start if chosen else 0)
        elif _is_traced_int(item):
            kept.append(1)
            starts.append(recording.number_of("index", item, size))
        elif isinstance(item, Array):
            if gathered is not None:
                raise UnsupportedError("x[key] = value: a key takes at most one integer array")
            places = _known_indices(item, axis, size)
            gathered = (len(shape), places.ndim)
            shape.extend(places.shape)
            positions.append(places.reshape(-1))
            kept.append(places.size)
        else:
            place = _in_range(item, axis, size)
            positions.append(np.asarray([place]))
            kept.append(1)
            starts.append(place)
        axis += 1
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = reshape(value, value.shape[1:])
    if gathered is not None and _comes_first(given):
        place, rank = gathered
        front = shape[place : place + rank]
        spread = _moved_from_front(_spread(value, [*front, *shape[:place], *shape[place + rank :]]), place, rank)
    else:
        spread = _spread(value, shape)
    spread = reshape(spread, kept)
    if 0 in kept:
        return x
    if len(starts) == x.ndim:
        return spread if tuple(kept) == x.shape else written("x[key] = value", x, spread, starts)
    if len(positions) < x.ndim:
        raise UnsupportedError(
            "x[key] = value: a number of a traced call can be combined with integers and slices of step 1, not with "
            "index arrays or other slices"
        )
    mask: Array | None = None
    for place, some in enumerate(positions):
        if some is None:
            continue
        with enough_memory(f"x[key] = value for x of shape {x.shape}"):
            source = np.zeros(x.shape[place], dtype=np.int64)
            hit = np.zeros(x.shape[place], dtype=np.bool_)
            places = np.arange(some.start, some.stop, some.step) if isinstance(some, range) else some
            source[places] = np.arange(len(places))
            hit[places] = True
        spread = take(spread, source, axis=place)
        along = as_operand("x[key] = value", hit.reshape([-1 if k == place else 1 for k in range(x.ndim)]), x)
        mask = along if mask is None else recording.apply("logical_and", (mask, along), {})
    return spread if mask is None else recording.apply("where", (mask, spread, x), {})


def _spread(value: Array, shape: list[int]) -> Array:
    missing = len(shape) - value.ndim
    if missing < 0 or any(have not in (1, want) for have, want in zip(value.shape, shape[missing:], strict=True)):
        raise InvalidArgumentError(
            f"x[key] = value: the value has shape {value.shape}, which does not broadcast to {tuple(shape)}, the shape "
            "of x[key]"
        )
    return broadcast_to(value, shape)


def _range_of(item: slice, size: int) -> range:
    """Return the indices of a slice, with a step that fits 64 bits."""
    chosen = range(*item.indices(size))
    return chosen if len(chosen) > 1 else range(chosen.start, chosen.start + len(chosen))


def _is_traced_int(item: object) -> bool:
    """Whether the item is an int argument of a traced function, or computed from such."""
    return isinstance(item, Array) and is_number(item) and item.dtype.kind == "i"


def _moving_slice(item: slice, size: int) -> tuple[Array, int] | None:
    """Return the start and length of a slice that depends on a number of a traced call; None for other slices."""
    ends = [end for end in (item.start, item.stop, item.step) if isinstance(end, Array) and is_number(end)]
    if not ends:
        return None
    graph: Any = ends[0]._handle.graph  # type: ignore[union-attr]
    if item.step not in (None, 1) or item.start is None or item.stop is None:
        refuse("x[start:stop], whose length is not known,", ends[0]._handle)
    if not _is_traced_int(item.start):
        refuse("x[start:stop], whose length is not known,", ends[0]._handle)
    with graph._lock:
        stop = (
            graph._own(item.stop).id if _is_traced_int(item.stop) else graph._numbers.literal(operator.index(item.stop))
        )
        length = graph._numbers.distance(stop, graph._own(item.start).id)
    if length is None:
        refuse("x[start:stop], whose length is not known,", ends[0]._handle)
    length = max(length, 0)
    if length > size:
        raise OutOfRangeError(f"x[key]: a slice of {length} elements does not fit into an axis with {size}")
    return recording.number_of("slice_start", item.start, size, length), length


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
    return broadcast_to(recording.apply("where", (mask, value, x), {}), x.shape)


def _items(x: Array, key: object) -> list[Any]:
    """Return the key as slices, integers, None, Ellipsis and integer arrays."""
    return [_item(x, item) for item in (key if isinstance(key, tuple) else (key,))]


def _comes_first(items: list[Any]) -> bool:
    """Whether other items separate the indices, of which one is an array."""
    places = [place for place, item in enumerate(items) if isinstance(item, (int, Array))]
    return places[-1] - places[0] >= len(places)


def _moved_to_front(x: Array, place: int, rank: int) -> Array:
    order = [*range(place, place + rank), *range(place), *range(place + rank, x.ndim)]
    return x if order == sorted(order) else permute_dims(x, order)


def _moved_from_front(x: Array, place: int, rank: int) -> Array:
    order = [*range(rank, rank + place), *range(rank), *range(rank + place, x.ndim)]
    return x if order == sorted(order) else permute_dims(x, order)


def _complete(x: Array, items: list[Any]) -> list[Any]:
    """Return one item for each axis of x, and the None items: Ellipsis and missing items become full slices."""
    ellipses = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise OutOfRangeError("x[key]: more than one Ellipsis")
    axes = sum(item is not None and item is not Ellipsis for item in items)
    if axes > x.ndim:
        raise OutOfRangeError(f"x[key]: {axes} indices for an array of {x.ndim} dimensions")
    place = ellipses[0] if ellipses else len(items)
    return [*items[:place], *[_EVERYTHING] * (x.ndim - axes), *items[place + 1 :]]


def _item(x: Array, item: object) -> object:
    if item is None or item is Ellipsis or isinstance(item, slice) or type(item) is int or _is_traced_int(item):
        return item
    if isinstance(item, (list, np.ndarray)):
        item = _as_indices(item)
    if isinstance(item, (bool, np.bool_)) or (isinstance(item, (Array, np.ndarray)) and item.dtype.kind == "b"):
        raise UnsupportedError(
            "x[mask]: how many elements a mask chooses is not known before it is computed; use ferrule.where(mask, x, "
            "other), or ferrule.compress(mask, x, axis=0, size=n) with a mask of one dimension (size= only in a traced "
            "function)"
        )
    if isinstance(item, (Array, np.ndarray)):
        if item.dtype.kind not in "iu":
            raise OutOfRangeError(f"x[key]: an index array has integers, not dtype {item.dtype}")
        return as_operand("x[key]", item, x)
    if isinstance(item, SupportsIndex):
        return operator.index(item)
    raise OutOfRangeError(
        f"x[key]: a {type(item).__name__} is not an index; indices are integers, slices, None, ... and integer arrays"
    )


def _as_indices(item: list[Any] | NDArray[Any]) -> NDArray[Any]:
    try:
        return np.asarray(item, dtype=np.int64) if isinstance(item, list) and not item else np.asarray(item)
    except ValueError as error:
        raise OutOfRangeError(f"x[key]: the lists in {shown(item)} differ in length") from error


def _in_range(index: int, axis: int, size: int) -> int:
    if not -size <= index < size:
        raise OutOfRangeError(f"x[key]: index {shown(index)} is out of range for axis {axis} with {size} elements")
    return index % size


def _known_indices(indices: Array, axis: int, size: int) -> NDArray[np.int64]:
    if isinstance(indices._handle, Symbol):
        refuse("x[indices] = value", indices._handle)
    places = np.asarray(indices)
    outside = places[(places < -size) | (places >= size)]
    if outside.size:
        _in_range(int(outside[0]), axis, size)
    places = places.astype(np.int64)
    return np.where(places < 0, places + size, places)

"""The part of `x[key]` and `x[key] = value` that integers, slices and None do: views, and writes to them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.host_memory import enough_memory
from ferrule.array.numbers import shown
from ferrule.array.recording import as_operand
from ferrule.array.symbols import refuse
from ferrule.errors import InvalidArgumentError, OutOfRangeError, UnsupportedError
from ferrule.functions import views
from ferrule.functions.movement import broadcast_to, reshape, taken
from ferrule.functions.slicing import cut, written

_EVERYTHING = slice(None)


class NewAxis(NamedTuple):
    """A mask of 0 dimensions in a key: a new axis of length 1, and the indices along it."""

    indices: Array


Gather = tuple[int, Array]  # an axis, and the indices along it


class Key(NamedTuple):
    """A key with one item for each axis, and None for each new axis.

    An item is an integer from 0 on, the range of a slice, or None; or, if it depends on a number argument of a traced
    function, an Array or a slice. `shape` is that of the part.
    """

    items: tuple[Any, ...]
    shape: tuple[int, ...]

    @property
    def is_plain(self) -> bool:
        """Whether all items are integers, ranges and None."""
        return not any(isinstance(item, (Array, slice)) for item in self.items)

    def slices(self) -> tuple[Any, ...]:
        """Return the key with slices in place of ranges."""
        return tuple(_slice_of(item) if isinstance(item, range) else item for item in self.items)

    def of(self, x: Array) -> Array:
        result, _ = basic(x, [*self.slices()])
        return x._snapshot("x[key]") if result is x else result

    def back(self, x: Array, part: Array) -> Array:
        return put_basic(x, [*self.slices()], part)

    def strides(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> views.Layout | None:
        axes = iter(strides)
        found: list[int] = []
        for item in self.items:
            stride = 1 if item is None else next(axes)
            if item is None or isinstance(item, (range, slice)):
                found.append(stride * item.step if isinstance(item, range) else stride)
        return self.shape, tuple(found)

    def then(self, after: Key) -> Key | None:
        """Return the key of x[self][after]; None if there is no such key."""
        if not (self.is_plain and after.is_plain):
            return None
        items: list[Any] = []
        others = iter(after.items)
        for item in self.items:
            if isinstance(item, int):
                items.append(item)
                continue
            while (other := next(others)) is None:
                items.append(None)
            if isinstance(item, range):
                items.append(item[other] if isinstance(other, int) else _cut(item, other))
            elif isinstance(other, range):
                if len(other) != 1:
                    return None
                items.append(None)
        return plain_key((*items, *others))


def plain_key(items: tuple[Any, ...]) -> Key:
    """Return the key of integers, ranges and None."""
    return Key(items, tuple(1 if item is None else len(item) for item in items if not isinstance(item, int)))


def are_same(some: Sequence[views.Step], others: Sequence[views.Step]) -> bool:
    """Whether steps are equal; numbers of a traced function are if they are one object."""
    if len(some) != len(others):
        return False
    pairs = zip(some, others, strict=True)
    return all(type(one) is type(other) and _compared(one) == _compared(other) for one, other in pairs)


def _compared(step: views.Step) -> object:
    if isinstance(step, Key):
        return [("traced", id(item)) if isinstance(item, (Array, slice)) else item for item in step.items]
    return step


def simplified(steps: Sequence[views.Step]) -> list[views.Step]:
    """Return steps of the same view: keys come first where they can, so that few elements are written."""
    simple: list[views.Step] = []
    for step in steps:
        _add(simple, step)
    return simple or [views.Whole()]


def _add(steps: list[views.Step], step: views.Step) -> None:
    last = steps[-1] if steps else None
    if isinstance(step, views.Whole):
        return
    if isinstance(step, Key) and isinstance(last, Key) and (joined := last.then(step)):
        steps[-1] = joined
    elif isinstance(step, views.Reshaped) and isinstance(last, views.Reshaped):
        steps[-1] = step
    elif isinstance(step, views.Permuted) and isinstance(last, views.Permuted):
        steps[-1] = views.Permuted(tuple(last.axes[axis] for axis in step.axes))
    elif isinstance(step, Key) and isinstance(last, views.Permuted) and step.is_plain:
        steps.pop()
        kept = [item for item in step.items if item is not None]
        order = [axis for axis, item in zip(last.axes, kept, strict=True) if isinstance(item, range)]
        by_axis = dict(zip(last.axes, kept, strict=True))
        _add(steps, plain_key(tuple(by_axis[axis] for axis in range(len(kept)))))
        steps.append(views.Permuted(tuple(sorted(order).index(axis) for axis in order)))
        if len(kept) < len(step.items):
            new = [item if item is None else range(len(item)) for item in step.items if not isinstance(item, int)]
            steps.append(plain_key(tuple(new)))
    else:
        steps.append(step)


def _cut(whole: range, part: range) -> range:
    """Return the range of whole[part]."""
    if not part:
        return range(0)
    step = whole.step * part.step
    return range(whole[part[0]], whole[part[-1]] + (1 if step > 0 else -1), step)


def _slice_of(chosen: range) -> slice:
    if not chosen:
        return slice(0, 0)
    return slice(chosen.start, chosen.stop if chosen.stop >= 0 else None, chosen.step)


def step_of(x: Array, items: list[Any]) -> Key:
    """Return the step of a view for items that are not index arrays."""
    axis = 0
    found: list[Any] = []
    shape: list[int] = []
    for item in items:
        if item is None:
            found.append(None)
            shape.append(1)
            continue
        size = x.shape[axis]
        if isinstance(item, slice):
            moved = moving_slice(item, size)
            found.append(range_of(item, size) if moved is None else item)
            shape.append(len(found[-1]) if moved is None else moved[1])
        else:
            found.append(item if is_traced_int(item) else in_range(item, axis, size))
        axis += 1
    return Key(tuple(found), tuple(shape))


def basic(x: Array, items: list[Any]) -> tuple[Array, list[Gather]]:
    """Return the view that the items without index arrays make, and the axes of it that index arrays apply to."""
    starts, lengths, steps, shape = [], [], [], []
    moving: dict[int, tuple[Array, int]] = {}  # start and length of axes whose start is a number of a traced call
    gathers: list[Gather] = []
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        if isinstance(item, NewAxis):
            gathers.append((len(shape), item.indices))
            shape.append(1)
            continue
        size = x.shape[axis]
        if isinstance(item, slice) and (moved := moving_slice(item, size)) is not None:
            moving[axis] = moved
            starts.append(0)
            length, step = size, 1
            shape.append(moved[1])
        elif isinstance(item, slice):
            chosen = range_of(item, size)
            length, step = len(chosen), chosen.step
            starts.append(chosen.start if length else 0)
            shape.append(length)
        elif is_traced_int(item):
            moving[axis] = recording.number_of("index", item, size), 1
            starts.append(0)
            length, step = size, 1
        elif isinstance(item, Array):
            gathers.append((len(shape), item))
            starts.append(0)
            length, step = size, 1
            shape.append(size)
        else:
            starts.append(in_range(item, axis, size))
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
    if tuple(shape) != result.shape:  # not reshape(), whose result is a view
        result = recording.apply("reshape", (result,), {"shape": shape})
    return result, gathers


def put_basic(x: Array, items: list[Any], value: Array) -> Array:
    positions: list[range | None] = []  # the indices along each axis of x; None for all
    starts: list[int | Array] = []  # the start along each axis, as long as the elements written form one slice
    shape: list[int] = []  # of x[key]
    kept: list[int] = []  # the shape of x[key] with length 1 for each axis that an integer removes
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        size = x.shape[axis]
        if isinstance(item, slice) and (moved := moving_slice(item, size)) is not None:
            shape.append(moved[1])
            kept.append(moved[1])
            starts.append(moved[0])
        elif isinstance(item, slice):
            chosen = range_of(item, size)
            shape.append(len(chosen))
            kept.append(len(chosen))
            positions.append(None if chosen == range(size) else chosen)
            if chosen.step == 1:
                starts.append(chosen.start if chosen else 0)
        elif is_traced_int(item):
            kept.append(1)
            starts.append(recording.number_of("index", item, size))
        else:
            place = in_range(item, axis, size)
            positions.append(range(place, place + 1))
            kept.append(1)
            starts.append(place)
        axis += 1
    spread = reshape(broadcast_value(without_ones(value, len(shape)), shape), kept)
    if 0 in kept:
        return x
    if len(starts) == x.ndim:
        return spread if tuple(kept) == x.shape else written("x[key] = value", x, spread, starts)
    if len(positions) < x.ndim:
        raise UnsupportedError(
            "x[key] = value: a number of a traced call can be combined with integers, index arrays and slices of step "
            "1, not with other slices"
        )
    mask: Array | None = None
    for place, some in enumerate(positions):
        if some is None:
            continue
        with enough_memory(f"x[key] = value for x of shape {x.shape}"):
            source = np.zeros(x.shape[place], dtype=np.int64)
            hit = np.zeros(x.shape[place], dtype=np.bool_)
            places = np.arange(some.start, some.stop, some.step)
            source[places] = np.arange(len(places))
            hit[places] = True
        spread = taken(spread, as_operand("x[key] = value", source, spread), place)
        along = as_operand("x[key] = value", hit.reshape([-1 if k == place else 1 for k in range(x.ndim)]), x)
        mask = along if mask is None else recording.apply("logical_and", (mask, along), {})
    return spread if mask is None else recording.apply("where", (mask, spread, x), {})


def without_ones(value: Array, rank: int) -> Array:
    """Return the value without leading axes of length 1, as far as it has more axes than `rank`."""
    while value.ndim > rank and value.shape[0] == 1:
        value = reshape(value, value.shape[1:])
    return value


def broadcast_value(value: Array, shape: list[int], caller: str = "x[key] = value", what: str = "x[key]") -> Array:
    missing = len(shape) - value.ndim
    if missing < 0 or any(have not in (1, want) for have, want in zip(value.shape, shape[missing:], strict=True)):
        raise InvalidArgumentError(
            f"{caller}: the value has shape {value.shape}, which does not broadcast to {tuple(shape)}, the shape of "
            f"{what}"
        )
    return value if value.shape == tuple(shape) else broadcast_to(value, shape)


def range_of(item: slice, size: int) -> range:
    """Return the indices of a slice, with a step that fits 64 bits."""
    chosen = range(*item.indices(size))
    return chosen if len(chosen) > 1 else range(chosen.start, chosen.start + len(chosen))


def moving_slice(item: slice, size: int) -> tuple[Array, int] | None:
    """Return the start and length of a slice that depends on a number of a traced call; None for other slices."""
    ends = [end for end in (item.start, item.stop, item.step) if isinstance(end, Array) and is_number(end)]
    if not ends:
        return None
    graph: Any = ends[0]._handle.graph  # type: ignore[union-attr]
    if item.step not in (None, 1) or item.start is None or item.stop is None:
        refuse("x[start:stop], whose length is not known,", ends[0]._handle)
    if not is_traced_int(item.start):
        refuse("x[start:stop], whose length is not known,", ends[0]._handle)
    with graph._lock:
        stop = (
            graph._own(item.stop).id if is_traced_int(item.stop) else graph._numbers.literal(operator.index(item.stop))
        )
        length = graph._numbers.distance(stop, graph._own(item.start).id)
    if length is None:
        refuse("x[start:stop], whose length is not known,", ends[0]._handle)
    length = max(length, 0)
    if length > size:
        raise OutOfRangeError(f"x[key]: a slice of {length} elements does not fit into an axis with {size}")
    return recording.number_of("slice_start", item.start, size, length), length


def is_traced_int(item: object) -> bool:
    """Whether the item is an int argument of a traced function, or computed from such."""
    return isinstance(item, Array) and is_number(item) and item.dtype.kind == "i"


def in_range(index: int, axis: int, size: int) -> int:
    if not -size <= index < size:
        raise OutOfRangeError(f"x[key]: index {shown(index)} is out of range for axis {axis} with {size} elements")
    return index % size

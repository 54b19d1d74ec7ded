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
from ferrule.functions.movement import take_elements
from ferrule.functions.slicing import cut, write_slice


class NewAxis(NamedTuple):
    """A mask of 0 dimensions in a key: a new axis of length 1, and the indices along it."""

    indices: Array


Gather = tuple[int, Array]  # an axis, and the indices along it


class DynamicRange(NamedTuple):
    """A slice whose start is a number of a traced call; the length is known."""

    start: Array
    length: int


class Key(NamedTuple):
    """A key with one item for each axis, and None for each new axis.

    An item is an integer from 0 on, the range of a slice, or None; or, if it depends on a number argument of a traced
    function, an Array or a DynamicRange. `shape` is that of the part.
    """

    items: tuple[Any, ...]
    shape: tuple[int, ...]

    @property
    def is_plain(self) -> bool:
        """Whether all items are integers, ranges and None."""
        return not any(isinstance(item, (Array, DynamicRange)) for item in self.items)

    def of(self, x: Array) -> Array:
        part = self.part(x)
        return x._snapshot("x[key]") if part is x else part

    def part(self, x: Array) -> Array:
        """Return the part of x; x itself if that is all of it."""
        starts, lengths, steps = [], [], []
        dynamic: dict[int, tuple[Array, int]] = {}  # axes whose start is a number of a traced call: start and length
        for axis, (item, size) in enumerate(zip(self._along_axes(), x.shape, strict=True)):
            start, length, step = 0, size, 1
            if isinstance(item, range):
                start, length, step = item.start if item else 0, len(item), item.step
            elif isinstance(item, int):
                start, length = item, 1
            else:
                dynamic[axis] = _start_of(item, size), item.length if isinstance(item, DynamicRange) else 1
            starts.append(start)
            lengths.append(length)
            steps.append(step)
        result = x
        if tuple(lengths) != x.shape or any(step != 1 for step in steps):
            result = recording.apply("slice", (x,), {"starts": starts, "sizes": lengths, "steps": steps})
        if dynamic:
            begins = [dynamic[axis][0] if axis in dynamic else 0 for axis in range(x.ndim)]
            lengths = [dynamic[axis][1] if axis in dynamic else length for axis, length in enumerate(lengths)]
            result = cut("x[key]", result, begins, lengths)
        if self.shape != result.shape:
            result = recording.apply("reshape", (result,), {"shape": self.shape})
        return result

    def back(self, x: Array, part: Array) -> Array:
        """Return x with another part, which broadcasts to that of x."""
        positions: list[range | None] = []  # the indices along each axis of x; None for all
        starts: list[int | Array] = []  # the start along each axis, as long as the elements written form one slice
        kept: list[int] = []  # the shape of the part with length 1 for each axis that an integer removes
        for item, size in zip(self._along_axes(), x.shape, strict=True):
            if isinstance(item, range):
                kept.append(len(item))
                positions.append(None if item == range(size) else item)
                if item.step == 1:
                    starts.append(item.start if item else 0)
            elif isinstance(item, int):
                kept.append(1)
                positions.append(range(item, item + 1))
                starts.append(item)
            else:
                kept.append(item.length if isinstance(item, DynamicRange) else 1)
                starts.append(_start_of(item, size))
        spread = broadcast_value(without_ones(part, len(self.shape)), self.shape)
        if 0 in kept:
            return x
        if spread.shape != tuple(kept):
            spread = recording.apply("reshape", (spread,), {"shape": kept})
        if len(starts) == x.ndim:
            return spread if spread.shape == x.shape else write_slice("x[key] = value", x, spread, starts)
        if len(positions) < x.ndim:
            raise UnsupportedError(
                "x[key] = value: a number of a traced call can be combined with integers, index arrays and slices of "
                "step 1, not with other slices"
            )
        return _put_apart(x, positions, spread)

    def strides(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> views.Layout | None:
        axes = iter(strides)
        found: list[int] = []
        for item in self.items:
            stride = 1 if item is None else next(axes)
            if item is None or isinstance(item, (range, DynamicRange)):
                found.append(stride * item.step if isinstance(item, range) else stride)
        return self.shape, tuple(found)

    def after(self, last: views.Step) -> tuple[views.Step, ...] | None:
        if isinstance(last, Key) and (joined := last.then(self)):
            return (joined,)
        if not isinstance(last, views.Permuted) or not self.is_plain:
            return None
        kept = self._along_axes()
        order = [axis for axis, item in zip(last.axes, kept, strict=True) if isinstance(item, range)]
        by_axis = dict(zip(last.axes, kept, strict=True))
        before = plain_key(tuple(by_axis[axis] for axis in range(len(kept))))
        permuted = views.Permuted(tuple(sorted(order).index(axis) for axis in order))
        if len(kept) == len(self.items):
            return before, permuted
        new = [item if item is None else range(len(item)) for item in self.items if not isinstance(item, int)]
        return before, permuted, plain_key(tuple(new))

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

    def _along_axes(self) -> list[Any]:
        return [item for item in self.items if item is not None]


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
        return [_compared_item(item) for item in step.items]
    return step


def _compared_item(item: Any) -> object:
    if isinstance(item, DynamicRange):
        return "dynamic", id(item.start), item.length
    return ("traced", id(item)) if isinstance(item, Array) else item


def _cut(whole: range, part: range) -> range:
    """Return the range of whole[part]."""
    if not part:
        return range(0)
    if len(part) == 1:
        return range(whole[part[0]], whole[part[0]] + 1)
    step = whole.step * part.step
    return range(whole[part[0]], whole[part[-1]] + (1 if step > 0 else -1), step)


def key_of(x: Array, items: list[Any]) -> tuple[Key, list[Gather]]:
    """Return the key of the items that are no index arrays, and the axes of its part that index arrays apply to."""
    found: list[Any] = []
    shape: list[int] = []
    gathers: list[Gather] = []
    axis = 0
    for item in items:
        if item is None or isinstance(item, NewAxis):
            if item is not None:
                gathers.append((len(shape), item.indices))
            found.append(None)
            shape.append(1)
            continue
        size = x.shape[axis]
        if isinstance(item, slice):
            part = _dynamic_range(item, size)
            found.append(_range_of(item, size) if part is None else part)
            shape.append(len(found[-1]) if part is None else part.length)
        elif is_traced_int(item):
            found.append(item)
        elif isinstance(item, Array):
            gathers.append((len(shape), item))
            found.append(range(size))
            shape.append(size)
        else:
            found.append(_in_range(item, axis, size))
        axis += 1
    return Key(tuple(found), tuple(shape)), gathers


def _start_of(item: DynamicRange | Array, size: int) -> Array:
    """Return the place along an axis that a number of a traced call says."""
    if isinstance(item, DynamicRange):
        return recording.number_of("slice_start", item.start, size, item.length)
    return recording.number_of("index", item, size)


def _put_apart(x: Array, positions: list[range | None], spread: Array) -> Array:
    """Return x with other values at positions that do not follow one another."""
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
        spread = take_elements(spread, as_operand("x[key] = value", source, spread), place)
        along = as_operand("x[key] = value", hit.reshape([-1 if k == place else 1 for k in range(x.ndim)]), x)
        mask = along if mask is None else recording.apply("logical_and", (mask, along), {})
    return spread if mask is None else recording.apply("where", (mask, spread, x), {})


def without_ones(value: Array, rank: int) -> Array:
    """Return the value without leading axes of length 1, as far as it has more axes than `rank`."""
    extra = value.ndim - rank
    if extra <= 0 or value.shape[0] != 1:
        return value
    ones = next((axis for axis in range(extra) if value.shape[axis] != 1), extra)
    return recording.apply("reshape", (value,), {"shape": value.shape[ones:]})


def broadcast_value(value: Array, shape: Sequence[int], caller: str = "x[key] = value", what: str = "x[key]") -> Array:
    missing = len(shape) - value.ndim
    if missing < 0 or any(have not in (1, want) for have, want in zip(value.shape, shape[missing:], strict=True)):
        raise InvalidArgumentError(
            f"{caller}: the value has shape {value.shape}, which does not broadcast to {tuple(shape)}, the shape of "
            f"{what}"
        )
    return value if value.shape == tuple(shape) else recording.apply("broadcast_to", (value,), {"shape": shape})


def _range_of(item: slice, size: int) -> range:
    """Return the indices of a slice, with a step that fits 64 bits."""
    chosen = range(*item.indices(size))
    return chosen if len(chosen) > 1 else range(chosen.start, chosen.start + len(chosen))


def _dynamic_range(item: slice, size: int) -> DynamicRange | None:
    """Return a slice that depends on a number of a traced call; None for other slices."""
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
    return DynamicRange(item.start, length)


def is_traced_int(item: object) -> bool:
    """Whether the item is an int argument of a traced function, or computed from such."""
    return isinstance(item, Array) and is_number(item) and item.dtype.kind == "i"


def _in_range(index: int, axis: int, size: int) -> int:
    if not -size <= index < size:
        raise OutOfRangeError(f"x[key]: index {shown(index)} is out of range for axis {axis} with {size} elements")
    return index % size

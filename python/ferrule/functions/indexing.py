"""`x[key]` and `x[key] = value`: integers, slices, None, Ellipsis, integer arrays and masks.

As in NumPy, an integer beside an index array counts as an index array. If slices or None separate the index arrays,
the axes of the indices come first in the result. A mask beside other items counts as the index arrays of its true
elements.

A key is taken apart into its *basic* part, which has a full slice for each index array, and the index arrays. Several
index arrays become one, along the axes that they index, joined to one axis.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule import _ferrule
from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import is_index
from ferrule.array.host_memory import refuse_masked
from ferrule.array.numbers import shown
from ferrule.array.recording import as_operand
from ferrule.array.symbols import Symbol, refuse
from ferrule.dtypes.classification import is_block
from ferrule.errors import DTypeError, Error, InvalidArgumentError, OutOfRangeError
from ferrule.functions import compaction, index_bounds, views
from ferrule.functions.asarray import asarray, numbers_in
from ferrule.functions.basic_keys import (
    Gather,
    Key,
    NewAxis,
    are_same,
    broadcast_value,
    is_traced_int,
    key_of,
    without_ones,
)
from ferrule.functions.conversion import as_index_dtype, as_int64, cast
from ferrule.functions.creation import zeros
from ferrule.functions.movement import broadcast_to, permute_dims, reshape, take_elements
from ferrule.functions.repetition import common_shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EVERYTHING = slice(None)
_MASK_LENGTH = (
    "x[mask], whose length depends on values (that of ferrule.where(mask, x + 1, x), instead of x[mask] += 1, and of "
    "ferrule.compress(mask, x, axis=0, size=n) does not),"
)


def get(x: Array, key: object) -> Array:
    """Return `x[key]`: a view, or the elements that index arrays or a mask choose.

    Integers for all axes give one element, which is not a view, as in NumPy.
    """
    if isinstance(key, slice) or type(key) is int:
        key = (key,)
    given = _items(x, key)
    if len(given) == 1 and _is_mask(given[0]):
        return _chosen_by_mask(x, given[0])
    items, is_separated = _complete("x[key]", x, given)
    basic, gathers = key_of(x, items)
    if gathers:
        return _gathered(basic.part(x), gathers, is_separated)
    if len(given) == x.ndim and not any(isinstance(item, slice) or item is None or item is Ellipsis for item in given):
        return basic.part(x)._copied("x[key]")
    return views.cut(x, basic)


def assign(x: Array, key: object, value: object) -> None:
    """`x[key] = value`."""
    base, steps = _ferrule.view_of(x) or (x, ())
    part = _ferrule.view_of(value) if type(value) is Array else None
    step = _basic_key(x, key) if steps or part else None
    if step is None:
        views.change(x, lambda before: put(before, key, value))
        return
    joined = views.join_steps(steps, step)
    if part and part[0] is base and are_same(part[1], joined):
        return  # the second half of `x[key] += y`, which assigned to the view x[key]
    spread = broadcast_value(without_ones(_value_for(x, value), len(step.shape)), step.shape)
    views.change(base, lambda before: views.replace_part(before, joined, spread))


def _gathered(x: Array, gathers: list[Gather], is_separated: bool) -> Array:
    """Return the elements at index arrays: their axes replace the indexed ones, or come first if they are separated."""
    if len(gathers) == 1:
        place, indices = gathers[0]
        elements = take_elements(x, indices, place)
        return _moved_to_front(elements, place, indices.ndim) if is_separated else elements
    joined = _Joined(x, gathers, is_separated)
    return take_elements(joined.joined(x), joined.indices, joined.place)


class _Joined:
    """The axes of x that index arrays apply to, joined to one axis, and the indices along it."""

    def __init__(self, x: Array, gathers: list[Gather], is_separated: bool, caller: str = "x[key]") -> None:
        axes = [axis for axis, _ in gathers]
        is_moved = is_separated or axes != list(range(axes[0], axes[0] + len(axes)))
        others = [axis for axis in range(x.ndim) if axis not in axes]
        self.place = 0 if is_moved else axes[0]
        self.order = [*others[: self.place], *axes, *others[self.place :]]
        self.moved_shape = tuple(x.shape[axis] for axis in self.order)
        self.sizes = [x.shape[axis] for axis in axes]
        self.indices = _joined_indices(caller, [indices for _, indices in gathers], self.sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of x[key]."""
        return self._with(*self.indices.shape)

    @property
    def flat_shape(self) -> tuple[int, ...]:
        """The shape of x[key] with one axis for the indices."""
        return self._with(self.indices.size)

    def moved(self, x: Array) -> Array:
        """Return x with the axes side by side."""
        return x if self.order == sorted(self.order) else permute_dims(x, self.order)

    def joined(self, x: Array) -> Array:
        """Return x with the axes joined."""
        moved = self.moved(x)
        return moved if len(self.sizes) == 1 else reshape(moved, self._with(math.prod(self.sizes)))

    def back(self, x: Array) -> Array:
        """Return what `moved` makes x of."""
        order = sorted(range(x.ndim), key=self.order.__getitem__)
        return x if order == sorted(order) else permute_dims(x, order)

    def _with(self, *sizes: int) -> tuple[int, ...]:
        return (*self.moved_shape[: self.place], *sizes, *self.moved_shape[self.place + len(self.sizes) :])


# So many indices are joined by NumPy, without a kernel.
_FEW_INDICES = 4096


def _joined_indices(caller: str, arrays: list[Array], sizes: list[int]) -> Array:
    """Return indices along the joined axes, of the shape that the arrays broadcast to.

    Unknown indices become out of bounds for the joined axis where one is out of bounds for its own.
    """
    shape = common_shape(f"{caller}: index arrays", *(array.shape for array in arrays))
    known = [index_bounds.known(array) for array in arrays]
    if len(arrays) == 1:
        return arrays[0]
    if math.prod(shape) <= _FEW_INDICES and not any(places is None for places in known):
        joined = np.zeros(shape, np.int64)
        for places, size in zip(known, sizes, strict=True):
            positions = np.asarray(places, np.int64)
            joined = joined * size + np.where(positions < 0, positions + size, positions)
        return as_operand(caller, joined, *arrays)
    flat: Array | None = None
    outside: Array | None = None
    for array, places, size in zip(arrays, known, sizes, strict=True):
        indices = as_int64(array)
        if places is None or places.min(initial=0) < 0:
            indices = recording.apply("where", (indices < 0, indices + size, indices), {})
        if places is None:
            wrong = (indices < 0) | (indices >= size)
            outside = wrong if outside is None else outside | wrong
        flat = indices if flat is None else flat * size + indices
    assert flat is not None
    if outside is not None:
        flat = recording.apply("where", (outside, math.prod(sizes), flat), {})
    return broadcast_to(flat, shape)


def _is_mask(item: object) -> bool:
    return isinstance(item, Array) and item.dtype.kind == "b"


def _chosen_by_mask(x: Array, mask: Array) -> Array:
    """Return the elements, or slices, where the mask is true, in their order."""
    mask = _fitted("x[mask]", x, mask)
    rows = _rows_of(x, mask)
    if isinstance(mask._handle, Symbol):
        refuse(_MASK_LENGTH, mask._handle)
    flags = mask if mask.ndim == 1 else reshape(mask, (mask.size,))
    if isinstance(x._handle, Symbol):
        return take_elements(rows, compaction.nonzero(flags)[0], 0)
    return recording.apply_all("compress", (rows, flags), {"axis": 0, "size": -1})[0]


def _fitted(caller: str, x: Array, mask: Array, axis: int = 0) -> Array:
    """Return the mask, which has the sizes of x from an axis on.

    As in NumPy, a mask of no elements may have sizes of 0 in place of others, and chooses nothing.
    """
    sizes = x.shape[axis : axis + mask.ndim]
    if mask.shape == sizes:
        return mask
    if mask.size > 0 or len(sizes) < mask.ndim or any(m not in (0, s) for m, s in zip(mask.shape, sizes, strict=True)):
        start = f" from axis {axis} on" if axis else ""
        raise OutOfRangeError(f"{caller}: the mask has shape {mask.shape}, and x has {x.shape}{start}")
    return zeros(sizes, dtype=np.bool_, device=x.device)


def _rows_of(x: Array, mask: Array) -> Array:
    """Return x with one axis in place of those of the mask."""
    return x if mask.ndim == 1 else reshape(x, (mask.size, *x.shape[mask.ndim :]))


def _put_by_mask(x: Array, mask: Array, value: Array) -> Array:
    """Return x with the value, or its next slice, where the mask is true."""
    shape = x.shape
    mask = _fitted("x[mask] = value", x, mask)
    slice_shape = x.shape[mask.ndim :]  # no view of x here: of memory that someone else can write to it would be a copy
    own = len(slice_shape)
    while value.ndim > own and value.shape[0] == 1:
        value = reshape(value, value.shape[1:])
    if value.ndim <= own:
        value = broadcast_value(value, list(slice_shape), "x[mask] = value", "a slice of x")
        flags = reshape(mask, mask.shape + (1,) * (x.ndim - mask.ndim))
        return broadcast_to(recording.apply("where", (flags, value, x), {}), x.shape)
    if mask.ndim == 0:
        x, mask = _rows_of(x, mask), reshape(mask, (1,))
    if not isinstance(mask._handle, Symbol):
        count = int(compaction.nonzero_count(mask))
        if count != value.shape[0]:
            raise InvalidArgumentError(
                f"x[mask] = value: the value has shape {value.shape}, and the mask chooses {count} "
                f"{'elements' if own == 0 else f'slices of shape {slice_shape}'}"
            )
    values = broadcast_value(value, [value.shape[0], *slice_shape], "x[mask] = value")
    written = recording.apply("masked_scatter", (x, mask, values), {})
    return written if written.shape == shape else reshape(written, shape)


def _is_traced_mask(item: object) -> bool:
    return isinstance(item, Array) and item.dtype.kind == "b" and isinstance(item._handle, Symbol)


def _put_one_by_traced_mask(x: Array, given: list[Any], value: Array) -> Array:
    """Return x with one value where a traced mask, which stands among integers and slices, is true."""
    place = next(place for place, item in enumerate(given) if _is_traced_mask(item))
    mask, before, behind = given[place], given[:place], given[place + 1 :]
    if any(item is None or isinstance(item, (Array, np.ndarray)) for item in (*before, *behind)):
        refuse("x[key] = value with a mask beside index arrays or None,", mask._handle)
    whole = (*before, *[_EVERYTHING] * mask.ndim, *behind)
    chosen = x[whole]
    if any(item is Ellipsis for item in before):
        first = chosen.ndim - mask.ndim - sum(isinstance(item, slice) for item in behind)
    else:
        first = sum(isinstance(item, slice) for item in before)
    masked = chosen.shape[first : first + mask.ndim]
    if masked != mask.shape:
        raise OutOfRangeError(f"x[key] = value: the mask has shape {mask.shape}, and its axes of x have {masked}")
    flags = reshape(mask, (*mask.shape, *[1] * (chosen.ndim - first - mask.ndim)))
    return put(x, whole, recording.apply("where", (flags, value, chosen), {}))


def _of_list(values: list[object] | tuple[object, ...], x: Array) -> Array:
    """Return a list as an array in the dtype of x, on its device; each number is rounded once, and must fit."""
    device = None if isinstance(x._handle, Symbol) else x.device
    try:
        if any(isinstance(number, Array) for number in numbers_in(values)):
            return cast(asarray(values, device=device), x.dtype)
        return asarray(values, dtype=x.dtype, device=device)
    except Error as error:
        raise type(error)(f"x[key] = value: {str(error).removeprefix('asarray: ')}") from None


def _value_for(x: Array, value: object) -> Array:
    """Return what `x[key] = value` assigns, in the dtype of x."""
    if is_block(x.dtype):
        raise DTypeError(f"x[key] = value: x has the dtype {x.dtype}, whose blocks are not written; cast x to float32")
    if is_number(value):
        return recording.number_like("x[key] = value", value, x)
    if type(value) is complex:
        return recording.complex_like("x[key] = value", value, x)
    if isinstance(value, (list, tuple)):
        value = _of_list(value, x)
    array = as_operand("x[key] = value", value, x)
    if array.dtype.kind == "c" and x.dtype.kind not in "cb":
        raise DTypeError(f"x[key] = value: {array.dtype}{array.shape} is complex, and x is {x.dtype}")
    return cast(array, x.dtype)


def put(x: Array, key: object, value: object) -> Array:
    """Return x with `value` at `key`: a slice is written, or elements at indices, or `where` selects by a mask."""
    value = _value_for(x, value)
    given = _items(x, key)
    if len(given) == 1 and _is_mask(given[0]):
        return _put_by_mask(x, given[0], value)
    if value.ndim == 0 and sum(map(_is_traced_mask, given)) == 1:
        return _put_one_by_traced_mask(x, given, value)
    items, is_separated = _complete("x[key] = value", x, given)
    basic, gathers = key_of(x, items)
    if not gathers:
        return basic.back(x, value)
    target = basic.part(x)
    joined = _Joined(target, gathers, is_separated, "x[key] = value")
    values = reshape(broadcast_value(without_ones(value, len(joined.shape)), list(joined.shape)), joined.flat_shape)
    if values.size == 0:
        return x
    indices = as_index_dtype(joined.indices)
    operands = (joined.moved(target), reshape(indices, (indices.size,)), values)
    attributes = {"axis": joined.place, "joined": len(gathers)}
    changed = joined.back(recording.apply("scatter", operands, attributes))
    return changed if target is x else basic.back(x, changed)


def _basic_key(x: Array, key: object) -> Key | None:
    """Return a key as one of integers, slices and None; None if it has index arrays or masks."""
    given = _items(x, key)
    if any(map(_is_array, given)):
        return None
    return key_of(x, _complete("x[key]", x, given)[0])[0]


def _items(x: Array, key: object) -> list[Any]:
    """Return the key as slices, integers, None, Ellipsis, masks, and integer arrays, of NumPy if they were given so."""
    return [_item(x, item) for item in (key if isinstance(key, tuple) else (key,))]


def _moved_to_front(x: Array, place: int, rank: int) -> Array:
    order = [*range(place, place + rank), *range(place), *range(place + rank, x.ndim)]
    return x if order == sorted(order) else permute_dims(x, order)


def _complete(caller: str, x: Array, given: list[Any]) -> tuple[list[Any], bool]:
    """Return one item for each axis of x, and the None items, and whether other items separate the index arrays.

    Ellipsis and missing items become full slices, and masks become index arrays. Index arrays whose values the host has
    are checked.
    """
    ellipses = [place for place, item in enumerate(given) if item is Ellipsis]
    if len(ellipses) > 1:
        raise OutOfRangeError("x[key]: more than one Ellipsis")
    axes = sum(_axes_of(item) for item in given)
    if axes > x.ndim:
        raise OutOfRangeError(f"x[key]: {axes} indices for an array of {x.ndim} dimensions")
    place = ellipses[0] if ellipses else len(given)
    full = [*given[:place], *[_EVERYTHING] * (x.ndim - axes), *given[place + 1 :]]
    if not any(isinstance(item, (Array, np.ndarray)) for item in given):
        return full, False
    advanced = [place for place, item in enumerate(given) if isinstance(item, (int, Array, np.ndarray))]
    is_separated = advanced[-1] - advanced[0] >= len(advanced) and any(map(_is_array, given))
    items: list[Any] = []
    axis = 0
    for item in full:
        if _is_mask(item):
            items += _indices_of_mask(x, item, axis)
        else:
            items.append(_checked(caller, x, item, axis) if _is_array(item) else item)
        axis += _axes_of(item)
    return items, is_separated


def _is_array(item: object) -> bool:
    """Whether an item is an index array or a mask."""
    return isinstance(item, np.ndarray) or (isinstance(item, Array) and not is_traced_int(item))


def _checked(caller: str, x: Array, item: Array | NDArray[Any], axis: int) -> Array:
    values = item if isinstance(item, np.ndarray) else index_bounds.known(item, is_for_write=caller.endswith("= value"))
    if values is not None:
        index_bounds.check_bounds(caller, values, axis, x.shape[axis])
    return as_operand(caller, item, x)


def _axes_of(item: Any) -> int:
    """Return the number of axes of x that an item of a key applies to."""
    return item.ndim if _is_mask(item) else int(item is not None and item is not Ellipsis)


def _indices_of_mask(x: Array, mask: Array, axis: int) -> list[Any]:
    mask = _fitted("x[mask]", x, mask, axis)
    if isinstance(mask._handle, Symbol):
        refuse(_MASK_LENGTH, mask._handle)
    if mask.ndim == 0:
        return [NewAxis(compaction.nonzero(reshape(mask, (1,)))[0])]
    return list(compaction.nonzero(mask))


def _item(x: Array, item: object) -> object:
    if item is None or item is Ellipsis or isinstance(item, slice) or type(item) is int or is_traced_int(item):
        return item
    if isinstance(item, range):
        item = list(item)
    if isinstance(item, (list, np.ndarray)):
        refuse_masked(item, "x[key]")
        item = _as_indices(item)
    if isinstance(item, (bool, np.bool_)):
        item = np.asarray(item)
    if isinstance(item, (Array, np.ndarray)):
        if item.dtype.kind not in "biu":
            raise OutOfRangeError(f"x[key]: an index array has integers or bools, not dtype {item.dtype}")
        return as_operand("x[key]", item, x) if item.dtype.kind == "b" else item
    if is_index(item):
        return operator.index(item)
    raise OutOfRangeError(
        f"x[key]: a {type(item).__name__} is not an index; indices are integers, slices, None, ..., integer arrays and "
        "masks"
    )


def _as_indices(item: list[Any] | NDArray[Any]) -> NDArray[Any]:
    try:
        return np.asarray(item, dtype=np.int64) if isinstance(item, list) and not item else np.asarray(item)
    except ValueError as error:
        raise OutOfRangeError(f"x[key]: the lists in {shown(item)} differ in length") from error

"""Memory layouts of an input: the base array that the device is given, and the view of it that the op reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ferrule as fe
from ferrule.testing.model.dtypes import BLOCKS, Values, name_of
from ferrule.testing.model.values import poison

Step = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Laid:
    """An input in a layout: `base` is passed to the device with its own strides, and the view ops `steps` turn it into
    what the op reads."""

    base: Values
    steps: list[Step] = field(default_factory=list)

    @property
    def seen(self) -> Values:
        """The view that the op reads, with its strides if the device borrows the base."""
        x = self.base
        for op, attributes in self.steps:
            x = _VIEWS[op](x, **attributes)
        return x

    def view(self, graph: fe.Graph, symbol: fe.Array) -> fe.Array:
        elements, _ = BLOCKS.get(name_of(self.base.dtype), (1, 0))
        for op, attributes in self.steps:
            counted: dict[str, Any] = {name: _in_elements(name, x, elements) for name, x in attributes.items()}
            symbol = graph.apply(op, symbol, **counted)
        return symbol


def _slice(x: Values, starts: list[int], sizes: list[int], steps: list[int]) -> Values:
    ends = [start + size * step for start, size, step in zip(starts, sizes, steps, strict=True)]
    parts = [slice(start, None if end < 0 else end, step) for start, end, step in zip(starts, ends, steps, strict=True)]
    return x[tuple(part if size else slice(0) for part, size in zip(parts, sizes, strict=True))]


_VIEWS: dict[str, Callable[..., Values]] = {
    "broadcast_to": np.broadcast_to,
    "permute_dims": np.transpose,
    "reshape": np.reshape,
    "slice": _slice,
}

Layout = Callable[[Values], Laid]


def _in_elements(name: str, sizes: list[int], elements: int) -> list[int]:
    """Convert sizes or positions that count NumPy values to elements; a value has `elements` along the last axis."""
    return sizes if name in ("steps", "axes") or not sizes else [*sizes[:-1], sizes[-1] * elements]


def contiguous(values: Values) -> Laid:
    return Laid(np.ascontiguousarray(values).reshape(values.shape))


def _cut(starts: list[int], sizes: tuple[int, ...], steps: list[int]) -> Step:
    return "slice", {"starts": starts, "sizes": list(sizes), "steps": steps}


def permuted(values: Values) -> Laid:
    """The axes are stored in reverse order, as in a transposed matrix."""
    axes = list(reversed(range(values.ndim)))
    return Laid(np.ascontiguousarray(values.transpose(axes)), [("permute_dims", {"axes": axes})])


def rows_permuted(values: Values) -> Laid:
    """All axes but the last are stored in reverse order."""
    axes = [*reversed(range(values.ndim - 1)), values.ndim - 1]
    return Laid(np.ascontiguousarray(values.transpose(axes)), [("permute_dims", {"axes": axes})])


def stepped(values: Values) -> Laid:
    """Every second element of each axis, with poison values between them."""
    base = poison(tuple(2 * size + 1 for size in values.shape), name_of(values.dtype))
    base[tuple(slice(1, 2 * size + 1, 2) for size in values.shape)] = values
    return Laid(base, [_cut([1] * values.ndim, values.shape, [2] * values.ndim)])


def rows_apart(values: Values) -> Laid:
    """Contiguous rows with poison values between them: some columns of a wider matrix."""
    base = poison((*values.shape[:-1], values.shape[-1] + 5), name_of(values.dtype))
    base[..., 2 : 2 + values.shape[-1]] = values
    return Laid(base, [_cut([0] * (values.ndim - 1) + [2], values.shape, [1] * values.ndim)])


def reversed_axes(values: Values) -> Laid:
    """Each axis is reversed: negative strides."""
    base = np.ascontiguousarray(values[(slice(None, None, -1),) * values.ndim])
    starts = [max(size - 1, 0) for size in values.shape]
    return Laid(base, [_cut(starts, values.shape, [-1] * values.ndim)])


def one_reversed(axis: int) -> Layout:
    """Only one axis is reversed."""

    def lay(values: Values) -> Laid:
        base = np.ascontiguousarray(np.flip(values, axis))
        starts, steps = [0] * values.ndim, [1] * values.ndim
        starts[axis], steps[axis] = values.shape[axis] - 1, -1
        return Laid(base, [_cut(starts, values.shape, steps)])

    return lay


def given_backwards(values: Values) -> Laid:
    """The base array itself has negative strides."""
    lying = np.ascontiguousarray(np.flip(values))
    lying.flags.writeable = False
    return Laid(np.flip(lying))


def given_turned(values: Values) -> Laid:
    """The base array is the transpose of a contiguous one, with its last axis reversed."""
    lying = np.ascontiguousarray(np.flip(values, -1).T)
    lying.flags.writeable = False
    return Laid(np.flip(lying.T, -1))


def repeated(values: Values) -> Laid:
    """The first axis has a stride of zero. `seen` therefore differs from the given values."""
    base = np.ascontiguousarray(values[:1])
    return Laid(base, [("broadcast_to", {"shape": list(values.shape)})])


def rows_repeated(values: Values) -> Laid:
    """One row repeated: all strides are zero except that of the last axis."""
    base = np.ascontiguousarray(values[(slice(0, 1),) * (values.ndim - 1)])
    return Laid(base, [("broadcast_to", {"shape": list(values.shape)})])


def spread_out(values: Values) -> Laid:
    """One element repeated: all strides are zero."""
    base = np.ascontiguousarray(values[(slice(0, 1),) * values.ndim])
    return Laid(base, [("broadcast_to", {"shape": list(values.shape)})])


def offset(elements: int) -> Layout:
    """Contiguous, `elements` after the start of its memory: aligned only to the size of an element."""

    def lay(values: Values) -> Laid:
        base = poison((values.size + 2 * elements,), name_of(values.dtype))
        base[elements : elements + values.size] = values.ravel()
        steps = [_cut([elements], (values.size,), [1]), ("reshape", {"shape": list(values.shape)})]
        return Laid(base, steps)

    return lay


# Layouts by name. `fits` says which arrays they are for.
STRIDED: dict[str, Layout] = {
    "permuted": permuted,
    "stepped": stepped,
    "rows_apart": rows_apart,
    "reversed": reversed_axes,
    "first_reversed": one_reversed(0),
    "last_reversed": one_reversed(-1),
    "given_backwards": given_backwards,
    "given_turned": given_turned,
    "repeated": repeated,
    "rows_permuted": rows_permuted,
    "rows_repeated": rows_repeated,
    "spread_out": spread_out,
    "offset_by_1": offset(1),
    "offset_by_3": offset(3),
}
NO_AXES_NEEDED = {"contiguous", "offset_by_1", "offset_by_3"}


# Layouts for block dtypes, whose blocks must be contiguous along the last axis.
OF_BLOCKS = {"contiguous", "rows_apart", "offset_by_1", "offset_by_3"}


def fits(name: str, values: Values) -> bool:
    is_of_blocks = name_of(values.dtype) in BLOCKS
    if name == "rows_permuted":  # of other dtypes "permuted" is tried
        return is_of_blocks and values.ndim > 2
    if is_of_blocks and name not in OF_BLOCKS and not (name == "first_reversed" and values.ndim > 1):
        return False
    return name in NO_AXES_NEEDED or (values.ndim > 0 and values.size > 0)

"""Views: arrays that show a part of another array, their base, whatever values it has, as in NumPy.

A view knows its base and the steps that cut it from the base. Each step is an object with these methods:

- `of(x)` returns the part of x.
- `back(x, part)` returns x with another part.
- `strides(shape, strides)` returns the shape and the strides of the part, for an x of these; None where strides do not
  tell.
- `after(last)` returns the steps that do the same as the step `last` and then this one, in such an order that few
  elements are written; None where there are no such.

Values never change: an assignment to a view gives its base another value, and all views of it are cut anew when they
are read.
"""

from __future__ import annotations

import itertools
import math
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from ferrule import _ferrule
from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.symbols import Symbol, on_thread
from ferrule.errors import InvalidArgumentError

Layout = tuple[tuple[int, ...], tuple[int, ...]]  # shape, and strides in elements


class Step(Protocol):
    """How a view is cut from an array; see the text of the module."""

    def of(self, x: Array, /) -> Array: ...

    def back(self, x: Array, part: Array, /) -> Array: ...

    def strides(self, shape: tuple[int, ...], strides: tuple[int, ...], /) -> Layout | None: ...

    def after(self, last: Step, /) -> tuple[Step, ...] | None: ...


class Whole(NamedTuple):
    """All of an array."""

    def of(self, x: Array) -> Array:
        return x._snapshot("view")

    def back(self, x: Array, part: Array) -> Array:
        return part

    def strides(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Layout | None:
        return shape, strides

    def after(self, last: Step) -> tuple[Step, ...]:
        return (last,)


class Reshaped(NamedTuple):
    """The elements in another shape."""

    shape: tuple[int, ...]

    def of(self, x: Array) -> Array:
        return recording.apply("reshape", (x,), {"shape": self.shape})

    def back(self, x: Array, part: Array) -> Array:
        return recording.apply("reshape", (part,), {"shape": x.shape})

    def strides(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Layout | None:
        return _reshaped_strides(shape, strides, self.shape)

    def after(self, last: Step) -> tuple[Step, ...] | None:
        return (self,) if isinstance(last, Reshaped) else None


class Permuted(NamedTuple):
    """The array with its axes in another order."""

    axes: tuple[int, ...]

    def of(self, x: Array) -> Array:
        return recording.apply("permute_dims", (x,), {"axes": self.axes})

    def back(self, x: Array, part: Array) -> Array:
        places = sorted(range(len(self.axes)), key=self.axes.__getitem__)
        return recording.apply("permute_dims", (part,), {"axes": places})

    def strides(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Layout | None:
        return tuple(shape[axis] for axis in self.axes), tuple(strides[axis] for axis in self.axes)

    def after(self, last: Step) -> tuple[Step, ...] | None:
        return (Permuted(tuple(last.axes[axis] for axis in self.axes)),) if isinstance(last, Permuted) else None


class ReadOnly(NamedTuple):
    """The result of an op that nothing can be assigned to, as NumPy's broadcast_to, or that no op turns back."""

    op: str
    attributes: tuple[tuple[str, Any], ...]

    def of(self, x: Array) -> Array:
        return recording.apply(self.op, (x,), dict(self.attributes))

    def back(self, x: Array, part: Array) -> Array:
        raise InvalidArgumentError(
            f"x[key] = value: x{part.shape} is a result of {self.op} and a read-only view; x.copy() can be assigned to"
        )

    def strides(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Layout | None:
        new = dict(self.attributes).get("shape", shape)  # that of broadcast_to
        own = (1,) * (len(new) - len(shape)) + shape
        steps = (0,) * (len(new) - len(shape)) + strides
        return new, tuple(step if size == wide else 0 for step, size, wide in zip(steps, own, new, strict=True))

    def after(self, last: Step) -> None:
        return None


def cut(x: Array, step: Step) -> Array:
    """Return the part of x that a step cuts, as a view."""
    if type(x) is not Array or is_number(x):
        return step.of(x)
    base, steps = _ferrule.view_of(x) or (x, ())
    seen = base._handle  # another thread may assign to the base from here on
    return _ferrule.make_view(step.of(x), base, join_steps(steps, step), seen)


def join_steps(steps: tuple[Step, ...], step: Step) -> tuple[Step, ...]:
    """Return the steps and one more."""
    if not steps or isinstance(steps[-1], Whole):
        return (step,)
    both = step.after(steps[-1])
    return (*steps, step) if both is None else (*join_steps(steps[:-1], both[0]), *both[1:])


def apply_steps(base: Array, steps: Sequence[Step]) -> Array:
    """Return the part of an array that the steps cut."""
    for step in steps:
        base = step.of(base)
    return base


def replace_part(x: Array, steps: Sequence[Step], part: Array) -> Array:
    """Return x with another part at the steps."""
    wholes = [x]
    for step in steps[:-1]:
        wholes.append(step.of(wholes[-1]))
    for step, whole in zip(reversed(steps), reversed(wholes), strict=True):
        part = step.back(whole, part)
    return part


def change(x: Array, changed: Callable[[Array], Array]) -> None:
    """Make the object refer to the changed value, or if it is a view its base. Changes by several threads all take
    effect."""
    while True:
        known = _ferrule.view_of(x)
        target, steps = known or (x, ())
        before = target._handle
        old = Array._of(before)
        after = replace_part(old, steps, changed(apply_steps(old, steps))) if steps else changed(old)
        handle = after._snapshot()._handle
        if _ferrule.replace_handle(target, before, handle):
            break
    graph = handle.graph if isinstance(handle, Symbol) else on_thread.graph
    if graph is not None and graph._assigned is not None and not isinstance(before, Symbol):
        noted = graph._assigned.get(id(target))
        if noted is None or noted[0]() is not target:
            graph._assigned[id(target)] = weakref.ref(target), before


def is_viewed(x: Array, shape: tuple[int, ...]) -> bool:
    """Whether NumPy would reshape x, as a part of a contiguous array, without a copy."""
    if _ferrule.view_of(x) is None:
        return True
    layout = _layout_of(x)
    return layout is not None and (x.size == 0 or _reshaped_strides(*layout, shape) is not None)


def is_contiguous(x: Array) -> bool:
    """Whether x is C-contiguous, as a part of a contiguous array."""
    layout = _layout_of(x)
    if layout is None or x.size == 0:
        return layout is not None
    return all(size == 1 or have == want for size, have, want in zip(*layout, _dense_strides(x.shape), strict=True))


def _layout_of(x: Array) -> Layout | None:
    base, steps = _ferrule.view_of(x) or (x, ())
    layout: Layout | None = base.shape, _dense_strides(base.shape)
    for step in steps:
        layout = layout and step.strides(*layout)
    return layout


def _dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _reshaped_strides(shape: tuple[int, ...], strides: tuple[int, ...], new: tuple[int, ...]) -> Layout | None:
    """Return the layout of the elements in another shape, if strides can express it."""
    if 0 in new:
        return new, (0,) * len(new)
    runs: list[tuple[int, int]] = []  # axes that follow one another in memory: their elements, and the last stride
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == stride * size:
            runs[-1] = runs[-1][0] * size, stride
        else:
            runs.append((size, stride))
    ends = [*itertools.accumulate((size for size, _ in runs), operator.mul)]
    if not {*ends} <= {*itertools.accumulate(new, operator.mul)}:
        return None
    result = []
    run, count = 0, 1
    for size in new:
        count *= size
        while run < len(ends) and count > ends[run]:
            run += 1
        result.append(runs[run][1] * (ends[run] // count) if run < len(ends) else 1)
    return new, tuple(result)

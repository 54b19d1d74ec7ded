"""Views and ops that move elements: the bits are NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ferrule.testing.model.dtypes import Values
from ferrule.testing.programs.model.inputs import Given
from ferrule.testing.programs.model.operation import Drawn, Operation, Reference, exact, keywords
from ferrule.testing.programs.model.scope import Scope, meet

Text = Callable[[Sequence[str], Mapping[str, Any]], str]
Move = Callable[..., Values]


class View(Operation):
    """An op on one array, given by a function that draws its attributes, its code, and NumPy's function."""

    def __init__(self, name: str, weight: float, attributes: Callable[[Scope, Values], Any], text: str, move: Move):
        super().__init__(name, weight)
        self._attributes, self._text, self._move = attributes, text, move

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.pick()
        if x is None:
            return None
        attributes = self._attributes(scope, scope.values[x])
        return None if attributes is None else self.drawn(x, **attributes)

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        shown = {name: tuple(v) if isinstance(v, list) else v for name, v in attributes.items()}
        return self._text.format(*operands, **shown)

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return exact(self._move(given[0], **attributes))


# ---- functions that draw attributes
def another_shape(scope: Scope, x: Values) -> Any:
    """A shape with the same number of elements, sometimes with a size of -1."""
    sizes = list(x.shape)
    if x.size == 0:
        sizes = sizes[::-1]
    elif scope.one_in(3):
        sizes = [x.size]
    else:  # axes joined, one split
        while len(sizes) > 1 and scope.one_in(2):
            place = scope.below(len(sizes) - 1)
            sizes[place : place + 2] = [sizes[place] * sizes[place + 1]]
        if sizes:
            place = scope.below(len(sizes))
            factors = [f for f in (2, 3, 4, 5, 7) if sizes[place] % f == 0]
            if factors and len(sizes) < 6:
                factor = scope.choose(factors)
                sizes[place : place + 1] = [factor, sizes[place] // factor]
    if len(sizes) < 6 and scope.one_in(4):
        sizes.insert(scope.below(len(sizes) + 1), 1)
    if x.size and sizes and scope.one_in(4):
        sizes[scope.below(len(sizes))] = -1
    return {"shape": sizes}


def another_order(scope: Scope, x: Values) -> Any:
    return {"axes": [int(axis) for axis in scope.rng.permutation(x.ndim)]}


def a_larger_shape(scope: Scope, x: Values) -> Any:
    sizes = [scope.between(0 if scope.one_in(9) else 2, 5) if n == 1 and scope.one_in(2) else n for n in x.shape]
    while len(sizes) < 6 and scope.one_in(2):
        sizes.insert(0, scope.between(1, 4))
    return {"shape": sizes} if np.prod(sizes, dtype=object) <= scope.most else None


def some_axes(scope: Scope, x: Values) -> Any:
    if scope.one_in(3):
        return {"axis": None}
    return {"axis": [int(axis) for axis in scope.rng.permutation(x.ndim)[: scope.below(x.ndim + 1)]]}


def a_place(scope: Scope, x: Values) -> Any:
    return {"axis": scope.between(-x.ndim - 1, x.ndim)} if x.ndim < 6 else None


def two_axes(scope: Scope, x: Values) -> Any:
    return {"source": scope.below(x.ndim), "to": scope.below(x.ndim)} if x.ndim else None


def a_part(scope: Scope, x: Values) -> Any:
    if x.ndim == 0:
        return None
    axis = scope.below(x.ndim)
    places = sorted(scope.between(0, x.shape[axis]) for _ in range(scope.between(1, 2)))
    return {"places": places, "axis": axis, "part": scope.below(len(places) + 1)}


def a_key(scope: Scope, x: Values) -> Any:
    return {"key": draw_key(scope, x.shape)}


def draw_key(scope: Scope, shape: Sequence[int], arrays: bool = True, repeats: bool = True) -> str:
    """Draw the text of an index: slices, integers, None, an Ellipsis, lists of integers, a mask. Without `repeats` no
    element is selected twice."""
    items: list[str] = []
    gathers = {scope.below(len(shape))} if arrays and shape and scope.one_in(4) else set()
    if gathers and scope.one_in(3):
        gathers.add(scope.below(len(shape)))
    is_mask = len(gathers) == 1 and scope.one_in(3)
    fewest = min([4, *(shape[axis] for axis in gathers if shape[axis])])
    count = scope.between(0 if scope.one_in(8) else 1, 4 if repeats else fewest)
    plain = all(size > 0 for size in shape)
    for axis, size in enumerate(shape):
        if axis in gathers and size > 0 and is_mask:
            items.append(f"[{', '.join(str(bool(flag)) for flag in scope.rng.integers(0, 2, size))}]")
        elif axis in gathers and size > 0:
            chosen = scope.rng.integers(-size, size, count) if repeats else scope.rng.permutation(size)[:count]
            items.append(f"[{', '.join(str(int(i)) for i in chosen)}]")
        elif size > 0 and scope.one_in(6):
            items.append(str(scope.between(-size, size - 1)))
        else:
            items.append(draw_slice(scope, size))
    whole = len(items) - 1
    while whole >= 0 and items[whole] == ":" and scope.one_in(2):
        items.pop()
        whole -= 1
    if len(items) == len(shape) and ":" in items and plain and scope.one_in(4):
        items[items.index(":")] = "..."
    if not gathers and scope.one_in(6) and len(shape) < 6:
        items.insert(scope.below(len(items) + 1), "None")
    return ", ".join(items) or "..."


def draw_slice(scope: Scope, size: int) -> str:
    how = scope.below(10)
    if how < 3:
        return ":"
    if how == 3:
        return "::-1"
    if how == 4:
        return scope.choose([f"{size}:", ":0", f"{size // 2}:{size // 2}"])  # empty
    start, stop = sorted(scope.between(0, size) for _ in range(2))
    step = scope.choose([1, 1, 2, 3])
    if how == 5:
        return f"{stop}:{start or ''}:-{step}"
    return f"{start or ''}:{stop if stop < size else ''}" + (f":{step}" if step > 1 else "")


# ---- NumPy's functions
def reshaped(x: Values, shape: Sequence[int]) -> Values:
    return np.reshape(x, shape)


def flipped(x: Values, axis: Any) -> Values:
    return np.flip(x, axis if axis is None else tuple(axis))


def part(x: Values, places: Sequence[int], axis: int, part: int) -> Values:
    return np.split(x, list(places), axis)[part]


def chosen(x: Values, key: str) -> Values:
    found: Values = eval(f"x[{key}]", {"x": x})
    return np.asarray(found)


class Joined(Operation):
    """concat and stack."""

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.pick(lambda v: v.ndim > (self.name == "concat") - 1 and scope.takes("concat", v.dtype.name))
        if x is None:
            return None
        value = scope.values[x]
        rank = value.ndim + (self.name == "stack")
        if rank > 6:
            return None
        axis = scope.below(rank)

        def joins(y: Values) -> bool:
            if y.dtype != value.dtype or y.ndim != value.ndim:
                return False
            if self.name == "stack":
                return y.shape == value.shape
            return y.shape[:axis] + y.shape[axis + 1 :] == value.shape[:axis] + value.shape[axis + 1 :]

        names = [x]
        for _ in range(scope.between(0 if scope.one_in(5) else 1, 2)):
            other = scope.pick(joins)
            if scope.one_in(4) and self.name == "concat":
                shape = (*value.shape[:axis], scope.between(0, 3), *value.shape[axis + 1 :])
                other = scope.add_input(value.dtype.name, shape) or other
            if other is not None:
                names.append(other)
        if sum(scope.values[name].size for name in names) > scope.most:
            return None
        return self.drawn(*(scope.rng.permutation(names).tolist()), axis=axis - rank if scope.one_in(4) else axis)

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.{self.name}([{', '.join(operands)}]{keywords(axis=attributes['axis'])})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        join = np.concatenate if self.name == "concat" else np.stack
        return exact(join(list(given), axis=attributes["axis"]))


class Take(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.pick(lambda v: v.ndim > 0 and scope.takes("take", v.dtype.name, "int64"))
        if x is None:
            return None
        value = scope.values[x]
        axis = scope.below(value.ndim)
        size = value.shape[axis]
        shape: tuple[int, ...] = (scope.between(1, 5),)
        if scope.one_in(3):
            shape = scope.choose([(), (2, 3), (0,)])
        if size == 0:
            shape = (0,)
        if len(shape) + value.ndim > 7 or value.size // max(1, size) * int(np.prod(shape)) > scope.most:
            return None
        dtype = scope.choose(["int64", "int64", "int32", "uint8", "int8"])
        limits = (0 if dtype[0] == "u" else -size, size - 1)
        if size == 0:
            limits = (0, 0)
        if limits[1] > 120:
            dtype = "int64"
        indices = scope.add_input(dtype, shape, limits=limits)
        return None if indices is None else self.drawn(x, indices, axis=axis)

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.take({', '.join(operands)}{keywords(axis=attributes['axis'])})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return exact(np.take(given[0], given[1].astype(np.int64), axis=attributes["axis"]))


class Pad(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.pick(lambda v: scope.takes("pad", v.dtype.name, v.dtype.name))
        if x is None:
            return None
        value = scope.values[x]
        widths = [[scope.below(3) if scope.one_in(2) else 0 for _ in range(2)] for _ in value.shape]
        if np.prod([n + sum(pair) for n, pair in zip(value.shape, widths, strict=True)], dtype=object) > scope.most:
            return None
        number = scope.number_beside(value.dtype.name) if scope.one_in(2) and value.dtype != np.bool_ else 0
        return self.drawn(x, number, widths=widths) if value.ndim else None

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        value = "" if operands[1] == "0" else f", value={operands[1]}"
        return f"fe.pad({operands[0]}, {attributes['widths']}{value})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        x, filler = meet(given, given[0].dtype.name)
        return exact(np.pad(x, attributes["widths"], constant_values=filler[()]))


class Like(Operation):
    """full_like: a new array of the shape of another."""

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.pick(lambda v: v.dtype != np.bool_)
        return None if x is None else self.drawn(x, value=scope.choose([0, 1, 2]))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.full_like({operands[0]}, {attributes['value']})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return exact(np.full(given[0].shape, attributes["value"], given[0].dtype))


OPERATIONS: list[Operation] = [
    View("reshape", 2, another_shape, "fe.reshape({0}, {shape})", reshaped),
    View("permute_dims", 2, another_order, "fe.permute_dims({0}, {axes})", lambda x, axes: np.transpose(x, axes)),
    View(
        "broadcast_to", 1.5, a_larger_shape, "fe.broadcast_to({0}, {shape})", lambda x, shape: np.broadcast_to(x, shape)
    ),
    View("flip", 1.5, some_axes, "fe.flip({0}, axis={axis})", flipped),
    View("expand_dims", 0.7, a_place, "fe.expand_dims({0}, axis={axis})", lambda x, axis: np.expand_dims(x, axis)),
    View("squeeze", 0.5, lambda scope, x: {}, "fe.squeeze({0})", np.squeeze),
    View(
        "moveaxis", 0.7, two_axes, "fe.moveaxis({0}, {source}, {to})", lambda x, source, to: np.moveaxis(x, source, to)
    ),
    View("split", 1.5, a_part, "fe.split({0}, {places}, axis={axis})[{part}]", part),
    View("index", 5, a_key, "{0}[{key}]", chosen),
    Joined("concat", 2),
    Joined("stack", 1),
    Take("take", 1.5),
    Pad("pad", 1),
    Like("full_like", 0.5),
]

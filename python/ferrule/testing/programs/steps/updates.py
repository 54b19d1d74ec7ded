"""Copies, and updates in place of a copy, which must not change any other value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferrule.testing.programs.model.inputs import Given
from ferrule.testing.programs.model.operation import Drawn, Operation, Reference, exact
from ferrule.testing.programs.model.promotion import converted
from ferrule.testing.programs.model.scope import Scope
from ferrule.testing.programs.steps.movement import draw_key

COPIES = {
    "copy": "copy.copy({0})",
    "asarray": "fe.asarray({0})",
    "asarray_copy": "fe.asarray({0}, copy=True)",
    "positive": "+{0}",
    "all": "{0}[...]",
    "slice": "{0}[:]",
    "astype": "fe.astype({0}, {dtype!r}, copy=True)",
    "flip": "fe.flip({0}, axis=())",
    "view": "fe.reshape({0}, {shape})",
}
SAME = "same"  # no copy: nothing reads the value afterwards


class Copy(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.pick()
        return None if x is None else self.drawn(x, **_how(scope, x))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return COPIES[attributes["how"]].format(*operands, **_of_copy(attributes))

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return exact(given[0])


class Update(Operation):
    """`x[key] = value` on a copy of another value. No element is written twice."""

    bare = (1,)

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.pick(lambda v: scope.takes("where", "bool", v.dtype.name, v.dtype.name))
        if x is None:
            return None
        value = scope.values[x]
        key = draw_key(scope, value.shape, arrays=scope.one_in(2), repeats=False)
        target = eval(f"x[{key}]", {"x": value})
        other: Any = scope.pick(lambda v: v.dtype == value.dtype and _spreads(v.shape, target.shape))
        if value.dtype != bool and scope.one_in(3):
            other = scope.number_beside(value.dtype.name)
        elif other is None or scope.one_in(2):
            other = scope.add_input(value.dtype.name, scope.beside(target.shape)) or other
        return None if other is None else self.drawn(x, other, key=key, **_how(scope, x))

    def lines(self, target: str, operands: Sequence[str], attributes: Mapping[str, Any]) -> list[str]:
        how = attributes["how"]
        copied = operands[0] if how == SAME else COPIES[how].format(*operands, **_of_copy(attributes))
        return [f"{target} = {copied}", f"{target}[{attributes['key']}] = {operands[1]}"]

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        x = given[0].copy()
        exec(f"x[{attributes['key']}] = value", {"x": x, "value": converted(given[1], x.dtype.name)})
        return exact(x)


def _how(scope: Scope, x: str) -> dict[str, Any]:
    value = scope.values[x]
    how = scope.choose([how for how in COPIES if how != "slice" or value.ndim])
    more: dict[str, dict[str, Any]] = {"astype": {"dtype": value.dtype.name}, "view": {"shape": list(value.shape)}}
    return {"how": how, **more.get(how, {})}


def _of_copy(attributes: Mapping[str, Any]) -> dict[str, Any]:
    shape = attributes.get("shape")
    return {"dtype": attributes.get("dtype"), "shape": None if shape is None else tuple(shape)}


def _spreads(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an array broadcasts to the target."""
    if len(shape) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(target), strict=False))


OPERATIONS: list[Operation] = [Copy("copied", 1), Update("update", 2.5)]

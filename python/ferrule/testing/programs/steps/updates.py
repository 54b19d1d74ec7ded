"""Copies, and updates in place of a copy, which must not change any other value, also with what reads the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ferrule.testing.model.dtypes import INTEGERS
from ferrule.testing.programs.model.inputs import Given
from ferrule.testing.programs.model.operation import Drawn, Operation, Reference, exact
from ferrule.testing.programs.model.promotion import converted
from ferrule.testing.programs.model.scope import Scope
from ferrule.testing.programs.steps.movement import draw_key

COPIES = {
    "copy": "copy.copy({0})",
    "asarray_copy": "fe.asarray({0}, copy=True)",
    "positive": "+{0}",
    "astype": "fe.astype({0}, {dtype!r}, copy=True)",
    "method": "{0}.copy()",
    "roll": "fe.roll({0}, 0)",
}
SAME = "same"  # no copy: see Program.may_write_to
# Assignments to {t} of values that read {s}, the same array: by views of it, reversed, overlapping, and through ops.
# {n} is the length of axis 0, {k} a part of it, {zeros} one 0 for each axis.
UPDATES_OF_ITSELF = {
    "reversed": "{t} = fe.update_slice({t}, fe.flip({s}), {zeros})",
    "transposed": "{t} = fe.update_slice({t}, fe.matrix_transpose({s}), {zeros})",
    "up": "{t}[{k}:] = {s}[:-{k}]",
    "down": "{t}[:-{k}] = {s}[{k}:]",
    "reversed_part": "{t}[:{k}] = {s}[::-1][:{k}]",
    "through_ops": "{t}[{k}:] = fe.where({s}[:-{k}] != {s}[{k}:], {s}[:-{k}], {s}[{k}:])",
    "at_indices": "{t}[[{n} - 1, 0]] = {s}[:: {n} - 1]",
    "by_mask": "{t}[np.arange({n}) >= {k}] = {s}[:-{k}]",
    "at_itself": "{t}[{s}[::-1] % {n}] = {s}",
}


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


class UpdateItself(Operation):
    """An update of a result by a value that reads it."""

    def draw(self, scope: Scope) -> Drawn | None:
        def may_update(v: Any) -> bool:
            dtype = v.dtype.name
            takes_all = scope.takes("where", "bool", dtype, dtype) and scope.takes("equal", dtype, dtype)
            return v.ndim > 0 and len(v) > 1 and takes_all

        x = scope.pick(may_update)
        if x is None:
            return None
        value = scope.values[x]
        dtype = value.dtype.name
        forms = [*UPDATES_OF_ITSELF]
        if value.ndim < 2 or value.shape[-1] != value.shape[-2]:
            forms.remove("transposed")
        if value.ndim > 1 or dtype not in INTEGERS or len(value) > 127 or not scope.takes("remainder", dtype, dtype):
            forms.remove("at_itself")
        n = len(value)
        return self.drawn(x, form=scope.choose(forms), n=n, k=scope.between(1, n - 1), rank=value.ndim)

    def lines(self, target: str, operands: Sequence[str], attributes: Mapping[str, Any]) -> list[str]:
        x = operands[0]
        return [f"{target} = fe.where({x} == {x}, {x}, {x})", _update_of_itself(target, target, attributes)]

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        names = {"np": np, "fe": _NumPy, "x": given[0].copy(), "before": given[0]}
        exec(_update_of_itself("x", "before", attributes), names)
        return exact(names["x"])


class _NumPy:
    """NumPy by the names of ferrule, for UPDATES_OF_ITSELF."""

    flip, where = np.flip, np.where
    matrix_transpose = staticmethod(lambda x: np.swapaxes(x, -1, -2))
    update_slice = staticmethod(lambda x, value, starts: value)


def _update_of_itself(target: str, source: str, attributes: Mapping[str, Any]) -> str:
    zeros = (0,) * attributes["rank"]
    return UPDATES_OF_ITSELF[attributes["form"]].format(
        t=target, s=source, zeros=zeros, n=attributes["n"], k=attributes["k"]
    )


def _how(scope: Scope, x: str) -> dict[str, Any]:
    how = scope.choose([*COPIES])
    return {"how": how, "dtype": scope.values[x].dtype.name} if how == "astype" else {"how": how}


def _of_copy(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {"dtype": attributes.get("dtype")}


def _spreads(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an array broadcasts to the target."""
    if len(shape) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(target), strict=False))


OPERATIONS: list[Operation] = [Copy("copied", 1), Update("update", 2.5), UpdateItself("update_itself", 2)]

"""Reductions and normalizations over axes.

A reduction with one input whose attributes are axes, `keepdims` and others with defaults needs no line here."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ferrule.op_rows import OP_ROWS
from ferrule.testing.cases import all_cases
from ferrule.testing.model.dtypes import FLOATS, NUMERIC, REALS, Values, is_floating
from ferrule.testing.model.exactness import Tolerance, spacing
from ferrule.testing.programs.model.inputs import Given
from ferrule.testing.programs.model.operation import Drawn, Operation, Reference, by_case, keywords
from ferrule.testing.programs.model.promotion import converted
from ferrule.testing.programs.model.scope import Scope
from ferrule.testing.programs.model.tameness import is_tame, is_tame_product

MEASURES = ("mean", "var", "std")
NONEMPTY = ("max", "min")


class Reduction(Operation):
    def __init__(self, op: str, dtypes: Sequence[str], weight: float = 1.0):
        super().__init__(op, weight)
        self._dtypes = tuple(dtypes)

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("var" if self.name == "std" else self.name, self._dtypes)
        if x is None:
            return None
        shape = scope.values[x].shape
        axes = [int(axis) for axis in scope.rng.permutation(len(shape))[: scope.between(0, len(shape))]]
        axis: Any = None if scope.one_in(3) else axes
        if axis and scope.one_in(2):
            axis = axis[0]
        if isinstance(axis, int) and scope.one_in(3):
            axis -= len(shape)
        count = math.prod(shape[a] for a in self._axes(axis, len(shape)))
        if self.name in NONEMPTY and count == 0:
            return None
        attributes: dict[str, Any] = {"axis": axis, "keepdims": scope.one_in(3)}
        if self.name in ("var", "std"):
            attributes["correction"] = 1.0 if count > 1 and scope.one_in(2) else 0.0
        return self.drawn(x, **attributes)

    @staticmethod
    def _axes(axis: Any, rank: int) -> list[int]:
        return list(range(rank)) if axis is None else [axis] if isinstance(axis, int) else list(axis)

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        axis = attributes["axis"]
        axis = tuple(axis) if isinstance(axis, list) else axis
        given = keywords(axis=axis, correction=attributes.get("correction"), keepdims=attributes["keepdims"] or None)
        return f"fe.{self.name}({operands[0]}{given})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        x = given[0]
        axis = self._axes(attributes["axis"], x.ndim)
        own = {**attributes, "axis": axis}
        if attributes["axis"] == []:  # no axis: the op's empty list means all axes
            x, own["axis"], own["keepdims"] = x.reshape((*x.shape, 1)), [x.ndim], False
        if self.name in MEASURES and not is_floating(x.dtype.name):
            x = converted(x, "float32")
        if self.name in ("all", "any"):
            x = x != 0
        if self.name == "std":
            return deviation(x, own)
        variant = "corrected" if attributes.get("correction") else ""
        found = by_case(self.name, [x], own, variant=variant)
        tame = is_tame_product(x) if self.name == "prod" else self.name in NONEMPTY or is_tame(x)
        return Reference(**{**vars(found), "is_judged": tame})


def deviation(x: Values, attributes: Mapping[str, Any]) -> Reference:
    """The reference of std: the root of the variance, with a bound derived from the variance's."""
    variance = by_case("var", [x], attributes, variant="corrected" if attributes["correction"] else "")
    assert variance.case is not None
    root = np.sqrt(variance.truth)
    inner = variance.case.tolerance

    def bound(inputs: list[Values], own: dict[str, Any], truth: Values, dtype: str) -> Values:
        """The bound of the root, including one rounding of the variance to the result's dtype."""
        square = np.asarray(truth * truth)
        off = np.asarray(inner.bound(inputs, own, square, dtype)) + spacing(square, dtype)
        return np.asarray(np.maximum(np.sqrt(square + off) - truth, truth - np.sqrt(np.maximum(square - off, 0))))

    case = dataclasses.replace(variance.case, tolerance=Tolerance("the variance's, through the root", bound=bound))
    return Reference(root, variance.dtype, case, variance.problem, variance.inputs, is_tame(x))


class Index(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype(self.name, NUMERIC)
        if x is None or scope.values[x].size == 0:
            return None
        rank = scope.values[x].ndim
        axis = None if rank == 0 or scope.one_in(3) else scope.between(-rank, rank - 1)
        return self.drawn(x, axis=axis, keepdims=scope.one_in(4))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        given = keywords(axis=attributes["axis"], keepdims=attributes["keepdims"] or None)
        return f"fe.{self.name}({operands[0]}{given})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        x, axis = given[0], attributes["axis"]
        if axis is not None:
            return by_case(self.name, [x], attributes)
        found = by_case(self.name, [x.reshape(-1)], {"axis": 0, "keepdims": False})
        shape = (1,) * x.ndim if attributes["keepdims"] else ()
        return Reference(found.truth.reshape(shape), found.dtype)


class Normalization(Operation):
    """softmax and log_softmax."""

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype(self.name, FLOATS, 1)
        if x is None:
            return None
        rank = scope.values[x].ndim
        return self.drawn(x, axis=-1 if scope.one_in(2) else scope.between(-rank, rank - 1))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.{self.name}({operands[0]}{keywords(axis=attributes['axis'])})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        found = by_case(self.name, given, attributes)
        return Reference(**{**vars(found), "is_judged": is_tame(given[0])})


ROW_OPERANDS = {"layer_norm": 2, "rms_norm": 1}  # of the size of a row, behind the first operand


class RowNorm(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.pick(
            lambda value: (
                value.dtype.name in FLOATS
                and value.ndim > 0
                and value.shape[-1] > 0
                and scope.takes(self.name, *[value.dtype.name] * (1 + ROW_OPERANDS[self.name]))
            )
        )
        if x is None:
            return None
        value = scope.values[x]
        row = (value.shape[-1],)
        inputs = [scope.add_input(value.dtype.name, row, "ordinary") for _ in range(ROW_OPERANDS[self.name])]
        operands = [operand for operand in inputs if operand is not None]
        if len(operands) < len(inputs):
            return None
        return self.drawn(x, *operands, epsilon=1e-5)

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.{self.name}({', '.join(operands)}, epsilon={attributes['epsilon']})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        found = by_case(self.name, given, attributes)
        return Reference(**{**vars(found), "is_judged": is_tame(given[0], 3)})


def of_rows(named: Iterable[Operation]) -> list[Operation]:
    """The other reductions, over axes alone, for the real dtypes of their cases."""
    names = {one.name for one in named}
    found: list[Operation] = []
    for op, row in OP_ROWS.items():
        types = {one["name"]: one["type"] for one in row["attributes"]}
        one_result = len(row["inputs"]) == len(row["outputs"]) == 1
        over_axes = types == {"axis": "list of int", "keepdims": "bool"}
        if op in names or not one_result or not over_axes:
            continue
        taken = {case.dtypes[0] for case in all_cases().values() if case.op == op}
        if dtypes := [dtype for dtype in REALS if dtype in taken]:
            found.append(Reduction(op, dtypes, 0.3))
    return found


NAMED: list[Operation] = [
    Reduction("sum", REALS, 2),
    Reduction("prod", REALS, 0.5),
    Reduction("max", REALS, 1),
    Reduction("min", REALS, 1),
    Reduction("mean", NUMERIC, 1),
    Reduction("var", NUMERIC, 0.7),
    Reduction("std", NUMERIC, 0.3),
    Reduction("all", REALS, 0.4),
    Reduction("any", REALS, 0.4),
    Index("argmax", 0.6),
    Index("argmin", 0.6),
    Normalization("softmax", 1),
    Normalization("log_softmax", 0.5),
    RowNorm("layer_norm", 0.6),
    RowNorm("rms_norm", 0.4),
]
OPERATIONS = [*NAMED, *of_rows(NAMED)]

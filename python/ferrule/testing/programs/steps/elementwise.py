"""Elementwise ops: unary, binary, comparisons, selection and casts, with Python numbers and type promotion.

An op with one or two inputs and no attributes needs no line here: its row and its cases say what it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ferrule.op_rows import OP_ROWS
from ferrule.testing.cases import all_cases
from ferrule.testing.model.dtypes import BOOL, FLOATS, INTEGERS, NUMERIC, REALS
from ferrule.testing.programs.model.inputs import Given
from ferrule.testing.programs.model.operation import Drawn, Operation, Reference, by_case
from ferrule.testing.programs.model.promotion import promoted
from ferrule.testing.programs.model.scope import Scope, meet, shared_dtype

SLOW = 300  # the most elements for oracles that are loops in Python
BITS = (*BOOL, *INTEGERS)


class Unary(Operation):
    def __init__(self, op: str, dtypes: Sequence[str], weight: float = 1.0, symbol: str = "", slow: bool = False):
        super().__init__(op, weight)
        self._dtypes, self._symbol, self._slow = tuple(dtypes), symbol, slow

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype(self.name, self._dtypes)
        if x is None or (self._slow and scope.values[x].size > SLOW):
            return None
        attributes: dict[str, Any] = {"symbol": True} if self._symbol and scope.one_in(2) else {}
        if self.name == "gelu":
            attributes["approximate"] = scope.choose(["none", "tanh"])
        return self.drawn(x, **attributes)

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        if attributes.get("symbol"):
            return self._symbol.format(*operands)
        form = f", approximate={attributes['approximate']!r}" if "approximate" in attributes else ""
        return f"fe.{self.name}({operands[0]}{form})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        own = {name: value for name, value in attributes.items() if name != "symbol"}
        return by_case(self.name, given, own, variant=own.get("approximate", ""))


class Binary(Operation):
    """A binary op. `dtypes` are the promoted dtypes that it supports."""

    bare = (0, 1)

    def __init__(self, op: str, dtypes: Sequence[str], weight: float = 1.0, symbol: str = ""):
        super().__init__(op, weight)
        self._dtypes, self._symbol = tuple(dtypes), symbol
        # The second operand is a count: integers must be small and not negative.
        self._counts = op in ("pow", "bitwise_left_shift", "bitwise_right_shift")

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype(self.name, self._dtypes)
        if x is None:
            return None
        value = scope.values[x]
        dtype = value.dtype.name
        attributes = {"symbol": True} if self._symbol and scope.one_in(2) else {}
        if dtype != "bool" and scope.one_in(3):
            return self.drawn(*self._ordered(scope, x, scope.number_beside(dtype, self._numbers(dtype))), **attributes)
        other = None if scope.one_in(3) else scope.pick(lambda y: self._fits(scope, value, y))
        if other is None:
            wanted = dtype if scope.one_in(2) else scope.choose(self._dtypes)
            if self._meeting(scope, dtype, wanted) is None:
                wanted = dtype
            limits = (0, 5) if self._counts and wanted in INTEGERS else None
            other = scope.add_input(wanted, scope.beside(value.shape), limits=limits)
            if other is None:
                return None
        return self.drawn(*self._ordered(scope, x, other), **attributes)

    def _ordered(self, scope: Scope, x: str, y: Any) -> tuple[Any, Any]:
        return (x, y) if self._counts or scope.one_in(2) else (y, x)

    def _numbers(self, dtype: str) -> list[float] | None:
        return [0, 1, 2, 3] if self._counts and dtype in INTEGERS else None

    def _fits(self, scope: Scope, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
        meeting = self._meeting(scope, x.dtype.name, y.dtype.name)
        is_count = self._counts and meeting in INTEGERS
        return meeting is not None and not is_count and scope.fits(x.shape, y.shape)

    def _meeting(self, scope: Scope, x: str, y: str) -> str | None:
        meeting = promoted(x, y)
        return meeting if meeting in self._dtypes and scope.takes(self.name, meeting, meeting) else None

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        if attributes.get("symbol"):
            return (
                f"({operands[0]}) {self._symbol} ({operands[1]})"
                if "-" in "".join(operands)
                else (f"{operands[0]} {self._symbol} {operands[1]}")
            )
        return f"fe.{self.name}({operands[0]}, {operands[1]})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        dtype = shared_dtype(given)
        assert dtype is not None
        return by_case(self.name, meet(given, dtype))


class Where(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("where", REALS)
        if x is None:
            return None
        value = scope.values[x]
        dtype = value.dtype.name
        condition = scope.pick(lambda c: c.dtype == np.bool_ and scope.fits(c.shape, value.shape))
        condition = condition or scope.add_input("bool", scope.beside(value.shape))
        other: Any = None
        if dtype != "bool" and scope.one_in(3):
            other = scope.number_beside(dtype)
        else:
            shape = np.broadcast_shapes(scope.values[condition].shape, value.shape) if condition else ()
            other = scope.pick(lambda y: y.dtype == value.dtype and scope.fits(shape, y.shape))
        if condition is None or other is None:
            return None
        return self.drawn(condition, *((x, other) if scope.one_in(2) else (other, x)))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.where({', '.join(operands)})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        dtype = shared_dtype(given[1:])
        assert dtype is not None
        return by_case("where", [given[0], *meet(given[1:], dtype)])


class Clip(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("clip", NUMERIC)
        if x is None:
            return None
        signed = scope.values[x].dtype.name not in ("uint8", "uint16", "uint32", "uint64")
        return self.drawn(x, scope.choose([-2, -1, 0] if signed else [0, 1]), scope.choose([2, 3, 5]))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.clip({', '.join(operands)})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return by_case("clip", meet(given, given[0].dtype.name))


class Cast(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        target = scope.choose(scope.dtypes if scope.one_in(2) else REALS)
        x = scope.pick(lambda value: scope.takes("astype", value.dtype.name) and value.dtype.name != target)
        return None if x is None else self.drawn(x, dtype=target)

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.astype({operands[0]}, {attributes['dtype']!r})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return by_case("astype", given, attributes, result=attributes["dtype"])


def of_rows(named: Iterable[Operation]) -> list[Operation]:
    """The other elementwise ops with one or two inputs, no attributes and one result, for the real dtypes of their
    cases."""
    names = {one.name for one in named}
    found: list[Operation] = []
    for op, row in OP_ROWS.items():
        count = len(row["inputs"])
        is_plain = row["kind"] == "elementwise" and not row["attributes"] and len(row["outputs"]) == 1
        if op in names or not is_plain or count not in (1, 2):
            continue
        taken = {case.dtypes[0] for case in all_cases().values() if case.op == op and len({*case.dtypes}) == 1}
        if dtypes := [dtype for dtype in REALS if dtype in taken]:
            found.append(Unary(op, dtypes, 0.3) if count == 1 else Binary(op, dtypes, 0.3))
    return found


# Ops that are drawn more often, are written as operators, or have oracles that are slow.
NAMED: list[Operation] = [
    Unary("negative", NUMERIC, 1.5, "-{0}"),
    Unary("abs", NUMERIC, 1, "abs({0})"),
    Unary("bitwise_invert", BITS, 0.7, "~{0}"),
    Unary("positive", NUMERIC, 0.2, "+{0}"),
    *(Unary(op, FLOATS, 0.4, slow=True) for op in ("silu", "erf", "erfc", "gelu")),
    Binary("add", NUMERIC, 3, "+"),
    Binary("subtract", NUMERIC, 2, "-"),
    Binary("multiply", NUMERIC, 3, "*"),
    Binary("divide", FLOATS, 1, "/"),
    Binary("floor_divide", NUMERIC, 0.7, "//"),
    Binary("remainder", NUMERIC, 0.7, "%"),
    Binary("pow", NUMERIC, 0.5, "**"),
    Binary("maximum", REALS, 1),
    Binary("minimum", REALS, 1),
    *(
        Binary(op, REALS, 0.4, symbol)
        for op, symbol in (
            ("equal", "=="),
            ("not_equal", "!="),
            ("less", "<"),
            ("less_equal", "<="),
            ("greater", ">"),
            ("greater_equal", ">="),
        )
    ),
    *(
        Binary(op, BITS, 0.5, symbol)
        for op, symbol in (("bitwise_and", "&"), ("bitwise_or", "|"), ("bitwise_xor", "^"))
    ),
    *(
        Binary(op, INTEGERS, 0.3, symbol)
        for op, symbol in (("bitwise_left_shift", "<<"), ("bitwise_right_shift", ">>"))
    ),
    Where("where", 2),
    Clip("clip", 0.7),
    Cast("astype", 3),
]
OPERATIONS = [*NAMED, *of_rows(NAMED)]

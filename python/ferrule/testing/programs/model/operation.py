"""Operations of steps: how a step is drawn, how it is written in Python, and its reference result in NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ferrule.testing.cases import all_cases
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import Values, is_floating
from ferrule.testing.model.problem import Problem
from ferrule.testing.programs.model.inputs import Given, Operand
from ferrule.testing.programs.model.promotion import rounded
from ferrule.testing.programs.model.scope import Scope


@dataclass(frozen=True)
class Drawn:
    """A drawn step that has no name yet."""

    operation: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class Reference:
    """NumPy's result of a step. It is exact, or judged by the oracle and tolerance of a case if one is given."""

    truth: Values
    dtype: str
    case: Case | None = None
    problem: Problem | None = None
    inputs: tuple[Values, ...] = ()
    is_judged: bool = True  # False: only dtype and shape are checked, since bounds do not hold on overflow

    @property
    def value(self) -> Values:
        """The truth in the dtype of the result."""
        return np.asarray(rounded(self.truth, self.dtype) if is_floating(self.dtype) and self.case else self.truth)

    def fault(self, got: Values) -> str:
        """A description of what is wrong with a result; empty if it is right."""
        if got.dtype.name != self.dtype or got.shape != self.truth.shape:
            return f"gave {got.dtype.name}{got.shape}, not {self.dtype}{self.truth.shape}"
        if not self.is_judged:
            return ""
        if self.case is None:
            return difference(got, self.truth)
        if got.dtype == np.bool_ and (found := difference(got, self.truth)):
            return found
        assert self.problem is not None
        verdict = self.case.judge(self.problem, list(self.inputs), got, self.truth)
        if verdict.ok:
            return ""
        return (
            f"element {verdict.index} is {verdict.got}, not {verdict.wanted}: {verdict.why}, {verdict.ulp:.4g} ULP, "
            f"allowed {verdict.allowed:.4g} ({self.case.tolerance.reason}); {verdict.wrong} of {verdict.count} wrong"
        )


def difference(got: Values, wanted: Values) -> str:
    """A description of where two arrays differ in their bits; empty if they do not. All NaNs count as equal."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"{got.dtype.name}{got.shape}, not {wanted.dtype.name}{wanted.shape}"
    if got.size == 0 or got.tobytes() == wanted.tobytes():
        return ""
    bytes_of = [np.ascontiguousarray(x).reshape(-1).view(np.uint8).reshape(x.size, -1) for x in (got, wanted)]
    differs = (bytes_of[0] != bytes_of[1]).any(axis=1)
    if is_floating(got.dtype.name):
        differs &= ~(np.isnan(got.reshape(-1)) & np.isnan(wanted.reshape(-1)))
    if not differs.any():
        return ""
    places = np.flatnonzero(differs)
    index = tuple(int(i) for i in np.unravel_index(places[0], got.shape))
    return f"element {index} is {_shown(got[index])}, not {_shown(wanted[index])}; {places.size} of {got.size} differ"


def _shown(value: Any) -> str:
    if value.dtype == np.bool_ and value.tobytes() not in (b"\0", b"\1"):
        return f"a bool of the byte {value.tobytes()[0]}"
    return str(value.item() if value.dtype.kind in "biuf" else value)


class Operation:
    """One kind of step. `bare` are the indices of operands that may be NumPy arrays if another operand is a ferrule
    array. `raises` says that the step must raise an error."""

    bare: tuple[int, ...] = ()
    raises = False

    def __init__(self, name: str, weight: float = 1.0) -> None:
        self.name, self.weight = name, weight

    def draw(self, scope: Scope) -> Drawn | None:
        """Draw operands and attributes; None if no suitable values exist."""
        raise NotImplementedError

    def lines(self, target: str, operands: Sequence[str], attributes: Mapping[str, Any]) -> list[str]:
        return [f"{target} = {self.text(operands, attributes)}"]

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        """The Python expression of the step."""
        raise NotImplementedError

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        raise NotImplementedError

    def drawn(self, *operands: Operand, **attributes: Any) -> Drawn:
        return Drawn(self.name, operands, attributes)


def exact(truth: Values) -> Reference:
    """The reference of a step that moves or selects elements."""
    return Reference(np.asarray(truth), np.asarray(truth).dtype.name)


def by_case(
    op: str,
    inputs: Sequence[Values],
    attributes: Mapping[str, Any] | None = None,
    result: str = "",
    variant: str = "",
    output: str = "",
) -> Reference:
    """The reference of a step that the kit's case for these dtypes judges."""
    case = find(op, tuple(x.dtype.name for x in inputs), result, variant, output)
    problem = Problem(tuple(x.shape for x in inputs), dict(attributes or {}))
    return Reference(case.truth(problem, list(inputs)), case.result, case, problem, tuple(inputs))


@cache
def find(op: str, dtypes: tuple[str, ...], result: str, variant: str, output: str = "") -> Case:
    for case in all_cases().values():
        same = tuple(map(case.dtype, range(len(dtypes)))) == dtypes if case.dtypes else not dtypes
        if same and (case.op, case.variant, case.output) == (op, variant, output) and result in ("", case.result):
            return case
    raise LookupError(f"there is no case of {op} with {dtypes} {result} {variant} {output}")


def keywords(**values: Any) -> str:
    """Format keyword arguments, such as ", axis=1". None is left out."""
    return "".join(f", {name}={value!r}" for name, value in values.items() if value is not None)

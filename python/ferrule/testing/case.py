"""A case: all that is known of one op for one set of dtypes. Every check, the matrix and the benchmark come from it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule.testing import cases
from ferrule.testing.dtypes import Values, is_floating, known_dtypes, numpy_dtype, op_rows, widen
from ferrule.testing.exactness import EXACT, Tolerance, Verdict, compare
from ferrule.testing.values import ANY, Domain, Shape

if TYPE_CHECKING:
    from ferrule.testing.problems import Family

Attributes = Mapping[str, Any]
Oracle = Callable[..., Values]
Draw = Callable[["np.random.Generator", Shape, str], Values]


@dataclass(frozen=True)
class Problem:
    """The shapes of the inputs and the attributes of one execution."""

    shapes: tuple[Shape, ...]
    attributes: Attributes = field(default_factory=dict)

    def __str__(self) -> str:
        shapes = ", ".join(str(shape) for shape in self.shapes)
        attributes = "".join(f", {name}={value!r}" for name, value in self.attributes.items())
        return f"({shapes}{attributes})"


@dataclass(frozen=True)
class Case:
    """One op for one set of dtypes.

    `oracle` takes the inputs, floating-point ones widened (dtypes.wide_of), and the attributes, and gives the truth: as
    wide for a floating-point result, else in its dtype. It is never code of ferrule's. `domains` has one for each
    input, the last for all that follow. `family` says which shapes and attributes there are. `fill` is given the number
    of an input and the values drawn for it, and gives what the op shall have: a mask, indices, infinities among them.
    """

    op: str
    dtypes: tuple[str, ...]
    result: str
    family: Family
    oracle: Oracle
    tolerance: Tolerance = EXACT
    domains: tuple[Domain, ...] = (ANY,)
    variant: str = ""  # of several cases of the same op and dtypes: "tanh"
    output: str = ""  # of several outputs the one that `result`, `oracle` and `tolerance` are about: each has a case
    signed_zeros: bool = True  # whether the sign of a zero is said
    fill: Callable[[np.random.Generator, int, Problem, Values], Values] | None = None  # what becomes of drawn inputs
    left_out: Mapping[str, str] = field(default_factory=dict)  # fills of checks/ranges.py without a truth, and why
    errors: Callable[[Case], Iterable[Failing]] | None = None

    @property
    def name(self) -> str:
        """As in the name of a test: `softmax-float32`."""
        dtypes = self.dtypes[:1] if all(d == self.dtypes[0] for d in self.dtypes) else self.dtypes
        words = [self.op, *dtypes]
        if not self.dtypes or self.op == "astype":
            words += ["to", self.result]
        return "-".join(filter(None, (*words, self.output, self.variant)))

    @property
    def asked(self) -> tuple[str, ...]:
        """The dtypes by which a device is asked whether it supports the op so."""
        return (*self.dtypes, self.result) if "dtype" in self.family.plain[0].attributes else self.dtypes

    @property
    def output_number(self) -> int:
        """Which of the op's outputs it is about."""
        return op_rows()[self.op]["outputs"].index(self.output) if self.output else 0

    @property
    def floating(self) -> bool:
        return is_floating(self.result)

    def domain(self, number: int) -> Domain:
        return self.domains[min(number, len(self.domains) - 1)]

    def dtype(self, number: int) -> str:
        return self.dtypes[min(number, len(self.dtypes) - 1)]

    def inputs(self, problem: Problem, rng: np.random.Generator, draw: Draw | None = None) -> list[Values]:
        """Ordinary values for a problem, or floating-point ones that `draw` gives."""
        values = []
        for number, shape in enumerate(problem.shapes):
            dtype = self.dtype(number)
            if draw is None or not is_floating(dtype):
                drawn = self.domain(number).ordinary(rng, shape, dtype)
            else:
                drawn = draw(rng, shape, dtype).astype(numpy_dtype(dtype))
            values.append(drawn if self.fill is None else self.fill(rng, number, problem, drawn))
        return values

    def truth(self, problem: Problem, inputs: list[Values]) -> Values:
        with np.errstate(all="ignore"):
            truth = np.asarray(self.oracle(*(widen(x) for x in inputs), **problem.attributes))
        return truth if self.floating else truth.astype(numpy_dtype(self.result), copy=False)

    def judge(self, problem: Problem, inputs: list[Values], got: Values, truth: Values | None = None) -> Verdict:
        """Hold a result against the truth."""
        truth = self.truth(problem, inputs) if truth is None else truth
        distances = self.tolerance.distances([widen(x) for x in inputs], dict(problem.attributes), truth, self.result)
        nearest = self._nearest(problem, inputs) if self.tolerance.nearest else None
        return compare(
            got, truth, self.result, self.tolerance, distances, self.signed_zeros, nearest, self._exact(inputs, truth)
        )

    def _exact(self, inputs: list[Values], truth: Values) -> Values | None:
        """Where a function of infinity is an integer, as tanh and exp have them: limits are no matter of rounding."""
        if not self.family.pointwise or len(inputs) != 1 or not all(map(is_floating, (*self.dtypes, self.result))):
            return None
        with np.errstate(all="ignore"):
            return np.asarray(np.isinf(inputs[0].astype(np.float64)) & (truth == np.rint(truth)))

    def _nearest(self, problem: Problem, inputs: list[Values]) -> Values | None:
        """What float64 itself rounds once. A wider truth was rounded before, and 64 bits are too few to hide that; for
        narrower results float64 has enough: 2 p + 2 (Figueroa 1995)."""
        if self.result != "float64":
            return None
        with np.errstate(all="ignore"):
            return np.asarray(self.oracle(*inputs, **problem.attributes)).astype(np.float64)


@dataclass(frozen=True)
class Failing:
    """Inputs for which an op must raise an error rather than give a result."""

    problem: Problem
    inputs: list[Values]
    why: str


@cache
def all_cases() -> dict[str, Case]:
    """By name, in the order of the op rows; of the ops and dtypes that this ferrule has."""
    found: dict[str, Case] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(cases.__path__)):
        for case in importlib.import_module(f"{cases.__name__}.{module}").CASES:
            if case.op in op_rows() and {*case.dtypes, case.result} <= known_dtypes():
                assert case.name not in found, case.name
                found[case.name] = case
    order = list(op_rows())
    return dict(sorted(found.items(), key=lambda item: order.index(item[1].op)))

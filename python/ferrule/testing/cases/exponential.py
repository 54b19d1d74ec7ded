"""Exponentials, logarithms, powers and roots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ferrule.testing.model.case import Case, Failing
from ferrule.testing.model.dtypes import FLOATS, FORMATS, INTEGERS, Values
from ferrule.testing.model.exactness import EXACT, ROUNDED, Tolerance
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import ANY, Domain
from ferrule.testing.problems import elementwise
from ferrule.testing.problems.elementary import binary, tolerance_of, unary

BINARY = elementwise(2)


def power(x1: Values, x2: Values) -> Values:
    """NumPy's power: pow(nan, 0) and pow(1, nan) are 1."""
    return np.asarray(np.power(x1, x2))


def negative_powers(case: Case) -> Iterator[Failing]:
    """Negative exponents of signed integers: at the end of an array, in a broadcast row, and as a scalar."""
    rng = np.random.default_rng(0)
    least = int(np.iinfo(case.dtypes[1]).min)
    for shape, exponents, place, wrong in (
        ((3, 67), (3, 67), 200, -1),
        ((3, 67), (67,), 0, least),
        ((3, 67), (), 0, -2),
        ((70_000,), (70_000,), 69_999, -1),
    ):
        problem = Problem((shape, exponents))
        x, powers = case.inputs(problem, rng)
        x.flat[:] = 1  # negative powers of 1 are integers, and raise an error all the same
        powers.flat[place] = wrong
        yield Failing(problem, [x, powers], f"exponent {wrong} of {case.dtypes[0]}")


def powers() -> list[Case]:
    exponent = Domain(integer_low=0, integer_high=70)
    whole = [
        Case(
            "pow",
            (d, d),
            d,
            BINARY,
            power,
            EXACT,
            (ANY, exponent),
            errors=negative_powers if d.startswith("int") else None,
        )
        for d in INTEGERS
    ]
    domains = (Domain(0, 10), Domain(-10, 10))
    return whole + [Case("pow", (d, d), d, BINARY, power, tolerance_of(d), domains) for d in FLOATS]


def rounding_of_larger(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    """Two units in the last place of the larger input: the result adds the larger input and a logarithm."""
    larger = np.maximum(np.abs(inputs[0]), np.abs(inputs[1]))
    return np.asarray(larger * 4 * FORMATS[dtype].unit_roundoff)


SUM_OF_EXPONENTIALS = Tolerance(
    "a number and a logarithm, which may cancel: 4 ULP, or 2 of the larger number", ulp=4, bound=rounding_of_larger
)


def rsqrt(x: Values) -> Values:
    return np.asarray(1 / np.sqrt(x))


CASES = [
    *unary("exp", np.exp, Domain(-90, 90, edges=(88.7, -87.4, -103.9, 709.7, -745.0))),
    *unary("exp2", np.exp2, Domain(-150, 128, edges=(127.9, -126.5, -149.5, 1023.9, -1074.5))),
    *unary("expm1", np.expm1, Domain(-20, 80, edges=(88.7, 709.7))),
    *unary("log", np.log, Domain(0, 1e6)),
    *unary("log2", np.log2, Domain(0, 1e6)),
    *unary("log10", np.log10, Domain(0, 1e6)),
    *binary("logaddexp", np.logaddexp, Domain(-90, 90), SUM_OF_EXPONENTIALS),
    *unary("log1p", np.log1p, Domain(-1, 1e6)),
    *unary("sqrt", np.sqrt, Domain(0, 1e6), ROUNDED),
    *unary("rsqrt", rsqrt, Domain(0, 1e6)),
    *powers(),
]

"""Arithmetic: integers wrap, and one floating-point operation is correctly rounded."""

from __future__ import annotations

import numpy as np

from ferrule.testing.case import Case, Oracle
from ferrule.testing.cases.elementary import tolerance_of
from ferrule.testing.dtypes import FLOATS, INTEGERS, NUMERIC, Values, is_floating
from ferrule.testing.exactness import EXACT, ROUNDED, Tolerance
from ferrule.testing.families import elementwise
from ferrule.testing.values import ANY, Domain

UNARY = elementwise(1)
BINARY = elementwise(2)
QUOTIENT = Tolerance(
    "NumPy's (x1 - remainder) / x2: two roundings, together below 2 ULP of the quotient, and one where it is lessened",
    ulp=2.5,
)


def square(x: Values) -> Values:
    return np.multiply(x, x)


def power(x1: Values, x2: Values) -> Values:
    """NumPy's: pow(nan, 0) and pow(1, nan) are 1."""
    return np.asarray(np.power(x1, x2))


def cases(op: str, oracle: Oracle, dtypes: tuple[str, ...] = NUMERIC, arity: int = 2) -> list[Case]:
    """Of an op that is one operation of IEEE 754."""
    family = UNARY if arity == 1 else BINARY
    return [
        Case(op, (d,) * arity, d, family, oracle, ROUNDED if is_floating(d) else EXACT, (Domain(-100, 100),))
        for d in dtypes
    ]


def divisions(d: str) -> list[Case]:
    """Python's, rounded towards minus infinity; integers by zero give 0. Infinities and zeros are NumPy's."""
    quotient, rest = (QUOTIENT, ROUNDED) if is_floating(d) else (EXACT, EXACT)
    domains = (Domain(-100, 100), Domain(-10, 10))
    return [
        Case("floor_divide", (d, d), d, BINARY, np.floor_divide, quotient, domains),
        Case("remainder", (d, d), d, BINARY, np.remainder, rest, domains),
    ]


def powers() -> list[Case]:
    # A negative power of an integer is an error in NumPy, and nothing is said here: none occurs.
    exponent = Domain(integer_low=0, integer_high=70)
    whole = [Case("pow", (d, d), d, BINARY, power, EXACT, (ANY, exponent)) for d in INTEGERS]
    domains = (Domain(0, 10), Domain(-10, 10))
    return whole + [Case("pow", (d, d), d, BINARY, power, tolerance_of(d), domains) for d in FLOATS]


CASES = [
    *cases("add", np.add),
    *cases("subtract", np.subtract),
    *cases("multiply", np.multiply),
    *cases("divide", np.true_divide, FLOATS),
    *(case for d in NUMERIC for case in divisions(d)),
    *powers(),
    *cases("square", square, arity=1),
    *cases("negative", np.negative, arity=1),
    *cases("abs", np.abs, arity=1),
    *cases("sign", np.sign, arity=1),
]

"""Arithmetic: integers wrap, and single floating-point operations are correctly rounded."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.case import Case, Oracle
from ferrule.testing.model.dtypes import COMPLEX, FLOATS, NUMERIC, PARTS, Values, is_floating, numpy_dtype
from ferrule.testing.model.exactness import EXACT, ROUNDED, Tolerance, normwise
from ferrule.testing.model.values import Domain
from ferrule.testing.problems import elementwise
from ferrule.testing.problems.elementary import binary, complex_binary, complex_unary, unary

UNARY = elementwise(1)
BINARY = elementwise(2)
QUOTIENT = Tolerance(
    "NumPy's (x1 - remainder) / x2: two roundings, together below 2 ULP of the quotient, and one where it is lessened",
    ulp=2.5,
)


def square(x: Values) -> Values:
    return np.multiply(x, x)


def cases(op: str, oracle: Oracle, dtypes: tuple[str, ...] = NUMERIC, arity: int = 2) -> list[Case]:
    """Cases of an op that is a single operation of IEEE 754."""
    family = UNARY if arity == 1 else BINARY
    return [
        Case(op, (d,) * arity, d, family, oracle, ROUNDED if is_floating(d) else EXACT, (Domain(-100, 100),))
        for d in dtypes
    ]


def divisions(d: str) -> list[Case]:
    """Python's division, rounded towards minus infinity; integers divided by zero give 0. Infinities and zeros follow
    NumPy."""
    quotient, rest = (QUOTIENT, ROUNDED) if is_floating(d) else (EXACT, EXACT)
    domains = (Domain(-100, 100), Domain(-10, 10))
    return [
        Case("floor_divide", (d, d), d, BINARY, np.floor_divide, quotient, domains),
        Case("remainder", (d, d), d, BINARY, np.remainder, rest, domains),
    ]


def next_after(dtype: str) -> Case:
    """nextafter, computed in the dtype itself, since wider numbers have other neighbours. For equal numbers it is the
    second, as the standard defines for zeros of different signs; NumPy's float16 differs."""

    def neighbour(x1: Values, x2: Values) -> Values:
        narrow = numpy_dtype(dtype)
        return np.where(x1 == x2, x2, np.nextafter(x1.astype(narrow), x2.astype(narrow)))

    return Case("nextafter", (dtype, dtype), dtype, BINARY, neighbour, domains=(Domain(-3, 3),))


def mantissa(x: Values) -> Values:
    return np.asarray(np.frexp(x)[0])


def exponent(x: Values) -> Values:
    """0 for infinities and NaN, for which C leaves the exponent unspecified."""
    return np.where(np.isfinite(x), np.frexp(x)[1], 0)


PRODUCT_OF_COMPLEX = normwise(
    4, "two products and a sum for each part: sqrt(5) u |x1 x2|, Brent, Percival & Zimmermann (2007)"
)
QUOTIENT_OF_COMPLEX = normwise(10, "Smith's division: two products, three sums and three quotients")
# Whether a product of large parts overflows before it cancels is unspecified.
PARTS_OF_PRODUCTS = Domain(-100, 100, only=(0.0, -0.0, 1.0, -1.5, 3.0, float("inf"), float("-inf"), float("nan")))


def complex_quotient(x1: Values, x2: Values) -> Values:
    """Smith's division, as NumPy's; a divisor of zero divides each part."""
    return np.asarray(np.true_divide(x1, x2))


def complex_arithmetic() -> list[Case]:
    wide = Domain(-100, 100)
    sums = [
        case
        for op, oracle in (("add", np.add), ("subtract", np.subtract))
        for case in complex_binary(op, oracle, wide, ROUNDED)
    ]
    return [
        *sums,
        *complex_binary("multiply", np.multiply, PARTS_OF_PRODUCTS, PRODUCT_OF_COMPLEX),
        *complex_binary("divide", complex_quotient, PARTS_OF_PRODUCTS, QUOTIENT_OF_COMPLEX),
        *complex_unary("square", square, PARTS_OF_PRODUCTS, PRODUCT_OF_COMPLEX),
        *complex_unary("reciprocal", np.reciprocal, PARTS_OF_PRODUCTS, QUOTIENT_OF_COMPLEX),
        *complex_unary("negative", np.negative, wide, EXACT),
        *complex_unary("positive", np.positive, wide, EXACT),
        *complex_unary("sign", np.sign, wide, normwise(6, "a magnitude and a quotient for each part")),
        *(Case("abs", (d,), PARTS[d], UNARY, np.abs, MAGNITUDE, (wide,)) for d in COMPLEX),
    ]


MAGNITUDE = Tolerance("two squares, their sum and its root: a relative error of two roundings", ulp=2)

CASES = [
    *(Case("frexp", (d,), d, UNARY, mantissa, output="mantissa") for d in FLOATS),
    *(Case("frexp", (d,), "int32", UNARY, exponent, output="exponent") for d in FLOATS),
    *cases("add", np.add),
    *cases("subtract", np.subtract),
    *cases("multiply", np.multiply),
    *cases("divide", np.true_divide, FLOATS),
    *(case for d in NUMERIC for case in divisions(d)),
    *cases("square", square, arity=1),
    *unary("reciprocal", np.reciprocal, Domain(-1e3, 1e3), ROUNDED),
    *binary("hypot", np.hypot, Domain(-1e3, 1e3)),
    *cases("fmod", np.fmod, FLOATS),
    *(Case("copysign", (d, d), d, BINARY, np.copysign) for d in FLOATS),
    *map(next_after, FLOATS),
    *(Case("positive", (d,), d, UNARY, np.positive) for d in NUMERIC),
    *cases("negative", np.negative, arity=1),
    *cases("abs", np.abs, arity=1),
    *cases("sign", np.sign, arity=1),
    *complex_arithmetic(),
]

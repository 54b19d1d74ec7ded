"""Exponentials, logarithms, powers and roots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ferrule.testing.model.case import Case, Failing
from ferrule.testing.model.dtypes import FLOATS, FORMATS, INTEGERS, PARTS, Values
from ferrule.testing.model.exactness import EXACT, ROUNDED, Tolerance
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import ANY, Domain, complex_of
from ferrule.testing.problems import elementwise
from ferrule.testing.problems.elementary import (
    NEAR_OVERFLOW,
    binary,
    complex_binary,
    complex_unary,
    tolerance_of,
    unary,
)

BINARY = elementwise(2)


def power(x1: Values, x2: Values) -> Values:
    """NumPy's power: pow(nan, 0) and pow(1, nan) are 1. For one exponent it may take the square root, whose results for
    -0 and -inf are not those of pow."""
    shape = np.broadcast_shapes(x1.shape, x2.shape)
    exponents = np.broadcast_to(x2, shape).reshape(-1).copy()
    return np.asarray(np.power(np.broadcast_to(x1, shape).reshape(-1), exponents)).reshape(shape)


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
    # Bases below 0 have whole powers; squares, reciprocals and roots may be computed as such.
    domains = (Domain(0, 10, edges=(-0.3, -2.5, -7.0)), Domain(-10, 10, edges=(2, 3, -1, -2, 0.5, -0.5)))
    return whole + [Case("pow", (d, d), d, BINARY, power, tolerance_of(d), domains) for d in FLOATS]


def rounding_of_larger(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    """Two units of 42 bits, or of float64, in the larger input: the result adds the larger input and a logarithm."""
    larger = np.maximum(np.abs(inputs[0]), np.abs(inputs[1]))
    return np.asarray(larger * 4 * min(2.0**-42, FORMATS[dtype].unit_roundoff))


SUM_OF_EXPONENTIALS = Tolerance(
    "a number and a logarithm, which may cancel: 4 ULP, or the rounding of the larger number to 42 bits or to float64",
    ulp=4,
    bound=rounding_of_larger,
)
NEAR_CANCELLATION = (-0.693147, -0.7, -0.686341, -1e-3, -6.908255)  # e^x + e^y is near 1 for some pairs


def rsqrt(x: Values) -> Values:
    return np.asarray(1 / np.sqrt(x))


def complex_log1p(x: Values) -> Values:
    """From real functions: NumPy rounds 1 + x first, which loses the digits of a small x."""
    real, imaginary = x.real, x.imag
    small = (np.abs(real) < 0.5) & (np.abs(imaginary) < 0.5)
    large = np.log(1 + x)
    return complex_of(
        np.where(small, np.log1p(real * (2 + real) + imaginary * imaginary) / 2, large.real),
        np.where(np.isnan(x), large.imag, np.arctan2(imaginary, 1 + real)),
    )


def complex_expm1(x: Values) -> Values:
    """NumPy's for finite numbers, with zeros that are positive; others as the standard has them."""
    finite, other = np.expm1(x), np.exp(x)
    is_finite = np.isfinite(x)
    return complex_of(
        np.where(is_finite, finite.real + 0, other.real - 1), np.where(is_finite, finite.imag, other.imag)
    )


def powers_of_logarithms(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    """The error of the exponent x2 log(x1) becomes a relative error of the result."""
    exponent = np.abs(inputs[1] * np.log(inputs[0]))
    return np.asarray((64 + 8 * exponent) * FORMATS[PARTS[dtype]].unit_roundoff * np.abs(truth))


COMPLEX_POWER = Tolerance("exp(x2 log(x1)), or up to 64 products", bound=powers_of_logarithms)

CASES = [
    *unary("exp", np.exp, Domain(-90, 90, edges=(88.7, -87.4, -103.9, 709.7, -745.0))),
    *unary("exp2", np.exp2, Domain(-150, 128, edges=(127.9, -126.5, -149.5, 1023.9, -1074.5))),
    *unary("expm1", np.expm1, Domain(-20, 80, edges=(88.7, 709.7))),
    *unary("log", np.log, Domain(0, 1e6)),
    *unary("log2", np.log2, Domain(0, 1e6)),
    *unary("log10", np.log10, Domain(0, 1e6)),
    *binary("logaddexp", np.logaddexp, Domain(-90, 90, edges=NEAR_CANCELLATION), SUM_OF_EXPONENTIALS),
    *unary("log1p", np.log1p, Domain(-1, 1e6)),
    *unary("sqrt", np.sqrt, Domain(0, 1e6), ROUNDED),
    *unary("rsqrt", rsqrt, Domain(0, 1e6)),
    *powers(),
    *complex_unary("exp", np.exp, NEAR_OVERFLOW),
    *complex_unary("expm1", complex_expm1, NEAR_OVERFLOW),
    *complex_unary("log", np.log, Domain(-100, 100)),
    *complex_unary("log2", np.log2, Domain(-100, 100)),
    *complex_unary("log10", np.log10, Domain(-100, 100)),
    *complex_unary("log1p", complex_log1p, Domain(-10, 10)),
    *complex_unary("sqrt", np.sqrt, Domain(-100, 100, edges=(3 * 2.0**-1065,))),  # has few digits
    # The special cases of complex powers are unspecified.
    *complex_binary("pow", power, Domain(-3, 3, only=(0.5, 1.0, -1.5, 3.0)), COMPLEX_POWER),
]

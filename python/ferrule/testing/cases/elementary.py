"""Exponentials, logarithms, trigonometric functions, roots, activations: within a few units in the last place.

Where a row allows more than half a unit, it is for what an implementation in the dtype itself reaches that needs no
table: 4 ULP, as OpenCL C (7.4) and SVML's default grade them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ferrule.testing import error_function
from ferrule.testing.case import Case, Oracle
from ferrule.testing.dtypes import FLOATS, FORMATS, Values
from ferrule.testing.exactness import ROUNDED, Tolerance
from ferrule.testing.families import elementwise
from ferrule.testing.values import Domain

UNARY = elementwise(1)
BINARY = elementwise(2)
HALF = Tolerance("computed in float32 and rounded once: half a unit, and what float32 lost before", ulp=0.51)
ELEMENTARY = Tolerance("an elementary function in its own precision, 4 ULP as OpenCL C 7.4 grades them", ulp=4)


def tolerance_of(dtype: str, own: Tolerance = ELEMENTARY) -> Tolerance:
    """`own`, but HALF for halves. What IEEE 754 rounds correctly is correct in halves, too: a float32 that is rounded
    again gives the nearest half, since its 24 digits are 2 p + 2 (Figueroa 1995)."""
    return HALF if dtype in ("float16", "bfloat16") and not own.nearest else own


def each(function: Callable[[float], float], x: Values) -> Values:
    """A function of Python's math for each element."""
    return np.array([function(v) for v in x.ravel().tolist()], x.dtype).reshape(x.shape)


def erf(x: Values) -> Values:
    return each(math.erf, x) if x.dtype == np.float64 else error_function.erf(x)


def erfc(x: Values) -> Values:
    return each(math.erfc, x) if x.dtype == np.float64 else error_function.erfc(x)


def rounding_of_larger(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    """Two units in the last place of the larger of two numbers, of which one and a logarithm are added."""
    larger = np.maximum(np.abs(inputs[0]), np.abs(inputs[1]))
    return np.asarray(larger * 4 * FORMATS[dtype].unit_roundoff)


SUM_OF_EXPONENTIALS = Tolerance(
    "a number and a logarithm, which may cancel: 4 ULP, or 2 of the larger number", ulp=4, bound=rounding_of_larger
)


def sigmoid(x: Values) -> Values:
    return np.asarray(1 / (1 + np.exp(-x)))


def silu(x: Values) -> Values:
    return x * sigmoid(x)


def rsqrt(x: Values) -> Values:
    return np.asarray(1 / np.sqrt(x))


def unary(op: str, oracle: Oracle, domain: Domain, tolerance: Tolerance = ELEMENTARY) -> list[Case]:
    return [Case(op, (d,), d, UNARY, oracle, tolerance_of(d, tolerance), (domain,)) for d in FLOATS]


def binary(op: str, oracle: Oracle, domain: Domain, tolerance: Tolerance = ELEMENTARY) -> list[Case]:
    return [Case(op, (d, d), d, BINARY, oracle, tolerance_of(d, tolerance), (domain,)) for d in FLOATS]


CASES = [
    *unary("exp", np.exp, Domain(-90, 90, edges=(88.7, -87.4, -103.9, 709.7, -745.0))),
    *unary("exp2", np.exp2, Domain(-150, 128, edges=(127.9, -126.5, -149.5, 1023.9, -1074.5))),
    *unary("expm1", np.expm1, Domain(-20, 80, edges=(88.7, 709.7))),
    *unary("log", np.log, Domain(0, 1e6)),
    *unary("log2", np.log2, Domain(0, 1e6)),
    *unary("log10", np.log10, Domain(0, 1e6)),
    *binary("logaddexp", np.logaddexp, Domain(-90, 90), SUM_OF_EXPONENTIALS),
    *unary("log1p", np.log1p, Domain(-1, 1e6)),
    *unary("sin", np.sin, Domain(-30, 30)),
    *unary("cos", np.cos, Domain(-30, 30)),
    *unary("tan", np.tan, Domain(-30, 30)),
    *unary("asin", np.arcsin, Domain(-1, 1)),
    *unary("acos", np.arccos, Domain(-1, 1)),
    *unary("atan", np.arctan, Domain(-30, 30)),
    *binary("atan2", np.arctan2, Domain(-30, 30)),
    *unary("sinh", np.sinh, Domain(-90, 90, edges=(88.7, 89.4, 709.7, 710.4))),
    *unary("cosh", np.cosh, Domain(-90, 90, edges=(88.7, 89.4, 709.7, 710.4))),
    *unary("tanh", np.tanh, Domain(-10, 10)),
    *unary("asinh", np.arcsinh, Domain(-1e3, 1e3)),
    *unary("acosh", np.arccosh, Domain(1, 1e3)),
    *unary("atanh", np.arctanh, Domain(-1, 1)),
    *unary("erf", erf, Domain(-5, 5)),
    *unary("erfc", erfc, Domain(-5, 28, edges=(10.05, 10.1, 26.5, 27.2))),
    *unary("sigmoid", sigmoid, Domain(-90, 90, edges=(-88.0, -104.0, -709.0, -715.0, -745.0))),
    *unary("silu", silu, Domain(-90, 90, edges=(-88.0, -104.0, -709.0, -715.0, -750.0))),
    *unary("sqrt", np.sqrt, Domain(0, 1e6), ROUNDED),
    *unary("rsqrt", rsqrt, Domain(0, 1e6)),
    *binary("hypot", np.hypot, Domain(-1e3, 1e3)),
    *unary("reciprocal", np.reciprocal, Domain(-1e3, 1e3), ROUNDED),
]

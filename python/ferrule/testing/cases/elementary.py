"""Exponentials, logarithms, trigonometric functions, roots: within a few units in the last place.

Where a row allows more than half a unit, it is for what an implementation in the dtype itself reaches that needs no
table: 4 ULP, as OpenCL C (7.4) and SVML's default grade them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ferrule.testing.case import Case, Oracle
from ferrule.testing.dtypes import FLOATS, Values
from ferrule.testing.exactness import ROUNDED, Tolerance
from ferrule.testing.families import elementwise
from ferrule.testing.values import Domain

UNARY = elementwise(1)
HALF = Tolerance("computed in float32 and rounded once: half a unit, and what float32 lost before", ulp=0.51)
ELEMENTARY = Tolerance("an elementary function in its own precision, 4 ULP as OpenCL C 7.4 grades them", ulp=4)


def tolerance_of(dtype: str, own: Tolerance = ELEMENTARY) -> Tolerance:
    return HALF if dtype in ("float16", "bfloat16") else own


def rowwise(function: Callable[[float], object]) -> Oracle:
    """A function of one Python float for each element of float64 and narrower."""

    def oracle(x: Values) -> Values:
        return np.array([function(v) for v in x.ravel()], x.dtype).reshape(x.shape)

    return oracle


def erf(x: Values) -> Values:
    """math.erf where float64 is wide enough; else mpmath at 80 bits."""
    import math

    if x.dtype == np.float64:
        return rowwise(math.erf)(x)
    import mpmath

    def exact(v: np.longdouble) -> np.longdouble:
        if not np.isfinite(v):
            return np.sign(v)
        with mpmath.workprec(80):
            return np.longdouble(mpmath.nstr(mpmath.erf(mpmath.mpf(repr(v).split("'")[1])), 25))

    return rowwise(exact)(x)  # type: ignore[arg-type]


def sigmoid(x: Values) -> Values:
    return 1 / (1 + np.exp(-x))


def normal_distribution(x: Values) -> Values:
    """Of the standard normal distribution: erfc(-x / sqrt 2) / 2, exact in its lower tail, too."""
    import math

    if x.dtype == np.float64:
        return rowwise(lambda v: math.erfc(-v * math.sqrt(0.5)) / 2)(x)
    import mpmath

    def exact(v: np.longdouble) -> np.longdouble:
        if not np.isfinite(v):
            return np.where(np.isnan(v), v, np.longdouble(v > 0))[()]
        with mpmath.workprec(100):
            return np.longdouble(mpmath.nstr(mpmath.ncdf(mpmath.mpf(repr(v).split("'")[1])), 25))

    return rowwise(exact)(x)  # type: ignore[arg-type]


def gelu(x: Values, approximate: str) -> Values:
    if approximate == "tanh":
        u = np.sqrt(2 / np.pi, dtype=x.dtype) * (x + x.dtype.type("0.044715") * x**3)
        return x * sigmoid(2 * u)
    return x * normal_distribution(x)


def unary(op: str, oracle: Oracle, domain: Domain, tolerance: Tolerance = ELEMENTARY) -> list[Case]:
    return [Case(op, (d,), d, UNARY, oracle, tolerance_of(d, tolerance), (domain,), signed_zeros=True) for d in FLOATS]


CASES = [
    *unary("exp", np.exp, Domain(-90, 90, edges=(88.7, -87.4, -103.9, 709.7, -745.0))),
    *unary("expm1", np.expm1, Domain(-20, 80, edges=(88.7, 709.7))),
    *unary("log", np.log, Domain(0, 1e6)),
    *unary("log1p", np.log1p, Domain(-1, 1e6)),
    *unary("sin", np.sin, Domain(-30, 30)),
    *unary("cos", np.cos, Domain(-30, 30)),
    *unary("tanh", np.tanh, Domain(-10, 10)),
    *unary("erf", erf, Domain(-5, 5)),
    *unary("sigmoid", sigmoid, Domain(-90, 90)),
    *unary("silu", lambda x: x * sigmoid(x), Domain(-90, 90)),
    *unary("sqrt", np.sqrt, Domain(0, 1e6), ROUNDED),
    *unary("rsqrt", lambda x: 1 / np.sqrt(x), Domain(0, 1e6)),
    *unary("reciprocal", lambda x: 1 / x, Domain(-1e3, 1e3), ROUNDED),
]

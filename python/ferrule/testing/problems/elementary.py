"""Elementary functions: their tolerances, and functions that make their cases.

A tolerance of more than half a unit is what an implementation in the dtype itself reaches without tables: 4 ULP, the
bound of OpenCL C (7.4) and of SVML's default accuracy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ferrule.testing.model.case import Case, Oracle
from ferrule.testing.model.dtypes import COMPLEX, FLOATS, Values
from ferrule.testing.model.exactness import Tolerance, normwise
from ferrule.testing.model.values import Domain
from ferrule.testing.problems import elementwise

UNARY = elementwise(1)
BINARY = elementwise(2)
HALF = Tolerance("computed in float32 and rounded once: half a unit, and what float32 lost before", ulp=0.51)
ELEMENTARY = Tolerance("an elementary function in its own precision, 4 ULP as OpenCL C 7.4 grades them", ulp=4)

COMPLEX_ELEMENTARY = normwise(
    16, "an elementary function of a complex number: real functions of 4 ULP each, and their products and quotients"
)

# For complex exponentials: e^710.3 overflows, and its product with sin(710.3) does not.
NEAR_OVERFLOW = Domain(-30, 30, edges=(88.7, 89.2, 709.7, 710.3, -745.0))


def tolerance_of(dtype: str, own: Tolerance = ELEMENTARY) -> Tolerance:
    """HALF for half-precision dtypes, else `own`. A tolerance with `nearest` applies to half precision, too: rounding
    a float32 result again gives the nearest half, since its 24 digits are 2 p + 2 (Figueroa 1995)."""
    return HALF if dtype in ("float16", "bfloat16") and not own.nearest else own


def each(function: Callable[[float], float], x: Values) -> Values:
    """Apply a function of Python's math module to each element."""
    return np.array([function(v) for v in x.ravel().tolist()], x.dtype).reshape(x.shape)


def unary(op: str, oracle: Oracle, domain: Domain, tolerance: Tolerance = ELEMENTARY) -> list[Case]:
    return [Case(op, (d,), d, UNARY, oracle, tolerance_of(d, tolerance), (domain,)) for d in FLOATS]


def binary(op: str, oracle: Oracle, domain: Domain, tolerance: Tolerance = ELEMENTARY) -> list[Case]:
    return [Case(op, (d, d), d, BINARY, oracle, tolerance_of(d, tolerance), (domain,)) for d in FLOATS]


def complex_unary(op: str, oracle: Oracle, domain: Domain, tolerance: Tolerance = COMPLEX_ELEMENTARY) -> list[Case]:
    return [Case(op, (d,), d, UNARY, oracle, tolerance, (domain,)) for d in COMPLEX]


def complex_binary(op: str, oracle: Oracle, domain: Domain, tolerance: Tolerance) -> list[Case]:
    return [Case(op, (d, d), d, BINARY, oracle, tolerance, (domain,)) for d in COMPLEX]

"""Elementary functions: exact within a few units in the last place. Their tolerances, and what makes their cases.

Where a row allows more than half a unit, it is for what an implementation in the dtype itself reaches that needs no
table: 4 ULP, as OpenCL C (7.4) and SVML's default grade them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ferrule.testing.case import Case, Oracle
from ferrule.testing.dtypes import FLOATS, Values
from ferrule.testing.exactness import Tolerance
from ferrule.testing.problems import elementwise
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


def unary(op: str, oracle: Oracle, domain: Domain, tolerance: Tolerance = ELEMENTARY) -> list[Case]:
    return [Case(op, (d,), d, UNARY, oracle, tolerance_of(d, tolerance), (domain,)) for d in FLOATS]


def binary(op: str, oracle: Oracle, domain: Domain, tolerance: Tolerance = ELEMENTARY) -> list[Case]:
    return [Case(op, (d, d), d, BINARY, oracle, tolerance_of(d, tolerance), (domain,)) for d in FLOATS]

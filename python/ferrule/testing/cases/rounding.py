"""Rounding to integers: exact. A result of zero keeps the sign of the input (IEEE 754-2019, 5.9)."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.case import Case, Oracle
from ferrule.testing.model.dtypes import COMPLEX, FLOATS, INTEGERS, Values
from ferrule.testing.model.values import Domain
from ferrule.testing.problems import elementwise

UNARY = elementwise(1)
# Halves, for which the rounding modes differ, including the largest halves that float32 and float64 represent.
DOMAIN = Domain(-100, 100, edges=(-0.5, -0.3, 0.3, -1.5, -2.5, 3.5, 8388607.5, -4194303.5, 2251799813685247.5))


def same(x: Values) -> Values:
    return x


def roundings(op: str, oracle: Oracle) -> list[Case]:
    floats = [Case(op, (d,), d, UNARY, oracle, domains=(DOMAIN,)) for d in FLOATS]
    return floats + [Case(op, (d,), d, UNARY, same) for d in INTEGERS]


CASES = [
    *roundings("floor", np.floor),
    *roundings("ceil", np.ceil),
    *roundings("trunc", np.trunc),
    *roundings("round", np.rint),
    *(Case("round", (d,), d, UNARY, np.rint, domains=(DOMAIN,)) for d in COMPLEX),
]

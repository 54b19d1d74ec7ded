"""Comparisons: exact. NaN equals nothing, itself included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ferrule.testing.model.case import Case, Oracle
from ferrule.testing.model.dtypes import ALL, COMPLEX, FLOATS, NUMERIC, REALS
from ferrule.testing.model.values import Domain
from ferrule.testing.problems import elementwise

UNARY = elementwise(1)
BINARY = elementwise(2)
# Few different integers, so that equal ones occur.
NEAR = Domain(-3, 3, integer_low=-5, integer_high=5)


def comparisons(op: str, oracle: Oracle, dtypes: Sequence[str] = REALS) -> list[Case]:
    return [Case(op, (d, d), "bool", BINARY, oracle) for d in dtypes] + [
        Case(op, (d, d), "bool", BINARY, oracle, domains=(NEAR,), variant="near") for d in ("int32", "uint8", "float32")
    ]


CASES = [
    *comparisons("equal", np.equal, ALL),
    *comparisons("not_equal", np.not_equal, ALL),
    *comparisons("less", np.less),
    *comparisons("less_equal", np.less_equal),
    *comparisons("greater", np.greater),
    *comparisons("greater_equal", np.greater_equal),
    *(Case("signbit", (d,), "bool", UNARY, np.signbit) for d in FLOATS),
    *(Case("isnan", (d,), "bool", UNARY, np.isnan) for d in (*NUMERIC, *COMPLEX)),
    *(Case("isinf", (d,), "bool", UNARY, np.isinf) for d in (*NUMERIC, *COMPLEX)),
    *(Case("isfinite", (d,), "bool", UNARY, np.isfinite) for d in (*NUMERIC, *COMPLEX)),
]

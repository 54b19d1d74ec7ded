"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule.testing.model.bounds import gamma
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import FLOATS, INTEGERS, Values, is_floating
from ferrule.testing.model.exactness import EXACT, Tolerance
from ferrule.testing.problems.linear_algebra import matrix_products

PRODUCTS = matrix_products()


def matmul(x1: Values, x2: Values) -> Values:
    return np.asarray(np.matmul(x1, x2))


def matmul_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    x1, x2 = (np.abs(x).astype(np.float64) for x in inputs)
    return gamma(x1.shape[-1], dtype) * matmul(x1, x2)


MATMUL = Tolerance("gamma_n |x1| @ |x2| in any order, Higham (3.13)", bound=matmul_bound)

CASES = [
    *(
        Case("matmul", (d, d), d, PRODUCTS, matmul, MATMUL if is_floating(d) else EXACT, signed_zeros=False)
        for d in (*INTEGERS, *FLOATS)
    ),
]

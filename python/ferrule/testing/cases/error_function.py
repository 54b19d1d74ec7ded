"""The error function and its complement."""

from __future__ import annotations

import math

import numpy as np

from ferrule.testing.model import error_function
from ferrule.testing.model.dtypes import Values
from ferrule.testing.model.values import Domain
from ferrule.testing.problems.elementary import each, unary


def erf(x: Values) -> Values:
    return each(math.erf, x) if x.dtype == np.float64 else error_function.erf(x)


def erfc(x: Values) -> Values:
    return each(math.erfc, x) if x.dtype == np.float64 else error_function.erfc(x)


CASES = [
    *unary("erf", erf, Domain(-5, 5)),
    *unary("erfc", erfc, Domain(-5, 28, edges=(10.05, 10.1, 26.5, 27.2))),
]

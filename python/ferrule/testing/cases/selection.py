"""Choosing between elements: exact. NaN is the greater and the lesser of any number."""

from __future__ import annotations

import numpy as np

from ferrule.testing.case import Case
from ferrule.testing.dtypes import ALL, NUMERIC, REALS, Values
from ferrule.testing.problems import elementwise
from ferrule.testing.values import ANY, Domain

BINARY = elementwise(2)
TERNARY = elementwise(3)
# What clip does where the least is above the greatest is not said (the standard leaves it open): it does not occur.
LEAST = Domain(-6, 2, within=True, integer_low=-50, integer_high=20)
GREATEST = Domain(2, 6, within=True, edges=(float("inf"),), integer_low=20, integer_high=100)


def where(condition: Values, x1: Values, x2: Values) -> Values:
    return np.where(condition, x1, x2)


def clip(x: Values, minimum: Values, maximum: Values) -> Values:
    """NaN if any of the three is."""
    return np.asarray(np.minimum(np.maximum(x, minimum), maximum))


CASES = [
    *(Case("where", ("bool", d, d), d, TERNARY, where) for d in ALL),
    # Which of two zeros is taken is not said, as with maximum.
    *(Case("clip", (d, d, d), d, TERNARY, clip, domains=(ANY, LEAST, GREATEST), signed_zeros=False) for d in NUMERIC),
    # Which zero is the greater one is not said.
    *(Case("maximum", (d, d), d, BINARY, np.maximum, signed_zeros=False) for d in REALS),
    *(Case("minimum", (d, d), d, BINARY, np.minimum, signed_zeros=False) for d in REALS),
]

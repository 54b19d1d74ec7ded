"""Selection of elements: exact. NaN is both the maximum and the minimum of NaN and any number."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import ALL, NUMERIC, REALS, Values
from ferrule.testing.model.values import ANY, Domain
from ferrule.testing.problems import elementwise

BINARY = elementwise(2)
TERNARY = elementwise(3)
# The minimum of clip never exceeds its maximum: the standard leaves that result open.
LEAST = Domain(-6, 2, within=True, integer_low=-50, integer_high=20)
GREATEST = Domain(2, 6, within=True, edges=(float("inf"),), integer_low=20, integer_high=100)


def where(condition: Values, x1: Values, x2: Values) -> Values:
    return np.where(condition, x1, x2)


def clip(x: Values, minimum: Values, maximum: Values) -> Values:
    """NaN if any of the three inputs is NaN."""
    return np.asarray(np.minimum(np.maximum(x, minimum), maximum))


CASES = [
    *(Case("where", ("bool", d, d), d, TERNARY, where) for d in ALL),
    # The sign of a zero is unspecified, as with maximum.
    *(Case("clip", (d, d, d), d, TERNARY, clip, domains=(ANY, LEAST, GREATEST), signed_zeros=False) for d in NUMERIC),
    # Which zero is the greater one is unspecified.
    *(Case("maximum", (d, d), d, BINARY, np.maximum, signed_zeros=False) for d in REALS),
    *(Case("minimum", (d, d), d, BINARY, np.minimum, signed_zeros=False) for d in REALS),
]

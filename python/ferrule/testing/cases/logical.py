"""Logic on bool."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import BOOL
from ferrule.testing.problems import elementwise

UNARY = elementwise(1)
BINARY = elementwise(2)

CASES = [
    Case("logical_not", BOOL, "bool", UNARY, np.logical_not),
    Case("logical_and", BOOL * 2, "bool", BINARY, np.logical_and),
    Case("logical_or", BOOL * 2, "bool", BINARY, np.logical_or),
    Case("logical_xor", BOOL * 2, "bool", BINARY, np.logical_xor),
]

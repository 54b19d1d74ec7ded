"""Logic on bool, and on the bits of integers."""

from __future__ import annotations

import numpy as np

from ferrule.testing.case import Case
from ferrule.testing.dtypes import BOOL, INTEGERS
from ferrule.testing.families import elementwise

UNARY = elementwise(1)
BINARY = elementwise(2)
BITS = (*BOOL, *INTEGERS)

CASES = [
    Case("logical_not", BOOL, "bool", UNARY, np.logical_not),
    Case("logical_and", BOOL * 2, "bool", BINARY, np.logical_and),
    Case("logical_or", BOOL * 2, "bool", BINARY, np.logical_or),
    Case("logical_xor", BOOL * 2, "bool", BINARY, np.logical_xor),
    *(Case("bitwise_invert", (d,), d, UNARY, np.invert) for d in BITS),
    *(Case("bitwise_and", (d, d), d, BINARY, np.bitwise_and) for d in BITS),
    *(Case("bitwise_or", (d, d), d, BINARY, np.bitwise_or) for d in BITS),
    *(Case("bitwise_xor", (d, d), d, BINARY, np.bitwise_xor) for d in BITS),
]

"""Bitwise logic and shifts of integers; a bool is one bit."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import BOOL, INTEGERS
from ferrule.testing.model.values import ANY, Domain
from ferrule.testing.problems import elementwise

UNARY = elementwise(1)
BINARY = elementwise(2)
BITS = (*BOOL, *INTEGERS)
COUNTS = Domain(integer_low=-3, integer_high=70)  # includes negative counts and counts beyond the width


CASES = [
    *(Case("bitwise_invert", (d,), d, UNARY, np.invert) for d in BITS),
    *(Case("bitwise_and", (d, d), d, BINARY, np.bitwise_and) for d in BITS),
    *(Case("bitwise_or", (d, d), d, BINARY, np.bitwise_or) for d in BITS),
    *(Case("bitwise_left_shift", (d, d), d, BINARY, np.left_shift, domains=(ANY, COUNTS)) for d in INTEGERS),
    *(Case("bitwise_right_shift", (d, d), d, BINARY, np.right_shift, domains=(ANY, COUNTS)) for d in INTEGERS),
    *(Case("bitwise_xor", (d, d), d, BINARY, np.bitwise_xor) for d in BITS),
]

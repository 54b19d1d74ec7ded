"""The parts of complex numbers: exact."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import COMPLEX, PARTS
from ferrule.testing.problems import elementwise

UNARY = elementwise(1)

CASES = [
    case
    for d in COMPLEX
    for case in (
        Case("real", (d,), PARTS[d], UNARY, np.real),
        Case("imag", (d,), PARTS[d], UNARY, np.imag),
        Case("conj", (d,), d, UNARY, np.conj),
    )
]

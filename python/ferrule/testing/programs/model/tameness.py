"""Whether sums and products of values overflow in no order, so that their error bounds hold."""

from __future__ import annotations

import math

import numpy as np

from ferrule.testing.model.dtypes import ACCUMULATORS, FORMATS, Values, is_floating


def is_tame(x: Values, power: int = 2) -> bool:
    """Whether sums of powers of the values do not overflow in the accumulator, in any order."""
    name = x.dtype.name
    if not is_floating(name) or x.size == 0:
        return True
    wide = np.abs(x.astype(np.float64))
    if not np.isfinite(wide).all():
        return False
    form = FORMATS[ACCUMULATORS[name]]
    most = float(wide.max())
    return most == 0 or math.log2(most) * power + math.log2(x.size) < form.high - 2


def is_tame_product(x: Values) -> bool:
    """Whether products of the values neither overflow nor underflow, in any order."""
    if not is_floating(x.dtype.name) or x.size == 0:
        return True
    wide = np.abs(x.astype(np.float64))
    if not np.isfinite(wide).all():
        return False
    return float(np.abs(np.log2(np.where(wide == 0, 1, wide))).sum()) < 100

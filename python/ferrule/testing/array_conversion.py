"""NumPy's values as arrays of ferrule's, and back. A block of a block dtype is one value, the bytes of it."""

from __future__ import annotations

from typing import Any

import numpy as np

import ferrule as fe
from ferrule.testing.dtypes import BLOCKS, Values, name_of, numpy_dtype


def array_of(values: Values, device: fe.Device) -> fe.Array:
    """As memory of a device, which borrows it where it can."""
    name = name_of(values.dtype)
    if name in BLOCKS:
        return fe.from_packed(values.view(np.uint8), name, device=device)
    return fe.asarray(values, device=device)


def values_of(array: Any) -> Values:
    """What an array of ferrule's holds."""
    name = str(array.dtype)
    return fe.to_packed(array).view(numpy_dtype(name)) if name in BLOCKS else np.asarray(array)

"""Conversion between NumPy arrays and ferrule arrays. A block of a block dtype is one NumPy value: its bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

import ferrule as fe
from ferrule.testing.model.dtypes import BLOCKS, Values, name_of, numpy_dtype


def array_of(values: Values, device: fe.Device) -> fe.Array:
    """Return the values as an array on the device, which borrows their memory where it can."""
    name = name_of(values.dtype)
    if name in BLOCKS:
        return fe.from_packed(values.view(np.uint8), name, device=device)
    return fe.asarray(values, device=device)


def values_of(array: Any) -> Values:
    """Return the values of a ferrule array."""
    name = str(array.dtype)
    return fe.to_packed(array).view(numpy_dtype(name)) if name in BLOCKS else np.asarray(array)

"""Dtypes are NumPy's; bfloat16 is that of ml_dtypes, which is imported when one is first met."""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule import _ferrule


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """What `numpy.dtype` makes of it; "bfloat16" is known to that only once ml_dtypes is imported."""
    return _ferrule.dtype(dtype) if isinstance(dtype, str) and dtype == "bfloat16" else np.dtype(dtype)


def is_floating(dtype: np.dtype[Any]) -> bool:
    """To NumPy the kind of bfloat16 is V, as of all dtypes that it does not bring itself."""
    return dtype.kind == "f" or dtype.name == "bfloat16"

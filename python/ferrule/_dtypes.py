"""Dtypes are NumPy's; bfloat16 is that of ml_dtypes, which is imported when one is first met."""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule import _ferrule
from ferrule._errors import DTypeError

DTYPE_NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
)


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """What `numpy.dtype` makes of it; "bfloat16" is known to that only once ml_dtypes is imported."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        return _ferrule.dtype(dtype)
    try:
        known: np.dtype[Any] = np.dtype(dtype)
        return known
    except TypeError as error:
        raise DTypeError(f"{dtype!r} is no dtype{_near(dtype)}") from error


def _near(name: object) -> str:
    from ferrule._near_names import did_you_mean

    return (isinstance(name, str) and did_you_mean(name, DTYPE_NAMES)) or f"; there are {', '.join(DTYPE_NAMES)}"


def is_floating(dtype: np.dtype[Any]) -> bool:
    """To NumPy the kind of bfloat16 is V, as of all dtypes that it does not bring itself."""
    return dtype.kind == "f" or dtype.name == "bfloat16"

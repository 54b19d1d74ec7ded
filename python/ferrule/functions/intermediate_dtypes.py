"""The dtypes in which functions of several ops compute, and in which they return the result, rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule.array.array import Array
from ferrule.dtypes.classification import class_of, is_floating, is_inexact
from ferrule.dtypes.default_dtypes import default_dtype
from ferrule.functions.conversion import cast

_FLOAT32, _FLOAT64 = np.dtype("float32"), np.dtype("float64")


def is_half(dtype: np.dtype[Any]) -> bool:
    """Whether the dtype is float16 or bfloat16."""
    return is_floating(dtype) and dtype.itemsize == 2


def intermediate(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which results from elements of a dtype are computed.

    It is float32 for float16 and bfloat16, which may overflow or lose digits on the way to a result that they can
    represent. It is float64 for integers of 32 and 64 bits, most of which float32 cannot represent, and the default
    dtype for bool and other integers. Other floating-point dtypes and complex ones stay.
    """
    if is_inexact(dtype):
        return _FLOAT32 if is_half(dtype) else dtype
    return _FLOAT64 if class_of(dtype) in ("signed", "unsigned") and dtype.itemsize > 2 else default_dtype()


def resulting(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of results from elements of a dtype: the default one for integers and bool, else the same."""
    return dtype if is_inexact(dtype) else default_dtype()


def widened(x: Array) -> Array:
    """Return x in the dtype in which results from it are computed."""
    dtype = x.dtype
    return x if dtype in (_FLOAT32, _FLOAT64) else cast(x, intermediate(dtype))

"""Type promotion as in docs/use/arrays.md, and conversions that round once."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.dtypes import BOOL, INTEGERS, Values, is_floating, numpy_dtype
from ferrule.testing.model.exactness import spacing


def promoted(first: str, second: str) -> str | None:
    """The promoted dtype: that of the array API standard within a kind, else the dtype of the higher kind; None if
    undefined."""
    if first == second:
        return first
    if kind_of(first) != kind_of(second):
        return max(first, second, key=kind_of)
    if is_floating(first):
        by_size = sorted((first, second), key=lambda name: numpy_dtype(name).itemsize)
        return "float32" if numpy_dtype(by_size[1]).itemsize == 2 else by_size[1]
    found = np.promote_types(first, second)
    return found.name if found.kind in "iu" else None  # undefined for uint64 with a signed dtype


def promoted_all(*dtypes: str) -> str | None:
    result: str | None = dtypes[0]
    for dtype in dtypes[1:]:
        result = None if result is None else promoted(result, dtype)
    return result


def kind_of(dtype: str) -> int:
    return 0 if dtype in BOOL else 1 if dtype in INTEGERS else 2


def rounded(values: Values, dtype: str) -> Values:
    """Round wide floating-point values to `dtype` once, ties to even. ml_dtypes and NumPy round to float32 first."""
    if dtype not in ("float16", "bfloat16"):
        return values.astype(numpy_dtype(dtype))
    with np.errstate(all="ignore"):
        unit = spacing(np.where(np.isfinite(values), values, 1), dtype)
        nearest = np.where(np.isfinite(values), np.rint(values / unit) * unit, values)
        return np.copysign(nearest, values).astype(numpy_dtype(dtype))


def converted(values: Values | float, dtype: str) -> Values:
    """Convert values or a Python number to a dtype of the same or a higher kind."""
    array = np.asarray(values)
    if array.dtype.name == dtype:
        return array
    if not is_floating(dtype):
        return array.astype(numpy_dtype(dtype))
    wide = np.longdouble if array.dtype.kind in "iu" else np.float64
    return rounded(array.astype(wide), dtype)

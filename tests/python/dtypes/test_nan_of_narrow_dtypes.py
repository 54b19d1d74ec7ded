"""NumPy's functions find NaN in bfloat16 and float8 arrays, whose `kind` does not tell NumPy that they are floats."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

NP: Any = np  # type checkers do not know what NumPy's functions return for other arrays
ROW = [1, np.nan, 3, 2, np.nan, 0.5, 3]
TABLE = [[1, np.nan, 3], [np.nan, np.nan, -2], [0.5, 4, 1]]
OTHER = [3, np.nan, 0.5]
NARROW = ("bfloat16", "float8_e4m3fn", "float8_e5m2")

Call = Callable[[Any, Any, Any], Any]  # of arrays of ROW, TABLE and OTHER
CALLS: dict[str, Call] = {
    "nanargmax": lambda x, y, z: NP.nanargmax(x),
    "nanargmax along an axis": lambda x, y, z: NP.nanargmax(y, axis=1, keepdims=True),
    "nanargmin": lambda x, y, z: NP.nanargmin(y, axis=0),
    "nancumsum": lambda x, y, z: NP.nancumsum(x),
    "nancumprod": lambda x, y, z: NP.nancumprod(y, axis=1),
    "nansum": lambda x, y, z: NP.nansum(y, axis=0),
    "nanprod": lambda x, y, z: NP.nanprod(y, axis=0),
    "nanmax": lambda x, y, z: NP.nanmax(y, axis=0),
    "nanmin": lambda x, y, z: NP.nanmin(y, axis=1),
    "nanmean": lambda x, y, z: NP.nanmean(x[:5]),
    "nanmedian": lambda x, y, z: NP.nanmedian(y, axis=1),
    "nanquantile": lambda x, y, z: NP.nanquantile(x, [0.25, 0.75], method="nearest"),
    "nan_to_num": lambda x, y, z: NP.nan_to_num(y),
    "nan_to_num of numbers": lambda x, y, z: NP.nan_to_num(y, nan=5, posinf=7),
    "sort": lambda x, y, z: NP.sort(y, axis=1),
    "argsort": lambda x, y, z: NP.argsort(x, stable=True),
    "partition": lambda x, y, z: NP.partition(x, 1)[:2],
    "unique": lambda x, y, z: NP.unique(x),
    "unique with counts": lambda x, y, z: NP.unique(x, return_counts=True, return_inverse=True),
    "unique_counts": lambda x, y, z: NP.unique_counts(x),
    "union1d": lambda x, y, z: NP.union1d(x, z),
    "intersect1d": lambda x, y, z: NP.intersect1d(x, z),
    "setdiff1d": lambda x, y, z: NP.setdiff1d(x, z),
    "setxor1d": lambda x, y, z: NP.setxor1d(z, x),
    "isin": lambda x, y, z: NP.isin(x, z),
    "histogram": lambda x, y, z: NP.histogram(x, bins=[0, 1, 2, 3]),
    "median": lambda x, y, z: NP.median(y, axis=1),
    "percentile": lambda x, y, z: NP.percentile(y, 30, axis=1, method="lower"),
    "array_equal": lambda x, y, z: NP.array_equal(x, x, equal_nan=True),
    "isclose": lambda x, y, z: NP.isclose(x, x, equal_nan=True),
}
# Functions of ferrule refuse float8, and NumPy's code has no rule for NaN in them.
ONLY_BFLOAT16 = ("array_equal", "isclose")


def parts(result: Any) -> list[Any]:
    return [part for each in result for part in parts(each)] if isinstance(result, tuple) else [np.asarray(result)]


@each("dtype", NARROW)
@each("name", CALLS)
def test_numpys_functions_find_nan_in_narrow_floats(name: str, dtype: str) -> None:
    if name in ONLY_BFLOAT16 and dtype != "bfloat16":
        return
    values = [np.array(x, np.float32) for x in (ROW, TABLE, OTHER)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a slice of NaN alone
        wanted = parts(CALLS[name](*values))
        found = parts(CALLS[name](*(fe.asarray(x).astype(dtype) for x in values)))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == (np.dtype(dtype) if other.dtype == np.float32 else other.dtype)
        np.testing.assert_array_equal(one.astype(np.float64), other.astype(dtype).astype(np.float64))


@pytest.mark.parametrize("dtype", NARROW)
def test_infinities_become_the_limits_of_the_narrow_dtype(dtype: str) -> None:
    x = fe.asarray(np.array([1, np.inf, -np.inf], np.float32).astype("bfloat16" if "fn" in dtype else dtype))
    limits = fe.finfo(x.dtype)
    assert np.asarray(NP.nan_to_num(x)).astype(float).tolist() == [1, limits.max, limits.min]


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
def test_slices_of_nan_alone_have_no_extreme(name: str) -> None:
    with pytest.raises(ValueError, match="NaN"):
        getattr(NP, name)(fe.asarray(TABLE, dtype="bfloat16")[1:2, :2], axis=1)


@pytest.mark.parametrize("dtype", NARROW)
def test_arrays_made_like_another_have_narrow_dtypes(dtype: str) -> None:
    x = fe.ones(2)
    made = NP.full((2,), 3, dtype=fe.zeros((), dtype=dtype).dtype, like=x)
    assert type(made) is fe.Array
    assert made.dtype == np.dtype(dtype)
    assert np.asarray(made).astype(float).tolist() == [3, 3]


def test_arrays_of_several_dtypes_give_the_wider_one() -> None:
    x, y = fe.asarray(ROW, dtype="bfloat16"), np.array(OTHER, np.float32)
    found = NP.union1d(x, y)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.union1d(np.array(ROW, np.float32), y))

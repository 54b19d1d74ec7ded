"""Comparisons that allow for rounding, of all dtypes, against NumPy."""

from __future__ import annotations

from typing import Any

import ferrule as fe
import numpy as np
import pytest
from ferrule.testing.running.array_conversion import values_of

from tests.python.each import each

VALUES = [1 + 2j, 0, complex(np.nan, 1), complex(1, np.nan), complex(np.inf, 0), 1e-9, -3]
OTHERS = [1 + 2.00001j, 1e-9, complex(np.nan, 5), complex(1, np.nan), complex(np.inf, 0), 0, -3.1]
DTYPES = ("complex64", "complex128", "float32", "float64", "float16", "int32")


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """NumPy would round the tolerances to float16."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def sample(numbers: list[complex], dtype: str) -> np.ndarray[Any, Any]:
    given = np.array(numbers)
    if dtype.startswith("complex"):
        return given.astype(dtype)
    return (np.nan_to_num(given.real, posinf=7) if dtype.startswith("int") else given.real).astype(dtype)


@each("equal_nan", [False, True])
@each("first", DTYPES)
@each("second", DTYPES)
def test_isclose_is_numpys(first: str, second: str, equal_nan: bool) -> None:
    x, y = sample(VALUES, first), sample(OTHERS, second)
    for a, b in ((x, y), (y, x), (x, x)):
        wanted = np.isclose(wide(a), wide(b), equal_nan=equal_nan)
        found = fe.isclose(fe.asarray(a), fe.asarray(b), equal_nan=equal_nan)
        assert found.tolist() == wanted.tolist()
        assert fe.allclose(fe.asarray(a), fe.asarray(b), equal_nan=equal_nan).item() == bool(wanted.all())


@each("equal_nan", [False, True])
@each("first", DTYPES)
@each("second", DTYPES)
def test_array_equal_is_numpys(first: str, second: str, equal_nan: bool) -> None:
    x, y = sample(VALUES, first), sample(VALUES, second)
    wanted = np.array_equal(x, y, equal_nan=equal_nan)
    assert fe.array_equal(fe.asarray(x), fe.asarray(y), equal_nan=equal_nan).item() == wanted
    assert bool(np.array_equal(fe.asarray(x), fe.asarray(y), equal_nan=equal_nan)) == wanted  # type: ignore[arg-type]


def test_half_precision_numbers_are_compared_in_float32() -> None:
    """The distance is 2**-7, which is at most `rtol` unless that is rounded to bfloat16 first."""
    x, y = (fe.asarray([value], dtype="bfloat16") for value in (1 + 2**-7, 1))
    for rtol in (0.0078, 0.0079):
        wanted = np.isclose(values_of(x).astype(np.float32), values_of(y).astype(np.float32), rtol=rtol, atol=0)
        assert fe.isclose(x, y, rtol=rtol, atol=0).tolist() == wanted.tolist()


def test_variances_of_float8_are_refused_by_all_functions() -> None:
    x = fe.asarray([1.0, 2.0], dtype="float8_e5m2")
    for function in (fe.var, fe.std):
        with pytest.raises(fe.DTypeError, match=f"^{function.__name__}: .*float8_e5m2.*convert it"):
            function(x)

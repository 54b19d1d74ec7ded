"""float8_e4m3fn and float8_e5m2, against ml_dtypes: casts, moves, equality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ferrule as fe
import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.python.each import each

DTYPES = [np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)]
EVERY = np.arange(256, dtype=np.uint8)


@pytest.fixture(params=DTYPES, ids=str)
def dtype(request: pytest.FixtureRequest) -> np.dtype[Any]:
    found: np.dtype[Any] = request.param
    return found


def same_numbers(got: fe.Array, wanted: NDArray[Any]) -> None:
    """Compares bits, except those of NaN."""
    host = np.asarray(got)
    assert host.dtype == wanted.dtype
    nan = np.isnan(wanted.astype("float32"))
    np.testing.assert_array_equal(np.isnan(host.astype("float32")), nan)
    np.testing.assert_array_equal(np.where(nan, 0, host.view(np.uint8)), np.where(nan, 0, wanted.view(np.uint8)))


def test_dtypes_match_ml_dtypes(dtype: np.dtype[Any]) -> None:
    assert getattr(fe, dtype.name) == dtype
    assert fe.zeros(3, dtype=dtype.name).dtype == dtype
    assert fe.zeros(3, dtype=dtype).dtype == dtype
    assert fe.full((2,), 1.5, dtype=dtype).tolist() == [1.5, 1.5]
    assert fe.full((), 300, dtype="float8_e4m3fn").item() == 288


@each("target", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_every_float8_number_converts_exactly_to_wider_dtypes(dtype: np.dtype[Any], target: str) -> None:
    values = EVERY.view(dtype)
    wanted = values.astype("float32")
    got = np.asarray(fe.asarray(values).astype(target)).real.astype("float32")
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


def test_float32_rounds_to_nearest_even(dtype: np.dtype[Any]) -> None:
    """Each value, the midpoint to the next one, and the neighbours of both; overflow, infinity and NaN."""
    numbers = np.unique(EVERY.view(dtype).astype("float32"))
    numbers = numbers[np.isfinite(numbers)]
    half_way = (numbers[1:] + numbers[:-1]) / 2
    points = np.concatenate(
        [numbers, half_way, [449, 463.9, 464, 464.1, 480, 61440, 61439, 65536, np.inf, np.nan, 1e38]]
    )
    points = points.astype("float32")
    around = np.concatenate([points, np.nextafter(points, np.float32(-1e38)), np.nextafter(points, np.float32(1e38))])
    values = np.concatenate([around, -around])
    with np.errstate(all="ignore"):
        same_numbers(fe.asarray(values).astype(dtype), values.astype(dtype))


def test_float64_and_integers_round_once(dtype: np.dtype[Any]) -> None:
    above = 1.0625 + 2.0**-40  # a tie of two e4m3fn in float32, but not in float64
    assert fe.asarray(np.array(above)).astype("float8_e4m3fn").item() == 1.125
    values = np.arange(-500, 500)
    same_numbers(fe.asarray(values).astype(dtype), values.astype("float32").astype(dtype))


def test_movement_ops_preserve_bits(dtype: np.dtype[Any]) -> None:
    values = EVERY.view(dtype).reshape(16, 16)
    x = fe.asarray(values)
    for got, wanted in (
        (x[3:9, ::-2], values[3:9, ::-2]),
        (fe.permute_dims(x, (1, 0)), values.T),
        (fe.concat([x, x]), np.concatenate([values, values])),
        (fe.take(x, fe.asarray([5, 0]), axis=0), values[[5, 0]]),
        (
            fe.where(fe.asarray(EVERY.reshape(16, 16) > 99), x, x[::-1]),
            np.where(EVERY.reshape(16, 16) > 99, values, values[::-1]),
        ),
    ):
        np.testing.assert_array_equal(
            np.ascontiguousarray(got).view(np.uint8), np.ascontiguousarray(wanted).view(np.uint8)
        )


def test_equality_compares_numbers(dtype: np.dtype[Any]) -> None:
    left, right = np.meshgrid(EVERY, EVERY)
    wide = [part.view(dtype).astype("float32") for part in (left, right)]
    x, y = (fe.asarray(np.ascontiguousarray(part).view(dtype)) for part in (left, right))
    np.testing.assert_array_equal(np.asarray(x == y), wide[0] == wide[1])
    np.testing.assert_array_equal(np.asarray(x != y), wide[0] != wide[1])


@each("compute", [lambda x: x + x, lambda x: x < x, lambda x: fe.sum(x), lambda x: fe.exp(x)])
def test_computation_requires_another_dtype_and_the_error_says_so(
    compute: Callable[[fe.Array], fe.Array], dtype: np.dtype[Any]
) -> None:
    with pytest.raises(fe.DTypeError, match=rf"{dtype.name}.*astype\('float32'\)"):
        compute(fe.zeros((2,), dtype=dtype))


def test_supports_may_name_the_dtype_that_an_attribute_names(dtype: np.dtype[Any]) -> None:
    cpu = fe.device("cpu")
    assert cpu.supports("astype", dtype, "float32")
    assert cpu.supports("astype", "float32", dtype)
    assert cpu.supports("astype", "float32", "complex64")
    assert not cpu.supports("astype", "complex64", "float32")
    assert cpu.supports("astype", "complex64")
    assert cpu.supports("iota", "int16")
    assert not cpu.supports("iota", dtype)
    assert not cpu.supports("add", dtype, dtype)


@each(
    ("left", "right", "result"),
    [
        ("float8_e4m3fn", "float8_e5m2", "float32"),
        ("float8_e4m3fn", "float16", "float16"),
        ("float8_e5m2", "bfloat16", "bfloat16"),
        ("float8_e5m2", "int64", "float8_e5m2"),
        ("float8_e4m3fn", "complex64", "complex64"),
    ],
)
def test_promotion_matches_the_table(left: str, right: str, result: str) -> None:
    for a, b in ((left, right), (right, left)):
        joined = fe.concat([fe.zeros((1,), dtype=a), fe.zeros((1,), dtype=b)])
        assert joined.dtype.name == result


def test_ferrule_imports_ml_dtypes_with_the_first_float8(run_python: Callable[..., object]) -> None:
    run_python(
        """
import sys
import ferrule as fe
fe.eval(fe.zeros(3) + 1)
assert "ml_dtypes" not in sys.modules
assert fe.zeros(3, dtype="float8_e5m2").dtype.name == "float8_e5m2" and "ml_dtypes" in sys.modules
"""
    )


def test_dlpack_exchanges_float8(dtype: np.dtype[Any]) -> None:
    """NumPy cannot exchange them, so ferrule is both producer and consumer."""
    values = EVERY.view(dtype)
    again = fe.from_dlpack(fe.asarray(values))
    np.testing.assert_array_equal(np.asarray(again).view(np.uint8), EVERY)

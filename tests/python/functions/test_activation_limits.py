"""Activations at infinities, zeros, NaN and the largest and smallest numbers have their limits, alone and fused."""

from __future__ import annotations

from collections.abc import Callable

import ferrule as fe
import ml_dtypes
import numpy as np
import pytest

from tests.python.each import each

INF, NAN = np.inf, np.nan
# The limits at -inf, the lowest number, -0, 0, the greatest number and inf; None stands for the number itself.
LIMITS: dict[str, tuple[Callable[[fe.Array], fe.Array], list[float | None]]] = {
    "relu": (fe.relu, [0, 0, 0, 0, None, INF]),
    "sigmoid": (fe.sigmoid, [0, 0, 0.5, 0.5, 1, 1]),
    "tanh": (fe.tanh, [-1, -1, -0.0, 0, 1, 1]),
    "erf": (fe.erf, [-1, -1, -0.0, 0, 1, 1]),
    "silu": (fe.silu, [-0.0, -0.0, -0.0, 0, None, INF]),
    "gelu": (fe.gelu, [-0.0, -0.0, -0.0, 0, None, INF]),
    "gelu of tanh": (lambda x: fe.gelu(x, approximate="tanh"), [-0.0, -0.0, -0.0, 0, None, INF]),
}
DTYPES = ("float16", "bfloat16", "float32", "float64")
LENGTHS = (6, 17, 100)  # shorter than a vector, with a rest, and of several vectors


def ends(dtype: str) -> np.ndarray:
    wanted = np.dtype(getattr(ml_dtypes, dtype) if dtype == "bfloat16" else dtype)
    greatest = float(ml_dtypes.finfo(wanted).max)
    return np.array([-INF, -greatest, -0.0, 0.0, greatest, INF]).astype(wanted)


@pytest.fixture(params=["alone", "fused", "behind a product"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def computed(f: Callable[[fe.Array], fe.Array], x: np.ndarray, place: str) -> np.ndarray:
    """f(x), computed in a kernel of its own, between other ops, or as the epilogue of a matrix product."""
    if place == "alone":
        return np.asarray(f(fe.asarray(x)))
    if place == "fused":
        return np.asarray(fe.graph(lambda v: -f(fe.negative(-v)))(fe.asarray(x))) * x.dtype.type(-1)
    one = np.ones((1, 1), x.dtype)
    return np.asarray(fe.graph(lambda v, w: f(v @ w))(fe.asarray(x[:, None]), fe.asarray(one)))[:, 0]


@each("name", LIMITS)
@each("dtype", DTYPES)
@each("length", LENGTHS)
def test_activations_have_their_limits(name: str, dtype: str, length: int, place: str) -> None:
    f, limits = LIMITS[name]
    numbers = ends(dtype)
    if place == "behind a product":
        numbers, limits = np.delete(numbers, 2), limits[:2] + limits[3:]
    wanted = np.array([float(x) if limit is None else limit for x, limit in zip(numbers, limits, strict=True)])
    x, wanted = np.resize(numbers, length), np.resize(wanted, length)
    got = computed(f, x, place).astype("float64")
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


@each("name", LIMITS)
@each("dtype", DTYPES)
def test_activations_of_nan_are_nan(name: str, dtype: str, place: str) -> None:
    f, _ = LIMITS[name]
    x = np.concatenate([ends(dtype), np.full(11, NAN)]).astype(ends(dtype).dtype)
    got = computed(f, x, place).astype("float64")
    np.testing.assert_array_equal(np.isnan(got), np.isnan(x.astype("float64")))

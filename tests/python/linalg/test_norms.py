"""Norms of halves, rounded once, against NumPy in float64; and norms of no elements."""

from __future__ import annotations

from typing import Any

import ferrule as fe
import ml_dtypes
import numpy as np
import pytest

from tests.python.each import each

FE: Any = fe
RNG = np.random.default_rng(0)
INF = float("inf")
VECTOR_ORDERS = [2, 1, INF, -INF, 0, 3, 0.5, -1]
MATRIX_ORDERS: list[Any] = ["fro", "nuc", 1, -1, 2, -2, INF, -INF]


def rounded(x: object, dtype: str) -> np.ndarray[Any, Any]:
    return np.asarray(x).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def assert_within_one_unit(got: Any, wanted: np.ndarray[Any, Any]) -> None:
    """The float32 between may fall on the other side of a tie: at most one unit in the last place."""
    got = np.asarray(got)
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    bits = got.view(np.int16).astype(int) - wanted.view(np.int16).astype(int)
    assert np.abs(bits).max(initial=0) <= 1, (got, wanted)


@each("dtype", ["float16", "bfloat16"])
@each("order", VECTOR_ORDERS)
def test_vector_norms_of_halves_are_rounded_once(order: Any, dtype: str) -> None:
    x = rounded(RNG.random((4, 10)) * 300 + 200, dtype)
    wanted = rounded(np.linalg.norm(x.astype(np.float64), order, axis=1), dtype)
    call: Any = lambda x: fe.linalg.vector_norm(x, axis=1, ord=order)  # noqa: E731
    for got in (call(fe.asarray(x)), fe.graph(call)(fe.asarray(x))):
        assert_within_one_unit(got, wanted)


@each("dtype", ["float16", "bfloat16"])
@each("order", MATRIX_ORDERS)
def test_matrix_norms_of_halves_are_rounded_once(order: Any, dtype: str) -> None:
    x = rounded(RNG.random((3, 5, 4)) * 300 + 200, dtype)
    wanted = rounded(np.linalg.norm(x.astype(np.float64), order, axis=(1, 2)), dtype)
    assert_within_one_unit(fe.linalg.matrix_norm(fe.asarray(x), ord=order), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_norms_have_the_dtype_of_the_real_parts(dtype: str) -> None:
    x = RNG.random((5, 4)).astype(dtype)
    for order in VECTOR_ORDERS:
        got = fe.linalg.vector_norm(fe.asarray(x), axis=0, ord=order)
        assert got.dtype == x.real.dtype
        np.testing.assert_allclose(np.asarray(got), np.linalg.norm(x, order, axis=0), rtol=1e-5)
    for order in MATRIX_ORDERS:
        got = fe.linalg.matrix_norm(fe.asarray(x), ord=order)
        assert got.dtype == x.real.dtype
        np.testing.assert_allclose(np.asarray(got), np.linalg.norm(x, order), rtol=1e-5)


@each("dtype", ["float16", "float32", "float64", "complex64"])
@each("order", VECTOR_ORDERS)
@each(("shape", "axis"), [((0,), None), ((3, 0), 1), ((0, 3), 0), ((0, 3), 1)])
def test_norms_of_empty_vectors(shape: tuple[int, ...], axis: int | None, order: Any, dtype: str) -> None:
    x = fe.zeros(shape, dtype=dtype)
    if order == -INF and shape[0 if axis is None else axis] == 0:
        with pytest.raises(fe.InvalidArgumentError, match="vector_norm: "):
            fe.linalg.vector_norm(x, axis=axis, ord=order)
        return
    for keepdims in (False, True):
        with np.errstate(divide="ignore"):
            wanted = np.linalg.norm(np.zeros(shape), order, axis=axis, keepdims=keepdims)
        got = np.asarray(fe.linalg.vector_norm(x, axis=axis, ord=order, keepdims=keepdims))
        np.testing.assert_array_equal(got, wanted)
        assert got.shape == np.shape(wanted)


def test_an_order_that_no_float_can_hold_is_an_error() -> None:
    with pytest.raises(fe.NumberOverflowError, match="vector_norm: ord an int of 1994 bits does not fit into float64"):
        fe.linalg.vector_norm(fe.ones(3), ord=10**600)


@each("dtype", ["float32", "float64", "complex64"])
@each("order", MATRIX_ORDERS)
@each("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 0), (0, 2, 2)])
def test_norms_of_empty_matrices(shape: tuple[int, ...], order: Any, dtype: str) -> None:
    x = fe.zeros(shape, dtype=dtype)
    try:
        wanted = np.linalg.norm(np.zeros(shape), order, axis=(-2, -1))
    except ValueError:
        with pytest.raises(fe.InvalidArgumentError, match="matrix_norm: "):
            fe.linalg.matrix_norm(x, ord=order)
        return
    for keepdims in (False, True):
        got = np.asarray(fe.linalg.matrix_norm(x, ord=order, keepdims=keepdims))
        np.testing.assert_array_equal(got.reshape(wanted.shape), wanted)
        assert got.ndim == (len(shape) if keepdims else len(shape) - 2)

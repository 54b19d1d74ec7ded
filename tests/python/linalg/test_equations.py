"""Equations, inverses, determinants, ranks, norms and products against NumPy's."""

from __future__ import annotations

import math
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

DTYPES = ["float32", "float64", "complex64", "complex128"]
SQUARE = [(0, 0), (1, 1), (2, 2), (5, 5), (40, 40), (0, 3, 3), (3, 4, 4), (2, 1, 6, 6), (150, 150)]

Values = np.ndarray[Any, Any]


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Values:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    if np.dtype(dtype).kind in "iu":
        values = values * 5
    return np.asarray(values.astype(dtype))


def regular(shape: tuple[int, ...], dtype: str) -> Values:
    return np.asarray(numbers(shape, dtype) + (3 * np.sqrt(shape[-1]) * np.eye(shape[-1])).astype(dtype))


def assert_near(got: fe.Array, wanted: object, factor: float = 100) -> None:
    values, wanted = np.asarray(got), np.asarray(wanted)
    assert (values.shape, values.dtype) == (wanted.shape, wanted.dtype)
    eps = np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
    np.testing.assert_allclose(values, wanted, rtol=factor * eps, atol=factor * eps * np.max(np.abs(wanted), initial=0))


@each("dtype", DTYPES)
@each("shape", SQUARE)
def test_equations_and_determinants(shape: tuple[int, ...], dtype: str) -> None:
    x = regular(shape, dtype)
    n = shape[-1]
    for columns in ((n, 1), (n, 3), (n, 0), (2, *((1,) * (len(shape) - 2)), n, n)):
        right = numbers(columns, dtype, seed=1)
        assert_near(fe.linalg.solve(fe.asarray(x), fe.asarray(right)), np.linalg.solve(x, right), 1000)
    assert_near(fe.linalg.inv(fe.asarray(x)), np.linalg.inv(x), 1000)
    sign, logarithm = fe.linalg.slogdet(fe.asarray(x))
    wanted = np.linalg.slogdet(x)
    assert_near(sign, wanted.sign, 20 * (n + 1))
    assert_near(logarithm, wanted.logabsdet, 20 * (n + 1))
    if n < 20:
        assert_near(fe.linalg.det(fe.asarray(x)), np.linalg.det(x), 20 * (n + 1))


def test_a_vector_on_the_right_side() -> None:
    x, vector = regular((2, 3, 5, 5), "float64"), numbers((5,), "float64")
    wanted = np.linalg.solve(x, vector[:, None])[..., 0]
    assert_near(fe.linalg.solve(fe.asarray(x), fe.asarray(vector)), wanted, 1000)


def test_dtypes_of_equations_are_promoted() -> None:
    x = fe.asarray([[2, 0], [0, 4]])
    assert fe.linalg.solve(x, fe.asarray([1, 2])).dtype == "float32"
    assert fe.linalg.solve(x, fe.asarray(np.ones(2))).dtype == "float64"
    assert fe.linalg.solve(fe.asarray(np.eye(2)), fe.asarray(np.ones(2, "complex64"))).dtype == "complex128"
    odd = 2**24 + 1  # float32 does not have it
    assert fe.linalg.solve(fe.asarray([[odd]]), fe.asarray(np.array([odd], "float64"))).item() == 1


@pytest.mark.parametrize("n", [1, 2, 40, 150])
def test_singular_matrices(n: int) -> None:
    stack = np.broadcast_to(np.eye(n), (3, n, n)).copy()
    stack[1] = 0
    with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.solve: the matrix at index \(1,\) is singular"):
        fe.eval(fe.linalg.solve(fe.asarray(stack), fe.ones((n, 2), dtype="float64")))
    with pytest.raises(
        fe.InvalidArgumentError, match=r"^linalg\.matrix_power: linalg\.inv: the matrix at index \(1,\) is singular"
    ):
        fe.eval(fe.linalg.matrix_power(fe.asarray(stack), -2))
    sign, logarithm = fe.linalg.slogdet(fe.asarray(stack))
    assert sign.tolist() == [1, 0, 1]
    assert logarithm.tolist() == [0, -math.inf, 0]
    assert fe.linalg.det(fe.asarray(stack)).tolist() == [1, 0, 1]


@pytest.mark.parametrize("n", [2, 40, 150])
def test_permutations_are_inverted_exactly(n: int) -> None:
    """Each column has one pivot, anywhere."""
    for shift in (1, n // 2, n - 1):
        x = np.roll(np.eye(n), shift, axis=0)
        assert np.array_equal(fe.linalg.inv(fe.asarray(x)), x.T)
        assert fe.linalg.det(fe.asarray(x)).item() == round(np.linalg.det(x))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_pivots_with_a_real_part_of_zero(dtype: str) -> None:
    x = fe.asarray(np.array([[0, 1], [1j, 0]], dtype))
    assert fe.linalg.inv(x).tolist() == [[0, -1j], [1, 0]]
    assert fe.linalg.det(x).item() == -1j


@each("dtype", ["float32", "float64", "complex64", "complex128"])
def test_partial_products_of_a_determinant_may_leave_the_range(dtype: str) -> None:
    large = 2.0 ** (1000 if dtype in ("float64", "complex128") else 100)
    for numbers in ([large, large, 1 / large, 1 / large], [1 / large, 1 / large, large, large]):
        assert fe.linalg.det(fe.asarray(np.diag(numbers), dtype=dtype)).item() == 1
    assert fe.linalg.det(fe.asarray(np.diag([large, -large]), dtype=dtype)).item() == -math.inf
    assert fe.linalg.det(fe.asarray(np.diag([1 / large, 1 / large, 0]), dtype=dtype)).item() == 0


def test_nan_is_not_singular() -> None:
    x = np.eye(3)
    x[1, 1] = np.nan
    assert np.isnan(np.asarray(fe.linalg.inv(fe.asarray(x)))).any()
    assert np.isnan(fe.linalg.det(fe.asarray(x)).item())
    sign, logarithm = fe.linalg.slogdet(fe.asarray(x))
    assert np.isnan(sign.item())
    assert np.isnan(logarithm.item())


def test_shapes_that_do_not_fit() -> None:
    square = fe.ones((2, 2))
    for right in (fe.ones(3), fe.ones((3, 2)), fe.ones((1, 2)), fe.ones(())):
        with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.solve: the numbers of rows differ"):
            fe.linalg.solve(square, right)
    with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.solve: x1 must consist of square matrices"):
        fe.linalg.solve(fe.ones((2, 3)), fe.ones(2))
    with pytest.raises(fe.InvalidArgumentError, match=r"solve"):
        fe.linalg.solve(fe.ones((2, 2, 2)), fe.ones((3, 2, 2)))
    for name in ("inv", "det", "slogdet"):
        with pytest.raises(fe.InvalidArgumentError, match=rf"^linalg\.{name}: needs square matrices"):
            getattr(fe.linalg, name)(fe.ones((2, 3)))
    with pytest.raises(fe.DTypeError, match=r"^linalg\.inv: .*float16"):
        fe.linalg.inv(fe.ones((2, 2), dtype="float16"))


@each("dtype", DTYPES)
@each("shape", [(4, 4), (3, 5), (5, 3), (2, 4, 3), (0, 3), (3, 0), (40, 33)])
def test_pseudoinverses_and_ranks(shape: tuple[int, ...], dtype: str) -> None:
    x = numbers(shape, dtype)
    if min(shape[-2:]) > 2:
        x[..., -1, :] = x[..., 0, :]  # rank deficient if there are no more rows than columns
    rtol = 1e-3
    assert_near(fe.linalg.pinv(fe.asarray(x), rtol=rtol), np.linalg.pinv(x, rtol=rtol), 2000)
    if 0 not in shape:
        assert fe.linalg.matrix_rank(fe.asarray(x)).tolist() == np.linalg.matrix_rank(x).tolist()
    assert fe.linalg.matrix_rank(fe.asarray(x)).dtype == "int64"


def test_singular_values_at_the_tolerance_count_as_zero() -> None:
    for x, rank in ((np.diag([2.0, 1.0]), 1), (np.diag([2.0, 1.5]), 2), (np.zeros((2, 2)), 0)):
        assert fe.linalg.matrix_rank(fe.asarray(x), rtol=0.5).item() == rank
        kept = np.diag(np.where(np.arange(2) < rank, 1 / np.maximum(np.diag(x), 1), 0))
        assert_near(fe.linalg.pinv(fe.asarray(x), rtol=0.5), kept)
    wide = np.zeros((2, 1000))  # by default the tolerance is the longer side times the epsilon
    wide[[0, 1], [3, 5]] = 1, 500 * np.finfo("float64").eps
    assert fe.linalg.matrix_rank(fe.asarray(wide)).item() == 1
    assert fe.linalg.matrix_rank(fe.asarray(wide[:, :100])).item() == 2


def test_a_tolerance_for_each_matrix() -> None:
    x = np.broadcast_to(np.diag([1.0, 0.1, 0.01]), (3, 3, 3))
    rtol = fe.asarray(np.array([0.001, 0.05, 0.5]))
    assert fe.linalg.matrix_rank(fe.asarray(x), rtol=rtol).tolist() == [3, 2, 1]
    inverses = np.asarray(fe.linalg.pinv(fe.asarray(x), rtol=rtol))
    assert np.allclose(np.trace(inverses, axis1=1, axis2=2), [111, 11, 1])
    with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.matrix_rank: rtol must be real"):
        fe.linalg.matrix_rank(fe.asarray(x), rtol=fe.asarray([1, 2, 3]))


@each("n", [0, 1, 2, 3, 10, -1, -3])
@each("dtype", ["float64", "complex128"])
def test_matrix_powers(n: int, dtype: str) -> None:
    x = regular((2, 3, 3), dtype)
    assert_near(fe.linalg.matrix_power(fe.asarray(x), n), np.linalg.matrix_power(x, n), 1000)


def test_powers_of_integers_stay_integers() -> None:
    x = np.array([[1, 1], [1, 0]])
    assert_near(fe.linalg.matrix_power(fe.asarray(x), 30), np.linalg.matrix_power(x, 30))
    for wrong in (1.5, None, "2"):
        with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.matrix_power: n must be one integer"):
            fe.linalg.matrix_power(fe.asarray(x), wrong)  # type: ignore[arg-type]
    with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.matrix_power: needs square matrices"):
        fe.linalg.matrix_power(fe.ones((2, 3)), 2)


@each("dtype", DTYPES)
@each("order", [2, 1, 0, 3, 0.5, -1, math.inf, -math.inf])
def test_vector_norms(order: float, dtype: str) -> None:
    x = numbers((3, 4, 5), dtype)
    for axis in (0, -1, (0, 2), (1, 0)):
        for keepdims in (False, True):
            got = fe.linalg.vector_norm(fe.asarray(x), axis=axis, keepdims=keepdims, ord=order)
            wanted = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=order)
            assert_near(got, wanted.astype(np.abs(x).dtype))
    assert_near(fe.linalg.vector_norm(fe.asarray(x), ord=order), np.linalg.vector_norm(x, ord=order).astype(got.dtype))


def test_arguments_of_vector_norms() -> None:
    for wrong in ("fro", None, True, [2]):
        with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.vector_norm: ord must be a number"):
            fe.linalg.vector_norm(fe.ones(3), ord=wrong)  # type: ignore[arg-type]
    with pytest.raises(fe.OutOfRangeError, match=r"^linalg\.vector_norm: axis 1"):
        fe.linalg.vector_norm(fe.ones(3), axis=1)
    with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.vector_norm: an axis is named twice"):
        fe.linalg.vector_norm(fe.ones((3, 3)), axis=(0, -2))
    assert fe.linalg.vector_norm(fe.ones((0,))).item() == 0


@each("dtype", DTYPES)
@each("order", ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf])
def test_matrix_norms(order: Any, dtype: str) -> None:
    x = numbers((2, 4, 5), dtype)
    for keepdims in (False, True):
        got = fe.linalg.matrix_norm(fe.asarray(x), keepdims=keepdims, ord=order)
        assert_near(got, np.linalg.matrix_norm(x, keepdims=keepdims, ord=order))


def test_orders_of_matrix_norms() -> None:
    for wrong in (3, "frob", 0, True, [1]):
        with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.matrix_norm: ord must be"):
            fe.linalg.matrix_norm(fe.ones((2, 2)), ord=wrong)  # type: ignore[arg-type]
    with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.matrix_norm: needs at least 2"):
        fe.linalg.matrix_norm(fe.ones(3))


@each("dtype", ["int32", "float64", "complex64"])
@each("offset", [0, 1, -1, 2, -3, 7, -7])
def test_diagonals_and_traces(offset: int, dtype: str) -> None:
    for shape in ((4, 4), (3, 5), (5, 3), (2, 3, 4), (0, 3), (3, 0)):
        x = numbers(shape, dtype)
        assert_near(fe.linalg.diagonal(fe.asarray(x), offset=offset), np.linalg.diagonal(x, offset=offset))
        wanted = np.linalg.trace(x, offset=offset)
        assert_near(fe.linalg.trace(fe.asarray(x), offset=offset), wanted)
    assert fe.linalg.trace(fe.asarray(numbers((3, 3), dtype)), dtype="complex128").dtype == "complex128"


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_cross_products(dtype: str) -> None:
    for left, right, axis in (((3,), (3,), -1), ((2, 3), (4, 1, 3), -1), ((3, 5), (3, 5), 0), ((4, 3, 2), (3, 2), -2)):
        x, y = numbers(left, dtype), numbers(right, dtype, seed=1)
        a, b = np.broadcast_arrays(np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1))
        wanted = np.moveaxis(np.cross(a, b), -1, axis)
        assert_near(fe.linalg.cross(fe.asarray(x), fe.asarray(y), axis=axis), wanted)


def test_arguments_of_products() -> None:
    for shape in ((2,), (4,), (0,)):
        with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.cross: vectors have 3 elements"):
            fe.linalg.cross(fe.ones(3), fe.ones(shape))
    with pytest.raises(fe.OutOfRangeError, match=r"^linalg\.cross: axis 0"):
        fe.linalg.cross(fe.ones(3), fe.ones((3, 3)), axis=0)
    with pytest.raises(fe.DTypeError, match=r"^linalg\.cross: "):
        fe.linalg.cross(fe.ones(3, dtype="bool"), fe.ones(3, dtype="bool"))
    signs = fe.asarray([True, False, True])
    assert fe.linalg.cross(signs, fe.asarray([1, 2, 3])).tolist() == [-2, -2, 2]  # one of them may be
    with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.outer: takes two vectors"):
        fe.linalg.outer(fe.ones((2, 2)), fe.ones(2))
    x, y = numbers((4,), "complex64"), numbers((3,), "float64")
    assert_near(fe.linalg.outer(fe.asarray(x), fe.asarray(y)), np.outer(x, y))


def test_names_that_are_shared_with_the_main_module() -> None:
    for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
        assert getattr(fe.linalg, name) is getattr(fe, name)


def test_traced_functions_solve() -> None:
    @fe.graph
    def everything(x: fe.Array, y: fe.Array) -> tuple[fe.Array, ...]:
        linalg = fe.linalg
        powers = linalg.matrix_power(x, 3), linalg.matrix_rank(x), linalg.pinv(x), linalg.cross(y[:3], y[1:4])
        return linalg.solve(x, y), linalg.trace(x), linalg.matrix_norm(x), linalg.vector_norm(y, ord=3), *powers

    x, y = regular((4, 4), "float64"), numbers((4,), "float64")
    found = everything(fe.asarray(x), fe.asarray(y))
    wanted = [np.linalg.solve(x, y), np.trace(x), np.linalg.norm(x), np.linalg.norm(y, 3)]
    wanted += [np.linalg.matrix_power(x, 3), np.int64(4), np.linalg.inv(x), np.cross(y[:3], y[1:4])]
    for got, expected in zip(found, wanted, strict=True):
        assert_near(got, expected, 1000)


def test_subnormal_pivots() -> None:
    for dtype, size in (("float32", 2e-39), ("float64", 2e-309), ("complex64", 2e-39j)):
        a = np.diag(np.asarray([size, 3 * size, 1.0], dtype))
        for b in (np.diag(a).reshape(3, 1), np.stack([np.diag(a)] * 40, axis=1), np.diag(a)):
            found = np.asarray(fe.linalg.solve(fe.asarray(a), fe.asarray(b.copy())))
            np.testing.assert_allclose(found, np.ones_like(found), rtol=1e-6)

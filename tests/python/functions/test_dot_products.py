"""Products with one column: vecdot, and matrices times vectors; and elements at pairs of indices."""

from __future__ import annotations

from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

rng = np.random.default_rng(0)
TOLERANCE = {"float32": 1e-6, "float64": 1e-15}


def check(got: Any, terms: Any, dtype: str) -> None:
    """Compare sums along the last axis with those in float64; errors grow with the sum of the magnitudes."""
    got = np.asarray(got)
    assert got.dtype == dtype
    assert got.shape == terms.shape[:-1]
    assert np.all(np.abs(got - terms.sum(-1)) <= TOLERANCE[dtype] * np.abs(terms).sum(-1) * 4 + 1e-30)


@each("dtype", ["float32", "float64"])
@each("length", [1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 100, 1_023, 32_768, 32_769, 100_003])
def test_products_with_one_column(length: int, dtype: str) -> None:
    rows = max(1, min(37, 200_000 // length))
    a, b = (rng.standard_normal((rows, length)).astype(dtype) for _ in range(2))
    x, y = fe.asarray(a), fe.asarray(b)
    wide = a.astype("float64")
    check(x @ y[0], wide * b[0], dtype)
    check(y[0] @ fe.permute_dims(x, (1, 0)), wide * b[0], dtype)
    check(x[0] @ y[0], wide[0] * b[0], dtype)
    check(fe.vecdot(x, y), wide * b, dtype)
    check(fe.vecdot(x[:1], y), wide[:1] * b, dtype)
    check(fe.vecdot(x[0], y), wide[0] * b, dtype)
    check(fe.vecdot(fe.permute_dims(x, (1, 0)), fe.permute_dims(y, (1, 0)), axis=0), wide * b, dtype)
    if length > 1:
        check(x[:, ::2] @ y[0, ::2], wide[:, ::2] * b[0, ::2], dtype)
        check(fe.vecdot(x[:, ::-1], y), wide[:, ::-1] * b, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_product_with_one_column_has_an_epilogue(dtype: str) -> None:
    a, b = rng.standard_normal((300, 70_000 // 7)).astype(dtype), rng.standard_normal(10_000).astype(dtype)
    f = fe.graph(lambda x, y, z: fe.exp((x @ y) * 0.001 + z))
    z = rng.standard_normal(300).astype(dtype)
    got = np.asarray(f(fe.asarray(a), fe.asarray(b), fe.asarray(z)))
    np.testing.assert_allclose(got, np.exp((a.astype("float64") @ b) * 0.001 + z), rtol=1e-5)
    long = fe.graph(lambda x, y: fe.abs(x @ y) + 1)
    a, b = rng.standard_normal((3, 70_000)).astype(dtype), rng.standard_normal(70_000).astype(dtype)
    np.testing.assert_allclose(
        np.asarray(long(fe.asarray(a), fe.asarray(b))), np.abs(a.astype("float64") @ b) + 1, rtol=1e-3
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_has_the_same_bits_beside_any_others_and_with_any_threads(dtype: str) -> None:
    a, b = rng.standard_normal((50, 70_001)).astype(dtype), rng.standard_normal(70_001).astype(dtype)
    x, y = fe.asarray(a), fe.asarray(b)
    before = fe.thread_count()
    try:
        fe.set_thread_count(1)
        together = np.asarray(x @ y)
        fe.set_thread_count(2)
        np.testing.assert_array_equal(np.asarray(x @ y), together)
        np.testing.assert_array_equal([float(x[i] @ y) for i in range(50)], together.astype("float64"))
        np.testing.assert_array_equal(np.asarray(fe.vecdot(x, fe.asarray(np.tile(b, (50, 1))))), together)
    finally:
        fe.set_thread_count(before)


def test_vecdot_broadcasts_and_promotes() -> None:
    a, b = rng.standard_normal((2, 1, 5, 9)), rng.standard_normal((3, 1, 9)).astype("f4")
    np.testing.assert_allclose(np.asarray(fe.vecdot(fe.asarray(a), fe.asarray(b))), np.vecdot(a, b), rtol=1e-12)
    c = a + 1j * rng.standard_normal(a.shape)  # is conjugated, also beside real numbers
    for left, right in ((c, b), (b, c), (c, np.ones(9, "i4"))):
        np.testing.assert_allclose(
            np.asarray(fe.vecdot(fe.asarray(left), fe.asarray(right))), np.vecdot(left, right), rtol=1e-12
        )
    assert fe.vecdot(fe.ones((4, 0)), fe.ones(0)).tolist() == [0.0] * 4
    assert fe.vecdot(fe.ones((0, 3)), fe.ones(3)).shape == (0,)


@each("dtype", ["int64", "int32", "uint8"])
@each("shape", [(3,), (50, 120), (9_000,)])
def test_elements_at_pairs_of_indices(shape: tuple[int, ...], dtype: str) -> None:
    a = rng.standard_normal((70, 90, 2)).astype("f4")
    least = 0 if dtype == "uint8" else -70
    i, j = (rng.integers(least, 70, size).astype(dtype) for size in (shape, shape[-1:]))
    x = fe.asarray(a)
    for first, second in ((i, j), (i % 70, j % 70)):
        pairs = fe.asarray(first), fe.asarray(second)
        np.testing.assert_array_equal(np.asarray(x[pairs]), a[first, second])
        np.testing.assert_array_equal(np.asarray((x + 0)[pairs[0] + 0, pairs[1] + 0]), a[first, second])
        y, expected = x + 0, a.copy()
        y[pairs] = 7
        expected[first, second] = 7
        np.testing.assert_array_equal(np.asarray(y), expected)


@pytest.mark.parametrize("wrong", [70, -71])
def test_one_of_many_indices_out_of_range_is_an_error_of_its_axis(wrong: int) -> None:
    i = rng.integers(0, 70, 9_000)
    i[8_123] = wrong
    with pytest.raises(fe.OutOfRangeError, match=f"index {wrong} is out of bounds for axis 0 with size 70"):
        fe.ones((70, 90))[fe.asarray(i), fe.asarray(i % 90)]

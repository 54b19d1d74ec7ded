"""sort, argsort, searchsorted and take_along_axis."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

rng = np.random.default_rng(0)

DTYPES = [
    "bool",
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
]


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = fe.thread_count()
    yield
    fe.set_thread_count(before)


def same(got: Any, wanted: Any) -> None:
    """Compare bits, so that zeros of both signs differ."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(np.ascontiguousarray(got).view(np.uint8), np.ascontiguousarray(wanted).view(np.uint8))


def order(x: Any, axis: int, descending: bool) -> Any:
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)


def values_of(dtype: str, shape: tuple[int, ...]) -> Any:
    """Values with repetitions; floating-point ones with zeros of both signs, infinities and NaNs of several kinds."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if not dtype.startswith("float"):
        limits = np.iinfo(dtype)
        return np.where(
            rng.random(shape) < 0.5, rng.integers(limits.min, limits.max, shape, dtype), rng.integers(0, 4, shape)
        ).astype(dtype)
    edges = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, -math.nan, 1.5, -1.5], dtype)
    edges.view(f"u{edges.itemsize}")[4] += 3  # another payload
    return np.where(rng.random(shape) < 0.3, rng.choice(edges, shape), rng.standard_normal(shape).astype(dtype))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorts_are_stable_in_every_dtype_and_length(dtype: str, descending: bool) -> None:
    for length in (0, 1, 2, 15, 16, 17, 33, 255, 1_000, 70_001):
        x = values_of(dtype, (length,))
        wanted = order(x, -1, descending)
        same(fe.argsort(fe.asarray(x), descending=descending), wanted)
        same(fe.sort(fe.asarray(x), descending=descending), x[wanted])


@pytest.mark.parametrize("descending", [False, True])
def test_sorts_of_bfloat16(descending: bool) -> None:
    x = fe.astype(fe.asarray(values_of("float32", (3_000,))), "bfloat16")
    wide = np.asarray(x).astype("float32")
    wanted = order(wide, -1, descending)
    same(fe.argsort(x, descending=descending), wanted)
    same(fe.astype(fe.sort(x, descending=descending), "float32"), wide[wanted])


@each("axis", [0, 1, 2, -1, -3])
def test_sorts_along_each_axis(axis: int) -> None:
    x = values_of("float32", (7, 30, 12))
    places = order(x, axis, False)
    same(fe.sort(fe.asarray(x), axis=axis), np.take_along_axis(x, places, axis))
    same(fe.argsort(fe.asarray(x), axis=axis), places)
    same(fe.sort(fe.asarray(x)[::-2, :, 1::3], axis=axis), np.sort(x[::-2, :, 1::3], axis=axis, kind="stable"))


@pytest.mark.parametrize("dtype", ["int32", "uint64"])
def test_rows_of_every_short_length(dtype: str) -> None:
    """A network that sorts all zeros and ones sorts everything (Knuth, volume 3, 5.3.4, theorem Z)."""
    for length in range(1, 300):
        ones = rng.random((40, length)) < rng.random((40, 1))
        x = np.where(rng.random((40, 1)) < 0.7, ones, rng.integers(0, 2**31, (40, length))).astype(dtype)
        same(fe.sort(fe.asarray(x)), np.sort(x))


@pytest.mark.parametrize("values", ["rare low", "rare high", "rare both", "few", "outliers", "organ pipe", "sawtooth"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "uint32"])
def test_long_rows_that_samples_do_not_describe(dtype: str, values: str) -> None:
    """Pivots and buckets are chosen from elements at regular distances."""
    n = 200_003
    k = np.arange(n)
    usual: Any = np.full(n, 10**6)
    rare = rng.random(n) < 0.001
    found: Any = {
        "rare low": np.where(rare, rng.integers(0, 10**6, n), usual),
        "rare high": np.where(rare, rng.integers(10**6, 2**31, n), usual),
        "rare both": np.where(rare, rng.integers(0, 2**31, n), usual),
        "few": rng.integers(0, 20, n) * 54_321,
        "outliers": np.where(rare, rng.integers(0, 2**31, n), 10**9 + rng.integers(0, 70_000, n)),
        "organ pipe": np.minimum(k, n - k) * 1_000,
        "sawtooth": k % 195 * 10**6,
    }[values]
    x = found.astype(dtype)
    for count in (1, 2):
        fe.set_thread_count(count)
        for length in (n, 70_000, 5_000, 700):
            same(fe.sort(fe.asarray(x[:length])), np.sort(x[:length]))


@pytest.mark.parametrize(
    "values", ["equal", "two", "ascending", "descending", "one apart", "wide", "near", "mixed", "pairs"]
)
@pytest.mark.parametrize("dtype", ["int64", "float64", "float32"])
def test_long_rows_with_every_distribution(dtype: str, values: str) -> None:
    """64-bit keys are sorted by the highest bits that differ first, then runs of equal ones by the rest."""
    n = 300_007
    found: Any = {
        "equal": np.full(n, 7),
        "two": rng.integers(0, 2, n) * (2**40 + 1),
        "ascending": np.arange(n) * 2**20,
        "descending": np.arange(n)[::-1] * 2**20,
        "one apart": np.where(np.arange(n) == 5, 2**62, rng.integers(0, 50, n)),
        "wide": rng.integers(-(2**62), 2**62, n),
        "near": 2**52 + rng.integers(0, 40, n),
        "mixed": np.where(rng.random(n) < 0.6, 2**61 + rng.integers(0, 9, n), rng.integers(-(2**62), 2**62, n)),
        # Pairs that differ in their lowest bits; the first one is alone, so that a pair lies across each power of two.
        "pairs": np.where(np.arange(n) == n - 1, 2**62, (np.arange(n) + 1) // 2 * 2**20 + np.arange(n) % 2),
    }[values]
    x = found.astype(dtype)
    wanted = np.argsort(x, kind="stable")
    for count in (1, 2):
        fe.set_thread_count(count)
        same(fe.argsort(fe.asarray(x)), wanted)
        same(fe.sort(fe.asarray(x)), x[wanted])
        same(fe.argsort(fe.asarray(np.stack([x[::-1], x]))), np.stack([np.argsort(x[::-1], kind="stable"), wanted]))


def test_sorts_are_traced() -> None:
    @fe.graph
    def both(x: fe.Array) -> Any:
        return fe.sort(x * 2, axis=0), fe.argsort(x, descending=True)

    x = values_of("float32", (20, 9))
    ascending, indices = both(fe.asarray(x))
    same(ascending, np.take_along_axis(x * 2, order(x, 0, False), 0))
    same(indices, order(x, 1, True))


@each("side", ["left", "right"])
@each("dtype", DTYPES)
def test_searchsorted_matches_numpy(dtype: str, side: Any) -> None:
    for length, shape in ((0, (3,)), (1, (2, 5)), (100, (33,)), (5_000, (70, 80)), (17, ())):
        x = np.sort(values_of(dtype, (length,)), kind="stable")
        wanted = values_of(dtype, shape)
        same(
            fe.searchsorted(fe.asarray(x), fe.asarray(wanted), side=side),
            np.asarray(np.searchsorted(x, wanted, side), np.int64).reshape(shape),
        )


def test_searchsorted_promotes_and_takes_a_sorter() -> None:
    x = np.array([5, 1, 3])
    wanted: Any = np.array([0.5, 1, 4, 9], "float64")
    same(fe.searchsorted(fe.asarray(x), fe.asarray(wanted), sorter=fe.asarray([1, 2, 0])), np.array([0, 0, 2, 3]))
    order: Any = np.argsort(x).astype("uint8")
    same(fe.searchsorted(fe.asarray(x), wanted, sorter=order), np.array([0, 0, 2, 3]))
    found = fe.graph(lambda x, y: fe.searchsorted(x, y, sorter=fe.argsort(x), side="right"))
    same(found(fe.asarray(x), fe.asarray([3, 6])), np.array([2, 3]))
    same(fe.searchsorted(fe.asarray([1, 2, 4]), 3), np.array(2))
    for dtype in ("int32", "uint32", "uint64"):  # float32 has too few digits
        x = np.array([2**24, 2**24 + 1, 2**24 + 2], dtype)
        same(fe.searchsorted(fe.asarray(x), 2.0**24 + 0.5), np.array(1))
        same(fe.searchsorted(fe.asarray(x), 2.0**24 + 1.5), np.array(2))
    tenths = fe.asarray(np.array([0.1, 0.2]))
    same(fe.searchsorted(tenths, 0.1, side="right"), np.array(1))  # the number becomes float64, as x1 is


@each("dtype", ["bool", "int16", "float32", "complex64", "complex128"])
@each("shape", [(5,), (4, 7), (3, 4, 5)])
def test_take_along_axis_matches_numpy(shape: tuple[int, ...], dtype: str) -> None:
    x = rng.standard_normal(shape).astype(dtype)
    for axis in range(-len(shape), len(shape)):
        sizes = list(shape)
        sizes[axis] = 11
        indices = rng.integers(-shape[axis], shape[axis], sizes)
        same(fe.take_along_axis(fe.asarray(x), fe.asarray(indices), axis=axis), np.take_along_axis(x, indices, axis))
        same(fe.take_along_axis(fe.asarray(x), indices.astype("int8"), axis=axis), np.take_along_axis(x, indices, axis))


def test_take_along_axis_broadcasts_and_is_traced() -> None:
    x = rng.standard_normal((3, 4)).astype("float32")
    same(fe.take_along_axis(fe.asarray(x), fe.asarray([[1, -1]])), x[:, [1, 3]])
    same(fe.take_along_axis(fe.asarray(x[:1]), fe.asarray(np.zeros((5, 2), "int64"))), np.full((5, 2), x[0, 0]))
    same(fe.take_along_axis(fe.asarray(x), [[0], [1], [2]]), np.take_along_axis(x, np.array([[0], [1], [2]]), 1))
    best = fe.graph(lambda x: fe.take_along_axis(x, fe.argsort(x, axis=0), axis=0))
    same(best(fe.asarray(x)), np.sort(x, axis=0))


@pytest.mark.parametrize("index", [4, -5, 2**40])
def test_take_along_axis_refuses_indices_out_of_bounds(index: int) -> None:
    with pytest.raises(IndexError, match=f"take_along_axis: index {index} is out of bounds for axis 1"):
        fe.eval(fe.take_along_axis(fe.ones((2, 4)), fe.asarray([[0], [index]]), axis=1))


X = fe.asarray([3.0, 1.0])


@each(
    ("call", "error", "words"),
    [
        (lambda: fe.sort(fe.asarray(1.0)), fe.InvalidArgumentError, "sort: an array of 0 dimensions has no axis"),
        (lambda: fe.argsort(5), fe.InvalidArgumentError, "argsort: an array of 0 dimensions has no axis"),  # type: ignore[arg-type]
        (lambda: fe.sort(X, axis=1), fe.OutOfRangeError, "sort: axis 1 is out of range for 1 dimensions"),
        (lambda: fe.sort(X, axis="x"), fe.InvalidArgumentError, "sort: axis must be one integer, not 'x'"),  # type: ignore[arg-type]
        (lambda: fe.sort(X, axis=None), fe.InvalidArgumentError, "sort: axis must be one integer, not None"),  # type: ignore[arg-type]
        (lambda: fe.sort(X, descending=2), fe.InvalidArgumentError, "sort: descending must be True or False, not 2"),  # type: ignore[arg-type]
        (lambda: fe.argsort(X, stable="no"), fe.InvalidArgumentError, "argsort: stable must be True or False"),  # type: ignore[arg-type]
        (lambda: fe.sort("abc"), fe.InvalidArgumentError, "sort: takes arrays, not str"),  # type: ignore[arg-type]
        (lambda: fe.sort(fe.asarray([1j])), fe.DTypeError, "sort: .*complex"),
        (lambda: fe.searchsorted(X, X, side="up"), fe.InvalidArgumentError, "side must be 'left' or 'right', not 'up'"),  # type: ignore[arg-type]
        (lambda: fe.searchsorted(X, X, side=[]), fe.InvalidArgumentError, r"side must be .*, not \[\]"),  # type: ignore[arg-type]
        (lambda: fe.searchsorted(fe.ones((2, 2)), X), fe.InvalidArgumentError, "x1 must have 1 dimension"),
        (lambda: fe.searchsorted(X, None), fe.InvalidArgumentError, "searchsorted: takes arrays, not NoneType"),  # type: ignore[arg-type]
        (
            lambda: fe.searchsorted(X, X, sorter=X),
            fe.DTypeError,
            "sorter must consist of integers, not of dtype",
        ),
        (
            lambda: fe.searchsorted(X, X, sorter=fe.asarray([0])),
            fe.InvalidArgumentError,
            r"sorter has the shape \(1,\), and x1 has \(2,\)",
        ),
        (lambda: fe.searchsorted(X, fe.asarray([1j])), fe.DTypeError, "searchsorted: .*complex"),
        (lambda: fe.take_along_axis(X, X), fe.DTypeError, "take_along_axis: indices are integers, not dtype float32"),
        (lambda: fe.take_along_axis(X, fe.asarray([[0]])), fe.InvalidArgumentError, "they need equally many"),
        (lambda: fe.take_along_axis(X, [0], axis=2), fe.OutOfRangeError, "take_along_axis: axis 2 is out of range"),
        (
            lambda: fe.take_along_axis(X, ["a"]),
            fe.InvalidArgumentError,
            "take_along_axis: the indices are not",
        ),
        (
            lambda: fe.take_along_axis(fe.ones((2, 3)), fe.asarray(np.zeros((4, 3), "int64"))),
            fe.InvalidArgumentError,
            "do not broadcast in the axes other than 1",
        ),
        (
            lambda: fe.take_along_axis(fe.ones((0,)), fe.asarray([0])),
            fe.OutOfRangeError,
            "take_along_axis: index 0 is out of bounds for axis 0 with size 0",
        ),
    ],
)
def test_wrong_calls_are_errors(call: Any, error: type[fe.Error], words: str) -> None:
    with pytest.raises(error, match=words):
        call()

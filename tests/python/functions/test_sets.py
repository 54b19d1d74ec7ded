"""unique_values, unique_counts, unique_inverse and unique_all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import ferrule as fe
import numpy as np
import pytest

rng = np.random.default_rng(0)

DTYPES = ["bool", "int8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64"]


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = fe.thread_count()
    yield
    fe.set_thread_count(before)


def same(got: Any, wanted: Any) -> None:
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(np.ascontiguousarray(got).view(np.uint8), np.ascontiguousarray(wanted).view(np.uint8))


def unique(x: Any) -> tuple[Any, ...]:
    """Values, indices, inverse and counts. In NumPy's own functions NaN may be equal, and either zero may be kept."""
    flat = x.reshape(-1)
    is_nan = flat != flat
    if x.dtype.kind == "c":
        order = np.lexsort((np.where(is_nan, 0, flat.imag), np.where(is_nan, 0, flat.real), is_nan))
    else:
        order = np.argsort(flat, kind="stable")
    begins = np.ones(flat.size, bool)
    begins[1:] = flat[order][1:] != flat[order][:-1]
    inverse = np.empty(flat.size, np.int64)
    inverse[order] = np.cumsum(begins) - 1
    starts = np.flatnonzero(begins)
    indices = order[starts]
    return flat[indices], indices, inverse.reshape(x.shape), np.diff(np.append(starts, flat.size))


def check(x: Any) -> None:
    array = fe.asarray(x)
    values, indices, inverse, counts = unique(x)
    same(fe.unique_values(array), values)
    found = fe.unique_counts(array)
    same(found.values, values)
    same(found.counts, counts)
    turned = fe.unique_inverse(array)
    same(turned.values, values)
    same(turned.inverse_indices, inverse)
    everything = fe.unique_all(array)
    for got, wanted in zip(everything, (values, indices, inverse, counts), strict=True):
        same(got, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_distinct_elements_of_every_dtype(dtype: str) -> None:
    for count in (1, 2):
        fe.set_thread_count(count)
        for shape in ((0,), (1,), (40,), (3, 0), (7, 30), (3, 4, 5), (90_000,)):
            check(rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype))
    x = rng.integers(0, 50, (20, 30)).astype(dtype)
    check(x[::-2, ::3])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_are_ordered_by_both_parts(dtype: str) -> None:
    for size in (6, 300, 80_000):
        x = (rng.integers(-3, 4, size) + 1j * rng.integers(-300, 300, size)).astype(dtype)
        x.real[::7] = math.nan
        x.imag[::11] = math.nan
        x.imag[::5] *= -0.0
        check(x)


def test_long_runs_of_complex_numbers_with_equal_real_parts() -> None:
    """They are sorted by the upper half of the imaginary part, and then by the lower one, which alone differs in one of
    the two runs."""
    n = 200_000
    x = np.empty(n, "complex128")
    x.real = np.arange(n) % 2
    x.imag = np.where(x.real == 0, 2.0**52 + rng.integers(0, 9, n), rng.integers(-9, 9, n) * 1.5)
    check(x)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_each_nan_is_distinct_and_both_zeros_are_one(dtype: str) -> None:
    x = np.array([math.nan, -0.0, 1, 0.0, -math.nan, math.inf, -math.inf, 1, math.nan], dtype)
    check(x)
    values = np.asarray(fe.unique_values(fe.asarray(x)))
    assert values.size == 7
    assert np.isnan(values[4:]).all()
    assert np.signbit(values[1])  # the first zero
    check(np.where(rng.random(100_000) < 0.5, math.nan, rng.integers(0, 9, 100_000)).astype(dtype))


@pytest.mark.parametrize("limit", [1, 2, 70, 2**20, 2**62])
def test_long_arrays_with_few_or_many_distinct_elements(limit: int) -> None:
    x = rng.integers(0, limit, 200_003)
    for count in (1, 2):
        fe.set_thread_count(count)
        check(x)
        check(x.astype("float64"))


def test_results_are_named_tuples_of_the_standard() -> None:
    x = fe.asarray([3, 1, 3])
    assert fe.unique_all(x)._fields == ("values", "indices", "inverse_indices", "counts")
    assert fe.unique_counts(x)._fields == ("values", "counts")
    assert fe.unique_inverse(x)._fields == ("values", "inverse_indices")
    same(fe.unique_values(5), np.array([5]))  # type: ignore[arg-type]


def test_with_a_size_results_are_padded_or_cut() -> None:
    x = fe.asarray([7, 5, 7, 6])
    same(fe.unique_values(x, size=5), np.array([5, 6, 7, 0, 0]))
    same(fe.unique_values(x, size=2), np.array([5, 6]))
    values, indices, inverse, counts = fe.unique_all(x, size=4)
    same(values, np.array([5, 6, 7, 0]))
    same(indices, np.array([1, 3, 0, 0]))
    same(inverse, np.array([2, 0, 2, 1]))
    same(counts, np.array([1, 1, 2, 0]))
    same(fe.unique_all(x, size=0).inverse_indices, np.array([2, 0, 2, 1]))


def test_a_traced_function_needs_a_size() -> None:
    for function in (fe.unique_values, fe.unique_counts, fe.unique_inverse, fe.unique_all):
        with pytest.raises(fe.TracingError, match=f"{function.__name__} without size="):
            fe.graph(function)(fe.ones(3))
    found = fe.graph(lambda x: fe.unique_all(x + 1, size=3))(fe.asarray([[4, 2], [2, 2]]))
    assert type(found).__name__ == "UniqueAllResult"
    same(found.values, np.array([3, 5, 0]))
    same(found.inverse_indices, np.array([[1, 0], [0, 0]]))
    same(found.counts, np.array([3, 1, 0]))


def test_short_results_do_not_keep_the_full_buffers() -> None:
    x = fe.asarray(np.arange(1_000_000) % 3)
    device = fe.best_device()
    before = fe.memory_stats(device).live
    found = fe.unique_counts(x)
    same(found.values, np.arange(3))
    same(found.counts, np.array([333_334, 333_333, 333_333]))
    assert fe.memory_stats(device).live - before < 1_000_000


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fe.unique_values("abc"), "unique_values: takes arrays, not str"),  # type: ignore[arg-type]
        (lambda: fe.unique_counts(None), "unique_counts: takes arrays, not NoneType"),  # type: ignore[arg-type]
        (lambda: fe.unique_all(fe.ones(3), size=-1), "unique_all: size is -1"),
        (lambda: fe.unique_inverse(fe.ones(3), size=1.5), "unique_inverse: size must be one integer, not 1.5"),  # type: ignore[arg-type]
    ],
)
def test_wrong_calls_are_errors(call: Any, words: str) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=words):
        call()

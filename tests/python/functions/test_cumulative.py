"""cumulative_sum and cumulative_prod."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

rng = np.random.default_rng(0)
BLOCK = 2048  # elements that are added up separately

BOTH: list[Any] = [(fe.cumulative_sum, np.cumsum, 0), (fe.cumulative_prod, np.cumprod, 1)]


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = fe.thread_count()
    yield
    fe.set_thread_count(before)


def same(got: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(np.asarray(got), wanted, strict=True)


@pytest.mark.parametrize(("function", "reference", "initial"), BOTH)
@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "int64", "uint8", "uint64"])
def test_integers_are_widened_and_wrap(function: Any, reference: Any, initial: int, dtype: str) -> None:
    wide = "uint64" if dtype.startswith("u") else "int64"
    for shape in ((0,), (1,), (3, 5_000), (5_000, 3), (2, 3_000, 5), (0, 3), (3, 0)):
        x = rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
        for axis in range(len(shape)):
            wanted = reference(x, axis=axis, dtype=wide)
            same(function(fe.asarray(x), axis=axis), wanted)
            same(function(fe.asarray(x), axis=axis, include_initial=True), np.insert(wanted, 0, initial, axis))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_sums_are_in_blocks_of_one_order(dtype: str) -> None:
    """The bits are those of the order that the docstring states, at any number of threads and along any axis."""
    x = rng.standard_normal(3 * BLOCK + 77).astype(dtype)
    blocks = [np.cumsum(x[i : i + BLOCK]) for i in range(0, x.size, BLOCK)]
    total, wanted = None, []
    for block in blocks:
        wanted.append(block if total is None else total + block)
        total = block[-1] if total is None else total + block[-1]
    expected = np.concatenate(wanted)
    for count in (1, 2):
        fe.set_thread_count(count)
        same(fe.cumulative_sum(fe.asarray(x)), expected)
        same(fe.cumulative_sum(fe.asarray(np.stack([x, x, x], 1)), axis=0), np.stack([expected] * 3, 1))
        same(fe.cumulative_sum(fe.asarray(np.stack([x, x])), axis=1), np.stack([expected] * 2))


def test_bits_do_not_depend_on_threads() -> None:
    x = rng.standard_normal((2, 300_000)).astype("float32")
    results = []
    for count in (1, 2):
        fe.set_thread_count(count)
        results.append([np.asarray(f(fe.asarray(x), axis=axis)) for f, _, _ in BOTH for axis in (0, 1)])
    for one, two in zip(*results, strict=True):
        same(one, two)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_are_computed_from_first_to_last(dtype: str) -> None:
    x = np.exp(rng.uniform(-0.01, 0.01, 10_000)).astype(dtype)
    same(fe.cumulative_prod(fe.asarray(x)), np.cumprod(x))
    same(fe.cumulative_prod(fe.asarray(np.stack([x, x], 1)), axis=0), np.stack([np.cumprod(x)] * 2, 1))


def test_halves_are_rounded_once() -> None:
    ones = fe.asarray(np.ones(5_000, "float16"))
    sums = np.asarray(fe.cumulative_sum(ones))
    same(sums, np.arange(1, 5_001).astype("float16"))  # 2049 is no float16: adding in float16 would stop there
    bits = fe.astype(fe.cumulative_sum(fe.astype(ones, "bfloat16")), "float32")
    same(bits, np.asarray(fe.astype(fe.astype(fe.arange(1, 5_001, dtype="float32"), "bfloat16"), "float32")))


def test_dtype_is_cast_to_first() -> None:
    x = fe.asarray(np.array([200, 100, 7], "uint8"))
    same(fe.cumulative_sum(x), np.array([200, 300, 307], "uint64"))
    same(fe.cumulative_sum(x, dtype="uint8"), np.array([200, 44, 51], "uint8"))
    same(fe.cumulative_sum(x, dtype=fe.int16), np.array([200, 300, 307], "int16"))
    same(fe.cumulative_sum(x, dtype=fe.float32), np.array([200, 300, 307], "float32"))
    same(fe.cumulative_prod(fe.asarray([0.5, 3.0, 2.5]), dtype="int64"), np.array([0, 0, 0]))
    same(fe.cumulative_prod(x, dtype="complex64"), np.array([200, 20_000, 140_000], "complex64"))


def test_views_and_traced_functions() -> None:
    x = rng.integers(0, 9, (6, 8))
    same(fe.cumulative_sum(fe.asarray(x)[::-2, ::3], axis=-1), np.cumsum(x[::-2, ::3], axis=-1))
    found = fe.graph(lambda x: fe.cumulative_prod(x + 1, axis=0, include_initial=True) * 2)
    same(found(fe.asarray(x)), 2 * np.insert(np.cumprod(x + 1, axis=0), 0, 1, 0))


X = fe.asarray([1.0, 2.0])


@each(
    ("call", "error", "words"),
    [
        (lambda: fe.cumulative_sum(fe.asarray(1)), fe.InvalidArgumentError, "an array of 0 dimensions has no axis"),
        (lambda: fe.cumulative_sum(3), fe.InvalidArgumentError, "an array of 0 dimensions has no axis"),  # type: ignore[arg-type]
        (lambda: fe.cumulative_prod(fe.ones((2, 2))), fe.InvalidArgumentError, "cumulative_prod: needs an axis for 2"),
        (lambda: fe.cumulative_sum(X, axis=-2), fe.OutOfRangeError, "cumulative_sum: axis -2 is out of range"),
        (lambda: fe.cumulative_sum(X, axis=0.0), fe.InvalidArgumentError, "axis must be one integer, not 0.0"),  # type: ignore[arg-type]
        (lambda: fe.cumulative_sum(X, dtype="bool"), fe.DTypeError, "cumulative_sum: dtype must be one of numbers"),
        (lambda: fe.cumulative_sum(X, dtype="float8_e5m2"), fe.DTypeError, "dtype must be one of numbers"),
        (lambda: fe.cumulative_sum(X, dtype="q8_0"), fe.DTypeError, "dtype must be one of numbers, not q8_0"),
        (lambda: fe.cumulative_sum(X, dtype="flaot32"), fe.DTypeError, "'flaot32' is not a dtype"),
        (lambda: fe.cumulative_sum(X, include_initial=2), fe.InvalidArgumentError, "include_initial must be True or"),  # type: ignore[arg-type]
        (lambda: fe.cumulative_sum("x"), fe.InvalidArgumentError, "cumulative_sum: takes arrays, not str"),  # type: ignore[arg-type]
        (lambda: fe.cumulative_sum(fe.astype(X, "float8_e5m2")), fe.Error, "cumulative_sum: .*float8_e5m2"),
    ],
)
def test_wrong_calls_are_errors(call: Any, error: type[fe.Error], words: str) -> None:
    with pytest.raises(error, match=words):
        call()

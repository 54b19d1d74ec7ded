"""Distributions: exact values where they are defined, and statistics of fixed keys, by formulas of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ferrule as fe
import ml_dtypes
import numpy as np
import pytest
from ferrule.testing.cases.random import random_bits

from tests.python.each import each

FE: Any = fe
COUNT = 50_000


def key(seed: int) -> Any:
    return fe.random.key(seed)


def is_uniform(counts: Any, expected: Any | None = None) -> bool:
    """Pearson's chi-square: below its mean plus 4 of its standard deviations. (The keys are fixed.)"""
    counts = np.asarray(counts, float)
    expected = np.full(counts.shape, counts.mean()) if expected is None else np.asarray(expected, float)
    freedom = counts.size - 1
    return bool(((counts - expected) ** 2 / expected).sum() < freedom + 4 * math.sqrt(2 * freedom))


def follows(x: Any, distribution: Callable[[float], float]) -> bool:
    """Kolmogorov and Smirnov: the greatest distance of the distribution functions is below its 0.1 % quantile."""
    x = np.sort(np.asarray(x, float))
    wanted = np.array([distribution(value) for value in x])
    steps = np.arange(x.size + 1) / x.size
    distance = max((steps[1:] - wanted).max(), (wanted - steps[:-1]).max())
    return bool(distance * math.sqrt(x.size) < 1.95)


def test_the_statistics_reject_what_is_wrong() -> None:
    rng = np.random.default_rng(0)
    assert not is_uniform([100, 100, 160, 100])
    assert not follows(rng.random(COUNT) ** 1.05, lambda v: v)
    assert not follows(rng.standard_normal(COUNT) * 1.05, lambda v: (1 + math.erf(v / math.sqrt(2))) / 2)


@pytest.mark.parametrize(("low", "high"), [(0, 6), (-3, 4), (0, 1000), (5, 6)])
def test_integers_are_uniform(low: int, high: int) -> None:
    x = np.asarray(fe.random.integers(key(1), COUNT, low, high))
    assert (x.dtype, x.min(), x.max()) == (np.int64, low, high - 1)
    if high - low > 1:
        assert is_uniform(np.bincount(x - low))


@each(
    ("dtype", "low", "high"),
    [
        ("int8", -128, 128),
        ("uint8", 3, 200),
        ("int32", -(2**31), 2**31),
        ("uint32", 0, 2**32),
        ("int64", -(2**63), 2**63),
        ("int64", -(2**62), 2**62 + 12345),
        ("int64", 0, 2**32 + 1),
        ("uint64", 0, 2**64),
        ("uint64", 7, 2**64 - 1),
    ],
)
def test_integers_are_scaled_exactly(dtype: str, low: int, high: int) -> None:
    """The oracle is Python's exact arithmetic on the bits."""
    x = fe.random.integers(key(2), 100, low, high, dtype).tolist()
    count = high - low
    streams = [random_bits(np.asarray(key(2)), 100, stream).tolist() for stream in (0, 2, 3, 4)]
    if count == 2**64:
        assert x == [low + (a | b << 32) for a, b, _, _ in zip(*streams, strict=True)]
        return
    width = 3 if count <= 2**32 else 4
    words = list(zip(*streams[:width], strict=True))
    numbers = [sum(word << 32 * place for place, word in enumerate(row)) for row in words]
    assert x == [low + (number * count >> 32 * width) for number in numbers]


def test_integers_of_one_bound_begin_at_zero() -> None:
    assert fe.random.integers(key(3), (4, 5), 7).tolist() == fe.random.integers(key(3), (4, 5), 0, 7).tolist()


@pytest.mark.parametrize(("dtype", "digits"), [("float16", 11), ("bfloat16", 8), ("float32", 24)])
def test_uniform_numbers_are_the_upper_bits(dtype: str, digits: int) -> None:
    x = np.asarray(fe.random.uniform(key(4), 1000, dtype=dtype)).astype(np.float64)
    np.testing.assert_array_equal(x, (random_bits(np.asarray(key(4)), 1000) >> (32 - digits)) / 2.0**digits)


def test_uniform_float64_numbers_have_53_bits() -> None:
    low, high = (random_bits(np.asarray(key(4)), 1000, stream).astype(np.uint64) for stream in (0, 2))
    words = low | high << np.uint64(32)
    np.testing.assert_array_equal(
        np.asarray(fe.random.uniform(key(4), 1000, dtype="float64")), (words >> 11) * 2.0**-53, strict=True
    )


def test_uniform_numbers_stay_within_their_bounds() -> None:
    x = np.asarray(fe.random.uniform(key(4), COUNT, -2.0, 6.0))
    assert x.min() >= -2
    assert x.max() < 6
    assert follows(x, lambda v: (v + 2) / 8)
    for dtype, high in (("float16", 1.001), ("bfloat16", 1.01), ("float32", 1 + 2**-23), ("float32", 3.3)):
        x = np.asarray(fe.random.uniform(key(5), COUNT, 1.0, high, dtype)).astype(float)
        assert x.min() >= 1
        assert x.max() < np.asarray(high).astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))
    bounds = fe.asarray(np.float32([[0], [10]]))
    x = np.asarray(fe.random.uniform(key(5), (2, 1000), bounds, bounds + 1))
    assert x[0].max() < 1
    assert x[1].min() >= 10


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_normal_numbers_follow_their_distribution(dtype: str) -> None:
    x = np.asarray(fe.random.normal(key(6), COUNT + 1, dtype=dtype))
    assert x.dtype.name == dtype
    assert np.isfinite(x.astype(float)).all()
    if dtype not in ("float16", "bfloat16"):
        assert follows(x, lambda v: (1 + math.erf(v / math.sqrt(2))) / 2)
    wide = x.astype(float)
    assert abs(wide.mean()) < 0.02
    assert abs(wide.std() - 1) < 0.02
    assert abs(np.corrcoef(wide[:-1:2], wide[1::2])[0, 1]) < 0.03  # of the two that share their uniform numbers


def test_normal_numbers_have_a_mean_and_a_deviation() -> None:
    plain = np.asarray(fe.random.normal(key(6), (3, 5)))
    np.testing.assert_array_equal(np.asarray(fe.random.normal(key(6), (3, 5), 2.0, 0.5)), plain * 0.5 + 2)
    means = fe.asarray(np.float32([1, 2, 3, 4, 5]))
    np.testing.assert_array_equal(np.asarray(fe.random.normal(key(6), (3, 5), means)), plain + np.asarray(means))
    with pytest.raises(ValueError, match=r"random.normal: \(3, 5\) does not broadcast to the shape \(5,\)"):
        fe.random.normal(key(6), 5, fe.ones((3, 5)))


def test_exponential_and_gumbel_numbers_follow_their_distributions() -> None:
    x = np.asarray(fe.random.exponential(key(7), COUNT, 2.0))
    assert x.min() > 0
    assert follows(x, lambda v: 1 - math.exp(-v / 2))
    x = np.asarray(fe.random.gumbel(key(8), COUNT, 1.0, 3.0, "float64"))
    assert follows(x, lambda v: math.exp(-math.exp(-(v - 1) / 3)))


def test_bernoulli_follows_its_probability() -> None:
    for p in (0.0, 0.25, 1.0, 1):
        assert abs(np.asarray(fe.random.bernoulli(key(9), p, COUNT)).mean() - p) < 0.01
    each = np.asarray(fe.random.bernoulli(key(9), fe.asarray(np.float32([0, 0.5, 1])), (1000, 3))).mean(axis=0)
    assert each[0] == 0
    assert 0.4 < each[1] < 0.6
    assert each[2] == 1
    assert fe.random.bernoulli(key(9), fe.asarray(np.float64([0.5, 0.5]))).shape == (2,)


def test_categorical_follows_the_softmax() -> None:
    chances = np.array([0.1, 0.0, 0.6, 0.3], np.float32)
    with np.errstate(divide="ignore"):
        logits = fe.asarray(np.log(chances))
    counts = np.bincount(np.asarray(fe.random.categorical(key(10), logits, shape=COUNT)), minlength=4)
    assert counts[1] == 0
    assert is_uniform(counts[[0, 2, 3]], COUNT * chances[[0, 2, 3]])
    rows = fe.zeros((4, 5))
    assert fe.random.categorical(key(10), rows).shape == (4,)
    assert fe.random.categorical(key(10), rows, axis=0).shape == (5,)
    assert fe.random.categorical(key(10), rows, axis=0, shape=(7, 5)).shape == (7, 5)
    with pytest.raises(ValueError, match=r"shape \(7, 5\) does not end with \(4,\)"):
        fe.random.categorical(key(10), rows, shape=(7, 5))


def test_permutations_are_uniform() -> None:
    orders = [tuple(fe.random.permutation(one, 3).tolist()) for one in fe.random.split(key(11), 1200)]
    _, counts = np.unique(np.array(orders) @ [9, 3, 1], return_counts=True)
    assert counts.size == 6
    assert is_uniform(counts)
    x = np.asarray(fe.random.permutation(key(11), 1000))
    np.testing.assert_array_equal(np.sort(x), np.arange(1000))
    rows = fe.asarray(np.arange(12).reshape(3, 4))
    mixed = np.asarray(fe.random.permutation(key(12), rows, axis=1))
    np.testing.assert_array_equal(np.sort(mixed, axis=1), np.asarray(rows))
    assert (mixed[1] - mixed[0] == 4).all()  # whole columns
    cube = np.arange(60).reshape(3, 4, 5)
    for axis in (-2, -1, 2):
        moved = np.asarray(fe.random.permutation(key(14), cube, axis=axis))
        np.testing.assert_array_equal(np.sort(moved, axis), cube)
        assert not np.array_equal(moved, cube)
    assert fe.random.permutation(key(12), 0).shape == (0,)


def test_choices() -> None:
    letters = fe.asarray([10, 20, 30])
    x = np.asarray(fe.random.choice(key(13), letters, (100, 50)))
    assert x.shape == (100, 50)
    assert is_uniform(np.unique(x, return_counts=True)[1])
    weights = np.float32([1, 0, 3])
    x = np.asarray(fe.random.choice(key(13), letters, COUNT, p=fe.asarray(weights)))
    counts = np.bincount(x // 10, minlength=4)
    assert counts[2] == 0
    assert is_uniform(counts[[1, 3]], COUNT * np.array([0.25, 0.75]))
    assert sorted(fe.random.choice(key(13), letters, 3, replace=False).tolist()) == [10, 20, 30]
    pairs = [
        fe.random.choice(one, 3, 2, replace=False, p=fe.asarray(weights)).tolist()
        for one in fe.random.split(key(1), 40)
    ]
    assert all({*pair} == {0, 2} for pair in pairs)
    table = fe.asarray(np.arange(24).reshape(2, 3, 4))
    assert fe.random.choice(key(13), table, (5, 6), axis=1).shape == (2, 5, 6, 4)
    column = np.asarray(fe.random.choice(key(13), table, 9, axis=1))
    assert {tuple(part) for part in column[0].tolist()} <= {(0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)}
    assert fe.random.choice(key(13), letters).shape == ()
    assert fe.random.choice(key(13), 0, 0).shape == (0,)


def test_everything_works_in_a_graph() -> None:
    def draw(key: Any) -> tuple[Any, ...]:
        keys = fe.random.split(key, 9)
        return (
            fe.random.integers(keys[0], 5, 0, 10),
            fe.random.uniform(keys[1], 5, -1.0, 1.0),
            fe.random.normal(keys[2], 5),
            fe.random.exponential(keys[3], 5),
            fe.random.gumbel(keys[4], 5),
            fe.random.bernoulli(keys[5], 0.5, 5),
            fe.random.categorical(keys[6], fe.zeros(4), shape=5),
            fe.random.permutation(keys[7], 5),
            fe.random.choice(keys[8], 10, 5, replace=False),
        )

    traced = fe.graph(draw)
    for seed in (0, 1):
        for one, other in zip(traced(key(seed)), draw(key(seed)), strict=True):
            np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
    assert traced.cache_info().misses == 1


@each(
    ("call", "kind", "message"),
    [
        (
            lambda k: FE.random.integers(k, 3, 5, 5),
            ValueError,
            "random.integers: there is no integer from 5 to below 5",
        ),
        (lambda k: FE.random.integers(k, 3, 0, 300, "uint8"), OverflowError, "does not fit into uint8"),
        (lambda k: FE.random.integers(k, 3, 5, dtype="float32"), fe.DTypeError, "random.integers: dtype is an integer"),
        (lambda k: FE.random.integers(k, 3, 1.5), ValueError, "random.integers: low must be one integer, not 1.5"),
        (lambda k: FE.random.uniform(k, 3, 2, 1), ValueError, "random.uniform: low, 2, is greater than high, 1"),
        (lambda k: FE.random.uniform(k, 3, "a"), ValueError, "random.uniform: low is a finite number or an array"),
        (lambda k: FE.random.uniform(k, 3, dtype="int32"), fe.DTypeError, "random.uniform: dtype is one of float16"),
        (lambda k: FE.random.normal(k, 3, dtype="float8_e5m2"), fe.DTypeError, "random.normal: dtype is one of"),
        (
            lambda k: FE.random.bernoulli(k, 1.5),
            ValueError,
            "random.bernoulli: p is a probability from 0 to 1, not 1.5",
        ),
        (lambda k: FE.random.choice(k, 3, 4, replace=False), ValueError, "random.choice: 4 different ones of 3"),
        (lambda k: FE.random.uniform(k, 3, -3e38, 3e38), ValueError, "random.uniform: float32 has not -3e.38, 3e.38"),
        (
            lambda k: FE.random.uniform(k, 3, 0, 7e4, "float16"),
            ValueError,
            "random.uniform: float16 has not 0, 7",
        ),
        (lambda k: FE.random.uniform(k, 3, 0, 10**600), OverflowError, "random.uniform: high an int of 1994 bits does"),
        (lambda k: FE.random.normal(k, 3, 10**600), OverflowError, "random.normal: mean an int of 1994 bits does not"),
        (lambda k: FE.random.gumbel(k, 3, 0, 10**600), OverflowError, "random.gumbel: scale an int of 1994 bits does"),
        (lambda k: FE.random.normal(k, 3, "a"), ValueError, "random.normal: mean is a number or an array, not 'a'"),
        (lambda k: FE.random.normal(k, 3, 0, "a"), ValueError, "random.normal: std is a number or an array, not 'a'"),
        (lambda k: FE.random.choice(k, 0, 4), ValueError, "random.choice: there is no element to choose"),
        (lambda k: FE.random.choice(k, 3, 4, "yes"), ValueError, "random.choice: replace must be True or False, not"),
        (lambda k: FE.random.choice(k, 3, 4, p=FE.ones(2)), ValueError, r"random.choice: p has the shape \(2,\)"),
        (lambda k: FE.random.permutation(k, -1), ValueError, "random.permutation: the number of elements is -1"),
        (
            lambda k: FE.random.permutation(k, FE.ones(3), axis=1),
            IndexError,
            "random.permutation: axis 1 is out of range",
        ),
        (lambda k: FE.random.categorical(k, FE.ones((2, 0))), ValueError, "random.categorical: axis 1 of"),
    ],
)
def test_wrong_arguments_are_named(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call(key(0))

"""Arguments of distributions outside of their range, plain and traced, and the probabilities of choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

FE: Any = fe
Draw = Callable[[Any, Any], Any]


def key(seed: int) -> Any:
    return fe.random.key(seed)


NUMBERS: list[tuple[Draw, Any, str]] = [
    (lambda k, n: FE.random.normal(k, 4, 0.0, n), -1, "random.normal: std is a number from 0 on, not -1"),
    (lambda k, n: FE.random.normal(k, 4, 0.0, n), fe.nan, "random.normal: std is a number from 0 on, not nan"),
    (lambda k, n: FE.random.exponential(k, 4, n), -0.5, "random.exponential: scale is a number from 0 on, not -0.5"),
    (lambda k, n: FE.random.gumbel(k, 4, 1.0, n), -2.0, "random.gumbel: scale is a number from 0 on, not -2.0"),
    (lambda k, n: FE.random.bernoulli(k, n, 4), 1.25, "random.bernoulli: p is a probability from 0 to 1, not 1.25"),
    (lambda k, n: FE.random.bernoulli(k, n, 4), fe.nan, "random.bernoulli: p is a probability from 0 to 1, not nan"),
]


@each(("draw", "wrong", "message"), NUMBERS)
def test_numbers_outside_of_their_range_are_errors(draw: Draw, wrong: Any, message: str) -> None:
    traced = fe.graph(draw)
    good = type(wrong)(1)
    np.testing.assert_array_equal(np.asarray(traced(key(3), good)), np.asarray(draw(key(3), good)))
    for call in (draw, traced):
        with pytest.raises(fe.InvalidArgumentError, match=f"^{message}$"):
            call(key(3), wrong)
    with pytest.raises(fe.InvalidArgumentError, match=message.split(", not")[0]):
        draw(key(3), np.float32(wrong))
    assert traced.cache_info().misses == 1


def test_a_scale_of_zero_gives_the_location() -> None:
    assert fe.random.normal(key(0), 3, 2.0, 0).tolist() == [2.0] * 3
    assert fe.random.exponential(key(0), 3, 0.0).tolist() == [0.0] * 3


@each("dtype", ["float32", "float64", "float16", "bfloat16"])
@each("bounds", [(0, 5), (-3, 4.5), (0.25, 0.25), (0.0, 1.0), (1000.0, 1000.5)])
def test_traced_bounds_give_the_numbers_of_plain_ones(bounds: tuple[float, float], dtype: str) -> None:
    low, high = bounds
    plain = np.asarray(fe.random.uniform(key(4), 3000, low, high, dtype)).astype(np.float64)
    for traced, arguments in (
        (fe.graph(lambda k, a, b: fe.random.uniform(k, 3000, a, b, dtype)), (low, high)),
        (fe.graph(lambda k, b: fe.random.uniform(k, 3000, low, b, dtype)), (high,)),
        (fe.graph(lambda k, a: fe.random.uniform(k, 3000, a, high, dtype)), (low,)),
    ):
        got = np.asarray(traced(key(4), *arguments))
        assert got.dtype.name == dtype
        np.testing.assert_array_equal(got.astype(np.float64), plain)


@each(("low", "high"), [(0, -5), (1.5, 1.0), (0.0, fe.inf), (-fe.inf, 0.0), (fe.nan, 1.0)])
def test_traced_bounds_are_checked_in_each_call(low: float, high: float) -> None:
    traced = fe.graph(lambda k, a, b: fe.random.uniform(k, 2, a, b))
    traced(key(0), type(low)(0), type(high)(1))
    with pytest.raises(fe.InvalidArgumentError, match=r"random.uniform: high - low is a finite number from 0 on, not"):
        traced(key(0), low, high)
    assert traced.cache_info().misses == 1
    with pytest.raises(fe.InvalidArgumentError, match=r"random.uniform: high is a finite number or an array, not inf"):
        fe.graph(lambda k, a: fe.random.uniform(k, 2, a, fe.inf))(key(0), 0.0)


def test_traced_seeds_have_the_range_of_plain_ones() -> None:
    traced = fe.graph(lambda seed: fe.random.key(seed))
    for seed in (0, 7, 2**63 - 1, 2**63, 2**64 - 1):
        assert traced(seed).tolist() == fe.random.key(seed).tolist() == [seed % 2**32, seed >> 32]
    for seed in (-1, 2**64):
        for call in (traced, fe.random.key):
            with pytest.raises(fe.InvalidArgumentError, match=rf"key: seed is from 0 to 2\*\*64 - 1, not {seed}$"):
                call(seed)


@each("replace", [True, False])
@each("dtype", ["float32", "float64", "float16"])
@each(
    ("p", "message"),
    [
        ([0.5, -1.0, 0.5], r"p\[1\] is -1.0, not a finite number from 0 on"),
        ([fe.nan, 0.5, 0.5], r"p\[0\] is nan, not a finite number from 0 on"),
        ([0.5, 0.5, fe.inf], r"p\[2\] is inf, not a finite number from 0 on"),
        ([0.0, 0.0, 0.0], "positive numbers in p: 0; at least 1 are needed"),
    ],
)
def test_choice_refuses_what_are_no_probabilities(p: Any, message: str, dtype: str, replace: bool) -> None:
    chances = fe.asarray(p, dtype=dtype)
    for call in (
        lambda: fe.random.choice(key(8), 3, 1, replace, chances),
        lambda: fe.graph(lambda k: fe.random.choice(k, 3, 1, replace, chances))(key(8)),
        lambda: FE.random.choice(key(8), 3, 1, replace, np.asarray(p, dtype)),
    ):
        with pytest.raises(fe.InvalidArgumentError, match=f"^random.choice: {message}$"):
            call()


def test_choice_without_replacement_needs_as_many_positive_probabilities() -> None:
    p = fe.asarray([1.0, 0.0, 2.0, 0.0])
    with pytest.raises(fe.InvalidArgumentError, match=r"choice: positive numbers in p: 2; at least 3 are needed"):
        fe.random.choice(key(8), 4, 3, replace=False, p=p)
    for seed in range(20):
        assert sorted(fe.random.choice(key(seed), 4, 2, replace=False, p=p).tolist()) == [0, 2]
        assert set(fe.random.choice(key(seed), 4, 30, p=p).tolist()) <= {0, 2}


def test_choice_of_wrong_traced_probabilities_is_what_its_documentation_says() -> None:
    for replace in (True, False):
        drawn = fe.graph(lambda k, p: fe.random.choice(k, 4, 3, replace, p))  # noqa: B023
        with_nan = drawn(key(8), fe.asarray([0.5, fe.nan, 0.5, -1.0])).tolist()
        assert with_nan[:2] == ([1, 1] if replace else [1, 3])
        assert drawn(key(8), fe.asarray([0.0, 0.0, 0.0, 0.0])).tolist() == ([0] * 3 if replace else [0, 1, 2])
    assert drawn(key(8), fe.asarray([0.0, 0.0, 1.0, 0.0])).tolist() == [2, 0, 1]


def test_wrong_logits_and_probabilities_of_arrays_are_what_their_documentation_says() -> None:
    assert fe.random.categorical(key(1), fe.full((3,), -fe.inf), shape=5).tolist() == [0] * 5
    assert fe.random.categorical(key(1), fe.asarray([0.0, fe.nan, fe.nan]), shape=5).tolist() == [1] * 5
    assert fe.random.bernoulli(key(1), fe.asarray([-1.0, fe.nan, 2.0, 0.0, 1.0])).tolist() == [
        *(False, False, True, False, True)
    ]


def test_choice_computes_the_logarithms_of_halves_in_float32() -> None:
    p = fe.asarray([0.001, 0.3, 0.7, 0.0007], dtype="float16")
    for replace in (True, False):
        half = fe.random.choice(key(5), 4, 4, replace, p)
        assert half.tolist() == fe.random.choice(key(5), 4, 4, replace, p.astype("float32")).tolist()

"""Bit-for-bit comparisons of the kit: correct rounding, and the bytes of bools."""

from __future__ import annotations

import numpy as np
from ferrule.testing.cases import all_cases
from ferrule.testing.model.dtypes import FLOATS, FORMATS, numpy_dtype
from ferrule.testing.model.exactness import ROUNDED, compare, round_to, spacing
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import patterns

from tests.python.each import each


def test_tie_rounded_away_from_even_is_wrong() -> None:
    case = all_cases()["astype-float32-to-bfloat16"]
    tie = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-20], np.float32)
    problem = Problem((tie.shape,), {"dtype": "bfloat16"})
    even = np.array([1, 1 + 2.0**-6, 1 + 2.0**-7], numpy_dtype("bfloat16"))
    half_up = np.array([1 + 2.0**-7, 1 + 2.0**-6, 1 + 2.0**-7], numpy_dtype("bfloat16"))
    assert case.judge(problem, [tie], even).ok
    verdict = case.judge(problem, [tie], half_up)
    assert (verdict.ok, verdict.index, verdict.why) == (False, (0,), "a tie is not rounded to even")


@each("op", ["add", "subtract", "multiply", "divide"])
def test_correctly_rounded_float64_is_right_and_its_neighbours_are_wrong(op: str) -> None:
    """A 64-bit reference is too short: rounding a sum to 64 bits can create a false tie."""
    rng = np.random.default_rng(2)
    x = rng.uniform(1, 2, 4000)
    y = rng.uniform(1, 2, 4000) * 2.0 ** -rng.integers(40, 60, 4000)
    problem = Problem((x.shape, y.shape))
    case = all_cases()[f"{op}-float64"]
    function = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}[op]
    right = function(x, y)
    assert case.judge(problem, [x, y], right).ok
    assert case.judge(problem, [x, y], np.nextafter(right, np.inf)).wrong == x.size


@each("dtype", FLOATS)
def test_nearest_number_is_exact_or_the_even_one_for_ties(dtype: str) -> None:
    numbers = patterns(np.random.default_rng(1), 4000, dtype)
    with np.errstate(invalid="ignore"):  # signalling NaN
        wide = numbers.astype(np.longdouble)
    assert np.array_equal(round_to(wide, dtype), wide, equal_nan=True)
    form = FORMATS[dtype]
    unit = np.longdouble(2.0) ** (1 - form.digits)
    halves = 1 + (np.arange(8) + np.longdouble(0.5)) * unit
    assert (round_to(halves, dtype) == 1 + 2 * np.ceil(np.arange(8) / 2) * unit).all()
    beyond = np.array([form.greatest], np.longdouble) * (1 + unit / 2)
    assert np.isinf(round_to(beyond, dtype)).all()
    least = np.array([0.5, 0.75, 1.5, -0.5], np.longdouble) * np.longdouble(form.least)
    assert (round_to(least, dtype) == np.array([0, 1, 2, 0]) * np.longdouble(form.least)).all()


@each("dtype", ["float16", "bfloat16"])
@each("op", ["sqrt", "reciprocal", "divide"])
def test_correctly_rounded_ops_are_held_to_half_an_ulp_in_half_dtypes(op: str, dtype: str) -> None:
    """A float32 result rounded again must be the nearest half; slightly more than half an ULP is an error."""
    case = all_cases()[f"{op}-{dtype}"]
    inputs = [patterns(np.random.default_rng(number), 20_000, dtype) for number, _ in enumerate(case.dtypes)]
    problem = Problem(tuple(x.shape for x in inputs))
    function = {"sqrt": np.sqrt, "reciprocal": np.reciprocal, "divide": np.divide}[op]
    with np.errstate(all="ignore"):
        single = function(*(x.astype(np.float32) for x in inputs))
        right = single.astype(numpy_dtype(dtype))
    assert case.judge(problem, inputs, right).ok
    truth = case.truth(problem, inputs)
    with np.errstate(all="ignore"):
        upward = right.astype(np.float64) < truth
        bits = right.view(np.uint16)
        beyond = np.where(upward == (right > 0), bits + 1, bits - 1).astype(np.uint16).view(right.dtype)
        off = np.abs(beyond.astype(np.float64) - truth) / spacing(truth, dtype)
    close = (off > 0.5) & (off < 0.51) & np.isfinite(truth)
    assert close.any()
    wrong = np.where(close, beyond, right)
    assert case.judge(problem, inputs, wrong).wrong == close.sum()


def test_bool_with_byte_value_2_is_wrong() -> None:
    truth = np.array([True, False, True])
    assert compare(truth, truth, "bool").ok
    verdict = compare(np.array([1, 0, 2], np.uint8).view(bool), truth, "bool")
    assert (verdict.ok, verdict.index, verdict.got) == (False, (2,), "2")
    assert "neither the byte 0 nor 1" in verdict.why


def test_correct_rounding_includes_nan_and_signed_zeros() -> None:
    truth = np.array([np.nan, -0.0, 1.0])
    assert compare(truth.astype(np.float32), truth, "float32", ROUNDED).ok
    assert not compare(np.array([0, -0.0, 1], np.float32), truth, "float32", ROUNDED).ok
    assert not compare(np.array([np.nan, 0.0, 1], np.float32), truth, "float32", ROUNDED).ok

"""Logic on numbers, conditions, division of integers, and membership in another array, with NumPy as the oracle."""

from __future__ import annotations

from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

OPERANDS: dict[str, Any] = {
    "bool": np.array([True, False, True, False]),
    "int8": np.array([0, 1, -3, 0], "i1"),
    "uint64": np.array([0, 2**64 - 1, 0, 7], "u8"),
    "float16": np.array([0.0, -0.0, np.nan, 6e-8], "f2"),
    "float32": np.array([np.inf, 0.0, 1e-45, -2.0], "f4"),
    "float64": np.array([0.0, 5e-324, np.nan, 0.0]),
    "complex64": np.array([0, 1j, complex(0, np.nan), -0.0], "c8"),
    "two dimensions": np.array([[0], [3]]),
    "zero": 0,
    "NaN": float("nan"),
    "true": True,
}


def given(x: Any) -> Any:
    return fe.asarray(x) if isinstance(x, np.ndarray) else x


@each("left", OPERANDS)
@each("right", OPERANDS)
@each("name", ["logical_and", "logical_or", "logical_xor"])
def test_numbers_other_than_zero_are_true(name: str, left: str, right: str) -> None:
    x, y = OPERANDS[left], OPERANDS[right]
    found = getattr(fe, name)(given(x), given(y))
    assert found.dtype == "bool"
    np.testing.assert_array_equal(np.asarray(found), getattr(np, name)(x, y).astype(bool))
    if isinstance(x, np.ndarray):
        through = getattr(np, name)(given(x), y)  # NumPy's function gives ferrule's array
        assert isinstance(through, fe.Array)
        np.testing.assert_array_equal(np.asarray(through), np.asarray(found))


@each("name", OPERANDS)
def test_only_zeros_are_not_true(name: str) -> None:
    x = OPERANDS[name]
    found = fe.logical_not(given(x))
    np.testing.assert_array_equal(np.asarray(found), np.logical_not(x))


def test_ints_of_any_size_are_true_or_not() -> None:
    assert fe.logical_and(fe.asarray([True, False]), 2**80).tolist() == [True, False]
    assert fe.logical_not(10**5000).item() is False


@each("name", OPERANDS)
def test_where_takes_numbers_as_the_condition(name: str) -> None:
    condition = OPERANDS[name]
    x, y = np.array([1, 2, 3, 4], "f4"), np.array([-1, -2, -3, -4], "f4")
    found = fe.where(given(condition), fe.asarray(x), fe.asarray(y))
    np.testing.assert_array_equal(np.asarray(found), np.where(condition, x, y))
    if isinstance(condition, np.ndarray):
        places = fe.where(fe.asarray(condition))
        for one, expected in zip(places, np.where(condition), strict=True):
            np.testing.assert_array_equal(np.asarray(one), expected)


def test_where_needs_both_alternatives_or_none() -> None:
    for call in (lambda: fe.where(True, fe.ones(2), None), lambda: fe.where(True, None, 1)):
        with pytest.raises(fe.InvalidArgumentError, match=r"^where: takes a condition alone, or with both"):
            call()


def test_numbers_of_a_traced_function_are_true_or_not_in_each_call() -> None:
    call = fe.graph(lambda x, n: fe.logical_and(x, n))
    assert call(fe.asarray([0, 2]), 3).tolist() == [False, True]
    assert call(fe.asarray([0, 2]), 0).tolist() == [False, False]


@each(
    ("left", "right", "dtype"),
    [
        (np.array([1, 2, 0]), np.array([2, 4, 0]), "float32"),
        (np.array([1, 2, 0], "i1"), 4, "float32"),
        (3, np.array([1, 2, 0], "u8"), "float32"),
        (np.array([True, False, True]), np.array([True, True, False]), "float32"),
        (np.array([1, 2, 3]), np.array([0.5, 0.0, -0.0]), "float64"),
        (np.array([1, 2, 3], "f2"), np.array([2, 3, 4], "i8"), "float16"),
        (np.array([1, 2, 3], "i4"), np.array([1j, 2j, 1], "c8"), "complex64"),
        (np.array([[1], [2]]), np.array([2, 4]), "float32"),
    ],
)
def test_integers_are_divided_as_by_the_operator(left: Any, right: Any, dtype: str) -> None:
    x, y = given(left), given(right)
    found = fe.divide(x, y)
    assert found.dtype == dtype
    with np.errstate(all="ignore"):
        expected = np.true_divide(left, right)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-3 if dtype == "float16" else 1e-6)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(x / y))


def test_division_of_numbers_and_of_other_values() -> None:
    assert fe.divide(1, 2).item() == 0.5
    assert fe.divide(np.ones(2), 4).tolist() == [0.25, 0.25]
    for wrong in ("a", None, [1, 2], object()):
        with pytest.raises(fe.InvalidArgumentError, match=r"^divide: takes arrays, not"):
            fe.divide(fe.ones(2), wrong)
        with pytest.raises(fe.InvalidArgumentError, match=r"^divide: takes arrays, not"):
            fe.divide(wrong, fe.ones(2))


RNG = np.random.default_rng(5)


@each("invert", [False, True])
@each(
    ("x", "among"),
    [
        (np.arange(10), np.array([3, 3, 9, -1])),
        (RNG.integers(0, 50, (7, 9)).astype("i1"), RNG.integers(0, 50, (4, 3)).astype("i1")),
        (np.array([0.0, -0.0, np.nan, np.inf, 1.5]), np.array([np.nan, 0.0, np.inf])),
        (np.array([-0.0, 2.0], "f2"), np.array([0.0], "f4")),
        (np.array([True, False]), np.array([True])),
        (np.arange(5), np.array([], "i8")),
        (np.ones((3, 0)), np.ones(2)),
        (np.array([2**64 - 1, 5], "u8"), np.array([5], "u1")),
        (np.arange(6).reshape(2, 3), np.array(4)),
    ],
)
def test_isin_finds_the_elements_that_numpy_finds(x: Any, among: Any, invert: bool) -> None:
    found = fe.isin(fe.asarray(x), fe.asarray(among), invert=invert)
    np.testing.assert_array_equal(np.asarray(found), np.isin(x, among, invert=invert))
    traced = fe.graph(lambda a, b: fe.isin(a, b, invert=invert))(fe.asarray(x), fe.asarray(among))
    np.testing.assert_array_equal(np.asarray(traced), np.asarray(found))


def test_isin_takes_lists_and_numbers() -> None:
    x = fe.arange(5)
    assert fe.isin(x, [1, 3]).tolist() == [False, True, False, True, False]
    assert fe.isin(x, []).tolist() == [False] * 5
    assert fe.isin(x, 2).tolist() == [False, False, True, False, False]
    assert fe.isin(3, x).item() is True
    assert fe.graph(lambda a, n: fe.isin(a, n))(x, 4).tolist() == [False, False, False, False, True]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fe.isin("a", 1), "^isin: takes arrays, not str"),
        (lambda: fe.isin(fe.ones(2), 1, invert="yes"), "^isin: invert must be"),  # type: ignore[arg-type]
        (lambda: fe.isin(fe.ones(2, dtype="complex64"), 1), "^isin: .*complex64"),
        (lambda: fe.isin(fe.arange(2), [2**63]), "^isin: .*int64 and uint64 have no common dtype"),
    ],
)
def test_wrong_calls_of_isin_are_errors(call: Any, words: str) -> None:
    with pytest.raises(fe.Error, match=words):
        call()

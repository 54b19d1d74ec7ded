"""Integers are compared with Python's numbers exactly; Python itself is the oracle."""

from __future__ import annotations

import math
import operator
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

OPERATORS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
NUMBERS = [
    *(0.0, -0.0, 0.5, -0.5, 1.0, 2.5, 127.5, -128.5, 128.0, 255.0, 65535.5),
    *(1700000004.5, 1700000001.0, 2.0**31, 2.0**53 + 2, 2.0**63, -(2.0**63), 2.0**64, 1e300, -1e300),
    *(math.inf, -math.inf, math.nan, 5e-324),
]


def integers(dtype: str) -> list[int]:
    limits = np.iinfo(dtype)
    near = [0, 1, 2, 3, 127, 1700000001, 1700000004, 1700000005, 2**31, 2**53 + 1, 2**53 + 2, 2**53 + 3]
    wanted = {limits.min, limits.min + 1, limits.max - 1, limits.max, *near, *(-x for x in near)}
    return sorted(x for x in wanted if limits.min <= x <= limits.max)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_integers_are_compared_with_floats_exactly(dtype: str, name: str) -> None:
    values = integers(dtype)
    x = fe.asarray(values, dtype=dtype)
    compare: Any = OPERATORS[name]
    for number in NUMBERS:
        expected = [compare(value, number) for value in values]
        assert compare(x, number).tolist() == expected, number
        assert getattr(fe, name)(x, number).tolist() == expected, number
        assert getattr(fe, name)(number, x).tolist() == [compare(number, value) for value in values], number
        constant = fe.graph(lambda y, number=number: compare(y, number), static_argnames="number")(x)
        assert constant.tolist() == expected, number


@each("name", OPERATORS)
def test_a_float_argument_of_a_traced_function_is_compared_in_double_precision(name: str) -> None:
    values = [1700000001, 1700000004, 1700000005, -3]
    compare: Any = OPERATORS[name]
    traced = fe.graph(lambda x, number: compare(x, number))
    for number in (1700000004.5, 1700000004.0, 0.5, math.inf, math.nan):
        expected = [compare(value, number) for value in values]
        assert traced(fe.asarray(values), number).tolist() == expected, number


def test_searchsorted_places_a_float_among_integers_exactly() -> None:
    x = fe.asarray([1700000001, 1700000004, 1700000007])
    for number in (1700000004.0, 1700000004.5, 1700000000.5, 1e300, -math.inf):
        for side in ("left", "right"):
            expected = np.searchsorted(np.asarray(x), number, side=side)  # type: ignore[call-overload]
            assert fe.searchsorted(x, number, side=side).item() == expected  # type: ignore[arg-type]

"""Exact comparisons of integers: with Python's numbers, and of uint64 with signed integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ferrule.array.array import Array

MIRRORED = {
    "equal": "equal",
    "not_equal": "not_equal",
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}
# A comparison with a number above the range of a dtype has the same answer as this comparison with the greatest number
# of the dtype. The second table is for numbers below the range, and the lowest number.
_BEYOND_GREATEST = {
    "equal": "greater",
    "not_equal": "less_equal",
    "less": "less_equal",
    "less_equal": "less_equal",
    "greater": "greater",
    "greater_equal": "greater",
}
_BEYOND_LOWEST = {
    "equal": "less",
    "not_equal": "greater_equal",
    "less": "less",
    "less_equal": "less",
    "greater": "greater_equal",
    "greater_equal": "greater_equal",
}
_INT64 = np.dtype("int64")
_ABOVE_ALL = 2**64  # no integer dtype has it


def within_range(op: str, operands: Sequence[object], dtypes: Sequence[np.dtype[Any]]) -> tuple[str, list[object]]:
    """Replace a Python number beside integers by an int of their dtype, and the comparison by one of the same answer.

    So integers are compared exactly with ints of any size and with floats.
    """
    both = list(operands)
    place = next((place for place, operand in enumerate(both) if type(operand) in (int, float)), None)
    if place is None or len(both) != 2 or len(dtypes) != 1 or dtypes[0].kind not in "biu":
        return op, both
    limits = np.iinfo(_INT64 if dtypes[0].kind == "b" else dtypes[0])
    number: Any = both[place]
    if type(number) is int and limits.min <= number <= limits.max:
        return op, both
    array_first = op if place == 1 else MIRRORED[op]
    if type(number) is float:
        array_first, number = _with_int(array_first, number)
    if not limits.min <= number <= limits.max:
        array_first = (_BEYOND_GREATEST if number > limits.max else _BEYOND_LOWEST)[array_first]
        number = int(limits.max if number > limits.max else limits.min)
    both[place] = number
    return (array_first if place == 1 else MIRRORED[array_first]), both


def _with_int(op: str, number: float) -> tuple[str, int]:
    """Return the comparison of integers with an int that has the same answers as that with a float."""
    if math.isnan(number):
        return ("not_equal" if op == "not_equal" else "greater"), _ABOVE_ALL
    if math.isinf(number):
        return op, _ABOVE_ALL if number > 0 else -_ABOVE_ALL
    below = math.floor(number)
    if below == number:
        return op, below
    if op in ("equal", "not_equal"):
        return ("not_equal" if op == "not_equal" else "greater"), _ABOVE_ALL
    return ("less_equal" if op in ("less", "less_equal") else "greater"), below


def is_mixed(dtypes: Sequence[np.dtype[Any]]) -> bool:
    """Whether uint64 is combined with a signed integer dtype: no integer dtype holds both."""
    return len(dtypes) == 2 and {"i", "u"} == {dtype.kind for dtype in dtypes} and np.dtype("uint64") in dtypes


def compare_mixed(op: str, left: Array, right: Array, apply: Callable[..., Array]) -> Array:
    """Compare uint64 with signed integers: as uint64, except that the sign decides where a signed one is negative."""
    is_mirrored = left.dtype.kind == "u"
    signed, unsigned = (right, left) if is_mirrored else (left, right)
    cast = apply("astype", (signed,), {"dtype": unsigned.dtype})
    same_sign = apply(op, (unsigned, cast) if is_mirrored else (cast, unsigned), {})
    if (MIRRORED[op] if is_mirrored else op) in ("less", "less_equal", "not_equal"):
        return apply("logical_or", (apply("less", (signed, 0), {}), same_sign), {})
    return apply("logical_and", (apply("greater_equal", (signed, 0), {}), same_sign), {})

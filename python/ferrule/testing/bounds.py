"""Forward error bounds of what adds up many numbers (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.).

A device rounds each operation to the accumulator's precision, whose unit roundoff is u; the order is its own affair.
What is given in units of u is of first order; `compounded` makes up for the products of errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ferrule.testing.dtypes import ACCUMULATORS, FORMATS, Values, accumulator_roundoff

# Relative, in u: an elementary function may be off by 4 ULP (see elementary.py), and one ULP is at most 2 u.
FUNCTION = 8.0


def gamma(count: float, dtype: str) -> float:
    """n u / (1 - n u): the relative error of n roundings in a row, lemma 3.1."""
    return compounded(count * accumulator_roundoff(dtype))


def compounded(relative: float) -> float:
    """Of relative errors that sum up to this, their product's."""
    return relative / (1 - relative) if relative < 0.5 else math.inf


def grown(relative: Values) -> Values:
    """The same for each element: r / (1 - r), which says nothing from r = 1/2 on."""
    return np.where(relative < 0.5, relative / (1 - relative), np.inf)


def least(dtype: str) -> float:
    """The least number of the accumulator: what is lost where a result is subnormal."""
    return FORMATS[ACCUMULATORS[dtype]].least


def least_normal(dtype: str) -> float:
    """The accumulator's: what is lost where results below it are flushed to zero."""
    return FORMATS[ACCUMULATORS[dtype]].least_normal


def reduced_axes(x: Values, axis: Sequence[int]) -> tuple[int, ...]:
    """NumPy's `axis` for ours, in which nothing means all."""
    return tuple(axis) or tuple(range(x.ndim))


def reduced_count(x: Values, axis: Sequence[int]) -> int:
    return math.prod(x.shape[a] for a in reduced_axes(x, axis))


def total(x: Values, axis: Sequence[int], keepdims: bool = False) -> Values:
    return np.asarray(np.sum(x, axis=reduced_axes(x, axis), keepdims=keepdims))

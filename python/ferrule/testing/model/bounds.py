"""Forward error bounds of long sums and products (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.).

A device rounds each operation to the accumulator's precision, with unit roundoff u, and may choose any order. Errors in
units of u are first-order bounds; `compounded` accounts for the products of errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ferrule.testing.model.dtypes import ACCUMULATORS, FORMATS, Values, accumulator_roundoff

# Relative error of an elementary function, in u: 4 ULP (see problems/elementary.py), and one ULP is at most 2 u.
FUNCTION = 8.0


def gamma(count: float, dtype: str) -> float:
    """n u / (1 - n u): bound of the relative error of n successive roundings, lemma 3.1."""
    return compounded(count * accumulator_roundoff(dtype))


def compounded(relative: float) -> float:
    """Bound of the relative error of a product whose factors' relative errors add up to `relative`."""
    return relative / (1 - relative) if relative < 0.5 else math.inf


def grown(relative: Values) -> Values:
    """`compounded` for each element: r / (1 - r), and no bound (infinity) from r = 1/2 on."""
    return np.where(relative < 0.5, relative / (1 - relative), np.inf)


def least(dtype: str) -> float:
    """The least positive number of the accumulator: bounds the error of a subnormal result."""
    return FORMATS[ACCUMULATORS[dtype]].least


def least_normal(dtype: str) -> float:
    """The least normal number of the accumulator: bounds the error of a result that is flushed to zero."""
    return FORMATS[ACCUMULATORS[dtype]].least_normal


def reduced_axes(x: Values, axis: Sequence[int]) -> tuple[int, ...]:
    """NumPy's `axis` for the attribute `axis` of an op, in which an empty list means all axes."""
    return tuple(axis) or tuple(range(x.ndim))


def reduced_count(x: Values, axis: Sequence[int]) -> int:
    return math.prod(x.shape[a] for a in reduced_axes(x, axis))


def total(x: Values, axis: Sequence[int], keepdims: bool = False) -> Values:
    return np.asarray(np.sum(x, axis=reduced_axes(x, axis), keepdims=keepdims))

"""Mean and variance over axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ferrule.testing.bounds import gamma, reduced_count, total
from ferrule.testing.case import Case
from ferrule.testing.dtypes import FLOATS, Values, accumulator_roundoff
from ferrule.testing.exactness import Tolerance
from ferrule.testing.families import reduction

REDUCTION = reduction()
# Of fewer elements than the correction the standard wants NaN, NumPy gives infinity: only so many as it occur.
CORRECTED = tuple(reduction().with_attributes(correction=correction) for correction in (0.0, 1.0))


def mean(x: Values, axis: Sequence[int], keepdims: bool) -> Values:
    """Of nothing it is 0 / 0."""
    return np.asarray(total(x, axis, keepdims) / x.dtype.type(reduced_count(x, axis)))


def distances(x: Values, axis: Sequence[int]) -> Values:
    return np.asarray(x - mean(x, axis, True))


def var(x: Values, axis: Sequence[int], correction: float, keepdims: bool) -> Values:
    squares = total(distances(x, axis) ** 2, axis, keepdims)
    return np.asarray(squares / x.dtype.type(max(0.0, reduced_count(x, axis) - correction)))


def mean_error(x: Values, axis: Sequence[int], dtype: str) -> Values:
    """gamma_(n + 1) times the mean of absolute values: Higham (4.4), and the quotient's rounding."""
    return gamma(reduced_count(x, axis) + 1, dtype) * mean(np.abs(x), axis, True)


def squares_error(x: Values, axis: Sequence[int], dtype: str) -> Values:
    """Of the sum S of squared distances to the mean; where the mean is off by d, S is by n d^2, no more.

    Each square is off by three roundings, the sum by n: gamma_(n + 4) S in two passes. What is done in one (Welford;
    Chan, Golub & LeVeque 1983, table 2) errs by sqrt(1 + n mean^2 / S) times as much, which is sqrt(S sum(x^2)).
    """
    n = reduced_count(x, axis)
    squares = total(distances(x, axis) ** 2, axis, True)
    merged = np.sqrt(squares * total(x * x, axis, True))
    return np.asarray(gamma(n + 4, dtype) * merged + n * mean_error(x, axis, dtype) ** 2)


def mean_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    return mean_error(inputs[0], attributes["axis"], dtype).reshape(truth.shape)


def var_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    x, axis = inputs[0], attributes["axis"]
    error = squares_error(x, axis, dtype).reshape(truth.shape)
    count = max(0.0, reduced_count(x, axis) - attributes["correction"])
    return np.asarray(error / np.float64(count) + accumulator_roundoff(dtype) * truth)


MEAN = Tolerance("gamma_(n + 1) times the mean of absolute values: Higham (4.4), one division", bound=mean_bound)
VARIANCE = Tolerance(
    "that of the sum of squared distances (squares_error), divided; Chan, Golub & LeVeque 1983", bound=var_bound
)
CASES = [
    *(Case("mean", (d,), d, REDUCTION, mean, MEAN, signed_zeros=False) for d in FLOATS),
    *(
        Case("var", (d,), d, family, var, VARIANCE, variant=variant, signed_zeros=False)
        for d in FLOATS
        for variant, family in zip(("", "corrected"), CORRECTED, strict=True)
    ),
]

"""Softmax, its logarithm, layer and root-mean-square normalization.

First-order errors in units of the accumulator's roundoff u, with s = x - max, e = exp(s) and p = e / sum(e): s has the
absolute error |s| u, so e has the relative error |s| + 8 (exp: 4 ULP). The relative error of the sum is the mean of
these with weights p, plus n for n additions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule.testing.cases.reduction import distances, mean, mean_error, squares_error
from ferrule.testing.model.bounds import FUNCTION, gamma, grown, least_normal
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import FLOATS, Values, accumulator_roundoff
from ferrule.testing.model.exactness import Tolerance
from ferrule.testing.model.problem import Problem
from ferrule.testing.problems import along
from ferrule.testing.problems.normalization import layer_norms, rms_norms

ALONG = along(over_empty=True)
NORMS = layer_norms()
RMS_NORMS = rms_norms()


def shifted(x: Values, axis: int) -> Values:
    return np.asarray(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))


def softmax(x: Values, axis: int) -> Values:
    e = np.exp(shifted(x, axis))
    return np.asarray(e / np.sum(e, axis=axis, keepdims=True))


def log_softmax(x: Values, axis: int) -> Values:
    s = shifted(x, axis)
    return np.asarray(s - np.log(np.sum(np.exp(s), axis=axis, keepdims=True)))


def sum_of_exponentials_error(s: Values, p: Values, axis: int, dtype: str) -> tuple[Values, Values]:
    """Relative error of each exponential, and of their sum."""
    u = accumulator_roundoff(dtype)
    each = np.where(p > 0, (np.abs(s) + FUNCTION) * u, 0)
    return each, np.sum(p * each, axis=axis, keepdims=True) + gamma(s.shape[axis], dtype)


def softmax_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    s = shifted(inputs[0], attributes["axis"])
    each, whole = sum_of_exponentials_error(s, truth, attributes["axis"], dtype)
    relative = each + whole + gamma(2, dtype)
    # The weight of a masked element is exactly 0.
    vanishing = np.where(inputs[0] == -np.inf, 0, 2 * least_normal(dtype))
    return np.asarray(truth * grown(relative) + vanishing)


def log_softmax_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    s, u = shifted(inputs[0], attributes["axis"]), accumulator_roundoff(dtype)
    _, whole = sum_of_exponentials_error(s, np.exp(truth), attributes["axis"], dtype)
    return np.asarray(u * np.abs(s) + grown(whole) + u * FUNCTION * np.abs(s - truth) + u * np.abs(truth))


def masked(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Set some elements to minus infinity, which gives them weight 0."""
    return np.where(rng.random(drawn.shape) < 0.2, np.array(-np.inf, drawn.dtype), drawn)


def layer_norm(x: Values, weight: Values | None = None, bias: Values | None = None, *, epsilon: float) -> Values:
    distance = distances(x, [-1])
    variance = mean(distance * distance, [-1], True)
    y = distance / np.sqrt(variance + x.dtype.type(epsilon))
    y = y if weight is None else y * weight
    return np.asarray(y if bias is None else y + bias)


def layer_norm_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    x, weight = inputs[0], np.abs(inputs[1]) if len(inputs) > 1 else 1
    u, n = accumulator_roundoff(dtype), x.shape[-1]
    distance = distances(x, [-1])
    whole = mean(distance * distance, [-1], True) + attributes["epsilon"]
    relative = squares_error(x, [-1], dtype) / n / whole / 2 + (FUNCTION + 5) * u
    off = mean_error(x, [-1], dtype) + np.abs(distance) * grown(relative)
    return np.asarray(off / np.sqrt(whole) * weight + u * np.abs(truth))


def rms_norm(x: Values, weight: Values | None = None, *, epsilon: float) -> Values:
    y = x / np.sqrt(mean(x * x, [-1], True) + x.dtype.type(epsilon))
    return np.asarray(y if weight is None else y * weight)


def rms_norm_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    u, weight = accumulator_roundoff(dtype), np.abs(inputs[1]) if len(inputs) > 1 else 1
    relative = gamma(inputs[0].shape[-1] + 2, dtype) / 2 + (FUNCTION + 4) * u
    subnormal = 2 * u * least_normal(dtype) * weight  # where x times the inverse root is rounded to one
    return np.asarray(np.abs(truth) * grown(np.asarray(relative)) + subnormal)


SOFTMAX = Tolerance(
    "relative: (|s| + 8) u of its exponential, the mean of that over the row and gamma_n of the sum, 2 u for the "
    "quotient; and, but for minus infinity, twice the least normal number, below which an exponential, and then a "
    "quotient, may vanish",
    bound=softmax_bound,
)
LOG_SOFTMAX = Tolerance(
    "absolute: |s| u of the shift, the sum's relative error as softmax has it, 4 ULP of its logarithm, one rounding",
    bound=log_softmax_bound,
)
LAYER_NORM = Tolerance(
    "the mean's error, scaled; half the variance's relative one (see reduction.py), 4 ULP of the inverse root and "
    "five roundings, relative; and that of the bias's sum",
    bound=layer_norm_bound,
)
RMS_NORM = Tolerance(
    "relative: half of gamma_(n + 2) of the mean square, 4 ULP of the inverse root and four roundings; and the least "
    "subnormal number, times the weight",
    bound=rms_norm_bound,
)


CASES = [
    *(Case("softmax", (d,), d, ALONG, softmax, SOFTMAX) for d in FLOATS),
    *(Case("softmax", (d,), d, ALONG, softmax, SOFTMAX, variant="masked", fill=masked) for d in FLOATS),
    *(Case("log_softmax", (d,), d, ALONG, log_softmax, LOG_SOFTMAX) for d in FLOATS),
    *(Case("layer_norm", (d,), d, NORMS, layer_norm, LAYER_NORM) for d in FLOATS),
    *(Case("rms_norm", (d,), d, RMS_NORMS, rms_norm, RMS_NORM) for d in FLOATS),
]

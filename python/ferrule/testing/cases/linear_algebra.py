"""Matrix products, and attention as scores, their softmax and the sum that it weighs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule.testing.bounds import FUNCTION, gamma, grown, least_normal
from ferrule.testing.case import Case, Problem
from ferrule.testing.dtypes import FLOATS, INTEGERS, Values, accumulator_roundoff, is_floating
from ferrule.testing.exactness import EXACT, Tolerance
from ferrule.testing.families_linear import attentions, matrix_products
from ferrule.testing.values import Domain

PRODUCTS = matrix_products()
PLAIN = attentions()
MASKED = attentions(mask=True)


def matmul(x1: Values, x2: Values) -> Values:
    return np.asarray(np.matmul(x1, x2))


def matmul_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    x1, x2 = (np.abs(x).astype(np.float64) for x in inputs)
    return gamma(x1.shape[-1], dtype) * matmul(x1, x2)


def attention_scale(query: Values, scale: float) -> Any:
    return query.dtype.type(scale) if scale > 0 else 1 / np.sqrt(query.dtype.type(max(1, query.shape[-1])))


def scores_of(query: Values, key: Values, mask: Values | None, scale: float, causal: bool) -> Values:
    """Minus infinity where nothing is kept."""
    scores = np.matmul(query, np.swapaxes(key, -1, -2)) * attention_scale(query, scale)
    if mask is not None:
        scores = np.asarray(np.where(mask, scores, -np.inf) if mask.dtype == np.bool_ else scores + mask)
    if causal:
        queries, keys = scores.shape[-2:]
        seen = np.arange(keys)[None, :] <= np.arange(queries)[:, None] + (keys - queries)
        scores = np.where(seen, scores, -np.inf)
    return np.asarray(scores)


def shifted(scores: Values) -> Values:
    """Less the greatest of the row; a row that keeps nothing stays at minus infinity."""
    greatest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    return np.asarray(scores - np.where(greatest == -np.inf, 0, greatest))


def weights_of(scores: Values) -> Values:
    e = np.exp(shifted(scores))
    total = np.sum(e, axis=-1, keepdims=True)
    return np.asarray(e / np.where(total == 0, 1, total))


def attention(
    query: Values, key: Values, value: Values, mask: Values | None = None, *, scale: float, causal: bool
) -> Values:
    return matmul(weights_of(scores_of(query, key, mask, scale, causal)), value)


def attention_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    query, key, value = inputs[:3]
    mask = inputs[3] if len(inputs) > 3 else None
    u, keys, size = accumulator_roundoff(dtype), key.shape[-2], query.shape[-1]
    scores = scores_of(query, key, mask, attributes["scale"], attributes["causal"])
    weights, s = weights_of(scores), shifted(scores)
    products = matmul(np.abs(query), np.swapaxes(np.abs(key), -1, -2)) * attention_scale(query, attributes["scale"])
    score_error = gamma(size + 2, dtype) * products + u * np.abs(scores)
    each = np.where(weights > 0, score_error + (np.abs(s) + FUNCTION) * u, 0)
    whole = np.sum(weights * each, axis=-1, keepdims=True)
    relative = each + whole + gamma(3 * keys + 3, dtype)
    # A weight of zero is zero: its error must not become one of infinity times zero.
    weighted = matmul(np.where(weights > 0, weights * grown(relative), 0), np.abs(value))
    return np.asarray(weighted + 2 * least_normal(dtype) * np.sum(np.abs(value), axis=-2, keepdims=True))


MATMUL = Tolerance("gamma_n |x1| @ |x2| in any order, Higham (3.13)", bound=matmul_bound)
ATTENTION = Tolerance(
    "scores: gamma_(d + 2) of the dot products' absolute values and one rounding; weights: that and softmax's error "
    "(normalization.py), relative; sums over n keys: gamma_n for the weights, for the values, and for what an online "
    "softmax rescales, 8 u for each eighth key at most",
    bound=attention_bound,
)


def keep(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Masks that keep most; a row in eight keeps nothing. Minus infinity in a mask that is added keeps nothing."""
    if number < 3:
        return drawn
    rows = (*drawn.shape[:-1], 1)[: drawn.ndim]
    kept = np.asarray((rng.random(drawn.shape) < 0.7) & (rng.random(rows) < 0.875))
    return kept if drawn.dtype == np.bool_ else np.where(kept, drawn, np.array(-np.inf, drawn.dtype))


NO_INFINITIES = {
    "infinities of both signs": "a row that keeps nothing gives zeros, or NaN where weights of zero are multiplied by "
    "infinite values, which nothing prescribes; each other row is NaN"
}


def attention_cases(d: str) -> list[Case]:
    op, domains = "scaled_dot_product_attention", (Domain(-3, 3),)
    rest: dict[str, Any] = {"domains": domains, "signed_zeros": False, "fill": keep, "left_out": NO_INFINITIES}
    return [
        Case(op, (d, d, d), d, PLAIN, attention, ATTENTION, **rest),
        Case(op, (d, d, d, "bool"), d, MASKED, attention, ATTENTION, variant="keeps", **rest),
        Case(op, (d, d, d, d), d, MASKED, attention, ATTENTION, variant="adds", **rest),
    ]


CASES = [
    *(
        Case("matmul", (d, d), d, PRODUCTS, matmul, MATMUL if is_floating(d) else EXACT, signed_zeros=False)
        for d in (*INTEGERS, *FLOATS)
    ),
    *(case for d in FLOATS for case in attention_cases(d)),
]

"""Attention: scores, their softmax, and the weighted sum of the values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ferrule.testing.cases.linear_algebra import matmul
from ferrule.testing.model.bounds import FUNCTION, gamma, grown, least_normal
from ferrule.testing.model.case import Case, Failing
from ferrule.testing.model.dtypes import FLOATS, Values, accumulator_roundoff
from ferrule.testing.model.exactness import Tolerance
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import Domain
from ferrule.testing.problems.attention import attentions, rotations

PLAIN = attentions()
MASKED = attentions(mask=True)
COUNTED = attentions(length=True)
MASKED_AND_COUNTED = attentions(mask=True, length=True)


def attention_scale(query: Values, scale: float) -> Any:
    return query.dtype.type(scale) if scale > 0 else 1 / np.sqrt(query.dtype.type(max(1, query.shape[-1])))


def scores_of(query: Values, key: Values, mask: Values | None, scale: float, causal: bool) -> Values:
    """The scaled scores, minus infinity where a key is masked."""
    scores = np.matmul(query, np.swapaxes(key, -1, -2)) * attention_scale(query, scale)
    if mask is not None:
        scores = np.asarray(np.where(mask, scores, -np.inf) if mask.dtype == np.bool_ else scores + mask)
    if causal:
        queries, keys = scores.shape[-2:]
        seen = np.arange(keys)[None, :] <= np.arange(queries)[:, None] + (keys - queries)
        scores = np.where(seen, scores, -np.inf)
    return np.asarray(scores)


def shifted(scores: Values) -> Values:
    """Subtract the greatest score of each row; a fully masked row stays at minus infinity."""
    greatest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    return np.asarray(scores - np.where(greatest == -np.inf, 0, greatest))


def weights_of(scores: Values) -> Values:
    e = np.exp(shifted(scores))
    total = np.sum(e, axis=-1, keepdims=True)
    return np.asarray(e / np.where(total == 0, 1, total))


Read = tuple[Values, Values, Values, "Values | None"]


def read_of(query: Values, key: Values, value: Values, *rest: Values) -> Read:
    """Split the inputs, and drop the keys beyond kv_length, which is the last input if that is an integer."""
    if not rest or rest[-1].dtype.kind != "i":
        return query, key, value, rest[0] if rest else None
    count = int(rest[-1])
    mask = rest[0] if len(rest) > 1 else None
    if mask is not None and mask.ndim > 0 and mask.shape[-1] != 1:
        mask = mask[..., :count]
    return query, key[..., :count, :], value[..., :count, :], mask


def attention(*inputs: Values, scale: float, causal: bool) -> Values:
    query, key, value, mask = read_of(*inputs)
    return matmul(weights_of(scores_of(query, key, mask, scale, causal)), value)


def attention_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    query, key, value, mask = read_of(*inputs)
    u, keys, size = accumulator_roundoff(dtype), key.shape[-2], query.shape[-1]
    scores = scores_of(query, key, mask, attributes["scale"], attributes["causal"])
    weights, s = weights_of(scores), shifted(scores)
    products = matmul(np.abs(query), np.swapaxes(np.abs(key), -1, -2)) * attention_scale(query, attributes["scale"])
    score_error = gamma(size + 2, dtype) * products + u * np.abs(scores)
    each = np.where(weights > 0, score_error + (np.abs(s) + FUNCTION) * u, 0)
    whole = np.sum(weights * each, axis=-1, keepdims=True)
    relative = each + whole + gamma(3 * keys + 3, dtype)
    # A weight of zero has no error, even where its relative bound is infinite.
    weighted = matmul(np.where(weights > 0, weights * grown(relative), 0), np.abs(value))
    return np.asarray(weighted + 2 * least_normal(dtype) * np.sum(np.abs(value), axis=-2, keepdims=True))


ATTENTION = Tolerance(
    "scores: gamma_(d + 2) of the dot products' absolute values and one rounding; weights: that and softmax's error "
    "(normalization.py), relative; sums over n keys: gamma_n for the weights, for the values, and for what an online "
    "softmax rescales, 8 u for each eighth key at most",
    bound=attention_bound,
)


def keep(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Fill masks, which keep most keys and mask one row in eight fully (minus infinity in an additive mask), and
    kv_length, which is random."""
    if number < 3:
        return drawn
    if drawn.dtype.kind == "i":
        return np.asarray(rng.integers(0, problem.shapes[1][-2] + 1), drawn.dtype)
    rows = (*drawn.shape[:-1], 1)[: drawn.ndim]
    kept = np.asarray((rng.random(drawn.shape) < 0.7) & (rng.random(rows) < 0.875))
    return kept if drawn.dtype == np.bool_ else np.where(kept, drawn, np.array(-np.inf, drawn.dtype))


NO_INFINITIES = {
    "infinities of both signs": "a row that keeps nothing gives zeros, or NaN where weights of zero are multiplied by "
    "infinite values, which nothing prescribes; each other row is NaN"
}


def wrong_lengths(case: Case) -> Iterator[Failing]:
    problem = case.family.plain[0]
    rng = np.random.default_rng(0)
    for wrong in (
        problem.shapes[1][-2] + 1,
        -1,
        int(np.iinfo(case.dtypes[-1]).max),
        int(np.iinfo(case.dtypes[-1]).min),
    ):
        inputs = case.inputs(problem, rng)
        inputs[-1] = np.asarray(wrong, case.dtypes[-1])
        yield Failing(problem, inputs, f"kv_length {wrong} of {problem.shapes[1][-2]} keys")


def attention_cases(d: str) -> list[Case]:
    op, domains = "scaled_dot_product_attention", (Domain(-3, 3),)
    rest: dict[str, Any] = {"domains": domains, "signed_zeros": False, "fill": keep, "left_out": NO_INFINITIES}
    cases = [
        Case(op, (d, d, d), d, PLAIN, attention, ATTENTION, **rest),
        Case(op, (d, d, d, "bool"), d, MASKED, attention, ATTENTION, variant="keeps", **rest),
        Case(op, (d, d, d, d), d, MASKED, attention, ATTENTION, variant="adds", **rest),
    ]
    rest["errors"] = wrong_lengths
    cases.append(Case(op, (d, d, d, "int64"), d, COUNTED, attention, ATTENTION, variant="counts", **rest))
    for number in ("int32", "int64") if d == "float32" else ():
        both = (d, d, d, "bool", number)
        cases.append(Case(op, both, d, MASKED_AND_COUNTED, attention, ATTENTION, variant="keeps-and-counts", **rest))
    return cases


def pairs_of(x: Values, count: int, interleaved: bool) -> tuple[Values, Values]:
    """Views of both elements of each pair."""
    return (
        (x[..., 0 : 2 * count : 2], x[..., 1 : 2 * count : 2])
        if interleaved
        else (
            x[..., :count],
            x[..., count : 2 * count],
        )
    )


def rope(x: Values, cosines: Values, sines: Values, interleaved: bool) -> Values:
    result = x.copy()
    left, right = pairs_of(x, cosines.shape[-1], interleaved)
    first, second = pairs_of(result, cosines.shape[-1], interleaved)
    first[...], second[...] = left * cosines - right * sines, left * sines + right * cosines
    return result


def rope_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    x, cosines, sines = map(np.abs, inputs)
    bound = np.zeros_like(x)
    left, right = pairs_of(x, cosines.shape[-1], attributes["interleaved"])
    first, second = pairs_of(bound, cosines.shape[-1], attributes["interleaved"])
    first[...], second[...] = left * cosines + right * sines, left * sines + right * cosines
    return np.asarray(gamma(3, dtype) * bound + least_normal(dtype))


ROPE = Tolerance("gamma_3 |x| |rotation|", bound=rope_bound)

CASES = [
    *(case for d in FLOATS for case in attention_cases(d)),
    *(Case("rope", (d, d, d), d, rotations(), rope, ROPE) for d in FLOATS),
    *(Case("rope", (d, "float32", "float32"), d, rotations(), rope, ROPE) for d in ("float16", "bfloat16")),
]

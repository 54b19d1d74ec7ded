"""Attention over a key cache that is only partly filled."""

from __future__ import annotations

from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

rng = np.random.default_rng(0)


def values(*shape: int) -> Any:
    return rng.standard_normal(shape).astype("float32")


def truth(query: Any, key: Any, value: Any, causal: bool = False) -> Any:
    query, key, value = (x.astype("float64") for x in (query, key, value))
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
    queries, keys = scores.shape[-2:]
    if causal:
        scores = np.where(np.arange(keys) <= np.arange(queries)[:, None] + (keys - queries), scores, -np.inf)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True, initial=-1e300))
    return weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-300) @ value


@each("dtype", ["float32", "float64", "float16"])
@each("causal", [False, True])
def test_attention_ignores_keys_beyond_the_length(dtype: str, causal: bool) -> None:
    query, key, value = values(2, 3, 5), values(2, 9, 5), values(2, 9, 4)
    key[:, 6:], value[:, 6:] = np.nan, np.nan
    given = [fe.asarray(x.astype(dtype)) for x in (query, key, value)]
    got = fe.scaled_dot_product_attention(*given, kv_length=6, causal=causal)
    wanted = truth(*(np.asarray(x) for x in (given[0], given[1][:, :6], given[2][:, :6])), causal)
    np.testing.assert_allclose(np.asarray(got, dtype="float64"), wanted, atol=5e-3 if dtype == "float16" else 1e-5)


def test_attention_with_a_long_head_ignores_keys_beyond_the_length() -> None:
    query, key, value = values(1, 2, 300), values(1, 9, 300), values(1, 9, 300)
    key[:, 6:], value[:, 6:] = np.nan, np.inf
    got = fe.scaled_dot_product_attention(*map(fe.asarray, (query, key, value)), kv_length=6)
    np.testing.assert_allclose(np.asarray(got), truth(query, key[:, :6], value[:, :6]), rtol=1e-4, atol=1e-5)
    length = fe.asarray(10)
    with pytest.raises(fe.InvalidArgumentError, match="between 0 and 9"):
        fe.eval(fe.scaled_dot_product_attention(*map(fe.asarray, (query, key, value)), kv_length=length))


def test_length_may_be_a_number_or_an_array_without_recompilation() -> None:
    query, key, value = values(2, 1, 5), values(2, 40, 5), values(2, 40, 4)
    arrays = [fe.asarray(x) for x in (query, key, value)]

    @fe.graph
    def attend(q: fe.Array, k: fe.Array, v: fe.Array, n: int) -> fe.Array:
        return fe.scaled_dot_product_attention(q, k, v, kv_length=n + 1)

    @fe.graph
    def attend_by_array(q: fe.Array, k: fe.Array, v: fe.Array, n: fe.Array) -> fe.Array:
        return fe.scaled_dot_product_attention(q, k, v, kv_length=n)

    for n in (1, 2, 17, 40):
        wanted = truth(query, key[:, :n], value[:, :n])
        np.testing.assert_allclose(np.asarray(attend(*arrays, n - 1)), wanted, atol=1e-5)
        for dtype in ("int32", "int64", "uint8"):
            by_array = attend_by_array(*arrays, fe.asarray(np.asarray(n, dtype)))
            np.testing.assert_array_equal(np.asarray(by_array), np.asarray(attend(*arrays, n - 1)))
    assert attend.cache_info().misses == 1
    assert attend_by_array.cache_info().misses == 3
    for wrong in (40, -2):
        with pytest.raises(fe.InvalidArgumentError, match="kv_length"):
            fe.eval(attend(*arrays, wrong))


def test_length_applies_together_with_a_mask() -> None:
    query, key, value, mask = values(2, 3, 5), values(2, 9, 5), values(2, 9, 4), rng.random((3, 9)) < 0.6
    mask[:, 0] = True
    got = fe.scaled_dot_product_attention(*map(fe.asarray, (query, key, value, mask)), kv_length=6)
    wanted = fe.scaled_dot_product_attention(*map(fe.asarray, (query, key[:, :6], value[:, :6], mask[:, :6])))
    np.testing.assert_array_equal(np.asarray(got), np.asarray(wanted))


@each(
    "shapes",
    [
        ((2, 4), (1,), (1,)),
        ((2, 1), (3,), (2, 3)),
        ((), (2, 3), (3,)),
        ((0,), (1,), ()),
        ((3, 2), (3, 2), ()),
    ],
)
@each("length", [None, 5])
def test_leading_axes_broadcast(shapes: Any, length: int | None) -> None:
    query, key, value = (values(*lead, *last) for lead, last in zip(shapes, ((3, 5), (9, 5), (9, 4)), strict=True))
    mask = rng.random((3, 9)) < 0.6
    mask[:, 0] = True
    end = 9 if length is None else length
    lead = np.broadcast_shapes(*shapes)
    scores = query.astype("float64") @ np.swapaxes(key, -1, -2) / np.sqrt(5)
    weights = np.exp(np.where(mask, scores, -np.inf))[..., :end]
    wanted = np.broadcast_to((weights / weights.sum(axis=-1, keepdims=True)) @ value[..., :end, :], (*lead, 3, 4))

    def attend(*arrays: fe.Array) -> fe.Array:
        return fe.scaled_dot_product_attention(*arrays, kv_length=length)

    arrays = [fe.asarray(x) for x in (query, key, value, mask)]
    for got in (attend(*arrays), fe.graph(attend)(*arrays)):
        np.testing.assert_allclose(np.asarray(got), wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        (((2, 3, 5), (3, 9, 5), (2, 9, 4)), "axis 0 differs"),
        (((2, 3, 5), (5,), (9, 4)), "at least 2"),
        (((3, 5), (9, 6), (9, 4)), "query and key differ in their last axis"),
    ],
    ids=str,
)
def test_shapes_that_do_not_broadcast_are_errors(shapes: Any, words: str) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=words):
        fe.scaled_dot_product_attention(*(fe.asarray(values(*shape)) for shape in shapes), kv_length=2)


def test_length_of_zero_gives_zeros() -> None:
    arrays = [fe.asarray(values(*shape)) for shape in ((2, 3, 5), (2, 9, 5), (2, 9, 4))]
    assert not np.asarray(fe.scaled_dot_product_attention(*arrays, kv_length=0)).any()


@each(
    ("length", "error", "words"),
    [
        (10, ValueError, "kv_length 10 is not between 0 and 9"),
        (-1, ValueError, "kv_length -1 is not between 0 and 9"),
        (1.5, ValueError, "kv_length must be one integer"),
        (np.asarray([1, 2]), ValueError, "kv_length must be a 0-d integer, not int64\\(2,\\)"),
        (np.asarray(1.0), ValueError, "must be a 0-d integer"),
        (np.asarray(11), ValueError, "kv_length 11 is not between 0 and 9"),
    ],
)
def test_wrong_lengths_are_errors(length: Any, error: type[Exception], words: str) -> None:
    arrays = [fe.asarray(values(*shape)) for shape in ((2, 3, 5), (2, 9, 5), (2, 9, 4))]
    given = fe.asarray(length) if isinstance(length, np.ndarray) else length
    with pytest.raises(error, match=words):
        fe.eval(fe.scaled_dot_product_attention(*arrays, kv_length=given))


@each("mask", [3, np.int32(3), np.asarray(3), np.ones((3, 9), "int64"), np.uint8(1)])
def test_a_mask_of_integers_is_refused(mask: Any) -> None:
    """NumPy integers are refused: dtype and shape would decide whether they mean a mask or a length."""
    arrays = [fe.asarray(values(*shape)) for shape in ((2, 3, 5), (2, 9, 5), (2, 9, 4))]
    given = fe.asarray(mask) if isinstance(mask, np.ndarray) else mask
    for attend in (fe.scaled_dot_product_attention, fe.graph(lambda *a: fe.scaled_dot_product_attention(*a))):
        with pytest.raises(fe.InvalidArgumentError, match="must be bool or floating; the number of keys is kv_length="):
            attend(*arrays, given)


@each(("dtype", "exponent"), [("float32", 64), ("float64", 512)])
def test_scores_are_in_range_though_products_of_queries_and_keys_are_not(dtype: str, exponent: int) -> None:
    q = fe.asarray(np.eye(2, 64) * 2.0**exponent, dtype=dtype)
    v = fe.eye(2, dtype=dtype)
    large = np.exp(4) / (np.exp(4) + 1)  # of the scores 4 and 0
    found = fe.scaled_dot_product_attention(q, q, v, scale=2.0 ** (2 - 2 * exponent))
    np.testing.assert_allclose(np.asarray(found), [[large, 1 - large], [1 - large, large]], rtol=1e-6)
    assert fe.scaled_dot_product_attention(q, q, v).tolist() == [[1, 0], [0, 1]]

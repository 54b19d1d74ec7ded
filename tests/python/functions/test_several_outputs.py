"""Ops with several outputs (topk, frexp) and ops whose result size depends on values."""

from __future__ import annotations

import gc
import math
import threading
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

rng = np.random.default_rng(0)


def same(got: fe.Array, wanted: Any) -> None:
    np.testing.assert_array_equal(np.asarray(got), wanted, strict=True)


# ---- topk and frexp


def test_topk_gives_a_named_tuple() -> None:
    x = np.array([[3, 1, 2], [6, 9, 9]], "float32")
    found = fe.topk(fe.asarray(x), 2)
    same(found.values, np.array([[3, 2], [9, 9]], "float32"))
    same(found.indices, np.array([[0, 2], [1, 2]]))
    values, indices = fe.topk(fe.asarray(x), 1, axis=0, largest=False)
    same(values, np.array([[3, 1, 2]], "float32"))
    same(indices, np.array([[0, 0, 0]]))


def test_unread_output_is_allowed() -> None:
    x = rng.standard_normal((40, 30)).astype("float32")
    same(fe.topk(fe.asarray(x), 30).values, -np.sort(-x, axis=1))
    same(fe.topk(fe.asarray(x), 30).indices, np.argsort(-x, axis=1, kind="stable"))


def test_outputs_of_one_call_are_computed_together() -> None:
    x = fe.asarray(rng.standard_normal(1000).astype("float32")) * 1  # borrowed memory would be read at once
    values, indices = fe.topk(x, 10)
    before = fe.stats()["executions"]
    np.asarray(values)
    assert fe.stats()["executions"] == before + 1
    np.asarray(indices)
    assert fe.stats()["executions"] == before + 1


def test_output_outlives_the_other_outputs_and_operands() -> None:
    x = rng.standard_normal(100).astype("float32")
    lazy = fe.asarray(x) * 1 * 2
    indices = fe.topk(lazy, 3)[1]
    del lazy
    gc.collect()
    same(indices, np.argsort(-x, kind="stable")[:3])


def test_outputs_are_operands_of_further_ops() -> None:
    x = rng.standard_normal((20, 50)).astype("float32")
    values, indices = fe.topk(fe.exp(fe.asarray(x)), 5)
    got = fe.sum(values, axis=1) + fe.sum(indices, axis=1)
    order = np.argsort(-x, axis=1, kind="stable")[:, :5]
    np.testing.assert_allclose(got, np.exp(np.take_along_axis(x, order, 1)).sum(1) + order.sum(1), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_frexp_splits_mantissa_and_exponent(dtype: str) -> None:
    x = np.array([0.0, -0.0, 1, -3.5, 1e-7, math.inf, -math.inf, math.nan], dtype)
    m, e = fe.frexp(fe.asarray(x))
    wanted, exponents = np.frexp(x)
    same(m, wanted)
    same(e, np.where(np.isfinite(x), exponents, 0).astype("int32"))
    np.testing.assert_array_equal(np.signbit(np.asarray(m)[:2]), [False, True])


def test_both_outputs_of_an_elementwise_op_are_fused_with_neighbours() -> None:
    @fe.graph
    def apart(x: fe.Array) -> Any:
        m, e = fe.frexp(x * 3)
        return m + 1, e * 2, fe.astype(e, "float32") * m

    x = rng.standard_normal(1000).astype("float32")
    m, e = np.frexp(x * np.float32(3))
    for got, wanted in zip(apart(fe.asarray(x)), (m + 1, e * 2, e.astype("float32") * m), strict=True):
        same(got, wanted)
    texts = [node["node"] for node in apart.trace(fe.asarray(x)).placement()["nodes"]]
    assert len(texts) == 1
    assert "frexp.mantissa" in texts[0]
    assert "frexp.exponent" in texts[0]


def test_a_graph_returns_the_named_tuple() -> None:
    @fe.graph
    def best(x: fe.Array) -> Any:
        return fe.topk(x, 4)

    x = rng.standard_normal((3, 9)).astype("float32")
    found = best(fe.asarray(x))
    assert type(found).__name__ == "TopkResult"
    same(found.indices, np.argsort(-x, axis=1, kind="stable")[:, :4])


def test_graph_apply_all_gives_every_output() -> None:
    graph = fe.Graph()
    x = graph.input((5,), "float32")
    outputs = graph.apply_all("topk", x, k=2)
    assert [(output.shape, output.dtype.name) for output in outputs] == [((2,), "float32"), ((2,), "int64")]
    graph.output(*outputs)
    values, indices = graph.compute(np.array([1, 5, 2, 4, 3], "float32"))
    same(values, np.array([5, 4], "float32"))
    same(indices, np.array([1, 3]))
    with pytest.raises(fe.InvalidArgumentError, match=r"topk: has 2 outputs; Graph\.apply_all gives them"):
        graph.apply("topk", x, k=2)


def test_constants_are_folded_to_one_output_or_both() -> None:
    weights = fe.asarray(np.array([1, 5, 2, 4, 3], "float32"))
    weights = fe.asarray(np.asarray(weights))

    @fe.graph
    def second(x: fe.Array) -> Any:
        return x + fe.topk(weights, 2).indices

    @fe.graph
    def both(x: fe.Array) -> Any:
        values, indices = fe.topk(weights, 2)
        return x + values + indices

    same(second(fe.asarray(np.array([10, 20]))), np.array([11, 23]))
    same(both(fe.asarray(np.array([10, 20], "float64"))), np.array([16.0, 27.0]))


@pytest.mark.parametrize(
    ("k", "words"), [(-1, "k is -1, of 3 elements along axis 1"), (4, "k is 4, of 3 elements along axis 1")]
)
def test_topk_refuses_invalid_arguments(k: int, words: str) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=words):
        fe.topk(fe.ones((2, 3)), k)


def test_threads_share_the_outputs_of_calls() -> None:
    x = rng.standard_normal(500).astype("float32")
    order = np.argsort(-x, kind="stable")[:20]
    wrong = []

    def read(output: fe.Array, wanted: Any) -> None:
        if not np.array_equal(np.asarray(output), wanted):
            wrong.append(output)

    for _ in range(50):
        values, indices = fe.topk(fe.asarray(x) * 1 * 1, 20)
        threads = [
            threading.Thread(target=read, args=pair)
            for pair in ((values, x[order]), (indices, order))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


# ---- nonzero and compress


@each("shape", [(7,), (3, 4), (2, 3, 4), (0,), (3, 0), (200, 301)])
@each("dtype", ["bool", "int8", "float16", "float64", "complex64", "uint64"])
def test_nonzero_matches_numpy(shape: tuple[int, ...], dtype: str) -> None:
    x = rng.integers(0, 2, shape).astype(dtype)
    found = fe.nonzero(fe.asarray(x))
    assert len(found) == len(shape)
    for got, wanted in zip(found, np.nonzero(x), strict=True):
        same(got, wanted)


def test_nonzero_takes_nan_and_both_zeros() -> None:
    same(fe.nonzero(fe.asarray([0.0, -0.0, math.nan, 1e-45]))[0], np.array([2, 3]))


def test_nonzero_with_a_size_pads_or_truncates() -> None:
    x = fe.asarray([0, 3, 0, 4, 5])
    same(fe.nonzero(x, size=2)[0], np.array([1, 3]))
    same(fe.nonzero(x, size=5)[0], np.array([1, 3, 4, 0, 0]))
    same(fe.nonzero(x, size=0)[0], np.array([], "int64"))


def test_nonzero_without_a_size_explains_the_error() -> None:
    x = fe.asarray([[0, 3, 0], [4, 5, 0]])
    rows, columns = fe.nonzero(x, size=5, fill_value=-1)
    same(rows, np.array([0, 1, 1, -1, -1]))
    same(columns, np.array([1, 0, 1, -1, -1]))
    same(fe.nonzero(x, size=2, fill_value=-1)[0], np.array([0, 1]))
    same(fe.nonzero(x, fill_value=-1)[0], np.array([0, 1, 1]))
    found = fe.graph(
        lambda x, missing: (lambda i: (i, (i != missing).sum()))(fe.nonzero(x, size=4, fill_value=missing)[0])
    )
    for missing in (-1, 99):
        indices, count = found(x, missing)
        same(indices, np.array([0, 1, 1, missing]))
        same(count, np.array(3))


@each("axis", [None, 0, 1])
@each("dtype", ["float32", "int8", "bool", "float16", "complex64"])
def test_compress_without_a_size_explains_the_error(axis: int | None, dtype: str) -> None:
    x = rng.integers(0, 2, (3, 4)).astype(dtype)
    condition = np.array([True, False, True])
    wanted = np.compress(condition, x, axis)
    missing = np.nan if dtype.startswith("float") else True if dtype == "bool" else -7
    shape = list(wanted.shape)
    shape[axis or 0] = 2
    wanted = np.concatenate([wanted, np.full(shape, missing, dtype)], axis or 0)

    def kept(x: fe.Array) -> fe.Array:
        return fe.compress(fe.asarray(condition), x, axis=axis, size=4, fill_value=missing)

    same(kept(fe.asarray(x)), wanted)
    same(fe.graph(kept)(fe.asarray(x)), wanted)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_compress_matches_numpy(axis: int | None) -> None:
    x = rng.standard_normal((5, 6)).astype("float32")
    condition = rng.random(30 if axis is None else x.shape[axis]) < 0.5
    same(fe.compress(fe.asarray(condition), fe.asarray(x), axis=axis), np.compress(condition, x, axis))
    same(fe.compress(fe.asarray(condition[:3]), fe.asarray(x), axis=axis), np.compress(condition[:3], x, axis))


def test_compress_of_views_and_casts_its_condition() -> None:
    x = rng.standard_normal((8, 6)).astype("float32")
    condition = np.array([0.0, 2, 0, -1])
    same(fe.compress(fe.asarray(condition), fe.asarray(x)[::2, ::-1], axis=0), x[::2, ::-1][[1, 3]])
    same(fe.compress(fe.asarray([False] * 6), fe.asarray(x), axis=1), np.empty((8, 0), "float32"))


def test_size_is_required_in_graphs() -> None:
    with pytest.raises(fe.TracingError, match="nonzero without size="):
        fe.graph(lambda x: fe.nonzero(x))(fe.ones(3))
    with pytest.raises(fe.TracingError, match="compress without size="):
        fe.graph(lambda x: fe.compress(x > 0, x))(fe.ones(3))
    graph = fe.Graph()
    with pytest.raises(fe.InvalidArgumentError, match=r"nonzero: the length of its .* depends on values; pass size="):
        graph.apply_all("nonzero", graph.input((3,), "float32"))

    @fe.graph
    def first_two(x: fe.Array) -> Any:
        return fe.nonzero(x, size=2)[0], fe.compress(x > 1, x, size=4)

    indices, slices = first_two(fe.asarray([0.0, 5, 0, 7, 8]))
    same(indices, np.array([1, 3]))
    same(slices, np.array([5, 7, 8, 0], "float32"))


def test_short_results_do_not_keep_the_full_buffer() -> None:
    x = np.zeros(1_000_000, "float32")
    x[77] = 1
    device = fe.best_device()
    before = fe.memory_stats(device).live
    (indices,) = fe.nonzero(fe.asarray(x))
    indices = fe.asarray(indices)
    same(indices, np.array([77]))
    gc.collect()
    assert fe.memory_stats(device).live - before < 1_000_000


@each(
    ("call", "words"),
    [
        (lambda: fe.nonzero(fe.asarray(1.0)), "nonzero: .* has no axis"),
        (lambda: fe.nonzero(fe.ones(3), size=-2), "nonzero: size is -2"),
        (lambda: fe.nonzero(fe.ones(3), size="x"), "nonzero: size must be one integer"),  # type: ignore[arg-type]
        (lambda: fe.nonzero(5), "nonzero: an array of 0 dimensions has no axis"),  # type: ignore[arg-type]
        (lambda: fe.nonzero(fe.ones(3), size=4, fill_value=0.5), "0.5 does not fit into int"),  # type: ignore[arg-type]
        (lambda: fe.nonzero(fe.ones(3), fill_value="x"), "fill_value must be one number, not 'x'"),  # type: ignore[arg-type]
        (lambda: fe.compress(fe.ones((2, 2)), fe.ones(4)), r"has one dimension, not the shape \(2, 2\)"),
        (lambda: fe.compress(fe.ones(5), fe.ones(4)), "a condition of 5 is longer than axis 0"),
        (lambda: fe.compress(fe.ones(4), fe.ones(4), axis=1), "compress: axis 1 is out of range"),
    ],
)
def test_wrong_calls_are_errors(call: Any, words: str) -> None:
    with pytest.raises(fe.Error, match=words):
        call()

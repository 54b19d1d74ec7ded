"""Slices with starts given as values: one compiled graph serves all starts, and an update writes no more than
needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

rng = np.random.default_rng(0)


def same(got: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(np.asarray(got), wanted, strict=True)


def compiles() -> int:
    return int(fe.stats()["compiles"])


# ---- outside graphs


def test_dynamic_slice_is_a_slice() -> None:
    x = rng.standard_normal((5, 6)).astype("float32")
    same(fe.dynamic_slice(fe.asarray(x), (1, 2), (3, 4)), x[1:4, 2:6])
    same(fe.dynamic_slice(fe.asarray(x), (fe.asarray(4), 0), (1, 6)), x[4:5])
    same(fe.dynamic_slice(fe.asarray(x).T, (0, 3), (2, 2)), x.T[0:2, 3:5])
    same(fe.dynamic_slice(fe.asarray(x), (5, 0), (0, 6)), x[5:5])


def test_update_slice_writes_a_slice() -> None:
    x = rng.standard_normal((5, 6)).astype("float32")
    value = rng.standard_normal((2, 3)).astype("float32")
    wanted = x.copy()
    wanted[3:5, 1:4] = value
    array = fe.asarray(x)
    same(fe.update_slice(array, fe.asarray(value), (3, 1)), wanted)
    same(fe.update_slice(array, value.astype("float64"), (fe.asarray(3), 1)), wanted)
    same(array, x)


def test_new_starts_do_not_recompile() -> None:
    x = fe.asarray(rng.standard_normal((50, 4)).astype("float32")) * 1
    row = fe.ones((1, 4)) * 1
    fe.eval(x, row)
    fe.eval(fe.update_slice(x + 1, row, (0, 0)))
    before = compiles()
    for start in range(1, 50):
        fe.eval(fe.update_slice(x + 1, row, (start, 0)))
    assert compiles() == before


def test_new_slices_of_pending_arrays_do_not_recompile() -> None:
    values = rng.standard_normal((20, 6)).astype("float32")
    x = fe.asarray(values) * 1
    fe.eval(x)
    before = compiles()
    for i in range(17):
        same((x + 1)[i], values[i] + 1)
        same((x + 1)[i : i + 3, 2:], values[i : i + 3, 2:] + 1)
    assert compiles() <= before + 2


@each(
    ("call", "error", "words"),
    [
        (
            lambda x: fe.dynamic_slice(x, (3, 0), (3, 2)),
            IndexError,
            "dynamic_slice: 3 elements from 3 on leave axis 0, which has 5",
        ),
        (lambda x: fe.dynamic_slice(x, (-1, 0), (1, 2)), IndexError, "1 element from -1 on leave axis 0, which has 5"),
        (lambda x: fe.dynamic_slice(x, (0,), (1, 2)), ValueError, "starts are 2 integers"),
        (lambda x: fe.dynamic_slice(x, (0, 1.5), (1, 2)), ValueError, "a start must be one integer, not 1.5"),
        (lambda x: fe.dynamic_slice(x, (0, fe.asarray([1, 2])), (1, 2)), ValueError, "must be a 0-d integer"),
        (lambda x: fe.dynamic_slice(x, (0, 0), (9, 2)), ValueError, "dynamic_slice"),
        (lambda x: fe.update_slice(x, fe.ones((6, 1)), (0, 0)), ValueError, "does not fit into x"),
        (lambda x: fe.update_slice(x, fe.ones(3), (0, 0)), ValueError, "does not fit into x"),
        (
            lambda x: fe.update_slice(x, fe.ones((1, 1)), (5, 0)),
            IndexError,
            "update_slice: 1 element from 5 on leave axis 0, which has 5",
        ),
        (lambda x: fe.dynamic_slice(x, (0, 0), (3,)), ValueError, "shape .3,. has not one size for each axis of x"),
        (lambda x: fe.dynamic_slice(x[0, 0], (), (3,)), ValueError, "has not one size for each axis of x"),
        (lambda x: fe.dynamic_slice(x, (0, 0), (-1, 2)), ValueError, "size -1 of axis 0 is not between 0 and 5"),
        (lambda x: fe.dynamic_slice(x, (0, 0), (2, 7)), ValueError, "size 7 of axis 1 is not between 0 and 6"),
    ],
)
def test_wrong_slices_are_errors(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        np.asarray(call(fe.ones((5, 6))))


@pytest.mark.parametrize("op", ["dynamic_slice", "update_slice"])
def test_traced_index_out_of_bounds_names_index_and_axis(op: str) -> None:
    row = np.ones((5, 1), "float32")
    calls = {
        "dynamic_slice": lambda x, i: fe.dynamic_slice(x, (0, i), (5, 1)),
        "update_slice": lambda x, i: fe.update_slice(x, fe.asarray(row), (0, i)),
    }
    traced = fe.graph(calls[op])
    traced(fe.ones((5, 6)), 5)
    with pytest.raises(fe.OutOfRangeError, match=f"^{op}: 1 element from 6 on leave axis 1, which has 6$"):
        traced(fe.ones((5, 6)), 6)


def test_computed_start_out_of_bounds_is_an_error() -> None:
    x = fe.ones((5, 6))
    start = fe.sum(fe.ones(4))
    with pytest.raises(fe.InvalidArgumentError, match=r"dynamic_slice: the start 4 of axis 0 is not between 0 and 3"):
        np.asarray(fe.dynamic_slice(x, (fe.astype(start, "int64"), 0), (2, 6)))


@pytest.mark.parametrize("start", [9, fe.asarray(9), fe.asarray(np.uint64(9))], ids=["int", "array", "uint64"])
def test_a_start_beyond_an_empty_slice_is_an_error(start: Any) -> None:
    x, nothing = fe.ones((5, 6)), fe.ones((0, 6))
    with pytest.raises(fe.OutOfRangeError, match="dynamic_slice: 0 elements from 9 on leave axis"):
        fe.dynamic_slice(x, (start, 0), (0, 6))
    with pytest.raises(fe.OutOfRangeError, match="update_slice: 0 elements from 9 on leave axis"):
        fe.update_slice(x, nothing, (start, 0))
    same(fe.update_slice(x, nothing, (fe.asarray(5), 0)), np.ones((5, 6), "float32"))


def test_call_number_beyond_an_empty_slice_is_an_error() -> None:
    step = fe.graph(lambda x, i: fe.update_slice(x, fe.ones((0, 6)), (i, 0)))
    same(step(fe.ones((5, 6)), 5), np.ones((5, 6), "float32"))
    with pytest.raises(fe.OutOfRangeError, match="0 elements from 6 on"):
        step(fe.ones((5, 6)), 6)


@pytest.mark.parametrize("start", [2**63, 2**64 - 1])
def test_a_start_beyond_int64_is_not_negative(start: int) -> None:
    given = fe.asarray(np.uint64(start))
    with pytest.raises(fe.InvalidArgumentError, match=f"the start {2**63 - 1} of axis 0"):
        np.asarray(fe.dynamic_slice(fe.ones((5, 6)), (given, 0), (1, 6)))


def test_slice_out_of_bounds_is_not_a_number_overflow() -> None:
    graph = fe.Graph()
    x = graph.input((5,))
    with pytest.raises(fe.InvalidArgumentError) as caught:
        graph.apply("update_slice", x, graph.input((6,)), graph.input((), "int64"))
    assert not isinstance(caught.value, OverflowError)


@each(
    ("of", "value", "fits"),
    [
        ("float32", "float64", True),
        ("float32", "int64", True),
        ("float16", "bool", True),
        ("complex64", "float64", True),
        ("int64", "uint8", True),
        ("int8", "int64", True),
        ("float8_e5m2", "float32", True),
        ("int64", "float32", False),
        ("float32", "complex64", False),
        ("uint8", "int64", False),
        ("bool", "int8", False),
    ],
)
def test_a_value_of_the_same_kind_is_cast(of: str, value: str, fits: bool) -> None:
    x, one = fe.zeros((3,), dtype=of), fe.ones((1,), dtype=value)
    if fits:
        updated = fe.update_slice(x, one, (1,))
        assert updated.dtype == x.dtype
        same(updated.astype("complex64"), np.array([0, 1, 0], "complex64"))
        return
    for update in (fe.update_slice, fe.graph(lambda x, one, starts: fe.update_slice(x, one, starts))):
        with pytest.raises(fe.DTypeError, match=rf"update_slice: the value is {value}, .*value.astype\('{of}'\)"):
            update(x, one, (1,))


# ---- in graphs


def test_traced_number_is_an_index() -> None:
    x = rng.standard_normal((7, 5)).astype("float32")
    row = fe.graph(lambda x, i: x[i] * 2)
    for i in (0, 3, 6, -1, -7):
        same(row(fe.asarray(x), i), x[i] * 2)
    assert row.cache_info().misses == 1
    with pytest.raises(IndexError, match="index 7 is out of range for an axis with 7 elements"):
        row(fe.asarray(x), 7)
    with pytest.raises(IndexError, match="index -8"):
        row(fe.asarray(x), -8)


def test_slice_between_traced_numbers_is_right() -> None:
    x = rng.standard_normal((20, 5)).astype("float32")

    @fe.graph
    def window(x: fe.Array, i: int) -> Any:
        return x[i : i + 3], x[i * 2 + 1 : i * 2 + 5, ::-1].sum(), x[:, 2][i - 1 : i]

    for i in (1, 4, 7):
        three, total, one = window(fe.asarray(x), i)
        same(three, x[i : i + 3])
        np.testing.assert_allclose(total, x[i * 2 + 1 : i * 2 + 5].sum(), rtol=1e-5)
        same(one, x[:, 2][i - 1 : i])
    assert window.cache_info().misses == 1
    with pytest.raises(IndexError, match="3 elements from 18 on leave an axis with 20"):
        window(fe.asarray(x), 18)


def test_traced_slice_that_is_empty_in_python_is_an_error() -> None:
    """The slice has a fixed length and is not shifted to other elements."""
    values = rng.standard_normal((4, 5)).astype("float32")
    pair = fe.graph(lambda x, i: x[i : i + 2])
    for i in (-4, -3, 0, 2):
        same(pair(values, i), values[i : i + 2])
    for i in (-2, -1, -5, 3):
        assert len(values[i : i + 2]) < 2
        with pytest.raises(IndexError, match=f"2 elements from {i} on leave an axis with 4"):
            pair(values, i)


@each(
    "function",
    [
        lambda x, i: x[:i],
        lambda x, i: x[i:],
        lambda x, i: x[i : 2 * i],
        lambda x, i: x[i : i + 4 : 2],
        lambda x, i: x[0 : i + 1],
    ],
)
def test_a_slice_of_unknown_length_is_a_tracing_error(function: Any) -> None:
    with pytest.raises(fe.TracingError, match="whose length is not known"):
        fe.graph(function)(fe.ones(9), 2)


def test_a_view_that_moves_costs_no_copy() -> None:
    graph = fe.Graph()
    x = graph.input((1000, 64), "float32")
    start = graph.input((), "int64")
    graph.output(fe.dynamic_slice(x, (start, 0), (1, 64)) + 1)
    traced = fe.graph(lambda x, i: fe.dynamic_slice(x, (i, 0), (1, 64)) + 1).trace(fe.ones((1000, 64)), 3)
    ops = [node["op"] for node in traced.placement()["nodes"]]
    assert "dynamic_slice" not in ops, ops
    assert next(node["op"] for node in graph.placement()["nodes"]) == "dynamic_slice"  # the start is unknown here
    values = np.arange(64_000, dtype="float32").reshape(1000, 64)
    same(graph.compute(values, np.asarray(5)), values[5:6] + 1)


def test_a_slice_of_a_slice_moves_with_it() -> None:
    x = rng.standard_normal((6, 8, 4)).astype("float32")

    @fe.graph
    def nested(x: fe.Array, i: int, j: int) -> Any:
        inner = x[i][j : j + 3]
        return inner, inner.T.reshape((12,)), fe.permute_dims(x, (2, 1, 0))[:, j, i] * 1

    for i, j in ((0, 0), (5, 4), (2, 3)):
        inner, flat, turned = nested(fe.asarray(x), i, j)
        same(inner, x[i][j : j + 3])
        same(flat, x[i][j : j + 3].T.reshape(12))
        same(turned, x.T[:, j, i])


def test_dynamic_slices_of_constants_and_results_are_right() -> None:
    weights = rng.standard_normal((9, 16)).astype("float32")
    weights.flags.writeable = False

    @fe.graph
    def embed(x: fe.Array, i: int) -> Any:
        return fe.asarray(weights)[i] + (x * 2)[i], fe.matmul(x, fe.asarray(weights)[i].reshape((16, 1)))

    x = rng.standard_normal((9, 16)).astype("float32")
    for i in range(9):
        both, product = embed(fe.asarray(x), i)
        same(both, weights[i] + x[i] * 2)
        np.testing.assert_allclose(product, x @ weights[i].reshape(16, 1), rtol=1e-4, atol=1e-5)
    assert embed.cache_info().misses == 1


def test_assignment_at_a_traced_number_is_right() -> None:
    @fe.graph
    def put(cache: fe.Array, row: fe.Array, i: int) -> Any:
        cache = +cache
        cache[i] = row
        cache[i + 1 : i + 3, 1:3] = 7
        return cache

    cache = rng.standard_normal((8, 4)).astype("float32")
    row = rng.standard_normal(4).astype("float32")
    for i in (0, 2, 5):
        wanted = cache.copy()
        wanted[i] = row
        wanted[i + 1 : i + 3, 1:3] = 7
        same(put(fe.asarray(cache), fe.asarray(row), i), wanted)
    assert put.cache_info().misses == 1


def test_updates_in_a_row_are_written_in_place() -> None:
    @fe.graph
    def fill(x: fe.Array, i: int) -> Any:
        y = x * 2
        for k in range(4):
            y = fe.update_slice(y, fe.full((1, 3), float(k)), (i + k, 0))
        return y

    x = rng.standard_normal((10, 3)).astype("float32")
    for i in (0, 6):
        wanted = x * 2
        wanted[i : i + 4] = np.arange(4, dtype="float32")[:, np.newaxis]
        same(fill(fe.asarray(x), i), wanted)
    # All updates write one value: no further memory of that size.
    texts = [node["node"] for node in fill.trace(fe.asarray(x), 0).placement()["nodes"]]
    results = {text.split(" = ")[0] for text in texts if "update_slice" in text}
    assert len(results) == 1, texts


def test_update_of_a_value_read_later_copies_it() -> None:
    @fe.graph
    def both(x: fe.Array, i: int) -> Any:
        y = x * 2
        z = fe.update_slice(y, fe.zeros((1, 3)), (i, 0))
        return z + y, fe.update_slice(y, y[0:1] + 1, (i, 0)), y

    x = rng.standard_normal((5, 3)).astype("float32")
    y = x * 2
    z = y.copy()
    z[2] = 0
    w = y.copy()
    w[2] = y[0] + 1
    for got, wanted in zip(both(fe.asarray(x), 2), (z + y, w, y), strict=True):
        same(got, wanted)


def test_update_value_may_be_a_slice_of_its_target() -> None:
    @fe.graph
    def shift(x: fe.Array, i: int) -> fe.Array:
        y = x + 0
        return fe.update_slice(y, y[0:4], (i,))

    x = np.arange(6, dtype="float32")
    same(shift(fe.asarray(x), 1), np.array([0, 0, 1, 2, 3, 5], "float32"))


def test_graphs_with_dynamic_slices_are_saved_and_loaded(tmp_path: Path) -> None:
    graph = fe.graph(lambda x, i: (x[i], x[i : i + 2] * 2)).trace(fe.ones((5, 3)), 1)
    graph.save(tmp_path / "graph.npz")
    again = fe.Graph.load(tmp_path / "graph.npz")
    x = rng.standard_normal((5, 3)).astype("float32")
    row, rows = again.compute(x, 3)
    same(row, x[3])
    same(rows, x[3:5] * 2)
    with pytest.raises(IndexError):
        again.compute(x, 4)


def test_plan_contains_no_copy(tmp_path: Path) -> None:
    plan = fe.graph(lambda x, i: x[i] + 1).trace(fe.ones((5, 3)), 1)
    plan.compile()
    assert "copy" not in json.dumps(plan.placement())


@each(
    ("value", "start", "expected"),
    [
        (fe.flip, 0, [8, 6, 4, 2, 0]),
        (lambda x: x[:-1], 1, [0, 0, 2, 4, 6]),
        (lambda x: x[1:], 0, [2, 4, 6, 8, 8]),
        (lambda x: x[::-2], 2, [0, 2, 8, 4, 0]),
        (lambda x: x[:-1] + x[1:], 1, [0, 2, 6, 10, 14]),
    ],
)
def test_an_update_may_read_what_it_replaces(value: Any, start: int, expected: list[int]) -> None:
    def update(x: fe.Array) -> fe.Array:
        x = x * 2
        return fe.update_slice(x, value(x), (start,))

    a = np.arange(5, dtype="float32")
    assert update(fe.asarray(a)).tolist() == fe.graph(update)(a).tolist() == expected

"""Value semantics of borrowed memory: later writes of its owner change no result, constant or copy."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

Floats = np.ndarray[Any, np.dtype[np.float32]]


def weights(value: float = 1) -> Floats:
    return np.full((64, 64), value, "float32")


# ---- constants of graphs
def test_a_graph_never_mixes_old_and_new_bytes_of_a_constant() -> None:
    borrowed = weights()
    w = fe.asarray(borrowed)
    f = fe.graph(lambda x: x @ w + w[0])
    x = fe.ones((64, 64))
    before = np.array(f(x))
    borrowed[:] = 2
    assert before[0, 0] == 65
    np.testing.assert_array_equal(np.asarray(f(x)), before)


def test_a_graph_that_is_traced_after_a_write_has_the_new_bytes() -> None:
    borrowed = weights()
    w = fe.asarray(borrowed)
    x = fe.ones((64, 64))
    first = fe.graph(lambda x: x @ w)
    assert np.asarray(first(x))[0, 0] == 64
    borrowed[:] = 2
    second = fe.graph(lambda x: x @ w)
    assert np.asarray(second(x))[0, 0] == 128
    assert np.asarray(x @ w)[0, 0] == 128
    assert np.asarray(first(x))[0, 0] == 64


@pytest.mark.parametrize("place", [0, 8191, 16384, -1])
def test_graph_sees_changed_bytes_at_any_position(place: int) -> None:
    """A snapshot for an earlier graph is reused only if all bytes are equal."""
    borrowed = np.ones(100_000, "float32")
    w = fe.asarray(borrowed)
    graphs = []
    for value in (1, 2):
        borrowed[place] = value
        graph = fe.Graph()
        graph.output(graph.input(borrowed.shape) * graph.constant(w))
        graphs.append(graph)
    before, after = (np.asarray(graph.compute(np.ones_like(borrowed))) for graph in graphs)
    assert (before[place], after[place]) == (1, 2)


def test_a_saved_graph_has_the_bytes_that_it_computes_with() -> None:
    borrowed = weights()
    graph = fe.Graph()
    x = graph.input((64, 64))
    graph.output(x + graph.constant(borrowed))
    borrowed[:] = 5
    ones = weights()
    assert np.asarray(graph.compute(ones))[0, 0] == 2
    assert np.asarray(fe.Graph.from_bytes(graph.to_bytes()).compute(ones))[0, 0] == 2


def test_placement_shows_which_constants_were_copied() -> None:
    frozen = weights(3)
    frozen.flags.writeable = False
    graph = fe.Graph()
    x = graph.input((64, 64))
    graph.output(x + graph.constant(weights(), "lent") - graph.constant(frozen, "frozen"))
    places = {row["name"]: row["placement"] for row in graph.placement()["constants"]}
    assert places == {"lent": "copied: the owner of the memory may write to it", "frozen": "borrowed"}


def test_signatures_of_one_function_share_snapshots_and_packed_constants() -> None:
    def growth(shapes: int) -> int:
        rng = np.random.default_rng(shapes)
        w = fe.asarray(rng.random((512, 512), "float32"))
        f = fe.graph(lambda x: x @ w)
        f(fe.ones((1, 512)))
        before = fe.memory_stats("cpu").live
        for rows in range(2, 2 + shapes):
            f(fe.ones((rows, 512)))
        return fe.memory_stats("cpu").live - before

    assert growth(6) < 512 * 512 * 4


# ---- results
@each(
    "copied",
    [
        lambda x: x[:1].copy(),
        lambda x: +x[:1],
        lambda x: copy.deepcopy(x[:1]),
        lambda x: fe.asarray(x[:1], copy=True),
        lambda x: x[:2].copy().reshape(2, 1)[1:],
    ],
)
def test_copy_of_a_part_lets_go_of_its_base_in_a_graph_as_elsewhere(copied: Callable[[Any], Any]) -> None:
    before = fe.memory_stats("cpu").live
    for function in (copied, fe.graph(copied)):
        x = fe.ones(1 << 18) + 1
        fe.eval(x)
        part = function(x)
        fe.eval(part)
        del x
        assert fe.memory_stats("cpu").live - before < 1 << 16
        del part


def test_copies_that_are_no_results_cost_nothing() -> None:
    graph = fe.graph(lambda x: (+x).copy() * 2).trace(fe.ones(8))
    assert "copy" not in [node["op"] for step in graph.plan["steps"] for node in step["nodes"]]


VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda x: x.T,
    "reshaped": lambda x: x.reshape(3, 2),
    "reshaped to its own shape": lambda x: x.reshape(x.shape),
    "a slice": lambda x: x[:, 1:],
    "a row": lambda x: x[1],
    "every second": lambda x: x[:, ::2],
    "flipped": lambda x: fe.flip(x),
    "flipped along no axis": lambda x: fe.flip(x, axis=()),
    "broadcast": lambda x: fe.broadcast_to(x, (4, 2, 3)),
    "with an axis more": lambda x: x[None],
    "squeezed": lambda x: fe.squeeze(x[:, None, :], axis=1),
    "cast to its own dtype": lambda x: x.astype("float32"),
    "plus": lambda x: +x,
    "everything": lambda x: x[:],
    "ellipsis": lambda x: x[...],
    "permuted to its own order": lambda x: fe.permute_dims(x, (0, 1)),
    "assigned to": lambda x: _assigned(fe.zeros((2, 3)), x),
}


def _assigned(to: Any, value: Any) -> Any:
    to[...] = value
    return to


def both_ways(function: Callable[[Any], Any], borrowed: Floats) -> dict[str, Any]:
    graph = fe.Graph()
    graph.output(function(graph.input(borrowed.shape)))
    return {
        "eager": function(fe.asarray(borrowed)),
        "traced": fe.graph(function)(borrowed),
        "by hand": graph.compute(borrowed),
    }


@each("function", VIEWS.values())
def test_a_result_shares_no_memory_with_a_writable_input(function: Callable[[Any], Any]) -> None:
    values = np.arange(6, dtype="float32").reshape(2, 3)
    expected = np.array(function(fe.asarray(values.copy(), copy=True)))
    for way in ("eager", "traced", "by hand"):
        borrowed = values.copy()
        result = both_ways(function, borrowed)[way]
        borrowed[:] = 99
        np.testing.assert_array_equal(np.asarray(result), expected, err_msg=way)


def test_a_graph_that_returns_its_writable_input_copies_it() -> None:
    borrowed = np.arange(6, dtype="float32")
    result = fe.graph(lambda x: x)(fe.asarray(borrowed))
    borrowed[:] = 99
    assert np.asarray(result).tolist() == [0, 1, 2, 3, 4, 5]


@each("function", VIEWS.values())
def test_views_of_read_only_memory_are_not_copied(function: Callable[[Any], Any]) -> None:
    frozen = np.zeros((2, 3), "float32")
    frozen.flags.writeable = False
    assert np.shares_memory(np.asarray(function(fe.asarray(frozen))), frozen)


def test_assigning_all_of_an_array_copies_the_value() -> None:
    x = fe.zeros((6,))
    borrowed = np.arange(6, dtype="float32")
    x[...] = borrowed
    borrowed[:] = -5
    assert np.asarray(x).tolist() == [0, 1, 2, 3, 4, 5]


# ---- copies
COPIES: dict[str, Callable[[Any], Any]] = {
    "astype": lambda a: a.astype("float32", copy=True),
    "plus": lambda a: +a,
    "asarray with copy": lambda a: fe.asarray(a, copy=True),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "assignment": lambda a: _assigned(fe.ones((3,)), a),
    "a graph's result": lambda a: fe.graph(lambda x: x)(a),
}


@each("duplicate", COPIES.values())
@each("computed", [False, True])
def test_writing_to_a_copy_leaves_the_original(duplicate: Callable[[Any], Any], computed: bool) -> None:
    a = fe.zeros((3,), device="cpu")
    if computed:
        fe.eval(a)
    b = duplicate(a)
    c = duplicate(a)
    b[0] = 9
    a[1] = 5
    assert [np.asarray(array).tolist() for array in (a, b, c)] == [[0, 5, 0], [9, 0, 0], [0, 0, 0]]


def test_writing_to_a_copy_in_a_traced_function_leaves_the_original() -> None:
    @fe.graph
    def f(a: Any) -> Any:
        b, c, d = a.copy(), +a, a.astype("float32")
        b[0], c[1], d[2] = 9, 8, 7
        return a + 0, b, c, d

    results = [np.asarray(array).tolist() for array in f(np.zeros(3, "float32"))]
    assert results == [[0, 0, 0], [9, 0, 0], [0, 8, 0], [0, 0, 7]]


# ---- out=
def test_out_may_overlap_the_source_of_a_copied_constant() -> None:
    w = np.arange(65536, dtype="float32").reshape(256, 256)
    graph = fe.Graph()
    x = graph.input((256, 256))
    graph.output(x + graph.constant(w).T)
    expected = w.T.copy()
    graph.compute(np.zeros_like(w), out=w)
    np.testing.assert_array_equal(w, expected)
    graph.compute(np.zeros_like(w), out=w)
    np.testing.assert_array_equal(w, expected)


@pytest.mark.parametrize("function", [lambda x: x.T, lambda x: x[::-1], lambda x: x[:, ::-1] + 0])
def test_out_may_overlap_the_input_of_a_view_result(function: Callable[[Any], Any]) -> None:
    values = np.arange(64 * 64, dtype="float32").reshape(64, 64)
    expected = np.array(function(values))
    graph = fe.Graph()
    graph.output(function(graph.input((64, 64))))
    graph.compute(values, out=values)
    np.testing.assert_array_equal(values, expected)


# ---- empty views
@pytest.mark.parametrize(
    "empty", [lambda y: y[12:], lambda y: fe.split(y, [0, 6])[0], lambda y: y[:0].reshape(0, 3), lambda y: y[5:5]]
)
def test_empty_view_does_not_replace_its_base(empty: Callable[[Any], Any]) -> None:
    values = np.arange(12, dtype="float32")
    values.flags.writeable = False
    for order in ("the view first", "the base first", "together"):
        y = fe.asarray(values) * 2
        e = empty(y)
        if order == "together":
            fe.eval(e, y)
        for array in (e, y) if order == "the view first" else (y, e):
            np.asarray(array)
        assert np.asarray(y).tolist() == (values * 2).tolist(), order
        assert np.asarray(e).size == 0


def test_a_graph_returns_an_empty_view_beside_its_base() -> None:
    values = np.arange(12, dtype="float32")
    y, e, again = fe.graph(lambda x: ((x * 2), (x * 2)[12:], (x * 2).reshape(3, 4)))(values)
    assert np.asarray(y).tolist() == (values * 2).tolist()
    assert np.asarray(e).shape == (0,)
    assert np.asarray(again).ravel().tolist() == (values * 2).tolist()


# ---- bools
BYTES = [2, 0, 255, 1]


def strange_bools(frozen: bool) -> np.ndarray[Any, np.dtype[np.bool_]]:
    values = np.array(BYTES, "uint8")
    values.flags.writeable = not frozen
    return values.view("bool")


@pytest.mark.parametrize("frozen", [True, False])
def test_bools_whose_bytes_are_not_0_or_1_are_true(frozen: bool) -> None:
    b = fe.asarray(strange_bools(frozen))
    assert np.asarray(b).view("uint8").tolist() == [1, 0, 1, 1]
    assert np.asarray(fe.logical_not(b)).tolist() == [False, True, False, False]
    assert fe.sum(b).item() == 3
    assert b.placement.startswith("copied: ")


def test_bools_in_writable_memory_are_copied() -> None:
    borrowed = np.zeros(4, "bool")
    b = fe.asarray(borrowed)
    borrowed.view("uint8")[:] = BYTES
    assert fe.sum(b).item() == 0
    with pytest.raises(fe.InvalidArgumentError, match="bools that their owner may write"):
        fe.asarray(borrowed, copy=False)


def test_bools_in_read_only_memory_are_borrowed() -> None:
    frozen = np.array([True, False, True])
    frozen.flags.writeable = False
    assert fe.asarray(frozen, copy=False).placement == "borrowed"
    with pytest.raises(fe.InvalidArgumentError, match="its bools are not all 0 or 1"):
        fe.asarray(strange_bools(frozen=True), copy=False)


def test_nonstandard_bools_in_a_mapped_file_are_true() -> None:
    header = json.dumps({"b": {"dtype": "BOOL", "shape": [4], "data_offsets": [0, 4]}}).encode()
    header += b" " * (-len(header) % 8)
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bools.safetensors"
        path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(BYTES))
        loaded = fe.io.open_safetensors(path)["b"]
        assert fe.sum(loaded).item() == 3
        assert np.asarray(loaded).view("uint8").tolist() == [1, 0, 1, 1]


def test_nonstandard_bool_through_dlpack_is_true() -> None:
    assert fe.sum(fe.from_dlpack(strange_bools(frozen=False))).item() == 3


def test_a_refused_call_computes_nothing() -> None:
    """Memory that its owner may write is read when a call is recorded, even if a cast comes first."""
    borrowed = fe.asarray(np.ones(3, "int8"))
    before = fe.stats()["executions"]
    for refused in (lambda: borrowed + fe.ones((2, 4)), lambda: fe.concat([borrowed, fe.ones((2, 4))])):
        with pytest.raises(fe.InvalidArgumentError):
            refused()
    assert fe.stats()["executions"] == before

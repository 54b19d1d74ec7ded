"""Traced functions and graphs built by hand."""

from __future__ import annotations

import functools
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

rng = np.random.default_rng(7)


def sample(*shape: int) -> Any:
    return rng.normal(size=shape).astype("float32")


def test_traced_function_matches_the_function() -> None:
    w = fe.asarray(sample(4, 5))

    def layer(x: fe.Array) -> fe.Array:
        return fe.gelu(x @ w + 1) * 0.5

    a = sample(3, 4)
    np.testing.assert_allclose(np.asarray(fe.graph(layer)(fe.asarray(a))), np.asarray(layer(fe.asarray(a))), rtol=1e-6)


def test_a_function_is_traced_once_for_each_signature() -> None:
    traces = []

    @fe.graph
    def f(x: fe.Array) -> fe.Array:
        traces.append(x.shape)
        return x + 1

    for _ in range(3):
        f(fe.ones((2, 3)))
    assert len(traces) == 1
    f(fe.ones((3, 2)))
    f(fe.ones((2, 3), dtype="float64"))
    f(fe.asarray(sample(3, 2)).T)
    assert len(traces) == 4
    f(fe.asarray(sample(3, 2)).T)
    assert len(traces) == 4
    assert f.cache_info().currsize == 4


def test_python_numbers_are_operands_and_not_part_of_the_signature() -> None:
    traces = []

    @fe.graph
    def f(x: fe.Array, factor: float, count: int) -> fe.Array:
        traces.append(1)
        return x * factor + count

    a = sample(3)
    for factor, count in ((2.0, 1), (0.5, 7), (-1.25, 0)):
        result = f(fe.asarray(a), factor, count)
        assert result.dtype == np.float32
        np.testing.assert_allclose(np.asarray(result), a * np.float32(factor) + count, rtol=1e-6)
    assert len(traces) == 1


def test_numbers_stay_weak_through_arithmetic_among_themselves() -> None:
    f = fe.graph(lambda x, rate: x - rate * 0.5)
    assert f(fe.ones(3), 2.0).dtype == np.float32
    assert f(fe.ones(3, dtype="int32"), 2.0).dtype == np.float32
    assert fe.graph(lambda x, n: x + n)(fe.ones(3, dtype="int32"), 2).dtype == np.int32


def test_bools_and_strings_are_part_of_the_signature() -> None:
    @fe.graph
    def f(x: fe.Array, mode: str, negate: bool = False) -> fe.Array:
        y = x + 1 if mode == "up" else x - 1
        return -y if negate else y

    x = fe.zeros(2)
    assert f(x, "up").tolist() == [1, 1]
    assert f(x, "down").tolist() == [-1, -1]
    assert f(x, "up", negate=True).tolist() == [-1, -1]
    assert f(x, mode="down", negate=True).tolist() == [1, 1]


class Pair(NamedTuple):
    left: Any
    right: Any


def test_containers_are_arguments_and_results() -> None:
    @fe.graph
    def f(items: Any, *, scale: Any) -> Any:
        (a, b), named = items["pair"], items["named"]
        return {"sum": a + b * scale, "same": (a, [named.left, None, "text"]), "pair": Pair(b, 5)}

    a, b = sample(2), sample(2)
    result = f({"pair": (fe.asarray(a), b), "named": Pair(fe.asarray(b), 3)}, scale=2.0)
    np.testing.assert_allclose(np.asarray(result["sum"]), a + b * 2, rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(result["same"][0]), a)
    assert result["same"][1][1:] == [None, "text"]
    assert isinstance(result["pair"], Pair)
    assert result["pair"].right == 5
    np.testing.assert_array_equal(np.asarray(result["pair"].left), b)


def test_numpy_arrays_are_operands() -> None:
    f = fe.graph(lambda x: x * 2)
    a = sample(3)
    np.testing.assert_array_equal(np.asarray(f(a)), a * 2)
    a[:] = 1
    np.testing.assert_array_equal(np.asarray(f(a)), a * 2)
    assert f.cache_info().currsize == 1


def test_result_may_be_an_input_a_constant_or_repeated() -> None:
    c = fe.asarray(sample(2))
    f = fe.graph(lambda x: (x, x + 1, c, x))
    x = fe.asarray(sample(2))
    for _ in range(2):
        first, second, third, fourth = f(x)
        np.testing.assert_array_equal(np.asarray(first), np.asarray(x))
        np.testing.assert_array_equal(np.asarray(second), np.asarray(x) + 1)
        np.testing.assert_array_equal(np.asarray(third), np.asarray(c))
        np.testing.assert_array_equal(np.asarray(fourth), np.asarray(x))


def test_lazy_arguments_are_computed_first() -> None:
    f = fe.graph(lambda x: x + 1)
    assert f(fe.ones(3) * 5).tolist() == [6, 6, 6]


def test_arguments_of_every_layout_are_accepted() -> None:
    f = fe.graph(lambda x: x * 2 + 1)
    a = sample(4, 6)
    for view in (a, a.T, a[::-1], a[:, ::2], a[1:2], np.broadcast_to(a[0], (3, 6)), a[:0], np.array(a[0, 0])):
        np.testing.assert_allclose(np.asarray(f(fe.asarray(view))), view * 2 + 1, rtol=1e-6)
        np.testing.assert_allclose(np.asarray(f(fe.asarray(view))), view * 2 + 1, rtol=1e-6)


def test_bound_methods_and_partials_are_traced() -> None:
    class Model:
        def __init__(self, w: float) -> None:
            self.w = fe.full((3,), w, dtype="float32")
            self.bound = fe.graph(self.forward)

        def forward(self, x: fe.Array) -> fe.Array:
            return x + self.w

    one, two = Model(1), Model(2)
    x = fe.full((3,), 4.0)
    assert one.bound(x).tolist() == [5, 5, 5]
    assert two.bound(x).tolist() == [6, 6, 6]
    assert fe.graph(functools.partial(fe.softmax, axis=0))(x).shape == (3,)


def test_a_traced_function_in_another_is_part_of_its_graph() -> None:
    inner = fe.graph(lambda x: x + 1)
    outer = fe.graph(lambda x: inner(x) * 2)
    assert outer(fe.ones(2)).tolist() == [4, 4]
    assert inner.cache_info().currsize == 0


def test_indexing_and_assignment_are_traced() -> None:
    @fe.graph
    def f(x: fe.Array, place: fe.Array) -> fe.Array:
        y = x[1:, ::-1] * 2
        y[0] = 0
        return y[place]

    a = sample(4, 3)
    expected = a[1:, ::-1] * 2
    expected[0] = 0
    places = np.array([2, 0])
    np.testing.assert_array_equal(np.asarray(f(fe.asarray(a), fe.asarray(places))), expected[places])


@each(
    ("use", "what"),
    [
        (lambda x: bool(x.sum()), "bool"),
        (lambda x: int(x.sum()), "int"),
        (lambda x: float(x.sum()), "float"),
        (lambda x: x.sum().item(), "item"),
        (lambda x: np.asarray(x), "asarray"),
        (lambda x: x.tolist(), "tolist"),
        (lambda x: fe.eval(x), "eval"),
        (lambda x: np.cbrt(x), "asarray"),
        (lambda x: np.from_dlpack(x), "dlpack"),
    ],
)
def test_error_for_reading_a_value_while_tracing_names_the_line(use: Any, what: str) -> None:
    def broken(x: fe.Array) -> fe.Array:
        use(x)  # the line that the error names
        return x

    with pytest.raises(fe.TracingError, match=what) as caught:
        fe.graph(broken)(fe.ones(3))
    assert "test_graph.py:" in str(caught.value)


def test_array_that_escaped_its_trace_raises_an_explanation() -> None:
    kept = []

    @fe.graph
    def f(x: fe.Array) -> fe.Array:
        kept.append(x)
        return x + 1

    f(fe.ones(2))
    with pytest.raises(fe.TracingError, match="ended"):
        kept[0] + 1
    assert "traced" in repr(kept[0])


def test_error_in_the_function_does_not_affect_later_calls() -> None:
    fail = [True]

    @fe.graph
    def f(x: fe.Array) -> fe.Array:
        if fail[0]:
            raise RuntimeError("mine")
        return x + 1

    with pytest.raises(RuntimeError, match="mine"):
        f(fe.ones(2))
    fail[0] = False
    assert f(fe.ones(2)).tolist() == [2, 2]


def test_the_cache_is_bounded_and_keeps_what_was_used_last() -> None:
    traces = []

    @fe.graph(cache_size=2)
    def f(x: fe.Array) -> fe.Array:
        traces.append(x.shape[0])
        return x + 1

    for size in (1, 2, 1, 3, 1, 2):
        f(fe.ones(size))
    assert traces == [1, 2, 3, 2]
    assert f.cache_info().currsize == 2


def by_hand() -> fe.Graph:
    graph = fe.Graph("cpu")
    x = graph.input((3, 4), name="x")
    w = graph.constant(np.arange(8, dtype="float32").reshape(4, 2), name="w")
    y = graph.apply("matmul", x, w)
    graph.output(fe.softmax(y * 0.1, axis=-1), y)
    return graph


def reference(a: Any) -> tuple[Any, Any]:
    y = a @ np.arange(8, dtype="float32").reshape(4, 2)
    e = np.exp(y * 0.1 - (y * 0.1).max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True), y


def test_manual_graph_computes() -> None:
    graph, a = by_hand(), sample(3, 4)
    for actual, expected in zip(graph.compute(a), reference(a), strict=True):
        np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-5, atol=1e-6)
    outs = [np.empty((3, 2), "float32"), np.empty((3, 2), "float32")]
    graph.compute(a, out=outs)
    np.testing.assert_allclose(outs[1], reference(a)[1], rtol=1e-5)


def test_graph_properties_can_be_inspected() -> None:
    graph = by_hand()
    assert "matmul" in graph.text()
    assert graph.dot().startswith("digraph")
    assert graph.plan["steps"][0]["nodes"][0]["op"] == "matmul"
    assert graph.placement()["nodes"]
    assert "ops=3" in repr(graph)


def test_svg_needs_graphviz_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    graph = by_hand()
    assert graph._repr_svg_() is None
    with pytest.raises(NotImplementedError, match="graphviz"):
        graph.svg()


def test_graphs_are_saved_loaded_and_pickled(tmp_path: Path) -> None:
    graph, a = by_hand(), sample(3, 4)
    graph.save(tmp_path / "graph.npz")
    for again in (fe.Graph.load(tmp_path / "graph.npz"), pickle.loads(pickle.dumps(graph))):
        assert again.text() == graph.text()
        for actual, expected in zip(again.compute(a), graph.compute(a), strict=True):
            np.testing.assert_array_equal(np.asarray(actual), np.asarray(expected))
    with pytest.raises(fe.InvalidArgumentError):
        fe.Graph.from_bytes(b"nonsense")


def test_traced_graph_is_accessible() -> None:
    graph = fe.graph(lambda x, s: fe.exp(x) * s).trace(fe.ones((2, 3)), 2.0)
    assert "exp" in graph.text()
    assert graph.inputs[0].shape == (2, 3)
    np.testing.assert_allclose(
        np.asarray(graph.compute(np.zeros((2, 3), "float32"), 5.0)), np.full((2, 3), 5.0, "float32")
    )


@each(
    ("make", "words"),
    [
        (lambda g: g.compile(), "outputs"),
        (lambda g: g.apply("nonsense", g.input((2,))), "nonsense"),
        (lambda g: g.apply("softmax", g.input((2,)), nonsense=1), "nonsense"),
        (lambda g: g.apply("matmul", g.input((2, 3)), g.input((2, 3))), "inner sizes"),
        (lambda g: g.output(fe.ones(3)), "graph"),
        (lambda g: g.input((1,) * 9), "8 dimensions"),
        (lambda g: g.input((-1,)), "negative"),
        (lambda g: g.apply("add", g.input((2,)), fe.Graph("cpu").input((2,))), "graph"),
    ],
)
def test_mistakes_in_a_manual_graph_are_immediate_errors(make: Any, words: str) -> None:
    with pytest.raises(fe.Error, match=words):
        make(fe.Graph("cpu"))


def test_wrong_inputs_are_errors() -> None:
    graph = by_hand()
    with pytest.raises(fe.InvalidArgumentError, match="takes 1"):
        graph.compute()
    with pytest.raises(fe.InvalidArgumentError, match="input 0"):
        graph.compute(sample(4, 3))


def test_manual_graph_of_fifty_thousand_adds_computes_and_is_freed(run_python: Any) -> None:
    run_python(
        "import ferrule as fe, numpy as np\n"
        "g = fe.Graph('cpu'); x = g.input((1,)); y = x\n"
        "for _ in range(50_000): y = g.apply('add', y, x)\n"
        "g.output(y); assert g.compute(np.ones(1, 'f4')).item() == 50_001\n"
    )


def test_stats_count_compiles() -> None:
    before = fe.stats()["compiles"]
    f = fe.graph(lambda x: x * 3 + 1)
    f(fe.ones((5, 7)))
    after = fe.stats()["compiles"]
    f(fe.ones((5, 7)))
    assert after > before
    assert fe.stats()["compiles"] == after


def test_null_device_graph_is_all_zeros(null_device: fe.Device) -> None:
    f = fe.graph(lambda x: x + 1)
    assert f(fe.ones(3, device=null_device)).tolist() == [0, 0, 0]


def test_argument_of_another_device_is_moved_for_any_layout(run_python: Any) -> None:
    run_python(
        "import numpy as np, ferrule as fe\n"
        "fe.load_all()\n"
        "second = fe.load(next(one for one in fe.backends() if one.name == 'cpu').path, as_name='second').name + ':0'\n"
        "x, y = fe.asarray([1.0, 2.0], device='cpu'), fe.asarray([3.0, 4.0], device=second)\n"
        "f, g = fe.graph(lambda a, b: a + b), fe.graph(lambda a: a + 1, device=second)\n"
        "for other in (y, y[::-1], fe.broadcast_to(y[:1], (2,))):\n"
        "    assert f(x, other).tolist() == (np.asarray(x) + np.asarray(other)).tolist()\n"
        "    assert f(x, other).device.name == 'cpu:0'\n"
        "for argument in (x, x[::-1], fe.ones(2, device='cpu')):\n"
        "    assert g(argument).tolist() == (np.asarray(argument) + 1).tolist()\n"
    )

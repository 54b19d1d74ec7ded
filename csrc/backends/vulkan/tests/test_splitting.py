"""Graphs that device and CPU share: the CPU computes what the device lacks, elementary functions of float64."""

from __future__ import annotations

import json
from collections.abc import Callable

from csrc.backends.vulkan.tests.processes import Processes

Run = Callable[..., str]

PLACES = """
def places(graph):
    return [[row["op"], row["device"].split(":")[0], row["reason"]] for row in graph.placement()["nodes"]]
def close(result, expected): return np.allclose(np.asarray(result), expected, rtol=1e-13, atol=0)
"""

CHAIN = """
graph = fe.Graph("vulkan")
x = graph.input((5, 7), "float64")
graph.output(fe.exp(x * 2) + x)
"""


def test_placement_reports_device_and_reason_of_each_node(run: Run) -> None:
    program = """
import json
graph.compile(fallback="allow")
x = np.random.default_rng(1).standard_normal((5, 7))
assert close(graph.compute(fe.asarray(x, device="vulkan")), np.exp(x * 2) + x)
print(json.dumps(places(graph)))
"""
    assert json.loads(run(PLACES + CHAIN + program)) == [
        ["multiply", "vulkan", ""],
        ["exp", "cpu", "exp of float64 is not supported"],
        ["add", "vulkan", ""],
    ]


def test_graphs_of_supported_ops_are_not_split(run: Run) -> None:
    program = """
graph = fe.Graph("vulkan")
x = graph.input((5, 7), "float32")
graph.output(fe.exp(x * 2) + x)
print({device for _, device, _ in places(graph.compile(fallback="error"))})
"""
    assert run(PLACES + program) == "{'vulkan'}\n"


def test_a_fallback_is_a_warning_unless_it_is_allowed(start: Processes) -> None:
    message = start(CHAIN + "graph.compile(); graph.compile()").log
    assert message == "exp(float64(5, 7)) runs on cpu:0 instead of vulkan:0: exp of float64 is not supported\n"


def test_forbidden_fallback_is_an_error_that_names_op_and_device(run: Run) -> None:
    program = """
try:
    graph.compile(fallback="error")
except fe.UnsupportedError as error:
    print(error)
"""
    message = run(CHAIN + program)
    assert "exp" in message
    assert "vulkan:0" in message
    assert "float64 is not supported" in message


def test_many_alternating_segments_match_numpy(run: Run) -> None:
    program = """
def network(x, w):
    h = fe.exp(-(x @ w))  # the product there, the function here
    h = fe.log(1 + h.sum(axis=1, keepdims=True)) * h
    return fe.tanh(h / 9).max(axis=0), h.T @ x, h

def expected(x, w):
    h = np.exp(-(x @ w))
    h = np.log(1 + h.sum(axis=1, keepdims=True)) * h
    return np.tanh(h / 9).max(axis=0), h.T @ x, h

compiled = fe.graph(network, fallback="allow")
for seed in range(5):
    generator = np.random.default_rng(seed)
    x, w = generator.standard_normal((33, 17)), generator.standard_normal((17, 65))
    results = compiled(fe.asarray(x, device="vulkan"), fe.asarray(w, device="vulkan"))
    assert [result.device.backend.name for result in results] == ["vulkan"] * 3
    for result, right in zip(results, expected(x, w)):
        error = np.abs(np.asarray(result) - right).max() / np.abs(right).max()
        assert error < 1e-13, error
print("ok")
"""
    assert run(program) == "ok\n"


def test_forty_device_changes_in_one_graph_match_numpy(run: Run) -> None:
    program = """
graph = fe.Graph("vulkan")
value = graph.input((1000,), "float64")
for _ in range(20):
    value = fe.sin(value) + 0.5
graph.output(value)
graph.compile(fallback="allow")
assert [device for _, device, _ in places(graph)] == ["cpu", "vulkan"] * 20
x = np.linspace(-3, 3, 1000)
result = graph.compute(fe.asarray(x, device="vulkan"))
for _ in range(20):
    x = np.sin(x) + 0.5
assert close(result, x)
print("ok")
"""
    assert run(PLACES + program) == "ok\n"


def test_lazy_computations_are_split_too(start: Processes) -> None:
    program = """
x = np.linspace(0.5, 2, 12).reshape(3, 4)
y = fe.asarray(x, device="vulkan")
result = fe.log(y) * y[::-1]
assert close(result, np.log(x) * x[::-1])
print(result.device.backend.name)
"""
    done = start(PLACES + program)
    assert done.output == "vulkan\n"
    assert "log(float64(3, 4)) runs on cpu:0 instead of vulkan:0" in done.log


def test_error_after_the_cpu_segment_fails_the_call_and_the_next_call_is_right(run: Run) -> None:
    program = """
compiled = fe.graph(lambda x, i: fe.take(fe.exp(x), i, axis=0) + 1, fallback="allow")
x = np.linspace(0, 1, 5)
on = lambda array: fe.asarray(array, device="vulkan")
try:
    np.asarray(compiled(on(x), on(np.array([0, 9]))))
except fe.Error as error:
    print(error)
assert close(compiled(on(x), on(np.array([0, 4]))), np.exp(x[[0, 4]]) + 1)
"""
    assert "index 9 is out of bounds for axis 0 with size 5" in run(PLACES + program)


def test_a_host_op_runs_on_the_cpu_without_a_warning_and_placement_says_so(start: Processes) -> None:
    program = """
import json
there = fe.asarray(np.array([[0, 3], [2, 4]], np.float32), device="vulkan")
assert float(fe.linalg.det(there * 2)) == -24
graph = fe.Graph("vulkan")
graph.output(fe.linalg.det(graph.input((2, 2), "float32") * 2))
graph.compile()
print(json.dumps(places(graph)))
try:
    graph.compile(fallback="error")
except fe.UnsupportedError as error:
    print(error)
"""
    run = start(PLACES + program)
    assert run.log == ""
    placed, refused = run.output.splitlines()
    assert [row[:2] for row in json.loads(placed)] == [["multiply", "vulkan"], ["det", "cpu"]]
    assert "det(float32(2, 2)) runs on cpu:0 instead of vulkan:0: there is no kernel for it" in refused

"""Traces: each node has a command buffer of its own, whose times Metal tells."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from backend_processes import Processes

Run = Callable[..., str]

GRAPH = """
import json, time
f = fe.graph(lambda x, w: fe.sum(fe.relu(x @ w) @ w, axis=0))
a = np.random.default_rng(1).integers(-3, 3, (16, 16)).astype(np.float32)
x, w = fe.asarray(a, device="metal:0"), fe.asarray(a.T, device="metal:0")
right = (np.maximum(a @ a.T, 0) @ a.T).sum(axis=0).tolist()
"""


@pytest.mark.parametrize("unified", ["0", "1"])
def test_each_node_is_an_event_in_order_within_its_segment_and_the_times_of_the_host(unified: str, run: Run) -> None:
    program = """
assert np.asarray(f(x, w)).tolist() == right
begin = time.monotonic_ns()
with fe.trace("run.json") as trace:
    for _ in range(3): assert np.asarray(f(x, w)).tolist() == right
end = time.monotonic_ns()
kernels = [event for event in trace.events if event.kind == "kernel"]
segments = [event for event in trace.events if event.kind == "segment"]
times = [time for event in kernels for time in (event.begin_ns, event.end_ns)]
assert [begin, *times, end] == sorted([begin, *times, end]), times
assert len(segments) == 3
for kernel in kernels:
    assert any(one.begin_ns <= kernel.begin_ns <= kernel.end_ns <= one.end_ns for one in segments), (kernel, segments)
assert {event.queue for event in kernels} == {0}
print(json.dumps([event.name for event in kernels]))
print(json.dumps([event.bytes_written for event in kernels]))
"""
    names, written = map(json.loads, run(GRAPH + program, FERRULE_EMULATION_METAL_UNIFIED=unified).splitlines())
    assert names == ["matmul: relu", "matmul", "sum"] * 3
    assert written == [1024, 1024, 64] * 3


def test_time_of_a_kernel_is_that_of_its_command_buffer(run: Run) -> None:
    """Each command buffer waits for 30 ms before it begins, which is no time of the GPU."""
    program = """
assert np.asarray(f(x, w)).tolist() == right
with fe.trace("run.json") as trace: assert np.asarray(f(x, w)).tolist() == right
kernels = [event for event in trace.events if event.kind == "kernel"]
for event in kernels: assert event.end_ns > event.begin_ns, event
for one, two in zip(kernels, kernels[1:]): print((two.begin_ns - one.end_ns) // 1_000_000)
"""
    pauses = run(GRAPH + program, FERRULE_EMULATION_METAL_DELAY_MICROSECONDS="30000").split()
    assert len(pauses) == 2
    assert all(int(pause) >= 29 for pause in pauses)


def test_tracing_alone_splits_a_graph_into_command_buffers(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = """
y = f(x, w); fe.eval(y); fe.synchronize("metal:0")
def commits(): return open("log").read().splitlines().count("commit")
before = commits()
y = f(x, w); fe.eval(y); fe.synchronize("metal:0")
plain = commits() - before
before = commits()
with fe.trace("run.json"):
    y = f(x, w); fe.eval(y); fe.synchronize("metal:0")
print(commits() - before - plain)
"""
    assert run(GRAPH + program, FERRULE_EMULATION_METAL_LOG=str(log)) == "2\n"


def test_file_and_profile_have_the_kernels(run: Run) -> None:
    program = """
with fe.profile() as profile:
    with fe.trace("run.json"):
        for _ in range(5): np.asarray(f(x, w))
events = [event for event in json.load(open("run.json"))["traceEvents"] if event.get("cat") == "kernel"]
print(len(events), all(event["dur"] > 0 for event in events))
rows = {(row.op, row.device): row.calls for row in profile.ops}
print(rows[("matmul: relu", "metal:0")], rows[("sum", "metal:0")])
"""
    assert run(GRAPH + program) == "15 True\n5 5\n"


def test_fault_of_a_traced_graph_is_the_error_of_its_result_and_later_ones_are_right(run: Run) -> None:
    program = """
g = fe.graph(lambda x, i: fe.take(x, i, axis=0) * 2)
indices = [fe.asarray(np.array([i]), device="metal:0") for i in (1, 99)]
with fe.trace("run.json") as trace:
    for turn in range(4):
        try:
            assert np.asarray(g(x, indices[turn % 2])).tolist() == (a[[1]] * 2).tolist()
            print("right")
        except fe.Error as error:
            print(error)
"""
    lines = run(GRAPH + program, FERRULE_LOG="error").splitlines()
    assert lines == ["right", "take: index 99 is out of bounds for axis 0 with size 16"] * 2


@pytest.mark.parametrize("fault", ["page_fault", "device_removed"])
def test_command_buffer_that_fails_in_a_trace_is_an_error(fault: str, start: Processes) -> None:
    program = """
np.asarray(f(x, w))
outcomes = []
with fe.trace("run.json"):
    for _ in range(4):
        try:
            outcomes.append("right" if np.asarray(f(x, w)).tolist() == right else "wrong")
        except fe.Error as error:
            outcomes.append(type(error).__name__)
print(*outcomes)
"""
    outcomes = start(GRAPH + program, FERRULE_EMULATION_METAL_FAULT=f"{fault}:6").output.split()
    if fault == "page_fault":
        assert sorted(outcomes) == ["InternalError", "right", "right", "right"]
    else:
        assert "DeviceLostError" in outcomes
        assert "wrong" not in outcomes

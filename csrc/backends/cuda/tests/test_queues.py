"""Queues and events: order, waits across queues, errors of kernels, times."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from csrc.backends.cuda.tests.processes import Processes

Run = Callable[..., str]


@pytest.mark.parametrize("graphs", ["0", "1"])
def test_uploads_computations_and_downloads_wait_for_each_other(graphs: str, run: Run) -> None:
    """Each kind of work has its own queue, whose work the emulator runs on its own OS thread."""
    program = """
f = fe.graph(lambda x, w: fe.relu(x @ w) + x)
generator = np.random.default_rng(3)
weights = generator.integers(-3, 3, (32, 32)).astype(np.float32)
w = put(weights)
pending = []
for turn in range(60):
    batch = generator.integers(-9, 9, (32, 32)).astype(np.float32)
    y = f(put(batch), w)
    fe.eval(y, wait=False)
    pending.append((batch, y.to_device("cpu")))
    if len(pending) > 4:
        batch, y = pending.pop(0)
        assert np.array_equal(np.asarray(y), np.maximum(batch @ weights, 0) + batch), turn
"""
    run(program, FERRULE_CUDA_GRAPHS=graphs)


FAULTS = """
def faults():
    x = put([10, 20], np.int32)
    yield lambda: fe.take(x, put([1, 7], np.int64), axis=0)
    yield lambda: fe.take(x, put([-3], np.int64), axis=0)
    yield lambda: x ** put([2, -1], np.int32)
"""
SENTENCES = [
    "OutOfRangeError: take: index 7 is out of bounds for axis 0 with size 2",
    "OutOfRangeError: take: index -3 is out of bounds for axis 0 with size 2",
    "InvalidArgumentError: pow: int32 to a negative integer power has no integer result",
]


def test_error_of_a_kernel_names_op_and_value_and_the_device_goes_on(run: Run) -> None:
    program = (
        FAULTS
        + """
print(json.dumps([[attempt(call), attempt(lambda: put([1]) + 1)] for call in faults()]))
"""
    )
    assert json.loads(run(program)) == [[sentence, [2]] for sentence in SENTENCES]


def test_integer_division_by_zero_is_no_error(run: Run) -> None:
    """csrc/ops/arithmetic.cpp: the quotient and the remainder are 0, as NumPy's."""
    program = """
x, y = put([7, -7], np.int32), put([0, 0], np.int32)
print((x // y).tolist(), (x % y).tolist())
"""
    assert run(program) == "[0, 0] [0, 0]\n"


def test_error_reaches_those_who_wait_for_the_result_and_nobody_else(run: Run) -> None:
    program = """
x = put([10, 20], np.int32)
before = x + 1
bad = fe.take(x, put([7], np.int64), axis=0)
of_bad = bad + 1
after = x + 2
other = fe.take(x, put([1], np.int64), axis=0)
# Who gives work in may hear of an earlier failure that the work depends on.
for y in (before, bad, of_bad, after, other): attempt(lambda: fe.eval(y, wait=False))
for _ in range(2): print(json.dumps([attempt(lambda: y) for y in (after, of_bad, other, bad, before)]))
"""
    for line in run(program).splitlines():
        assert json.loads(line) == [[12, 22], SENTENCES[0], [20], SENTENCES[0], [11, 21]]


@pytest.mark.parametrize("graphs", ["0", "1"])
def test_error_of_a_replayed_graph_belongs_to_its_own_execution(graphs: str, run: Run) -> None:
    program = """
x = put(np.arange(4))
f = fe.graph(lambda x, i: fe.take(fe.exp(x * 0) + x, i, axis=0) * fe.sum(x))
print(json.dumps([attempt(lambda: f(x, put([i], np.int64))) for i in (0, 1, 9, 2, 3, -9, 3)]))
"""
    found = json.loads(run(program, FERRULE_CUDA_GRAPHS=graphs))
    assert [found[i] for i in (0, 1, 3, 4, 6)] == [[6], [12], [18], [24], [24]]
    assert [found[i] for i in (2, 5)] == [
        f"OutOfRangeError: take: index {index} is out of bounds for axis 0 with size 4" for index in (9, -9)
    ]


def test_errors_of_threads_do_not_mix(run: Run) -> None:
    program = """
x = put(np.arange(4))
def work(number):
    for turn in range(40):
        index = number if turn % 2 else 100 + 50 * number + turn
        found = attempt(lambda: fe.take(x, put([index], np.int64), axis=0) + 1)
        sentence = f"OutOfRangeError: take: index {index} is out of bounds for axis 0 with size 4"
        right = [number + 1] if turn % 2 else sentence
        assert found == right, (found, right)
in_threads(4, work)
"""
    run(program)


# The clocks of host and device are compared when the system may have other threads run first: once, or whenever it is
# tried, before or after the event.
LATE = {
    f"{call}:{count}": {"FERRULE_EMULATION_CALL_LATE": f"{call}:{count}"}
    for call in ("cudaEventRecord", "cudaEventSynchronize")
    for count in (1, 8)
}


@pytest.mark.parametrize("variables", [{}, *LATE.values()], ids=["in time", *LATE])
def test_trace_has_each_kernel_in_order_within_the_times_of_the_host(run: Run, variables: dict[str, str]) -> None:
    program = """
import time
f = fe.graph(lambda x, w: fe.sum(fe.exp(x) @ w, axis=0))
x, w = put(np.ones((16, 16))), put(np.ones((16, 16)))
right = np.asarray(f(x, w)).tolist()
begin = time.monotonic_ns()
with fe.trace(os.path.join(tempfile.mkdtemp(), "run.json")) as trace:
    for _ in range(3): assert np.asarray(f(x, w)).tolist() == right
end = time.monotonic_ns()
kernels = [event for event in trace.events if event.kind == "kernel"]
print(json.dumps([event.name for event in kernels]))
times = [time for event in kernels for time in (event.begin_ns, event.end_ns)]
assert [begin, *times, end] == sorted([begin, *times, end]), times
assert all(event.begin_ns < event.end_ns for event in kernels), times
for event in trace.events: assert begin <= event.begin_ns <= event.end_ns <= end, event
"""
    names = json.loads(run(program, **variables))
    assert len(names) == 9
    assert names == names[:3] * 3
    assert [word for word, name in zip(("exp", "matmul", "sum"), names, strict=False) if word not in name] == []


def test_profile_counts_the_kernels(run: Run) -> None:
    program = """
f = fe.graph(lambda x: fe.sum(fe.exp(x) @ x, axis=0))
x = put(np.ones((16, 16)))
with fe.profile() as profile:
    for _ in range(5): np.asarray(f(x))
print(str(profile))
"""
    text = run(program)
    assert "matmul" in text
    assert "cuda:0" in text


@pytest.mark.parametrize("call", ["cudaEventElapsedTime", "cudaEventCreateWithFlags"])
def test_failing_clock_loses_times_and_no_results(call: str, start: Processes) -> None:
    """Only the trace needs the call; a failed one may cost the result of that call, but nothing wrong is returned."""
    program = """
f = fe.graph(lambda x: fe.sum(fe.exp(x * 0) @ x, axis=0))
x = put(np.ones((4, 4)))
np.asarray(f(x))
with fe.trace(os.path.join(tempfile.mkdtemp(), "run.json")):
    found = [attempt(lambda: f(x)) for _ in range(4)]
print(json.dumps(found))
assert attempt(lambda: f(x)) == [16] * 4
"""
    number = 1 if call == "cudaEventElapsedTime" else 8
    done = start(program, FERRULE_EMULATION_CALL_FAILS=f"{call}:{number}:cudaErrorMemoryAllocation")
    assert f"failed {call}" in done.calls
    found = json.loads(done.output)
    wrong = [one for one in found if one != [16] * 4]
    assert all(isinstance(one, str) and one.startswith("OutOfMemoryError: ") and call in one for one in wrong), wrong
    assert len(wrong) <= (0 if call == "cudaEventElapsedTime" else 1)

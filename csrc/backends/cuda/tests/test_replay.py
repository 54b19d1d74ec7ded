"""Graphs that are replayed: the same bits as launches one by one, with whatever changes between two executions."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from csrc.backends.cuda.tests.processes import Processes

Run = Callable[..., str]

# A program of several kernels, with NumPy's result of the same.
FUNCTION = """
generator = np.random.default_rng(7)
def numbers(*shape): return generator.integers(-9, 9, shape).astype(np.float32)
fixed = numbers(8, 8)
def right(x, w):
    y = np.sign(x @ w)
    for _ in range(5): y = np.sign(y @ fixed)
    return (y - x).sum(axis=-1)
def steps(x, w):
    y = fe.sign(x @ w)
    for _ in range(5): y = fe.sign(y @ fe.asarray(fixed, device=x.device))
    return fe.sum(y - x, axis=-1)
f = fe.graph(steps)
"""


def test_replayed_graph_gives_the_bits_of_single_launches(run: Run) -> None:
    program = """
import hashlib
generator = np.random.default_rng(5)
f = fe.graph(lambda x, w: fe.softmax(fe.gelu(x @ w), axis=-1) @ fe.exp(w) / fe.sqrt(fe.var(x, axis=0)))
w = put(generator.standard_normal((48, 48)))
for _ in range(8):
    print(hashlib.sha256(np.asarray(f(put(generator.standard_normal((17, 48))), w)).tobytes()).hexdigest())
"""
    assert run(program, FERRULE_CUDA_GRAPHS="1") == run(program, FERRULE_CUDA_GRAPHS="0")


def test_graph_is_replayed_from_the_second_execution_on(start: Processes) -> None:
    program = FUNCTION + "x, w = put(numbers(8, 8)), put(numbers(8, 8))\nfor _ in range(6): np.asarray(f(x, w))\n"
    calls = start(program).calls
    assert calls.count("cudaGraphInstantiate") == 1
    assert calls.count("cudaGraphLaunch") == 5


def test_bindings_that_change_between_executions_are_patched(start: Processes) -> None:
    program = (
        FUNCTION
        + """
arrays = [numbers(8, 8) for _ in range(5)]
weights = [numbers(8, 8) for _ in range(3)]
there, w = [put(x) for x in arrays], [put(x) for x in weights]
kept = []
for turn in range(60):
    i, j = generator.integers(5), generator.integers(3)
    y = f(there[i], w[j])
    if turn % 3 == 0: kept.append(y)  # so that results get other memory
    assert np.array_equal(np.asarray(y), right(arrays[i], weights[j])), turn
"""
    )
    calls = start(program).calls
    assert "cudaGraphLaunch" in calls
    assert "cudaGraphExecKernelNodeSetParams" in calls


def test_execution_after_a_traced_one_does_not_use_the_bindings_before_it(run: Run) -> None:
    """A traced execution launches kernels one by one. The graph must still learn what has changed."""
    program = (
        FUNCTION
        + """
a, b, weights = numbers(8, 8), numbers(8, 8), numbers(8, 8)
x, y, w = put(a), put(b), put(weights)
for _ in range(3): assert np.array_equal(np.asarray(f(x, w)), right(a, weights))
with fe.trace(os.path.join(tempfile.mkdtemp(), "run.json")):
    assert np.array_equal(np.asarray(f(y, w)), right(b, weights))
for _ in range(3): assert np.array_equal(np.asarray(f(y, w)), right(b, weights))
assert np.array_equal(np.asarray(f(x, w)), right(a, weights))
"""
    )
    run(program)


def test_numbers_that_change_are_patched(run: Run) -> None:
    program = """
f = fe.graph(lambda x, s: fe.sum(fe.exp(x * 0) @ x * s, axis=0) - s)
x = put(np.ones((4, 4)))
for turn in (1.0, 1.0, 2.0, 2.0, -3.0, -3.0, 0.5):
    assert np.asarray(f(x, turn)).tolist() == [16 * turn - turn] * 4, turn
"""
    run(program)


def test_shapes_that_change_are_other_graphs(run: Run) -> None:
    program = (
        FUNCTION
        + """
weights = numbers(8, 8)
w = put(weights)
for turn in range(30):
    x = numbers(1 + turn % 4, 8)
    assert np.array_equal(np.asarray(f(put(x), w)), right(x, weights)), turn
"""
    )
    run(program)


@pytest.mark.parametrize("devices", ["1", "2"])
def test_threads_and_queues_run_one_executable_at_once(devices: str, run: Run) -> None:
    program = (
        FUNCTION
        + f"""
weights = numbers(8, 8)
inputs = [[numbers(8, 8) for _ in range(3)] for _ in range(6)]
def work(number):
    device = f"cuda:{{number % {devices}}}"
    w = put(weights, device=device)
    for turn in range(30):
        x = inputs[number][turn % 3]
        assert np.array_equal(np.asarray(f(put(x, device=device), w)), right(x, weights)), (number, turn)
in_threads(6, work)
"""
    )
    run(program, FERRULE_EMULATION_DEVICES=devices)


CALLS = [
    "cudaGraphCreate:1",
    "cudaGraphAddKernelNode:1",
    "cudaGraphAddKernelNode:2",
    "cudaGraphInstantiate:1",
    "cudaGraphExecKernelNodeSetParams:1",
    "cudaGraphLaunch:1",
    "cudaGraphLaunch:3",
]


@pytest.mark.parametrize("call", CALLS)
def test_graph_that_the_driver_cannot_make_or_launch_is_run_one_by_one(call: str, start: Processes) -> None:
    program = (
        FUNCTION
        + """
arrays, weights = [numbers(8, 8) for _ in range(4)], numbers(8, 8)
there, w = [put(x) for x in arrays], put(weights)
for turn in (0, 0, 0, 1, 1, 1, 2, 3, 3, 3):
    assert np.array_equal(np.asarray(f(there[turn], w)), right(arrays[turn], weights))
del there, w, f
fe.unload("cuda")
"""
    )
    done = start(program, FERRULE_EMULATION_CALL_FAILS=f"{call}:cudaErrorMemoryAllocation")
    assert f"failed {call.partition(':')[0]}" in done.calls
    assert done.leaks() == {}


def test_unused_graphs_are_destroyed(start: Processes) -> None:
    program = """
for turn in range(12):
    f = fe.graph(lambda x: fe.sum(fe.exp(x) @ x, axis=0) + turn)
    x = put(np.ones((4, 4)))
    for _ in range(3): np.asarray(f(x))
    del f
del x
fe.unload("cuda")
"""
    done = start(program)
    assert done.calls.count("cudaGraphInstantiate") >= 1
    assert done.leaks() == {}


def test_output_of_one_execution_is_the_input_of_the_next(run: Run) -> None:
    program = """
f = fe.graph(lambda x: fe.exp(x * 0) + x @ fe.ones((4, 4), device="cuda") / 4)
x, y = put(np.ones((4, 4))), np.ones((4, 4), np.float32)
for turn in range(20): x, y = f(x), 1 + y
print(json.dumps([np.asarray(x).tolist() == y.tolist()]))
"""
    assert json.loads(run(program)) == [True]


def test_scratch_memory_suffices_for_the_node_that_needs_most(run: Run) -> None:
    # A product whose K is split needs scratch memory for its segments, a long sum less, and softmax none.
    run("""
generator = np.random.default_rng(1)
x, w, long = (generator.integers(-3, 4, shape).astype(np.float32) for shape in ((3, 3000), (3000, 70), (2, 40000)))
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
there = [put(array) for array in (x, w, long)]
first = fe.graph(lambda x, w, long: fe.softmax(fe.sum(long, axis=1)[:, None] + (x @ w)[:2] * 0.01, axis=-1))
zeros = lambda x: fe.sum(x * 0, axis=1)[:, None]
last = fe.graph(lambda x, w, long: fe.softmax(fe.softmax(zeros(long) + x[:2], axis=-1) @ w, axis=-1))
for _ in range(3):
    want = softmax(long.sum(axis=1)[:, None] + (x @ w)[:2] * 0.01)
    np.testing.assert_allclose(np.asarray(first(*there)), want, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(np.asarray(last(*there)), softmax(softmax(x[:2]) @ w), rtol=1e-4, atol=1e-6)
""")

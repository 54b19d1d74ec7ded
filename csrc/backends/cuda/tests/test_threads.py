"""Several threads with one device: graphs, memory that runs out, trimming, tracing, modules that are unloaded.

Each result is right or an error of its own; nothing hangs, crashes or leaks.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from csrc.backends.cuda.tests.processes import Processes

Run = Callable[..., str]

# `compute` runs a graph of several kernels with the numbers of a turn, and compares with NumPy.
COMPUTE = """
import gc, random
fixed = np.random.default_rng(7).integers(-3, 3, (24, 24)).astype(np.float32)
f = fe.graph(lambda x, w: fe.sum(fe.relu(x @ w) @ w, axis=-1) + x[:, 0])
def right(x):
    return (np.maximum(x @ fixed, 0) @ fixed).sum(axis=-1) + x[:, 0]
def numbers(seed, rows=9):
    return np.random.default_rng(seed).integers(-9, 9, (rows, 24)).astype(np.float32)
def compute(seed, w, device="cuda", rows=9):
    x = numbers(seed, rows)
    assert np.array_equal(np.asarray(f(put(x, device=device), w)), right(x)), seed
"""
END = """
gc.collect()
fe.unload("cuda")
"""


def test_threads_share_graphs_weights_and_shapes(start: Processes) -> None:
    program = """
w = put(fixed)
def work(number):
    for turn in range(40): compute(100 * number + turn, w, rows=1 + turn % 4)
in_threads(6, work)
del w, f
"""
    assert start(COMPUTE + program + END).leaks() == {}


def test_trimming_takes_nothing_that_others_use(start: Processes) -> None:
    program = """
w = put(fixed)
def work(number):
    kept = []
    for turn in range(60):
        if number == 0:
            fe.trim("cuda")
            fe.synchronize("cuda")
            continue
        compute(100 * number + turn, w)
        kept.append(put(np.full(5000, turn)) + number)
        if len(kept) > 5: assert np.asarray(kept.pop(0))[-1] == turn - 5 + number
in_threads(4, work)
del w, f
"""
    assert start(COMPUTE + program + END).leaks() == {}


@pytest.mark.parametrize("variable", ["FERRULE_CUDA_MEMORY_LIMIT", "FERRULE_EMULATION_MEMORY"])
def test_threads_that_run_out_of_memory_get_an_error_and_others_right_results(variable: str, start: Processes) -> None:
    program = """
outcomes = []
def work(number):
    generator = random.Random(number)
    kept = []
    for turn in range(40):
        size = generator.choice([1000, 100_000, 300_000])
        try:
            x = put(np.full(size, turn)) + number
            fe.eval(x)
        except fe.OutOfMemoryError:
            outcomes.append("memory")
            kept.clear()
            continue
        outcomes.append("right")
        kept.append((x, turn))
        x, of = generator.choice(kept)
        try:
            assert np.asarray(x)[[0, -1]].tolist() == [of + number] * 2
        except fe.OutOfMemoryError:
            outcomes.append("memory")
in_threads(4, work)
print(json.dumps({outcome: outcomes.count(outcome) for outcome in outcomes}))
assert np.asarray(put(np.ones(1000)) + 1)[7] == 2
"""
    done = start(COMPUTE + program + END, **{variable: str(6 << 20)})
    outcomes = json.loads(done.output)
    assert outcomes["right"] > 20
    assert outcomes["memory"] > 0
    assert done.leaks() == {}


def test_traces_of_one_thread_leave_results_of_others_alone(start: Processes) -> None:
    program = """
w = put(fixed)
def work(number):
    for turn in range(20):
        if number == 0:
            with fe.trace(os.path.join(tempfile.mkdtemp(), "run.json")): compute(turn, w)
        else:
            compute(100 * number + turn, w)
in_threads(4, work)
del w, f
"""
    assert start(COMPUTE + program + END).leaks() == {}


def test_two_devices_are_independent(start: Processes) -> None:
    program = """
weights = [put(fixed, device=f"cuda:{i}") for i in range(2)]
def work(number):
    own = number % 2
    for turn in range(30):
        compute(100 * number + turn, weights[own], f"cuda:{own}")
        if turn % 10 == 0:
            moved = put(numbers(turn), device=f"cuda:{own}").to_device(f"cuda:{1 - own}")
            assert np.array_equal(np.asarray(f(moved, weights[1 - own])), right(numbers(turn)))
in_threads(4, work)
del weights, f
"""
    assert start(COMPUTE + program + END, FERRULE_EMULATION_DEVICES="2").leaks() == {}


def test_module_is_unloaded_while_threads_compute(start: Processes) -> None:
    """The module stays while arrays are alive, and the threads go on."""
    program = """
outcomes = []
begun = threading.Barrier(4)
def work(number):
    w = put(fixed)
    kept = put(np.arange(100)) + number
    fe.eval(kept)
    begun.wait()
    for turn in range(60):
        if number == 0 and turn == 20:
            outcomes.append(str(attempt(lambda: fe.unload("cuda"))))
        try:
            compute(100 * number + turn, w)
            outcomes.append("right")
        except fe.Error as error:
            outcomes.append(f"{type(error).__name__}: {error}")
            break
    try:
        assert np.asarray(kept).tolist() == (np.arange(100) + number).tolist()
        outcomes.append("kept")
    except fe.Error as error:
        outcomes.append(f"{type(error).__name__}: {error}")
in_threads(4, work)
del f
gc.collect()
print(json.dumps(sorted(set(outcomes))))
attempt(lambda: fe.unload("cuda"))
assert (fe.arange(3, device="cpu") * 2).tolist() == [0, 2, 4]
"""
    done = start(COMPUTE + program)
    refused, *others = json.loads(done.output)
    assert refused.startswith("InvalidArgumentError: backend cuda cannot be unloaded: on device cuda:0 there still is ")
    assert others == ["kept", "right"]
    assert done.leaks() == {}


def test_module_is_unloaded_again_and_again(start: Processes) -> None:
    program = """
import time
def work(number):
    for turn in range(15):
        if number == 0: attempt(lambda: fe.unload("cuda"))
        try:
            fe.load_all()
            w = put(fixed)
            compute(100 * number + turn, w)
        except (fe.Error, KeyError) as error:
            assert "cuda" in str(error), error
        del w
        gc.collect()
in_threads(3, work)
del f
gc.collect()
attempt(lambda: fe.unload("cuda"))
assert (fe.arange(3, device="cpu") * 2).tolist() == [0, 2, 4]
"""
    assert start(COMPUTE + program).leaks() == {}


@pytest.mark.parametrize("error", ["cudaErrorIllegalAddress", "cudaErrorECCUncorrectable"])
def test_device_that_fails_below_threads_gives_each_an_error(error: str, start: Processes) -> None:
    program = """
lost = []
w = put(fixed)
def work(number):
    for turn in range(60):
        try:
            compute(100 * number + turn, w)
        except fe.DeviceLostError:
            lost.append(number)
            return
in_threads(4, work)
print(sorted(lost))
assert (fe.arange(3, device="cpu") * 2).tolist() == [0, 2, 4]
"""
    done = start(COMPUTE + program, FERRULE_EMULATION_FAULT_AT=f"150:{error}")
    assert done.output == "[0, 1, 2, 3]\n"


def test_process_that_ends_while_threads_compute_ends_at_once(start: Processes) -> None:
    program = """
import time
w = put(fixed)
compute(1, w)
def work(number):
    turn = 0
    while True:
        turn += 1
        compute(turn, w)
for number in range(3): threading.Thread(target=work, args=(number,), daemon=True).start()
time.sleep(0.5)
print("ends")
"""
    assert start(COMPUTE + program).output == "ends\n"

"""Several threads with one device: compiling, executing, copying, waiting, unloading, with faults below them.

Each result is right or an error of its own; nothing hangs or crashes, and no object of Metal is left.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from backend_processes import THREADS, Processes

Run = Callable[..., str]

# `compute` runs a graph of several kernels with the numbers of a turn, and compares with NumPy.
COMPUTE = (
    THREADS
    + """
import gc, json, mmap, os, random, tempfile
fixed = np.random.default_rng(7).integers(-3, 3, (24, 24)).astype(np.float32)
f = fe.graph(lambda x, w: fe.sum(fe.relu(x @ w) @ w, axis=-1) + x[:, 0])
def put(values, dtype=np.float32, device="metal:0"):
    return fe.asarray(np.array(values, dtype), device=device)
def right(x):
    return (np.maximum(x @ fixed, 0) @ fixed).sum(axis=-1) + x[:, 0]
def numbers(seed, rows=9):
    return np.random.default_rng(seed).integers(-9, 9, (rows, 24)).astype(np.float32)
def compute(seed, w, device="metal:0", rows=9):
    x = numbers(seed, rows)
    assert np.array_equal(np.asarray(f(put(x, device=device), w)), right(x)), seed
"""
)
END = """
del f
gc.collect()
fe.unload("metal")
"""
LEAKS = {"FERRULE_EMULATION_METAL_LEAKS": "1"}  # the log must be empty


def test_threads_share_graphs_weights_and_shapes(run: Run) -> None:
    program = """
w = put(fixed)
def work(number):
    for turn in range(20): compute(100 * number + turn, w, rows=1 + turn % 4)
in_threads(4, work)
del w
"""
    run(COMPUTE + program + END, **LEAKS)


@pytest.mark.parametrize("unified", ["0", "1"])
def test_threads_compile_and_destroy_graphs_at_once(unified: str, run: Run) -> None:
    """Some compile the same kernels as others, some kernels of their own; each pipeline is looked up and archived."""
    program = """
ops = [fe.exp, fe.log1p, fe.sqrt, fe.tanh]
oracles = [np.exp, np.log1p, np.sqrt, np.tanh]
begun = threading.Barrier(4)
def work(number):
    begun.wait()
    for turn in range(8):
        at = turn // 2 if turn % 2 else (number + turn // 2) % 4
        own = fe.graph(lambda x: fe.sum(ops[at](x) * 2 + turn, axis=0))
        x = np.random.default_rng(turn).random((5, 7), dtype=np.float32)
        assert np.allclose(np.asarray(own(put(x))), (oracles[at](x) * 2 + turn).sum(axis=0), rtol=1e-5)
        del own
in_threads(4, work)
"""
    run(COMPUTE + program + END, FERRULE_EMULATION_METAL_UNIFIED=unified, **LEAKS)


@pytest.mark.parametrize("unified", ["0", "1"])
def test_threads_copy_wait_and_borrow_beside_each_other(unified: str, run: Run) -> None:
    program = """
w = put(fixed)
def work(number):
    waiting = []
    pages = np.frombuffer(mmap.mmap(-1, 16384), np.float32)
    pages[:] = number
    for turn in range(16):
        y = f(put(numbers(turn)), w)
        fe.eval(y, wait=False)
        waiting.append((turn, y))
        z = put(np.full(3000, turn)) + number
        back = z.to_device("cpu")
        assert np.asarray(back)[[0, -1]].tolist() == [turn + number] * 2
        borrowed = fe.asarray(pages, device="metal:0")
        assert int(np.asarray(fe.sum(borrowed))) == 4096 * number
        if turn % 4 == number: fe.synchronize("metal:0")
        if turn % 4 == 3:
            for seed, y in waiting: assert np.array_equal(np.asarray(y), right(numbers(seed)))
            waiting.clear()
in_threads(4, work)
del w
"""
    run(COMPUTE + program + END, FERRULE_EMULATION_METAL_UNIFIED=unified, **LEAKS)


def test_trimming_takes_nothing_that_others_use(run: Run) -> None:
    program = """
w = put(fixed)
def work(number):
    kept = []
    for turn in range(30):
        if number == 0:
            fe.trim("metal:0")
            fe.synchronize("metal:0")
            continue
        compute(100 * number + turn, w)
        kept.append(put(np.full(5000, turn)) + number)
        if len(kept) > 5: assert np.asarray(kept.pop(0))[-1] == turn - 5 + number
in_threads(4, work)
del w
"""
    run(COMPUTE + program + END, **LEAKS)


def test_threads_that_run_out_of_memory_get_an_error_and_others_right_results(run: Run) -> None:
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
    outcomes = json.loads(run(COMPUTE + program + END, FERRULE_EMULATION_METAL_MEMORY=str(6 << 20), **LEAKS))
    assert outcomes["right"] > 20
    assert outcomes["memory"] > 0


def test_error_of_a_thread_is_not_one_of_another(run: Run) -> None:
    program = """
x = put(np.arange(4))
def work(number):
    for turn in range(20):
        index = number if turn % 2 else 100 + 50 * number + turn
        found = attempt(lambda: fe.take(x, put([index], np.int64), axis=0) + 1)
        sentence = f"InvalidArgumentError: take: index {index} is out of bounds for axis 0 with size 4"
        assert found == ([number + 1] if turn % 2 else sentence), found
in_threads(4, work)
del x
"""
    run(COMPUTE + program + END, **LEAKS)


def test_traces_of_one_thread_leave_results_of_others_alone(run: Run) -> None:
    program = """
import warnings
warnings.simplefilter("ignore", RuntimeWarning)  # work of others that is not over has no event
w = put(fixed)
def work(number):
    for turn in range(10):
        if number == 0:
            with fe.trace(os.path.join(tempfile.mkdtemp(dir="."), "run.json")): compute(turn, w)
        else:
            compute(100 * number + turn, w)
in_threads(4, work)
del w
"""
    run(COMPUTE + program + END, **LEAKS)


def test_two_devices_are_independent(run: Run) -> None:
    program = """
weights = [put(fixed, device=f"metal:{i}") for i in range(2)]
def work(number):
    own = number % 2
    for turn in range(15):
        compute(100 * number + turn, weights[own], f"metal:{own}")
        if turn % 5 == 0:
            moved = put(numbers(turn), device=f"metal:{own}").to_device(f"metal:{1 - own}")
            assert np.array_equal(np.asarray(f(moved, weights[1 - own])), right(numbers(turn)))
in_threads(4, work)
del weights
"""
    run(COMPUTE + program + END, FERRULE_EMULATION_METAL_DEVICES="2", **LEAKS)


def test_module_is_unloaded_again_and_again(run: Run) -> None:
    program = """
def work(number):
    for turn in range(10):
        if number == 0: attempt(lambda: fe.unload("metal"))
        w = None
        try:
            fe.load_all()
            w = put(fixed)
            compute(100 * number + turn, w)
        except (fe.Error, KeyError) as error:
            assert "metal" in str(error), error
        del w
        gc.collect()
in_threads(3, work)
del f
gc.collect()
attempt(lambda: fe.unload("metal"))
assert (fe.arange(3, device="cpu") * 2).tolist() == [0, 2, 4]
"""
    run(COMPUTE + program, **LEAKS)


@pytest.mark.parametrize("error", ["device_removed", "access_revoked"])
def test_device_that_is_lost_below_threads_gives_each_an_error(error: str, start: Processes) -> None:
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
    done = start(COMPUTE + program, FERRULE_EMULATION_METAL_FAULT=f"{error}:40")
    assert done.output == "[0, 1, 2, 3]\n"


def test_command_buffers_that_fail_are_errors_of_their_threads(start: Processes) -> None:
    program = """
outcomes = []
w = put(fixed)
def work(number):
    for turn in range(20):
        try:
            compute(100 * number + turn, w)
            outcomes.append("right")
        except fe.InternalError as error:
            assert "Simulated Metal device could not do its work" in str(error), error
            outcomes.append("wrong")
in_threads(4, work)
print(outcomes.count("right") + outcomes.count("wrong"), outcomes.count("wrong"))
"""
    faults = ",".join(f"page_fault:{number}" for number in (20, 45, 70))
    all_, wrong = map(int, start(COMPUTE + program, FERRULE_EMULATION_METAL_FAULT=faults).output.split())
    assert all_ == 80
    assert 1 <= wrong <= 12  # work that was submitted together may share an error


def test_process_that_ends_while_threads_compute_ends_at_once(run: Run) -> None:
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
    assert run(COMPUTE + program) == "ends\n"

"""Several threads with one device: compiling, executing, copying, waiting, unloading, with faults below them.

Each result is right or an error of its own; nothing hangs or crashes, and no object of Metal is left.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import thread_programs
from backend_processes import Processes
from thread_programs import END

Run = Callable[..., str]

COMPUTE = thread_programs.head("metal", turns=20)
LEAKS = {"FERRULE_EMULATION_METAL_LEAKS": "1"}  # the log must be empty


def test_threads_share_graphs_weights_and_shapes(run: Run) -> None:
    run(COMPUTE + thread_programs.SHARE_GRAPHS + END, **LEAKS)


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
    run(thread_programs.head("metal", turns=30) + thread_programs.TRIM + END, **LEAKS)


def test_threads_that_run_out_of_memory_get_an_error_and_others_right_results(run: Run) -> None:
    program = COMPUTE + thread_programs.RUN_OUT_OF_MEMORY + END
    outcomes = json.loads(run(program, FERRULE_EMULATION_METAL_MEMORY=str(6 << 20), **LEAKS))
    assert outcomes["right"] > 20
    assert outcomes["memory"] > 0


def test_error_of_a_thread_is_not_one_of_another(run: Run) -> None:
    program = """
x = put(np.arange(4))
def work(number):
    for turn in range(20):
        index = number if turn % 2 else 100 + 50 * number + turn
        found = attempt(lambda: fe.take(x, put([index], np.int64), axis=0) + 1)
        sentence = f"OutOfRangeError: take: index {index} is out of bounds for axis 0 with size 4"
        assert found == ([number + 1] if turn % 2 else sentence), found
in_threads(4, work)
del x
"""
    run(COMPUTE + program + END, **LEAKS)


def test_traces_of_one_thread_leave_results_of_others_alone(run: Run) -> None:
    # Work of others that is not over has no event.
    quiet = 'import warnings\nwarnings.simplefilter("ignore", RuntimeWarning)\n'
    run(quiet + thread_programs.head("metal", turns=10) + thread_programs.TRACE + END, **LEAKS)


def test_two_devices_are_independent(run: Run) -> None:
    run(COMPUTE + thread_programs.TWO_DEVICES + END, FERRULE_EMULATION_METAL_DEVICES="2", **LEAKS)


def test_module_is_unloaded_again_and_again(run: Run) -> None:
    run(thread_programs.head("metal", turns=10) + thread_programs.LOAD_AGAIN, **LEAKS)


@pytest.mark.parametrize("error", ["device_removed", "access_revoked"])
def test_device_that_is_lost_below_threads_gives_each_an_error(error: str, start: Processes) -> None:
    done = start(COMPUTE + thread_programs.LOSE_DEVICE, FERRULE_EMULATION_METAL_FAULT=f"{error}:40")
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
    assert run(COMPUTE + thread_programs.END_OF_PROCESS) == "ends\n"

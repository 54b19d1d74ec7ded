"""Several threads with one device: graphs, memory that runs out, trimming, tracing, modules that are unloaded.

Each result is right or an error of its own; nothing hangs, crashes or leaks.
"""

from __future__ import annotations

import json

import pytest
import thread_programs
from thread_programs import END

from csrc.backends.cuda.tests.processes import Processes

COMPUTE = thread_programs.head("cuda", turns=40)


def test_threads_share_graphs_weights_and_shapes(start: Processes) -> None:
    assert start(COMPUTE + thread_programs.SHARE_GRAPHS + END).leaks() == {}


def test_trimming_takes_nothing_that_others_use(start: Processes) -> None:
    program = thread_programs.head("cuda", turns=60) + thread_programs.TRIM + END
    assert start(program).leaks() == {}


@pytest.mark.parametrize("variable", ["FERRULE_CUDA_MEMORY_LIMIT", "FERRULE_EMULATION_MEMORY"])
def test_threads_that_run_out_of_memory_get_an_error_and_others_right_results(variable: str, start: Processes) -> None:
    done = start(COMPUTE + thread_programs.RUN_OUT_OF_MEMORY + END, **{variable: str(6 << 20)})
    outcomes = json.loads(done.output)
    assert outcomes["right"] > 20
    assert outcomes["memory"] > 0
    assert done.leaks() == {}


def test_traces_of_one_thread_leave_results_of_others_alone(start: Processes) -> None:
    program = thread_programs.head("cuda", turns=20) + thread_programs.TRACE + END
    assert start(program).leaks() == {}


def test_two_devices_are_independent(start: Processes) -> None:
    program = COMPUTE + thread_programs.TWO_DEVICES + END
    assert start(program, FERRULE_EMULATION_DEVICES="2").leaks() == {}


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
    program = thread_programs.head("cuda", turns=15) + thread_programs.LOAD_AGAIN
    assert start(program).leaks() == {}


@pytest.mark.parametrize("error", ["cudaErrorIllegalAddress", "cudaErrorECCUncorrectable"])
def test_device_that_fails_below_threads_gives_each_an_error(error: str, start: Processes) -> None:
    done = start(COMPUTE + thread_programs.LOSE_DEVICE, FERRULE_EMULATION_FAULT_AT=f"150:{error}")
    assert done.output == "[0, 1, 2, 3]\n"


def test_process_that_ends_while_threads_compute_ends_at_once(start: Processes) -> None:
    assert start(COMPUTE + thread_programs.END_OF_PROCESS).output == "ends\n"

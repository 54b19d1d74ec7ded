"""Failing devices, command buffers, compilers and allocations: each gives its own error, and nothing else fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

CALCULATE = """
try:
    x = fe.asarray(np.ones(8, np.float32), device="metal:0")
    print(np.asarray(fe.exp(x) + 1).shape)
except Exception as error:
    print(type(error).__name__, "|", error)
y = fe.asarray(np.full(8, 2, np.float32), device="cpu")
print(np.asarray(y * 2).tolist()[:1])
"""


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("out_of_memory", "OutOfMemoryError"),
        ("timeout", "TimeoutError"),
        ("page_fault", "InternalError"),
        ("device_removed", "DeviceLostError"),
        ("access_revoked", "DeviceLostError"),
    ],
)
def test_error_of_a_command_buffer_is_the_error_of_its_result(fault: str, kind: str, run: Run) -> None:
    lines = run(CALCULATE, FERRULE_EMULATION_METAL_FAULT=f"{fault}:1", FERRULE_LOG="error").splitlines()
    assert lines[0].startswith(kind), lines
    assert "Simulated Metal device" in lines[0]
    assert lines[1] == "[4.0]"


def test_later_work_runs_after_work_that_failed(run: Run) -> None:
    program = """
x = fe.asarray(np.ones(8, np.float32), device="metal:0")
failed = 0
for turn in range(4):
    try:
        assert np.asarray(fe.exp(x * 0) + turn).tolist() == [turn + 1.0] * 8
    except fe.errors.Error:
        failed += 1
print(failed)
"""
    assert run(program, FERRULE_EMULATION_METAL_FAULT="page_fault:2", FERRULE_LOG="error") == "1\n"


def test_kernel_that_metal_does_not_compile_is_an_error_with_its_log(run: Run) -> None:
    lines = run(
        CALCULATE, FERRULE_EMULATION_METAL_CALL_FAILS="newLibraryWithSource:options:error::*", FERRULE_LOG="error"
    ).splitlines()
    assert "kernel elementwise cannot be compiled" in lines[0]
    assert lines[1] == "[4.0]"


def test_gpu_with_simdgroups_of_another_width_runs_no_kernel(run: Run) -> None:
    variables = {"FERRULE_EMULATION_METAL_EXECUTION_WIDTH": "64", "FERRULE_LOG": "error"}
    refused, computed = run(CALCULATE, **variables).splitlines()
    assert refused.startswith("UnsupportedError"), refused
    assert "in simdgroups of 64 threads, not 32" in refused
    assert computed == "[4.0]"


@pytest.mark.parametrize("unified", ["0", "1"])
@pytest.mark.parametrize(
    "selector",
    [
        "newCommandQueue",
        "newSharedEvent",
        "commandBuffer",
        "computeCommandEncoderWithDispatchType:",
        "blitCommandEncoder",
        "newFunctionWithName:",
        "newLibraryWithSource:options:error:",
        "newComputePipelineStateWithDescriptor:options:reflection:error:",
        "newBufferWithBytesNoCopy:length:options:deallocator:",
    ],
)
def test_object_that_metal_does_not_make_is_an_error_and_never_a_wrong_result(
    selector: str, unified: str, run: Run
) -> None:
    program = """
import gc
def work():
    x = fe.asarray(np.arange(12, dtype=np.float32), device="metal:0")
    return np.asarray(fe.asarray(fe.exp(x * 0) + x, copy=True)).tolist()
outcomes = []
for _ in range(4):
    try:
        outcomes.append("right" if work() == [n + 1.0 for n in range(12)] else "wrong")
    except fe.errors.Error as error:
        outcomes.append("error")
print(*outcomes)
gc.collect()
fe.unload("metal")
"""
    variables = {"FERRULE_EMULATION_METAL_UNIFIED": unified, "FERRULE_EMULATION_METAL_LEAKS": "1"}
    for number in ("1", "2"):
        outcomes = run(program, FERRULE_EMULATION_METAL_CALL_FAILS=f"{selector}:{number}", **variables).split()
        assert outcomes.count("error") <= 1
        assert outcomes.count("right") >= 3, outcomes
    outcomes = run(program, FERRULE_EMULATION_METAL_CALL_FAILS=f"{selector}:*", **variables).split()
    assert "wrong" not in outcomes


def test_options_of_tests_fail_what_they_name(run: Run) -> None:
    assert "OutOfMemoryError" in run(CALCULATE, FERRULE_METAL_OUT_OF_MEMORY_AT="1", FERRULE_LOG="error")
    assert "DeviceLostError" in run(CALCULATE, FERRULE_METAL_DEVICE_LOST_AT="1", FERRULE_LOG="error")
    assert "failed execution 1, as requested" in run(
        CALCULATE, FERRULE_METAL_EXECUTION_FAILS_AT="1", FERRULE_LOG="error"
    )
    assert "cannot be compiled, as requested" in run(CALCULATE, FERRULE_METAL_LIBRARY_FAILS_AT="1", FERRULE_LOG="error")


def test_bad_indices_and_powers_are_errors_of_the_array(run: Run) -> None:
    program = """
x = fe.asarray(np.arange(12, dtype=np.int32).reshape(3, 4), device="metal:0")
i = fe.asarray(np.array([0, 3]), device="metal:0")
for attempt in (lambda: fe.take(x, i, axis=0), lambda: fe.pow(x, x - 5)):
    try:
        np.asarray(attempt())
    except fe.errors.Error as error:
        print(error)
"""
    first, second = run(program, FERRULE_LOG="error").splitlines()
    assert "index 3 is out of bounds for axis 0 with size 3" in first
    assert "int32 to a negative integer power" in second


def test_a_graph_that_failed_computes_when_it_is_called_again(run: Run) -> None:
    program = """
@fe.graph
def rows(x, i):
    return fe.take(x, i, axis=0) * 2

x = fe.asarray(np.arange(12, dtype=np.float32).reshape(3, 4), device="metal:0")
for last in (3, 2, 3, 2):
    try:
        print(np.asarray(rows(x, fe.asarray(np.array([0, last]), device="metal:0")))[:, 0].tolist())
    except fe.errors.Error as error:
        print(str(error).partition(":")[0])
"""
    assert run(program, FERRULE_LOG="error") == "take\n[0.0, 16.0]\n" * 2

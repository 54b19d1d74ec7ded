"""A device that fails at any call: typed errors that name device and call, no hang, no crash, no leak, and a CPU that
goes on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.cuda.tests.processes import Done, Processes

Run = Callable[..., str]

# Every kind of call once. The outcome of a step is "right", or its error.
WORKLOAD = """
steps = {}
def step(name, call, right):
    found = attempt(call)
    if found != right: assert isinstance(found, str), (name, found, right)
    steps[name] = "right" if found == right else found
def kept():
    global x
    x = put([1, 2])
    return x + 1
def traced():
    with fe.trace(os.path.join(tempfile.mkdtemp(), "run.json")): return np.asarray(f(x))
def waiting():
    # The download has its own queue, which waits for the sum.
    y = fe.sum(fe.exp(x[:1] * fe.zeros((1 << 15,), device="cuda")), keepdims=True)
    fe.eval(y, wait=False)
    return y.to_device("cpu")
def pinned():
    host = fe.host_empty((1 << 16,), device="cuda")
    host[:] = 5
    return float(fe.asarray(host, device="cuda", copy=True)[9])
def borrowed():
    memory = page(1024)
    memory[:] = 1
    return float(fe.sum(fe.buffer_from_host_ptr(memory, "cuda")))
x = None
f = fe.graph(lambda x: fe.sum(fe.exp(x * 0) + x, axis=0, keepdims=True) @ fe.ones((1, 1), device="cuda"))
if row.state == "loaded":
    step("first", kept, [2, 3])
    if x is not None:
        for turn in range(4): step(f"graph {turn}", lambda: f(x), [5])
        step("index", lambda: fe.take(x, put([1], np.int64), axis=0), [2])
        step("trace", traced, [5])
    if x is not None:
        step("wait", waiting, [1 << 15])
    step("pinned", pinned, 5)
    step("borrowed", borrowed, 1024)
    step("fill", lambda: fe.full((3, 5), 7, device="cuda") * 1, [[7] * 5] * 3)
    step("new array", lambda: put([1, 2]) + 1, [2, 3])
    if x is not None: step("old array", lambda: x + 1, [2, 3])
assert (fe.arange(3, device="cpu") * 2).tolist() == [0, 2, 4]
again = []
if any("lost" in text for text in steps.values()):
    fe.refresh()
    again = [attempt(lambda: put([1, 2]) + 1) for _ in range(2)]
print(json.dumps([row.state, row.reason, list(steps.values()), again]))
x = None
del f
if row.state == "loaded": fe.unload("cuda")
"""
INTEGRATED = {"FERRULE_EMULATION_INTEGRATED": "1"}  # such devices borrow by default
TYPED = re.compile(r"(DeviceLost|OutOfMemory|Unsupported|Internal)Error: .*(emulated|cuda:0).*cuda[A-Z]\w+", re.DOTALL)


def check(done: Done, lasts: bool) -> None:
    state, reason, steps, again = json.loads(done.output)
    if state != "loaded":
        assert re.search(r"cuda[A-Z]\w+", reason), reason
        return
    errors = [step for step in steps if step != "right"]
    assert all(TYPED.match(error) for error in errors), errors
    if not lasts:
        assert len(errors) <= 1, errors
    elif errors:  # none if the call that fails is one at the end
        assert steps[steps.index(errors[0]) :] == errors, "the device is not lost"
        assert all(error.startswith("DeviceLostError: ") for error in errors + again), errors + again


@pytest.mark.parametrize("number", range(1, 24, 2))
def test_lasting_fault_of_any_operation_loses_the_device_for_good(number: int, start: Processes) -> None:
    """An operation is a kernel, a copy or a fill, which the stream runs later than the call."""
    done = start(WORKLOAD, **INTEGRATED, FERRULE_EMULATION_FAULT_AT=f"{number}:cudaErrorECCUncorrectable")
    check(done, True)
    _, _, steps, again = json.loads(done.output)
    assert any("emulated was lost: " in step for step in steps), "the workload has fewer operations"
    assert len(again) == 2
    assert done.leaks() == {}


FUNCTIONS = [
    "cudaGetDeviceCount",
    "cudaGetDeviceProperties",
    "cudaDriverGetVersion",
    "cudaDeviceGetAttribute",
    "cudaSetDevice",
    "cudaStreamCreateWithFlags",
    "cudaMallocAsync",
    "cudaFreeAsync",
    "cudaHostAlloc",
    "cudaFreeHost",
    "cudaHostRegister",
    "cudaHostGetDevicePointer",
    "cudaHostUnregister",
    "cudaMemcpyAsync",
    "cudaMemsetAsync",
    "cudaLibraryLoadData",
    "cudaLibraryGetKernel",
    "cudaLaunchKernel",
    "cudaGraphCreate",
    "cudaGraphAddKernelNode",
    "cudaGraphInstantiate",
    "cudaGraphLaunch",
    "cudaEventCreateWithFlags",
    "cudaEventRecord",
    "cudaEventQuery",
    "cudaEventSynchronize",
    "cudaEventElapsedTime",
    "cudaEventDestroy",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
    "cudaStreamQuery",
    "cudaStreamDestroy",
    "cudaGraphExecDestroy",
    "cudaGraphDestroy",
    "cudaLibraryUnload",
    "cudaThreadExchangeStreamCaptureMode",
    "cudaGetDriverEntryPointByVersion",
]


ENDS = {
    "cudaFreeAsync": "memory",
    "cudaFreeHost": "host memory",
    "cudaHostUnregister": "registration",
    "cudaStreamDestroy": "stream",
    "cudaEventDestroy": "event",
    "cudaGraphDestroy": "graph",
    "cudaGraphExecDestroy": "executable graph",
    "cudaLibraryUnload": "library",
}


def without(done: Done, function: str) -> dict[str, int]:
    """The leaks, but for what the failed call should have ended."""
    leaks = done.leaks()
    if leaks.get(ENDS.get(function, ""), 0) == 1:
        del leaks[ENDS[function]]
    return leaks


@pytest.mark.parametrize(
    ("function", "number"),
    [
        *((function, 1) for function in FUNCTIONS),
        ("cudaMallocAsync", 3),
        ("cudaMemcpyAsync", 3),
        ("cudaLaunchKernel", 4),
        ("cudaStreamCreateWithFlags", 3),
        ("cudaEventRecord", 5),
    ],
)
def test_call_that_fails_once_is_at_most_one_error(function: str, number: int, start: Processes) -> None:
    done = start(WORKLOAD, **INTEGRATED, FERRULE_EMULATION_CALL_FAILS=f"{function}:{number}:cudaErrorMemoryAllocation")
    assert f"failed {function}" in done.calls
    check(done, False)
    assert without(done, function) == {}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_call_that_finds_the_device_lost_is_an_error_until_the_process_ends(function: str, start: Processes) -> None:
    done = start(WORKLOAD, **INTEGRATED, FERRULE_EMULATION_CALL_FAILS=f"{function}:1:cudaErrorIllegalAddress")
    assert f"failed {function}" in done.calls
    check(done, True)
    assert without(done, function) == {}


def test_any_call_may_be_the_first_that_fails(start: Processes) -> None:
    """All calls of the workload, by number, in steps: neighbours are calls of the same kind."""
    count = len([line for line in start(WORKLOAD, **INTEGRATED).calls if line.startswith("cuda")])
    assert count > 150
    for number in range(1, count, 17):
        check(start(WORKLOAD, **INTEGRATED, FERRULE_EMULATION_CALL_FAILS=f"*:{number}:cudaErrorLaunchFailure"), True)


@pytest.mark.parametrize("function", ["cudaHostAlloc", "cudaLibraryLoadData", "cudaLibraryGetKernel"])
@pytest.mark.parametrize(("error", "lasts"), [("cudaErrorLaunchFailure", True), ("cudaErrorMemoryAllocation", False)])
def test_errors_of_what_parts_of_the_device_call_name_the_device(
    function: str, error: str, lasts: bool, start: Processes
) -> None:
    """Copies of faults, pinned memory and kernels are fetched at different times; each call may be the one that fails,
    or the first that hears that earlier work lost the device."""
    count = start(WORKLOAD, **INTEGRATED).calls.count(function)
    assert count > 1
    for number in range(1, count + 1):
        done = start(WORKLOAD, **INTEGRATED, FERRULE_EMULATION_CALL_FAILS=f"{function}:{number}:{error}")
        if f"failed {function}" in done.calls:
            check(done, lasts)


def test_requested_loss_ends_with_a_refresh(run: Run) -> None:
    program = """
x = put([1, 2])
print(json.dumps([attempt(lambda: x + 1), attempt(lambda: x + 1), attempt(lambda: x + 2)]))
fe.refresh()
print(json.dumps([attempt(lambda: x + 1)[:15], attempt(lambda: put([1, 2]) + 1)]))
"""
    first, second = map(json.loads, run(program, FERRULE_CUDA_DEVICE_LOST_AT="2").splitlines())
    assert first[0] == [2, 3]
    assert all(error.startswith("DeviceLostError: ") for error in first[1:])
    assert "emulated was lost at execution 2, as requested" in first[1]
    assert second == ["DeviceLostError", [2, 3]]


def test_loss_of_one_device_leaves_the_other(run: Run) -> None:
    program = """
x, y = put([1, 2], device="cuda:0"), put([3, 4], device="cuda:1")
print(json.dumps([attempt(lambda: y + 1), attempt(lambda: x + 1)]))
print(json.dumps([attempt(lambda: x + 1), attempt(lambda: x.to_device("cuda:1"))]))
for _ in range(3): print(json.dumps([attempt(lambda: y * 2)]))
"""
    # y + 1 is an upload, a kernel and a download of device 1; the next operation that fails is of device 0.
    lines = run(
        program, FERRULE_EMULATION_DEVICES="2", FERRULE_EMULATION_FAULT_AT="5:cudaErrorLaunchTimeout"
    ).splitlines()
    first, second, *others = map(json.loads, lines)
    assert first[0] == [4, 5]
    assert first[1].startswith("DeviceLostError: emulated was lost: ")
    assert all(error.startswith("DeviceLostError: ") for error in second), second
    assert others == [[[6, 8]]] * 3


def test_crash_of_a_kernel_is_the_loss_of_its_device(run: Run) -> None:
    """All threads that wait get the error."""
    program = """
x = put(np.arange(100))
errors = []
def work(number):
    for _ in range(5): errors.append(attempt(lambda: (x + number)[:2]))
in_threads(4, work)
print(json.dumps([len(errors), [error for error in errors if isinstance(error, str)]]))
"""
    count, errors = json.loads(run(program, FERRULE_EMULATION_FAULT_AT="9:cudaErrorIllegalAddress"))
    assert count == 20
    assert len(errors) >= 10
    assert all(error.startswith("DeviceLostError: ") and "cudaErrorIllegalAddress" in error for error in errors)


def test_lasting_error_that_is_of_no_device_loses_none(run: Run) -> None:
    program = """
memory = page(1024)
x = put([1, 2])
y = fe.buffer_from_host_ptr(memory, "cuda")
print(y.placement)
print(attempt(lambda: x + 1), attempt(lambda: y[:2] + 1))
"""
    placement, sums = run(
        program, **INTEGRATED, FERRULE_EMULATION_CALL_FAILS="cudaHostRegister:1:cudaErrorUnknown:passes"
    ).splitlines()
    assert placement.startswith("copied: the driver does not register this memory (cudaErrorUnknown")
    assert sums == "[2.0, 3.0] [1.0, 1.0]"


def test_device_that_waits_for_a_lost_one_is_not_lost(run: Run) -> None:
    """The driver returns the error of an event's device to the device whose queue is to wait for the event."""
    program = """
import time
x, y = put([1, 2], device="cuda:0"), put([3, 4], device="cuda:1")
fe.eval(x), fe.eval(y)
bad = x + 1
fe.eval(bad, wait=False)
time.sleep(0.1)
print(json.dumps([attempt(lambda: bad.to_device("cuda:1")), attempt(lambda: y * 2)]))
print(json.dumps([attempt(lambda: x + 1), attempt(lambda: y + 1)]))
"""
    # The operations are two uploads and the kernel that fails.
    first, second = map(
        json.loads,
        run(program, FERRULE_EMULATION_DEVICES="2", FERRULE_EMULATION_FAULT_AT="3:cudaErrorLaunchTimeout").splitlines(),
    )
    assert first[0].startswith("DeviceLostError: ")
    assert first[1] == [6, 8]
    assert second[0].startswith("DeviceLostError: device cuda:0 was lost (emulated was lost: ")
    assert second[1] == [4, 5]


def test_requested_loss_waits_for_the_work_of_the_device(run: Run) -> None:
    """Memory of a lost device is used again at once."""
    program = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).resolve().parents[4])!r})
from csrc.backends.cuda.tests.dlpack_objects import Stream
x = put([1, 2])
class Asked:
    def __dlpack_device__(self): return (2, 0)
    def __dlpack__(self, stream=None, **_):
        self.stream = stream
        raise BufferError("nothing to give")
asked = Asked()
attempt(lambda: fe.from_dlpack(asked))
other = Stream()
gate = other.hold()
other.keeps_waiting(asked.stream)
fe.eval(x + 1, wait=False)
is_open = []
threading.Timer(0.2, lambda: (is_open.append(True), gate.open())).start()
print(attempt(lambda: fe.eval(x + 2, wait=False)), is_open)
print(attempt(lambda: x + 3)[:15])
"""
    first, second = run(program, FERRULE_CUDA_DEVICE_LOST_AT="2").splitlines()
    assert first.endswith(" [True]")
    assert second == "DeviceLostError"

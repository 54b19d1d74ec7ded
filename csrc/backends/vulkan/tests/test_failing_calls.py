"""Each Vulkan call that may fail does so once: it gives a typed error, and the next computation is right."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from csrc.backends.vulkan.tests.environments import COMPUTING, Drivers
from csrc.backends.vulkan.tests.processes import Processes

Run = Callable[..., str]

PROGRAM = """
import json
fe.load_all()
errors = []
def compute():
    x = fe.asarray(np.array([1, 2], np.float32), device="vulkan")
    try:
        assert np.asarray(fe.exp(x * 0) + x).tolist() == [2, 3]
    except fe.Error as error:
        errors.append([type(error).__name__, str(error)])
        return False
    return True
def attempt():
    try:
        return compute()
    except fe.Error as error:  # of the device's opening, or of the memory of x
        errors.append([type(error).__name__, str(error)])
        return False
attempt()
if errors and errors[0][0] == "DeviceLostError":
    attempt()
    fe.refresh()
assert attempt() and attempt(), errors
assert np.asarray(fe.arange(3, device="cpu") * 2).tolist() == [0, 2, 4]
print(json.dumps(errors))
"""

OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY, INITIALIZATION_FAILED, DEVICE_LOST, UNKNOWN = -1, -2, -3, -4, -13


@pytest.mark.parametrize(
    ("function", "result", "kind", "sentence"),
    [
        ("vkCreateDevice", INITIALIZATION_FAILED, "UnsupportedError", "cannot be opened: vkCreateDevice came back"),
        ("vkCreateDevice", OUT_OF_HOST_MEMORY, "OutOfMemoryError", "cannot be opened: vkCreateDevice came back"),
        ("vkCreateBuffer", OUT_OF_DEVICE_MEMORY, "OutOfMemoryError", "cannot be opened: vkCreateBuffer came back"),
        ("vkCreateSemaphore", OUT_OF_HOST_MEMORY, "OutOfMemoryError", "VK_ERROR_OUT_OF_HOST_MEMORY"),
        ("vkAllocateCommandBuffers", OUT_OF_HOST_MEMORY, "OutOfMemoryError", "VK_ERROR_OUT_OF_HOST_MEMORY"),
        ("vkCreateShaderModule", OUT_OF_HOST_MEMORY, "OutOfMemoryError", "the shader elementwise."),
        ("vkCreateComputePipelines", UNKNOWN, "InternalError", "the shader elementwise."),
        ("vkCreateComputePipelines", DEVICE_LOST, "DeviceLostError", "the shader elementwise."),
        ("vkQueueSubmit", OUT_OF_DEVICE_MEMORY, "OutOfMemoryError", "VK_ERROR_OUT_OF_DEVICE_MEMORY"),
        ("vkQueueSubmit", DEVICE_LOST, "DeviceLostError", "was lost (vkQueueSubmit came back"),
        ("vkWaitSemaphores", DEVICE_LOST, "DeviceLostError", "was lost (vkWaitSemaphores came back"),
    ],
)
def test_call_that_fails_once_is_an_error_and_the_next_computation_is_right(
    function: str, result: int, kind: str, sentence: str, run: Run, drivers: Drivers
) -> None:
    errors = json.loads(run(PROGRAM, **drivers.failing(function, 1, 1, result)))
    assert {name for name, _ in errors} == {kind}
    assert sentence in errors[0][1]
    assert len(errors) == (2 if kind == "DeviceLostError" else 1), "an array of a lost device is lost, too"


def test_failed_block_allocation_is_retried_with_another_size(run: Run, drivers: Drivers) -> None:
    assert run(PROGRAM, **drivers.failing("vkAllocateMemory", 1, 1, OUT_OF_DEVICE_MEMORY)) == "[]\n"


def test_out_of_memory_error_names_bytes_and_device(run: Run, drivers: Drivers) -> None:
    [[kind, sentence]] = json.loads(run(PROGRAM, **drivers.failing("vkAllocateMemory", 1, 2, OUT_OF_DEVICE_MEMORY)))
    assert kind == "OutOfMemoryError"
    assert sentence.startswith("asarray: vulkan:0 has no 8 bytes: ")
    assert "vkAllocateMemory came back with VK_ERROR_OUT_OF_DEVICE_MEMORY" in sentence


# An execution takes 300 ms. The call that fails is a wait for it, or for a copy.
WAITS = f"""
import json, os, time
def executions():
    try:
        return open(os.environ["VULKAN_CARD_LOG"]).read().split().count("{COMPUTING}")
    except FileNotFoundError:  # nothing was submitted yet
        return 0
fe.load_all()
errors = []
def attempt(function):
    try:
        return function()
    except fe.Error as error:
        errors.append([type(error).__name__, str(error)])
def put(number):
    while (x := attempt(lambda: fe.asarray(np.full(1000, number, np.float32), device="vulkan"))) is None:
        fe.refresh()
    return x
x = put(3)
f = fe.graph(lambda x: x * 2)
before, began = executions(), time.monotonic()
y = attempt(lambda: np.asarray(f(x)))
took = time.monotonic() - began
assert took >= 0.3 or executions() == before, (took, errors)
others = [put(number) for number in range(5)]
time.sleep(0.4)  # what was not waited for would write now
for number, other in enumerate(others):
    found = attempt(lambda: np.asarray(other))
    assert found is None or (found == number).all(), found
fe.refresh()
for number in (4, 5):
    while (result := attempt(lambda: np.asarray(f(put(number))))) is None:
        fe.refresh()
    assert (result == 2 * number).all(), result
print(json.dumps(errors))
"""


@pytest.mark.parametrize("function", ["vkWaitSemaphores", "vkGetSemaphoreCounterValue"])
@pytest.mark.parametrize("first", range(1, 8))
def test_failed_wait_returns_when_the_work_ends(function: str, first: int, start: Processes, drivers: Drivers) -> None:
    slow = {**drivers.failing(function, first, 1, OUT_OF_HOST_MEMORY, of_card=True), "VULKAN_CARD_DELAYS": "300 0"}
    errors = json.loads(start(WAITS, **slow).output)
    assert len(errors) <= 1
    assert all(kind == "OutOfMemoryError" and function in sentence for kind, sentence in errors)


def test_device_without_any_end_signal_is_lost(start: Processes, drivers: Drivers) -> None:
    """The wait for the execution fails, and then the reset with which the core waits fails, too."""
    program = WAITS.replace("assert took >= 0.3 or executions() == before, (took, errors)", "")
    found = []
    for first in range(1, 6):
        failing = drivers.failing("vkWaitSemaphores", first, 2, OUT_OF_HOST_MEMORY, of_card=True)
        errors = json.loads(start(program, **{**failing, "VULKAN_CARD_DELAYS": "300 0"}).output)
        found += [sentence for kind, sentence in errors if kind == "DeviceLostError" and "counts as lost" in sentence]
    assert found
    assert "vkWaitSemaphores came back with VK_ERROR_OUT_OF_HOST_MEMORY" in found[0]

"""Missing, broken and old drivers, and failing devices: each gives a message, and other backends still work."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.vulkan.tests.environments import MESA, Drivers, compile_library
from csrc.backends.vulkan.tests.processes import ROW, Processes

Run = Callable[..., str]
CPU_GOES_ON = "assert np.asarray(fe.arange(3, device='cpu') * 2).tolist() == [0, 2, 4]\n"


def state_and_reason(start: Processes, **variables: str) -> tuple[str, str]:
    """State and reason in the module's row. A named module that was not loaded gives one warning with that reason."""
    done = start(ROW + CPU_GOES_ON, **variables)
    state, _, reason = done.output.strip().partition(" | ")
    assert reason in done.log
    return state, reason


# ---- the loader's library


def test_report_names_the_missing_vulkan_library_and_its_package(start: Processes, tmp_path: Path) -> None:
    hide = compile_library("hide_vulkan.c", tmp_path / "hide.so")
    state, reason = state_and_reason(start, LD_AUDIT=str(hide))
    assert state == "no_device"
    assert reason.startswith(
        "this system has no Vulkan loader library (Debian's package is libvulkan1): libvulkan.so.1"
    )


@pytest.mark.parametrize(
    ("definitions", "state", "sentence"),
    [
        (None, "incompatible", "the Vulkan loader is damaged: {}: it is a text file that begins with 'a text'"),
        (["NO_ENTRY"], "no_device", "libvulkan.so.1: it has no function vkGetInstanceProcAddr"),
        ([], "incompatible", "this system's Vulkan has no function vkCreateInstance"),
    ],
    ids=["a text", "another library", "a library that knows nothing"],
)
def test_library_that_is_not_vulkan_is_reported(
    definitions: list[str] | None, state: str, sentence: str, start: Processes, tmp_path: Path
) -> None:
    library = tmp_path / "libvulkan.so.1"
    if definitions is None:
        library.write_text("a text\n")
    else:
        compile_library("no_vulkan.c", library, *definitions)
    shutil.copy(library, tmp_path / "libvulkan.so")  # which is looked for next, and may be installed
    found, reason = state_and_reason(start, LD_LIBRARY_PATH=str(tmp_path))
    assert found == state
    assert sentence.format(library) in reason


# ---- drivers


def test_report_names_the_variable_if_no_driver_exists(start: Processes, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere.json"
    state, reason = state_and_reason(start, **Drivers.only(nowhere))
    assert state == "no_device"
    assert "no Vulkan driver could be loaded" in reason
    assert f"VK_ICD_FILENAMES is '{nowhere}'" in reason


@pytest.mark.parametrize(
    ("definition", "sentence"),
    [
        ("DRIVER_REFUSES=VK_ERROR_INITIALIZATION_FAILED", "no Vulkan driver could be loaded"),
        ("DRIVER_DEVICES=0", "no Vulkan driver finds a device"),
    ],
)
def test_driver_without_devices_gives_the_state_no_device(
    definition: str, sentence: str, start: Processes, drivers: Drivers
) -> None:
    state, reason = state_and_reason(start, **drivers.only(drivers.made(definition)))
    assert state == "no_device"
    assert sentence in reason


OLD = [
    ("DRIVER_VERSION=VK_API_VERSION_1_0", "Old Card lacks Vulkan 1.2 (it has 1.0)"),
    ("DRIVER_VERSION=VK_API_VERSION_1_1", "Old Card lacks Vulkan 1.2 (it has 1.1)"),
    ("DRIVER_VERSION=VK_API_VERSION_1_2", "Old Card lacks timelineSemaphore"),
]


@pytest.mark.parametrize(("definition", "sentence"), OLD)
@pytest.mark.parametrize("probe", ["never", "always"])
def test_device_lacking_features_is_not_listed_and_the_report_names_them(
    definition: str, sentence: str, probe: str, start: Processes, drivers: Drivers
) -> None:
    variables = drivers.only(drivers.made(definition))
    assert state_and_reason(start, FERRULE_PROBE=probe, **variables) == (
        "incompatible",
        f"no Vulkan device of this machine has what the backend needs: {sentence}",
    )


@pytest.mark.parametrize(("definition", "sentence"), OLD)
def test_device_lacking_features_beside_a_good_one_is_logged(
    definition: str, sentence: str, start: Processes, drivers: Drivers
) -> None:
    program = """
import logging
logging.basicConfig(level="INFO")
fe.load_all()
print([device.info["description"] for device in fe.devices() if device.backend.name == "vulkan"])
print(np.asarray(fe.ones(3, device="vulkan") + 1).tolist())
"""
    done = start(program, FERRULE_LOG="info", **drivers.only(drivers.made(definition), MESA))
    listed, sums = done.output.splitlines()
    assert "llvmpipe" in listed
    assert "Old Card" not in listed
    assert sums == "[2.0, 2.0, 2.0]"
    assert f"vulkan: a device is left out: {sentence}\n" in done.log


def test_invalid_driver_library_beside_a_good_one_is_harmless(run: Run, drivers: Drivers, tmp_path: Path) -> None:
    library = tmp_path / "libbroken.so"
    library.write_text("no library")
    assert run(ROW, **drivers.only(drivers.manifest(library), MESA)) == "loaded | \n"


def test_crashing_driver_ends_its_probe_and_not_the_program(start: Processes, drivers: Drivers) -> None:
    crashing = drivers.only(drivers.made("DRIVER_CRASHES"), MESA)
    state, reason = state_and_reason(start, FERRULE_PROBE="always", **crashing)
    assert state == "probe_failed"
    assert "SIGSEGV" in reason
    assert "step 'init'" in reason


# ---- a device that fails

ATTEMPT = """
def attempt(function):
    try: return np.asarray(function()).tolist()
    except fe.Error as error: return f"{type(error).__name__}: {error}"
fe.load_all()
def put(*numbers): return fe.asarray(np.array(numbers, np.float32), device="vulkan")
name = fe.device("vulkan").info["description"]
"""


def test_missing_validation_layer_is_an_error_that_names_layer_and_package(run: Run) -> None:
    program = """
message = attempt(lambda: put(1, 2))
assert message.startswith("UnsupportedError: "), message
print(message)
"""
    message = run(ATTEMPT + program, VK_LAYER_PATH="/nowhere")
    assert "validate needs VK_LAYER_KHRONOS_validation, which is not installed" in message
    assert "vulkan-validationlayers" in message


def test_lost_device_fails_all_its_arrays_until_refresh(run: Run) -> None:
    program = """
x, y, double = put(1, 2), put(3, 4), fe.graph(lambda a: a + a)
assert attempt(lambda: double(x)) == [2, 4]
first = attempt(lambda: x * 3)
assert first.startswith("DeviceLostError: " + name + " was lost at execution 2"), first
for later in (lambda: x, lambda: y, lambda: y + 1, lambda: put(5), lambda: double(y)):
    message = attempt(later)
    assert message.startswith("DeviceLostError: device vulkan:0 was lost ("), message
    assert "a refresh looks for the device again" in message
assert np.asarray(fe.arange(3, device="cpu") * 2).tolist() == [0, 2, 4]
assert any(device.backend.name == "vulkan" for device in fe.refresh())
assert attempt(lambda: double(put(1, 2))) == [2, 4]
assert attempt(lambda: y).startswith("DeviceLostError")
print("ok")
"""
    assert run(ATTEMPT + program, FERRULE_VULKAN_DEVICE_LOST_AT="2") == "ok\n"


def test_out_of_memory_names_bytes_and_device_and_smaller_allocations_work(run: Run) -> None:
    program = """
x = put(1, 2)
message = attempt(lambda: fe.asarray(np.ones(1 << 20, np.float32), device="vulkan"))
assert message.startswith("OutOfMemoryError: asarray: vulkan:0 has no 4194304 bytes: " + name), message
assert issubclass(fe.OutOfMemoryError, MemoryError)
assert attempt(lambda: x + put(3, 4)) == [4, 6]
print("ok")
"""
    assert run(ATTEMPT + program, FERRULE_VULKAN_OUT_OF_MEMORY_AT="2") == "ok\n"


def test_requesting_more_memory_than_the_device_has_is_an_error(run: Run) -> None:
    program = """
x = put(1, 2)
message = attempt(lambda: fe.broadcast_to(x[:1], (1 << 38,)) + 1)
assert message.startswith(f"OutOfMemoryError: vulkan:0 has no {1 << 40} bytes: "), message
assert name in message
assert attempt(lambda: x + 1) == [2, 3]
print("ok")
"""
    assert run(ATTEMPT + program) == "ok\n"


def test_shader_that_the_driver_cannot_compile_is_named_in_the_error(run: Run) -> None:
    program = """
x = put(1, 4)
assert attempt(lambda: x + 1) == [2, 5]
message = attempt(lambda: fe.sqrt(x))
assert message.startswith("InternalError: sqrt: the shader elementwise."), message
assert f"cannot be compiled for {name}: vkCreateComputePipelines came back with VK_ERROR_UNKNOWN" in message, message
assert attempt(lambda: x * 3) == [3, 12]
assert attempt(lambda: fe.sqrt(x)) == [1, 2]
print("ok")
"""
    assert run(ATTEMPT + program, FERRULE_VULKAN_SHADER_FAILS_AT="2") == "ok\n"

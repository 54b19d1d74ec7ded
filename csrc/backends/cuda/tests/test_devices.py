"""The devices that are found on machines of all kinds, and the sentence if there are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.cuda.tests.fake_driver import BROKEN_DRIVERS, HAS_DRIVER, fake_driver
from csrc.backends.cuda.tests.processes import Processes

Run = Callable[..., str]

ROW = """
print(row.state, "|", row.reason)
assert np.asarray(fe.arange(3, device="cpu") * 2).tolist() == [0, 2, 4]
"""
LIST = """
devices = [device.info for device in fe.devices(unified=False) if device.backend.name == "cuda"]
print(json.dumps([[info["name"], info["pci_address"], info["description"]] for info in devices]))
"""
GPU_0, GPU_1, GPU_2 = (f"GPU-656d756c-6174-6564-2d30-3{number}0000000000" for number in range(3))


@pytest.mark.parametrize(
    ("variables", "state", "reason"),
    [
        ({"FERRULE_EMULATION_DEVICES": "0"}, "no_device", "the NVIDIA driver lists no device"),
        (
            {"CUDA_VISIBLE_DEVICES": ""},
            "no_device",
            "the NVIDIA driver lists no device, and CUDA_VISIBLE_DEVICES is ''",
        ),
        (
            {"CUDA_VISIBLE_DEVICES": "nonsense"},
            "no_device",
            "the NVIDIA driver lists no device, and CUDA_VISIBLE_DEVICES is 'nonsense'",
        ),
        pytest.param(
            {"FERRULE_EMULATION_DRIVER": "0"},
            "no_device",
            "the NVIDIA driver is not installed: libcuda.so.1 was not found; install one for CUDA 13.0 or later",
            marks=pytest.mark.skipif(HAS_DRIVER, reason="the machine has a driver"),
        ),
        (
            {"FERRULE_EMULATION_DRIVER": "12080"},
            "incompatible",
            "the NVIDIA driver is for CUDA 12.8, and this module needs one for CUDA 13.0 or later",
        ),
        (
            {"FERRULE_EMULATION_CAPABILITY": "7.0"},
            "incompatible",
            "no CUDA device of this machine can be used: emulated has compute capability 7.0, driver for CUDA 13.0, "
            "and kernels need 7.5 or later",
        ),
        (
            {"FERRULE_EMULATION_CAPABILITY": "11.0"},
            "incompatible",
            "no CUDA device of this machine can be used: emulated has compute capability 11.0, driver for CUDA 13.0, "
            "for which there are no kernels",
        ),
        (
            {"FERRULE_EMULATION_POOLS": "0"},
            "incompatible",
            "no CUDA device of this machine can be used: emulated has no memory pools, from which this backend "
            "allocates",
        ),
        (
            {"FERRULE_EMULATION_COMPUTE_MODE": "prohibited"},
            "incompatible",
            "no CUDA device of this machine can be used: emulated has the compute mode prohibited, which nvidia-smi "
            "--compute-mode=DEFAULT ends",
        ),
        (
            {"FERRULE_EMULATION_CALL_FAILS": "cudaGetDeviceCount:1:cudaErrorSystemDriverMismatch"},
            "incompatible",
            "the NVIDIA driver lists no devices: cudaErrorSystemDriverMismatch: system has unsupported display driver "
            "/ cuda driver combination",
        ),
    ],
    ids=[
        "no device",
        "none visible",
        "nonsense",
        "no driver",
        "old driver",
        "old device",
        "device without kernels",
        "no pools",
        "prohibited",
        "failing call",
    ],
)
@pytest.mark.parametrize("probe", ["never", "always"])
def test_machine_without_a_device_gives_one_sentence_in_the_report(
    variables: dict[str, str], state: str, reason: str, probe: str, start: Processes
) -> None:
    done = start(ROW, FERRULE_PROBE=probe, **variables)
    assert done.output == f"{state} | {reason}\n"
    assert done.log.count("\n") == 1
    assert reason in done.log
    assert done.contexts() == set()


@pytest.mark.parametrize(("definitions", "sentence"), BROKEN_DRIVERS.values(), ids=BROKEN_DRIVERS)
def test_library_that_is_no_working_driver_is_named_with_what_it_says(
    definitions: tuple[str, ...], sentence: str, start: Processes, tmp_path: Path
) -> None:
    library = fake_driver(tmp_path / "driver", *definitions)
    done = start(ROW, FERRULE_EMULATION_DRIVER="0", LD_LIBRARY_PATH=str(library.parent))
    assert done.output == f"incompatible | {sentence.format(library)}\n"


def test_library_that_cannot_be_opened_is_told_with_what_the_loader_says(start: Processes, tmp_path: Path) -> None:
    library = tmp_path / "driver" / "libcuda.so.1"
    library.parent.mkdir()
    library.write_text("a text that is longer than the header of a library, which has 64 bytes\n")
    done = start(ROW, FERRULE_EMULATION_DRIVER="0", LD_LIBRARY_PATH=str(library.parent))
    why = f"{library}: invalid ELF header"
    assert done.output == f"incompatible | the NVIDIA driver cannot be opened: {why}; install it again\n"


def test_listing_devices_opens_none_and_creates_no_context(start: Processes) -> None:
    program = 'print({d.info["open"] for d in fe.devices() if d.backend.name == "cuda"})'
    done = start(program, FERRULE_EMULATION_DEVICES="3")
    assert done.output == "{False}\n"
    assert done.contexts() == set()
    assert set(done.calls) == {
        "cudaGetDeviceCount",
        "cudaGetDeviceProperties",
        "cudaDriverGetVersion",
        "cudaDeviceGetAttribute",
    }


# In a new thread device 0 is the current one, and a call that does not choose another one gives it a context.
SECOND = """
import gc
x = put(np.arange(6).reshape(2, 3), device="cuda:1")
f = fe.graph(lambda x: fe.sum(fe.exp(x) @ fe.ones((3, 3), device="cuda:1")))
things = {
    "result": f(x),
    "borrowed": fe.buffer_from_host_ptr(page(1024), "cuda:1", copy=False),
    "pinned": fe.host_empty((1 << 18,), device="cuda:1"),
    "array": fe.take(x, put([1], np.int64, "cuda:1"), axis=0),
}
fe.eval(things["result"], things["array"], wait=False)
def in_a_thread(work): in_threads(1, lambda _: work())
"""


@pytest.mark.parametrize(
    "last",
    [
        'in_a_thread(lambda: fe.eval(things["result"]))',
        'in_a_thread(lambda: things["array"].is_ready)',
        'in_a_thread(lambda: things.pop("borrowed"))',
        'in_a_thread(lambda: things.pop("pinned"))',
        "fe.synchronize(x.device); in_a_thread(lambda: (things.clear(), gc.collect(), fe.trim(x.device)))",
        'things.clear(); del x, f; in_a_thread(lambda: fe.unload("cuda"))',
    ],
)
def test_only_the_device_that_is_used_has_a_context(last: str, start: Processes) -> None:
    done = start(SECOND + last, FERRULE_EMULATION_DEVICES="2")
    assert done.contexts() == {1}


def test_closed_backend_has_given_back_all_that_it_took(start: Processes) -> None:
    program = """
with fe.trace(os.path.join(tempfile.mkdtemp(), "run.json")):
    np.asarray(f(x)), np.asarray(things["array"])
for _ in range(3): np.asarray(f(x))
del x, f, things
fe.unload("cuda")
"""
    done = start(SECOND + program, FERRULE_EMULATION_DEVICES="2")
    assert done.leaks() == {}
    assert "cudaGraphLaunch" in done.calls


@pytest.mark.parametrize(
    ("visible", "gpus"),
    [
        ("2,0", [2, 0]),
        ("1", [1]),
        (f"{GPU_2},{GPU_1}", [2, 1]),
        (f"0,{GPU_1[:-10]}", [0, 1]),
        ("0,-1,1", [0]),
        (f"{GPU_0},GPU-00000000,1", [0]),
    ],
)
def test_visible_devices_are_listed_in_their_order(visible: str, gpus: list[int], run: Run) -> None:
    program = LIST + 'print([attempt(lambda: fe.ones(2, device=info["name"]) + 1) for info in devices])'
    listed, sums = run(program, FERRULE_EMULATION_DEVICES="3", CUDA_VISIBLE_DEVICES=visible).splitlines()
    assert [[name, address] for name, address, _ in json.loads(listed)] == [
        [f"cuda:{index}", f"ffff:00:{gpu:02x}.0"] for index, gpu in enumerate(gpus)
    ]
    assert json.loads(sums) == [[2, 2]] * len(gpus)


def test_instance_of_a_divided_gpu_is_a_device(run: Run) -> None:
    program = LIST + 'print(fe.device("cuda:0").info["uuid"], (fe.ones(2, device="cuda") + 1).tolist())'
    second = "MIG-656d756c-6174-6564-2d30-312f32000000"
    variables = {"FERRULE_EMULATION_DEVICES": "2", "FERRULE_EMULATION_MIG": "3"}
    whole, named = run(program, **variables), run(program, CUDA_VISIBLE_DEVICES=second, **variables)
    assert json.loads(whole.splitlines()[0]) == [["cuda:0", "ffff:00:00.0", "emulated MIG 1g.4gb"]]
    assert json.loads(named.splitlines()[0]) == [["cuda:0", "ffff:00:01.0", "emulated MIG 1g.4gb"]]
    uuid, *sums = named.splitlines()[1].split()
    assert uuid.replace("-", "") == second.removeprefix("MIG-").replace("-", "")
    assert sums == ["[2.0,", "2.0]"]


def test_device_of_another_process_is_listed_and_refuses_to_open(start: Processes) -> None:
    program = """
print(fe.best_device(), row.state)
print(attempt(lambda: fe.ones(2, device="cuda:0") + 1))
print(attempt(lambda: fe.ones(2, device="cuda:0") + 1))
print((fe.ones(2) + 1).tolist())
"""
    done = start(program, FERRULE_EMULATION_COMPUTE_MODE="taken")
    best, first, second, sums = done.output.splitlines()
    assert best == "cpu:0 loaded"
    assert first == second
    assert first.startswith(
        "UnsupportedError: emulated cannot be opened: another process uses it in exclusive mode, or its compute mode "
        "is prohibited (cudaErrorDevicesUnavailable"
    )
    assert sums == "[2.0, 2.0]"
    assert done.contexts() == set()


def test_device_in_exclusive_mode_works_if_nobody_else_has_it(run: Run) -> None:
    program = 'print((fe.ones(2, device="cuda") + 1).tolist())'
    assert run(program, FERRULE_EMULATION_COMPUTE_MODE="exclusive_process") == "[2.0, 2.0]\n"


def test_child_of_a_fork_after_listing_is_told_to_be_spawned(start: Processes) -> None:
    program = """
fe.devices()
child = os.fork()
if child == 0:
    print(attempt(lambda: fe.ones(2, device="cuda")), (fe.ones(2, device="cpu") + 1).tolist(), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print((fe.ones(2, device="cuda") + 1).tolist())
"""
    of_child, of_parent = start(program).output.splitlines()
    assert of_child.startswith(
        "UnsupportedError: emulated cannot be opened in a process that was forked after CUDA had"
    )
    assert of_child.endswith(" [2.0, 2.0]")
    assert of_parent == "[2.0, 2.0]"


def test_device_whose_properties_are_unknown_does_not_hide_the_others(start: Processes) -> None:
    done = start(
        LIST + 'print((fe.ones(2, device="cuda") + 1).tolist())',
        FERRULE_EMULATION_DEVICES="3",
        FERRULE_EMULATION_CALL_FAILS="cudaGetDeviceProperties:2:cudaErrorNotSupported",
        FERRULE_LOG="info",
    )
    listed, sums = done.output.splitlines()
    assert [address for _, address, _ in json.loads(listed)] == ["ffff:00:00.0", "ffff:00:02.0"]
    assert sums == "[2.0, 2.0]"


def test_devices_have_the_identity_by_which_other_backends_know_them(run: Run) -> None:
    """The core lists a device of several backends once: tests/python/loading/test_unified_devices.py."""
    program = """
for device in fe.devices(unified=False):
    if device.backend.name == "cuda": print(device.info["uuid"], device.info["pci_address"])
"""
    lines = run(program, FERRULE_EMULATION_DEVICES="2").splitlines()
    assert [line.replace("-", "").split() for line in lines] == [
        [gpu.removeprefix("GPU-").replace("-", ""), address]
        for gpu, address in zip((GPU_0, GPU_1), ("ffff:00:00.0", "ffff:00:01.0"), strict=True)
    ]


def test_software_device_is_listed_as_such_and_never_the_default(run: Run) -> None:
    program = 'print(fe.device("cuda:0").kind, fe.best_device(), fe.ones(3).device)'
    assert run(program) == "software cpu:0 cpu:0\n"


def test_the_manifest_names_ops_that_exist(module: Path, run: Run) -> None:
    known = json.loads(run("from ferrule.op_rows import OP_ROWS; print(json.dumps(list(OP_ROWS)))"))
    named = json.loads(module.with_suffix(".json").read_text())["ops"]
    assert set(named) <= set(known)
    assert {"add", "matmul", "frexp", "astype"} <= set(named)

"""The devices that Metal lists, and the report if there are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., str]


def test_simulated_device_is_software_and_never_the_default(run: Run) -> None:
    program = """
device = fe.device("metal:0")
print(device.kind, fe.best_device().backend.name, fe.ones(3).device.backend.name)
"""
    assert run(program) == "software cpu cpu\n"


def test_each_device_is_listed_with_its_family_and_memory(run: Run) -> None:
    program = """
for device in fe.devices():
    if device.backend.name == "metal":
        print(*(device.info[key] for key in ("description", "detail", "max_allocation")), sep=" | ")
"""
    lines = run(
        program,
        FERRULE_EMULATION_METAL_DEVICES="2",
        FERRULE_EMULATION_METAL_NAME="Apple M1,Apple M9",
        FERRULE_EMULATION_METAL_MEMORY="1000000000",
    ).splitlines()
    assert [line.split(" | ")[0] for line in lines] == ["Apple M1", "Apple M9"]
    assert all("GPU family" in line and line.endswith("500000000") for line in lines)


def test_machine_without_devices_says_so(run: Run) -> None:
    program = """
[row] = [row for row in fe.load_all().candidates if row.name == "metal"]
print(row.state, row.reason, sep=": ")
print(fe.explain("metal"))
print(np.asarray(fe.arange(3, device="cpu") * 2).tolist())
"""
    row, explained, computed = run(program, FERRULE_EMULATION_METAL_DEVICES="0", FERRULE_LOG="error").splitlines()
    assert row == "no_device: Metal lists no GPU on this machine"
    assert explained.startswith("metal: ")
    assert "Metal lists no GPU on this machine" in explained
    assert computed == "[0, 2, 4]"


def test_default_device_is_used_where_the_list_of_devices_is_empty(run: Run) -> None:
    program = """
x = fe.asarray(np.arange(3, dtype=np.float32), device="metal:0")
print(np.asarray(x * 2).tolist(), len([device for device in fe.devices() if device.backend.name == "metal"]))
del x
fe.unload("metal")
"""
    variables = {"FERRULE_EMULATION_METAL_UNLISTED": "1", "FERRULE_EMULATION_METAL_LEAKS": "1"}
    assert run(program, **variables) == "[0.0, 2.0, 4.0] 1\n"


def test_gpu_that_is_not_one_of_apples_is_not_used(run: Run) -> None:
    """Its simdgroups have other sizes, so results would be wrong, and it does not copy single bytes."""
    program = """
[row] = [row for row in fe.load_all().candidates if row.name == "metal"]
print(row.state, row.reason, sep=": ")
"""
    variables = {"FERRULE_EMULATION_METAL_FAMILIES": "mac2,common3", "FERRULE_LOG": "error"}
    assert run(program, **variables) == "no_device: Metal lists GPUs on this machine, but none of Apple's\n"


def test_gpu_of_a_virtual_machine_runs_no_kernel_that_shuffles(run: Run) -> None:
    """Apple5, as Apple's paravirtual device says: lanes exchange values from Apple6 on, matrices are of Apple7."""
    program = """
x = np.random.default_rng(3).standard_normal((5, 3000)).astype(np.float32)
a = fe.asarray(x, device="metal:0")
print(np.allclose(np.asarray(fe.sum(a, axis=-1)), x.sum(axis=-1), atol=1e-3), np.asarray(fe.max(a)) == x.max())
print(np.allclose(np.asarray(a @ a.T), x @ x.T, atol=1e-2))
print(np.allclose(np.asarray(fe.softmax(a, axis=-1)).sum(axis=-1), 1))
nodes = [node for step in fe.graph(fe.softmax).trace(a).plan["steps"] if "nodes" in step for node in step["nodes"]]
print(*(node["kernel"] for node in nodes))
"""
    variables = {"FERRULE_EMULATION_METAL_FAMILIES": "apple5,common3", "FERRULE_LOG": "error"}
    *right, kernels = run(program, **variables).splitlines()
    assert right == ["True True", "True", "True"]
    assert set(kernels.split()) == {"reduce_columns", "elementwise"}


def test_listing_devices_makes_no_queue_and_no_buffer(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "objects"
    run("fe.devices()\n", FERRULE_EMULATION_METAL_LOG=str(log), FERRULE_PROBE="never")
    made = {line[2:] for line in log.read_text().splitlines() if line.startswith("+ ")}
    assert not [name for name in made if "Queue" in name or "Buffer" in name]


@pytest.mark.parametrize("system", ["Version 11.0 (Build 20A0)", "Version 15.0 (Build 24A0)"])
def test_kernels_are_compiled_with_exact_functions(system: str, run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = 'print(np.asarray(fe.sqrt(fe.asarray(np.full(3, 9, np.float32), device="metal:0"))).tolist())\n'
    variables = {"FERRULE_EMULATION_METAL_SYSTEM": system, "FERRULE_EMULATION_METAL_LOG": str(log)}
    assert run(program, **variables) == "[3.0, 3.0, 3.0]\n"
    assert {line for line in log.read_text().splitlines() if "library" in line} == {"compiled a library"}


@pytest.mark.parametrize("unified", ["0", "1"])
def test_results_are_equal_with_and_without_unified_memory(unified: str, run: Run) -> None:
    program = """
x = (np.arange(60_000) % 100).astype(np.float32).reshape(300, 200)
a = fe.asarray(x, device="metal:0")
print(np.array_equal(np.asarray(a.T * 2 + 1), x.T * 2 + 1), int(np.asarray(fe.sum(a[:, :7]))), int(x[:, :7].sum()))
"""
    same, found, expected = run(program, FERRULE_EMULATION_METAL_UNIFIED=unified).split()
    assert (same, found) == ("True", expected)


def test_the_manifest_names_ops_that_exist(module: Path, run: Run) -> None:
    known = json.loads(run("import json; from ferrule.op_rows import OP_ROWS; print(json.dumps(list(OP_ROWS)))"))
    named = json.loads(module.with_suffix(".json").read_text())["ops"]
    assert set(named) <= set(known)
    assert {"add", "matmul", "frexp", "astype"} <= set(named)

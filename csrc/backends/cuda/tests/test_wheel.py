"""The wheel of the CUDA backend, installed beside ferrule."""

from __future__ import annotations

import zipfile
from pathlib import Path

import lief
import pytest
from backend_wheels import Environment, wheel_of

from csrc.backends.cuda.tests.fake_driver import BROKEN_DRIVERS, HAS_DRIVER, fake_driver

LARGEST_WHEEL = 40 << 20
# manylinux allows these. CUDA's runtime is linked statically, and its driver is opened when the module starts.
ALLOWED_LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
    "libstdc++.so.6",
    "libgcc_s.so.1",
}

LOADED = """
import ferrule as fe
[row] = [row for row in fe.load_all().candidates if row.name == "cuda"]
print(row.state, "|", row.reason)
print(fe.explain("cuda"))
if row.state == "loaded": print((fe.ones(3, device="cuda") + 1).sum().item())
"""


def test_the_wheel_is_small() -> None:
    assert wheel_of("ferrule_cuda").stat().st_size <= LARGEST_WHEEL


def test_the_module_needs_no_library_of_cuda(tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel_of("ferrule_cuda")) as archive:
        module = lief.ELF.parse(archive.extract("ferrule_backends/cuda/libferrule-cuda.so", tmp_path))
    assert module is not None
    assert {str(name) for name in module.libraries} <= ALLOWED_LIBRARIES
    exported = {str(symbol.name) for symbol in module.exported_symbols}
    assert {name for name in exported if not name.startswith("ferrule_backend_")} == set()


NOT_THERE = "the NVIDIA driver is not installed: libcuda.so.1 was not found; install version 580 or newer"


@pytest.mark.skipif(HAS_DRIVER, reason="the machine has a driver")
def test_machine_without_a_driver_gets_one_sentence(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.pip("install", "ferrule[cuda]")
    row, explained = environment.run(LOADED).splitlines()
    assert row == f"incompatible | {NOT_THERE}"
    assert explained.endswith(f", but it cannot run here: {NOT_THERE}.")


@pytest.mark.skipif(HAS_DRIVER, reason="the floor of the version comes first")
def test_libraries_that_are_no_working_driver_are_told_by_what_they_say(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.pip("install", "ferrule[cuda]")
    for name, (definitions, sentence) in BROKEN_DRIVERS.items():
        library = fake_driver(tmp_path / name, *definitions)
        row, _ = environment.run(LOADED, LD_LIBRARY_PATH=str(library.parent)).splitlines()
        assert row == f"incompatible | {sentence.format(library)}"
    whole = library.read_bytes()
    for content, problem in ((b"", "the file is empty"), (whole[: len(whole) // 2], "the file is truncated: ")):
        library.write_bytes(content)
        row, _ = environment.run(LOADED, LD_LIBRARY_PATH=str(library.parent)).splitlines()
        assert row.startswith(f"incompatible | the NVIDIA driver is damaged: {library}: {problem}")


@pytest.mark.skipif(not HAS_DRIVER, reason="needs a GPU")
def test_the_installed_backend_computes(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.pip("install", "ferrule[cuda]")
    row, _, total = environment.run(LOADED).splitlines()
    assert row == "loaded | "
    assert total == "6.0"

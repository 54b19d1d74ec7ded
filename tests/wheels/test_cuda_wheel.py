"""The wheel of the CUDA backend, installed beside ferrule."""

from __future__ import annotations

from pathlib import Path

import pytest
from backend_wheels import Environment

from csrc.backends.cuda.tests.fake_driver import BROKEN_DRIVERS, HAS_DRIVER, fake_driver

LOADED = """
import ferrule as fe
[row] = [row for row in fe.load_all().candidates if row.name == "cuda"]
print(row.state, "|", row.reason)
print(fe.explain("cuda"))
if row.state == "loaded": print((fe.ones(3, device="cuda") + 1).sum().item())
"""


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

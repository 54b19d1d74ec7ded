"""The resources of the kernels of the wheel, which nvcc has compiled, as ptxas and cuobjdump print them.

FERRULE_REQUIRE_FAT_BINARIES=1 makes a test fail that would be skipped because the wheel was not built.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import NoReturn

import pytest

from csrc.backends.cuda.toolchain import machine_code
from csrc.backends.cuda.toolchain.resource_usage import faults, read

ROOT = Path(__file__).resolve().parents[4]
BACKEND = ROOT / "csrc" / "backends" / "cuda"


@pytest.fixture(scope="module")
def folder() -> Path:
    """The fat binaries in the build folder of the wheel."""
    for path in ROOT.glob("build/wheel-cuda-*/fat_binaries"):
        if any(path.glob("*.resources.txt")):
            return path
    return skipped("needs a build of the wheel")


def skipped(reason: str) -> NoReturn:
    if os.environ.get("FERRULE_REQUIRE_FAT_BINARIES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def test_no_kernel_spills(folder: Path) -> None:
    kernels = read(folder)
    assert kernels
    assert faults(kernels) == []


def test_every_kernel_states_its_block_size(folder: Path) -> None:
    if not machine_code.is_readable():
        skipped("needs cuobjdump and nvdisasm")
    stated = {name for file in folder.glob("*.fatbin") for name in machine_code.with_block_size(file)}
    assert {kernel.name for kernel in read(folder)} == stated


def test_development_and_wheel_use_the_same_versions() -> None:
    wheel = tomllib.loads((ROOT / "wheels" / "cuda" / "pyproject.toml").read_text())["build-system"]["requires"]
    development = (BACKEND / "dev-requirements.txt").read_text().splitlines()
    assert {line for line in wheel if line.startswith("nvidia-")} <= set(development)

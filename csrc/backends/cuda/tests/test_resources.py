"""What ptxas and cuobjdump say about kernels that nvcc has compiled: no spills, and the instructions that each needs.

FERRULE_REQUIRE_FAT_BINARIES=1 makes a test fail that would be skipped because no kernels are compiled by nvcc.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import NoReturn

import pytest

from csrc.backends.cuda.toolchain import kernel_page, machine_code
from csrc.backends.cuda.toolchain.kernel_families import PATHS, families
from csrc.backends.cuda.toolchain.resource_usage import block_sizes, faults, read

ROOT = Path(__file__).resolve().parents[4]
BACKEND = ROOT / "csrc" / "backends" / "cuda"


@pytest.fixture(scope="module")
def folder() -> Path:
    """The fat binaries of the module's build: beside the module or, for a wheel, in the wheel's build folder."""
    module = Path(os.environ.get("FERRULE_BACKEND_PATH", ""))
    for path in (module.parent / "fat_binaries", ROOT / "build" / "wheel-cuda" / "fat_binaries"):
        if any(path.glob("*.resources.txt")):
            return path
    return skipped("needs a build of the module by nvcc")


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
    blocks = block_sizes(folder)
    assert {kernel.name for kernel in read(folder)} == blocks.keys()


def test_the_table_of_families_has_each_file_and_names_paths() -> None:
    files = {path.stem for path in BACKEND.glob("kernels/**/*.cu")}
    assert set(families()) == files, "toolchain/kernel_families.toml needs a row for each file of kernels"
    for family in families().values():
        assert {*family.paths, *family.without} <= PATHS.keys()


def test_machine_code_has_the_paths_of_its_family(folder: Path) -> None:
    if not machine_code.is_readable():
        skipped("needs cuobjdump and nvdisasm")
    codes = {stem: machine_code.instructions(folder / f"{stem}.fatbin", kernel_page.PROVEN) for stem in families()}
    if not any(codes.values()):
        skipped(f"needs a build for {kernel_page.PROVEN}")
    missing = [
        (kernel, path)
        for stem, family in families().items()
        for (kernel, _), code in codes[stem].items()
        for path in family.missing(kernel, code)
    ]
    assert missing == []


def test_development_and_wheel_use_the_same_versions() -> None:
    wheel = tomllib.loads((ROOT / "wheels" / "cuda" / "pyproject.toml").read_text())["build-system"]["requires"]
    development = (BACKEND / "dev-requirements.txt").read_text().splitlines()
    assert {line for line in wheel if line.startswith("nvidia-")} <= set(development)

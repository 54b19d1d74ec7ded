"""Fixtures: the module whose kernels run on the CPU, the emulated NVRTC, and processes that use them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from backend_processes import run, tested_module

from csrc.backends.cuda.tests.processes import Done, Processes

__all__ = ["run"]


@pytest.fixture(scope="session")
def module() -> Path:
    return tested_module("libferrule-cuda-emulated.so")


@pytest.fixture(scope="session")
def nvrtc_library(module: Path) -> Path:
    library = module.parents[4] / "tests" / "emulation" / "cuda" / "libemulated-nvrtc.so"
    if not library.exists():
        pytest.skip("needs the target emulated-nvrtc")
    return library


@pytest.fixture
def start(module: Path, tmp_path: Path) -> Processes:
    return Processes(tmp_path)


@pytest.fixture
def generate(nvrtc_library: Path, start: Processes) -> Callable[..., Done]:
    """Runs a program in which all fused elementwise ops have a kernel generated, unless a variable says otherwise."""

    def run(program: str, **variables: str) -> Done:
        settings = {"FERRULE_CUDA_NVRTC": str(nvrtc_library), "FERRULE_CUDA_GENERATE_FROM": "1"}
        return start(program, **{**settings, **variables})

    return run

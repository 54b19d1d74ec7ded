"""Fixtures: the module whose kernels run on the CPU, and processes that use it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.cuda.tests.processes import Processes


@pytest.fixture(scope="session")
def module() -> Path:
    path = Path(os.environ.get("FERRULE_BACKEND_PATH", ""))
    if path.name != "libferrule-cuda-emulated.so":
        pytest.skip("needs the emulated module")
    return path


@pytest.fixture
def start(module: Path, tmp_path: Path) -> Processes:
    return Processes(tmp_path)


@pytest.fixture
def run(start: Processes) -> Callable[..., str]:
    """Runs a program with the given variables, and returns its output."""
    return start.quiet

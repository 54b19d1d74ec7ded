"""Fixtures: the Vulkan module, which FERRULE_BACKEND_PATH names, and processes that use it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.vulkan.tests.environments import Drivers
from csrc.backends.vulkan.tests.processes import Processes


@pytest.fixture(scope="session")
def module() -> Path:
    path = Path(os.environ["FERRULE_BACKEND_PATH"])
    assert path.name == "libferrule-vulkan.so"
    return path


@pytest.fixture
def start(module: Path, tmp_path: Path) -> Processes:
    return Processes(tmp_path)


@pytest.fixture
def run(start: Processes) -> Callable[..., str]:
    """Runs a program with the given variables, and returns its output."""
    return start.quiet


@pytest.fixture
def drivers(tmp_path: Path) -> Drivers:
    return Drivers(tmp_path)

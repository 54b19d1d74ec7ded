"""Fixtures: the Vulkan module, which FERRULE_BACKEND_PATH names, and processes that use it."""

from __future__ import annotations

from pathlib import Path

import pytest
from backend_processes import run, tested_module

from csrc.backends.vulkan.tests.environments import Drivers
from csrc.backends.vulkan.tests.processes import Processes

__all__ = ["run"]


@pytest.fixture(scope="session")
def module() -> Path:
    return tested_module("libferrule-vulkan.so")


@pytest.fixture
def start(module: Path, tmp_path: Path) -> Processes:
    return Processes(tmp_path)


@pytest.fixture
def drivers(tmp_path: Path) -> Drivers:
    return Drivers(tmp_path)

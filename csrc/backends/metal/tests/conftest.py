"""Fixtures: the module over the simulated Metal, which FERRULE_BACKEND_PATH names, and processes that use it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from backend_processes import Processes, run, tested_module

__all__ = ["run"]


@dataclass(frozen=True)
class OnMetal(Processes):
    PRELUDE: ClassVar[str] = "import numpy as np\nimport ferrule as fe\nfe.load_all()\n"


@pytest.fixture(scope="session")
def module() -> Path:
    return tested_module("libferrule-metal-emulated.so")


@pytest.fixture
def start(module: Path, tmp_path: Path) -> OnMetal:
    return OnMetal(tmp_path)

"""The tested module of a backend, and processes that use it: for the conftest.py of a backend's tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest


def tested_module(name: str) -> Path:
    """The file that FERRULE_BACKEND_PATH names. Tests are skipped if it is not that module."""
    path = Path(os.environ.get("FERRULE_BACKEND_PATH", ""))
    if path.name != name:
        pytest.skip(f"needs FERRULE_BACKEND_PATH=<folder>/{name}")
    return path


@dataclass(frozen=True)
class Done:
    output: str
    log: str


@dataclass(frozen=True)
class Processes:
    """Starts Python programs in their own process and in a folder, by default without a probe."""

    folder: Path
    PRELUDE: ClassVar[str] = "import numpy as np\nimport ferrule as fe\n"
    SETTINGS: ClassVar[Mapping[str, str]] = {}  # variables, unless the caller sets them
    WITHOUT: ClassVar[tuple[str, ...]] = ()  # variables that they do not inherit
    SECONDS: ClassVar[float] = 60.0

    def __call__(self, program: str, **variables: str) -> Done:
        settings = {
            "FERRULE_CACHE_DIR": str(self.folder / "cache"),
            "FERRULE_PROBE": "never",
            **self.SETTINGS,
        }
        inherited = {name: value for name, value in os.environ.items() if name not in self.WITHOUT}
        result = subprocess.run(
            [sys.executable, "-c", self.PRELUDE + program],
            env={**inherited, **settings, **variables},
            capture_output=True,
            text=True,
            timeout=self.SECONDS,
            cwd=self.folder,
        )
        assert result.returncode == 0, result.stderr
        return Done(result.stdout, result.stderr)

    def quiet(self, program: str, **variables: str) -> str:
        """Runs a program and returns its output. The log must be empty."""
        done = self(program, **variables)
        assert done.log == "", done.log
        return done.output


@pytest.fixture
def run(start: Processes) -> Callable[..., str]:
    """Runs a program with the given variables, and returns its output."""
    return start.quiet

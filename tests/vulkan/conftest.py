"""The Vulkan module, which FERRULE_BACKEND_PATH names, each test in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from program import Run


@pytest.fixture(scope="session")
def module() -> Path:
    path = Path(os.environ["FERRULE_BACKEND_PATH"])
    assert path.name == "libferrule-vulkan.so"
    return path


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a program, with these variables, and returns what it prints."""

    def run_program(program: str, **variables: str) -> str:
        prelude = "import numpy as np\nimport ferrule as fe\n"
        settings = {
            "FERRULE_CACHE_DIR": str(tmp_path / "cache"),
            "FERRULE_PROBE": "never",
            "FERRULE_VULKAN_VALIDATE": "1",
        }
        result = subprocess.run(
            [sys.executable, "-c", prelude + program],
            env={**os.environ, **settings, **variables},
            capture_output=True,
            text=True,
            timeout=300,
            cwd=tmp_path,
        )
        assert result.returncode == 0, result.stderr
        assert result.stderr == "", result.stderr  # the validation layer has nothing to say
        return result.stdout

    return run_program

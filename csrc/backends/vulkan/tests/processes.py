"""Runs Python programs in their own process, in which ferrule finds the Vulkan module."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PRELUDE = "import numpy as np\nimport ferrule as fe\n"

# The module's row in a report.
ROW = """
[row] = [row for row in fe.load_all().candidates if row.name == "vulkan"]
print(row.state, "|", row.reason)
"""


@dataclass(frozen=True)
class Done:
    output: str
    log: str


@dataclass(frozen=True)
class Processes:
    """Starts processes in a folder, by default without a probe and with Vulkan's validation layer."""

    folder: Path

    def __call__(self, program: str, **variables: str) -> Done:
        settings = {
            "FERRULE_CACHE_DIR": str(self.folder / "cache"),
            "FERRULE_PROBE": "never",
            "FERRULE_VULKAN_VALIDATE": "1",
        }
        result = subprocess.run(
            [sys.executable, "-c", PRELUDE + program],
            env={**os.environ, **settings, **variables},
            capture_output=True,
            text=True,
            timeout=300,
            cwd=self.folder,
        )
        assert result.returncode == 0, result.stderr
        return Done(result.stdout, result.stderr)

    def quiet(self, program: str, **variables: str) -> str:
        """Runs a program and returns its output. The log, which includes the validation layer's, must be empty."""
        done = self(program, **variables)
        assert done.log == "", done.log
        return done.output

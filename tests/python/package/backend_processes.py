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


# For programs that have NumPy and ferrule: `attempt` gives the error of a call as text, `in_threads` calls work(number)
# in that many threads, and raises the first error.
THREADS = """
import threading

def attempt(call):
    try:
        result = call()
        return result.tolist() if hasattr(result, "tolist") else result
    except (fe.Error, BufferError) as error:
        return f"{type(error).__name__}: {error}"

def in_threads(count, work):
    errors = []
    def run(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads: thread.start()
    for thread in threads: thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if errors: raise errors[0]
"""


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
    SECONDS: ClassVar[float] = 300.0  # a process that takes longer hangs

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

"""What the tests of the installed package share: the null module, and Python processes of their own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def package() -> Path:
    """The folder of the installed package."""
    spec = importlib.util.find_spec("ferrule._ferrule")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@pytest.fixture(scope="session")
def null_module(package: Path) -> Path:
    return package / "testing" / "libferrule-null.so"


@pytest.fixture
def null_device(null_module: Path) -> object:
    """A device that is not in host memory; it computes zeros."""
    import ferrule as fe

    fe.load(null_module)
    return fe.device("null")


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    """Runs code in a fresh process, in an empty folder unless `cwd` says otherwise; variables are added to ours."""

    def run(
        code: str, *, cwd: Path | None = None, mode: str = "-c", check: bool = True, **variables: str | Path
    ) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("FERRULE_")}
        environment = {**inherited, **{name: str(value) for name, value in variables.items()}}
        arguments = [sys.executable, *(["-i", "-q"] if mode == "repl" else [mode, code])]
        done = subprocess.run(
            arguments,
            input=code if mode == "repl" else None,
            capture_output=True,
            text=True,
            cwd=cwd or tmp_path,
            env=environment,
            timeout=120,
            check=False,
        )
        if check:
            assert done.returncode == 0, done.stderr + done.stdout
        return done

    return run

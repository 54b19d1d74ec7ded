"""`./dev` ends when a build fails, wherever in it the build is: nothing is tested that an earlier build left behind."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed import ROOT

pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="elsewhere `./dev` has no emulated module of Metal, which is the one that these tests let it build",
)


def put_program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree in which ferrule's wheel is built and installed, and every program that `./dev` calls does nothing and
    succeeds. Python notes its arguments."""
    for file in ("dev", "dev-requirements.txt", *(ROOT / "csrc" / "backends").glob("*/dev.sh")):
        place = tmp_path / (ROOT / file).relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, place)
    for folder in ("wheels/metal", "tests", "dist", "build"):
        (tmp_path / folder).mkdir(parents=True)
    put_program(tmp_path / "programs" / "dpkg-query", 'printf "install ok installed"')
    put_program(tmp_path / ".venv" / "bin" / "python", 'echo "$@" >>"$NOTES"')
    for name in ("pip", "wheel", "auditwheel"):
        put_program(tmp_path / ".venv" / "bin" / name, "exit 0")
    (tmp_path / "dist" / "ferrule-1-cp311-cp311-manylinux_2_28_x86_64.whl").touch()
    for mark in ("build/.ferrule_for_linux_x86_64_is_built", ".venv/.ferrule_is_installed"):
        (tmp_path / mark).touch()
    return tmp_path


def run(tree: Path, cmake: str) -> tuple[int, list[str]]:
    """The exit status of `./dev backend metal --tests` with that script as CMake, and the runs of pytest."""
    put_program(tree / "programs" / "cmake", cmake)
    notes = tree / "notes"
    path = f"{tree / 'programs'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "NOTES": str(notes)}
    command = [str(tree / "dev"), "backend", "metal", "--tests"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    runs = notes.read_text().splitlines() if notes.exists() else []
    return done.returncode, [line for line in runs if line.startswith("-m pytest")]


@pytest.mark.parametrize(
    ("cmake", "passes"),
    [("exit 0", True), ("exit 1", False), ('case "$*" in *--build*) exit 1 ;; esac', False)],
    ids=["success", "configuration fails", "compilation fails"],
)
def test_module_that_cannot_be_built_is_not_tested(cmake: str, passes: bool, tree: Path) -> None:
    status, runs = run(tree, cmake)
    assert (status == 0, len(runs)) == (passes, int(passes))

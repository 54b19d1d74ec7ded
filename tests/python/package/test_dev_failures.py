"""`./dev` ends when a build fails, wherever in it the build is: nothing is tested that an earlier build left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the programs are shell scripts")


def put_program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree in which every program that `./dev` calls does nothing and succeeds. Python notes its arguments."""
    for file in ("dev", "dev-requirements.txt", *(ROOT / "csrc" / "backends").glob("*/dev.sh")):
        place = tmp_path / (ROOT / file).relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, place)
    for folder in ("wheels/metal", "tests"):
        (tmp_path / folder).mkdir(parents=True)
    put_program(tmp_path / "programs" / "dpkg-query", 'printf "install ok installed"')
    put_program(tmp_path / ".venv" / "bin" / "python", 'echo "$@" >>"$NOTES"')
    for name in ("pip", "wheel", "auditwheel"):
        put_program(tmp_path / ".venv" / "bin" / name, "exit 0")
    return tmp_path


def run(tree: Path, cmake: str) -> tuple[int, list[str]]:
    """The exit status of `./dev backend metal --tests` with that script as CMake, and the runs of pytest."""
    put_program(tree / "programs" / "cmake", cmake)
    # The wheel is there, and newer than all sources.
    (tree / "dist").mkdir()
    machine = os.uname().machine
    (tree / "dist" / f"ferrule-1-cp311-cp311-manylinux_2_28_{machine}.whl").touch()
    (tree / "build").mkdir()
    for mark in (f"build/.ferrule_for_linux_{machine}_is_built", ".venv/.ferrule_is_installed"):
        (tree / mark).touch()
    notes = tree / "notes"
    path = f"{tree / 'programs'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "NOTES": str(notes)}
    command = [str(tree / "dev"), "backend", "metal", "--tests"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    runs = notes.read_text().splitlines() if notes.exists() else []
    return done.returncode, [line for line in runs if line.startswith("-m pytest")]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="there the tested module is not compiled by CMake")
@pytest.mark.parametrize(
    ("cmake", "passes"),
    [("exit 0", True), ("exit 1", False), ('case "$*" in *--build*) exit 1 ;; esac', False)],
    ids=["success", "configuration fails", "compilation fails"],
)
def test_module_that_cannot_be_built_is_not_tested(cmake: str, passes: bool, tree: Path) -> None:
    status, runs = run(tree, cmake)
    assert (status == 0, len(runs)) == (passes, int(passes))

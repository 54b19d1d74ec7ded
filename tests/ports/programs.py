"""Functions of the tests of other systems, for the programs that are compiled for one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]

ROOT = Path(__file__).resolve().parents[2]
C_PROGRAMS = sorted(path.stem for path in (ROOT / "tests" / "c").glob("*.c"))
PORTABLE = Path(__file__).with_name("portable.py")


def windows_path(path: Path) -> str:
    """As wine's drive Z:, which has all files."""
    return "Z:" + str(path.resolve()).replace("/", "\\")


def run_in_wine(program: Path, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program in tests/, without this process's settings of ferrule and Python."""
    unwanted = ("FERRULE_", "PYTHON", "WINEPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return subprocess.run(
        ["wine", program, *arguments],
        env=kept | {"WINEDEBUG": "-all"} | variables,
        cwd=ROOT / "tests",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=1200,
    )


def check_c_program(run: Run, program: Path, backends: str) -> None:
    """Run a program of tests/c with a folder of backends, and compare what it prints with what it prints here."""
    ended = run(program, FERRULE_BACKEND_DIR=backends, FERRULE_PROBE="never")
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    expected = ROOT / "tests" / "c" / f"{program.stem.removeprefix('c-')}.expected"
    if expected.exists():
        assert ended.stdout.splitlines() == expected.read_text(encoding="utf-8").splitlines()


def check_conformance(run: Run, program: Path, module: Path) -> None:
    """Run each check of ferrule-conformance on a module, in a process of its own."""
    checks = [json.loads(line)["check"] for line in run(program, "--list").stdout.splitlines()]
    assert len(checks) > 20
    problems = []
    for check in checks:
        ended = run(program, module, check)
        if ended.returncode not in (0, 3):
            problems.append(f"{check}: {ended.returncode} {ended.stdout[-500:]}")
    assert not problems, "\n".join(problems)


def portable_output() -> str:
    """Return the output of portable.py on this system."""
    return subprocess.run([sys.executable, PORTABLE], capture_output=True, text=True, check=True).stdout

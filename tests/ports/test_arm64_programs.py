"""Programs in C and C++ for 64-bit Arm, run by qemu. `./dev ports smoke` builds them in $FERRULE_ARM64."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("FERRULE_ARM64", "."))
ROOT = Path(__file__).resolve().parents[2]
CPU = BUILD / "csrc" / "backends" / "cpu" / "libferrule-cpu-armv8.so"
NULL = BUILD / "csrc" / "backends" / "null" / "libferrule-null.so"
PROGRAMS = sorted(path.stem for path in (ROOT / "tests" / "c").glob("*.c"))


def run(program: Path, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program with the C library of Debian's package libc6-arm64-cross."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FERRULE_")}
    command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", program, *arguments]
    return subprocess.run(command, env=kept | variables, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("name", PROGRAMS)
def test_c_program_prints_what_it_prints_on_x86(name: str) -> None:
    ended = run(BUILD / "tests" / "c" / f"c-{name}", FERRULE_BACKEND_DIR=str(CPU.parent), FERRULE_PROBE="never")
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    expected = ROOT / "tests" / "c" / f"{name}.expected"
    if expected.exists():
        assert ended.stdout == expected.read_text(encoding="utf-8")


def checks() -> list[str]:
    listed = run(BUILD / "ferrule-conformance", "--list").stdout
    return [json.loads(line)["check"] for line in listed.splitlines()]


@pytest.mark.parametrize("module", [CPU, NULL], ids=["cpu", "null"])
def test_conformance(module: Path) -> None:
    names = checks()
    assert len(names) > 20
    problems = []
    for check in names:
        ended = run(BUILD / "ferrule-conformance", module, check)
        if ended.returncode not in (0, 3):
            problems.append(f"{check}: {ended.returncode} {ended.stdout[-500:]}")
    assert not problems, "\n".join(problems)

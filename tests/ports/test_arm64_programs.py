"""Programs in C and C++ for 64-bit Arm, run by qemu. `./dev verify qemu` builds them in $FERRULE_ARM64."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from ports.programs import C_PROGRAMS, check_c_program, check_conformance

BUILD = Path(os.environ.get("FERRULE_ARM64", "."))
CPU = BUILD / "csrc" / "backends" / "cpu" / "libferrule-cpu-armv8.so"
NULL = BUILD / "csrc" / "backends" / "null" / "libferrule-null.so"


def run(program: Path, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program with the C library of Debian's package libc6-arm64-cross."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FERRULE_")}
    command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", program, *arguments]
    return subprocess.run(command, env=kept | variables, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("name", C_PROGRAMS)
def test_c_program_prints_what_it_prints_on_x86(name: str) -> None:
    check_c_program(run, BUILD / "tests" / "c" / f"c-{name}", str(CPU.parent))


@pytest.mark.parametrize("module", [CPU, NULL], ids=["cpu", "null"])
def test_conformance(module: Path) -> None:
    check_conformance(run, BUILD / "ferrule-conformance", module)

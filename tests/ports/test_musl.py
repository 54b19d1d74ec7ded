"""Programs for Linux with musl instead of glibc, run with Debian's musl.

`./dev verify qemu` builds them in $FERRULE_MUSL.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from ports.programs import C_PROGRAMS, check_c_program, check_conformance

BUILD = Path(os.environ.get("FERRULE_MUSL", "."))
CPU = BUILD / "csrc" / "backends" / "cpu" / "libferrule-cpu-x64.so"
NULL = BUILD / "csrc" / "backends" / "null" / "libferrule-null.so"


def run(program: Path, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FERRULE_")}
    return subprocess.run(
        [program, *arguments], env=kept | variables, capture_output=True, text=True, errors="replace", timeout=300
    )


@pytest.mark.parametrize("name", C_PROGRAMS)
def test_c_program_prints_what_it_prints_with_glibc(name: str) -> None:
    check_c_program(run, BUILD / "tests" / "c" / f"c-{name}", str(CPU.parent))


@pytest.mark.parametrize("module", [CPU, NULL], ids=["cpu", "null"])
def test_conformance(module: Path) -> None:
    check_conformance(run, BUILD / "ferrule-conformance", module)


@pytest.mark.parametrize("module", [CPU, NULL], ids=["cpu", "null"])
def test_probe_passes_what_works(module: Path) -> None:
    ended = run(BUILD / "ferrule-probe", module)
    assert ended.returncode == 0, ended.stderr
    verdict = json.loads(ended.stdout)
    assert (verdict["verdict"], verdict["reason"]) == ("passed", "")
    assert verdict["devices"]

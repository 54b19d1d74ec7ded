"""While a check runs alone, no other check of the same pytest run is active."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ferrule.testing.exclusive_runs import Turns

PROGRAM = """
import os, sys
from ferrule.testing.exclusive_runs import Turns

folder, kind, name, log = sys.argv[1:]
turns = Turns(folder)
file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
print("asks", flush=True)
with turns.alone() if kind == "alone" else turns.beside_others():
    os.write(file, f"{name} begins\\n".encode())
    print("works", flush=True)
    sys.stdin.readline()
    os.write(file, f"{name} ends\\n".encode())
"""


@pytest.mark.skipif(os.name != "posix", reason="nobody waits where there is no flock")
def test_exclusive_runs_exclude_others(tmp_path: Path) -> None:
    """Each step waits for what a process says. A wrong process may be late by chance, so there are some rounds."""

    def start(kind: str, name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PROGRAM, str(tmp_path), kind, name, str(log)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        await_line(process, "asks")
        return process

    def await_line(process: subprocess.Popen[str], line: str) -> None:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{line}\n"

    def end(*processes: subprocess.Popen[str]) -> None:
        for process in processes:
            process.communicate("\n")
            assert process.returncode == 0

    for number in range(2):
        log = tmp_path / f"log {number}"
        several = [start("beside", name) for name in ("one", "another")]
        for process in several:  # they work at the same time
            await_line(process, "works")
        alone = start("alone", "alone")
        end(*several)
        await_line(alone, "works")
        last = start("beside", "last")
        end(alone)
        end(last)
        lines = log.read_text().splitlines()
        assert lines[4:] == ["alone begins", "alone ends", "last begins", "last ends"], lines


def test_single_process_never_waits() -> None:
    with Turns(None).alone(), Turns(None).beside_others():
        pass


def test_checks_that_run_alone_come_last_beside_other_workers(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "--pyargs", "ferrule.testing.test_ops", "-v", "-p", "no:cacheprovider"]
    chosen = [
        "--ferrule-variant",
        "x64",
        "--ferrule-op",
        "add",
        "-k",
        "add-float32 and (concurrent or values or guards)",
    ]
    ended = subprocess.run([*command, "-n", "1", *chosen], cwd=tmp_path, capture_output=True, text=True, check=True)
    checks = re.findall(r"add-float32-(\w+)\]", ended.stdout)
    assert checks[-1] == "concurrent"
    assert {"values", "guards"} <= set(checks[:-1])

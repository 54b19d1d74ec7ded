"""While a check runs alone, no other check of the same pytest run is active."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ferrule.testing.exclusive_runs import Turns

ROUNDS, PROCESSES = 20, 4
PROGRAM = """
import os, sys, time
from ferrule.testing.exclusive_runs import Turns

folder, kind, log, rounds = sys.argv[1:]
turns = Turns(folder)
file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
print(flush=True)
sys.stdin.readline()
for _ in range(int(rounds)):
    with turns.alone() if kind == "alone" else turns.beside_others():
        os.write(file, f"{kind} begin\\n".encode())
        time.sleep(0.002)
        os.write(file, f"{kind} end\\n".encode())
"""


@pytest.mark.skipif(os.name != "posix", reason="nobody waits where there is no flock")
def test_exclusive_runs_exclude_others_and_do_not_wait_forever(tmp_path: Path) -> None:
    log = tmp_path / "log"
    several = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path), kind, str(log), str(ROUNDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for kind in ("alone", *["beside"] * (PROCESSES - 1))
    ]
    for process in several:  # wait until all have started
        assert process.stdout is not None
        process.stdout.readline()
    for process in several:  # let them begin
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait(timeout=60) for process in several] == [0] * PROCESSES
    lines = log.read_text().splitlines()
    assert len(lines) == 2 * ROUNDS * PROCESSES
    working = 0
    for line in lines:
        kind, what = line.split()
        if kind == "alone":
            assert working == (0 if what == "begin" else 1), line
        working += 1 if what == "begin" else -1
    assert any(a == b == "beside begin" for a, b in itertools.pairwise(lines))  # the others run concurrently


def test_single_process_never_waits() -> None:
    with Turns(None).alone(), Turns(None).beside_others():
        pass


def test_checks_that_run_alone_come_last_beside_other_workers(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "--pyargs", "ferrule.testing.test_ops", "-v", "-p", "no:cacheprovider"]
    chosen = ["--ferrule-variant", "x64", "-k", "add-float32 and (concurrent or values or guards)"]
    ended = subprocess.run([*command, "-n", "1", *chosen], cwd=tmp_path, capture_output=True, text=True, check=True)
    checks = re.findall(r"add-float32-(\w+)\]", ended.stdout)
    assert checks[-1] == "concurrent"
    assert {"values", "guards"} <= set(checks[:-1])

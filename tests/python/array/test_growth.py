"""Tens of thousands of different calls leave nothing behind: caches are bounded, and everything else is released."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = Path(__file__).resolve().parents[1] / "growth.py"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/statm")

# Bytes per call: less than any message, key or object that could be kept for it, with its place in a list.
MOST = 40


@pytest.mark.parametrize(
    ("device", "step", "count"),
    [
        ("cpu", "lazy", 10000),
        ("cpu", "calls", 7000),
        ("cpu", "structures", 7000),
        ("cpu", "graphs", 7000),
        ("cpu", "constants", 7000),
        ("cpu", "errors", 10000),
        ("cpu", "failures", 10000),
        ("cpu", "borrowed", 10000),
        ("cpu", "dtypes", 10000),
        ("null", "lazy", 10000),
        ("null", "graphs", 7000),
        ("null", "borrowed", 10000),
    ],
)
def test_different_calls_do_not_grow_memory(run_python: Run, device: str, step: str, count: int) -> None:
    done = run_python(str(PROGRAM), mode="file", GROWTH=f"{device} {step} {count}")
    assert float(done.stdout) < MOST


def test_recorded_arrays_are_small(run_python: Run) -> None:
    """340 of the bytes are the core's; fewer than ten thousand arrays are recorded, so none is computed."""
    done = run_python(str(PROGRAM), mode="file", GROWTH="cpu recorded 4500")
    assert 100 < float(done.stdout) < 700

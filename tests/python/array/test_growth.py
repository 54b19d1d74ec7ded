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
    ("step", "count"),
    [
        ("lazy", 20000),
        ("calls", 7000),
        ("structures", 7000),
        ("graphs", 7000),
        ("constants", 7000),
        ("errors", 30000),
        ("failures", 30000),
        ("borrowed", 30000),
        ("dtypes", 20000),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "null"])
def test_different_calls_do_not_grow_memory(run_python: Run, device: str, step: str, count: int) -> None:
    done = run_python(str(PROGRAM), mode="file", GROWTH=f"{device} {step} {count}")
    assert float(done.stdout) < MOST


def test_recorded_arrays_are_small(run_python: Run) -> None:
    """340 of the bytes are the core's; fewer than ten thousand arrays are recorded, so none is computed."""
    done = run_python(str(PROGRAM), mode="file", GROWTH="cpu recorded 4500")
    assert 100 < float(done.stdout) < 700

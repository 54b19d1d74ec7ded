"""What a user waits for before the first op. Every sample is a fresh interpreter that times itself."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.marks import Mark
from benchmarks.timing import Timing


@dataclass(frozen=True)
class Latency:
    """A program that is not timed, and a statement that is."""

    name: str
    before: str
    timed: str
    mark: Mark | None


LATENCIES = [
    Latency("import numpy", "", "import numpy", None),
    Latency("import ferrule over numpy", "import numpy", "import ferrule", Mark("milliseconds", at_most=30.0)),
    Latency("load_all()", "import ferrule", "ferrule.load_all()", Mark("milliseconds", at_most=15.0)),
    Latency("import onnxruntime over numpy", "import numpy", "import onnxruntime", None),
]


def measure(latencies: list[Latency], rounds: int, advance: Callable[[], None]) -> dict[str, Timing | str]:
    """A timing for each, or the reason why there is none; interleaved, after one round that fills the file cache."""
    samples: dict[str, list[float]] = {latency.name: [] for latency in latencies}
    failures: dict[str, str] = {}
    for number in range(rounds + 1):
        for latency in latencies:
            if latency.name in failures:
                continue
            try:
                seconds = _in_fresh_process(latency)
            except RuntimeError as error:
                failures[latency.name] = str(error)
            else:
                samples[latency.name] += [seconds] if number else []
        advance()
    return {name: failures[name] if name in failures else Timing(times) for name, times in samples.items()}


def _in_fresh_process(latency: Latency) -> float:
    lines = ["import time", latency.before, "start = time.perf_counter()", latency.timed]
    program = "\n".join([*lines, "print(time.perf_counter() - start)"])
    with tempfile.TemporaryDirectory() as empty:  # so that nothing in the current folder is imported instead
        command = [sys.executable, "-c", program]
        result = subprocess.run(command, capture_output=True, text=True, cwd=empty, check=False)
    if result.returncode != 0:
        last_line = (result.stderr.strip().splitlines() or [f"exit code {result.returncode}"])[-1]
        raise RuntimeError(last_line)
    return float(result.stdout.splitlines()[-1])

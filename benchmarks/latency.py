"""Latencies: the time before the first op, and of a million small ones. Every sample is a new interpreter that times
itself."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.foreign import folder_of_modules
from benchmarks.targets import Target
from benchmarks.timing import Timing


@dataclass(frozen=True)
class Latency:
    """A setup program, which is not timed, and a statement, which is."""

    name: str
    before: str  # {foreign} is replaced by a folder of fifty third-party modules
    timed: str
    target: Target | None
    seconds: str = ""  # an expression for the seconds, if they are not those of the whole statement


# A copy is not listed as ferrule's own module, so it is probed, each time.
COPIED_NULL = """
import ferrule, pathlib, shutil
null = pathlib.Path(ferrule.__file__).parent / "testing" / "libferrule-null.so"
for file in (null, null.with_suffix(".json")):
    shutil.copy(file, ".")
"""

# Recorded one by one; computed together every ten thousand ops.
TWO_ARRAYS = "import ferrule; a = ferrule.zeros(16) + 1; b = ferrule.zeros(16) + 1; ferrule.eval(a, b)"
CHAINED_ADDS = """
for _ in range(10**6):
    a = a + b
ferrule.eval(a)
"""

# Small calls, eager and of a traced function; then the same while a profile is recorded.
SMALL_CALLS = """import ferrule
x = ferrule.zeros(16) + 1
f = ferrule.graph(lambda x: x * 2 + 1)
ferrule.eval(x, x + x, f(x))"""
SMALL_CALLS_TRACED = SMALL_CALLS + "\nkept = ferrule.profile(max_events=10**7); kept.__enter__()"
EAGER_ADDS = "for _ in range(10**4): ferrule.eval(x + x)"
GRAPH_CALLS = "for _ in range(10**4): f(x)"

# Calls of the everyday path, each the best of a few runs of ten thousand in one process.
EVERYDAY = """import timeit, ferrule, numpy
source = numpy.ones(16, "float32")
x = ferrule.asarray(source)
f = ferrule.graph(lambda x: x * 2 + 1)
ferrule.eval(x, x + x, f(x))"""


def per_call(name: str, statement: str, at_most: float) -> Latency:
    """The time of one statement, in the setting of EVERYDAY."""
    timed = f"times = timeit.repeat({statement!r}, number=10**4, repeat=7, globals=globals())"
    return Latency(name, EVERYDAY, timed, Target("microseconds", at_most=at_most), "min(times) / 10**4")


LATENCIES = [
    Latency("import numpy", "", "import numpy", None),
    Latency("import ferrule over numpy", "import numpy", "import ferrule", Target("milliseconds", at_most=8.0)),
    Latency("load_all()", "import ferrule", "ferrule.load_all()", Target("milliseconds", at_most=2.0)),
    Latency(
        "load_all() with 50 foreign modules",
        "import os, ferrule\nos.environ['FERRULE_BACKEND_DIR'] = '{foreign}'",
        "ferrule.load_all()",
        Target("milliseconds", at_most=10.0),
    ),
    Latency(
        "first probe of null, above its open and init",
        COPIED_NULL,
        "times = ferrule.load_all('.', probe='always', reprobe=True).to_dict()['times']",
        Target("milliseconds", at_most=50.0),
        "(times['probe'] - times['open'] - times['init']) / 1e3",
    ),
    Latency("a million chained adds", TWO_ARRAYS, CHAINED_ADDS.strip(), Target("milliseconds", at_most=2500.0)),
    per_call("an eager add of 16 floats", "ferrule.eval(x + x)", 1.9),
    per_call("a graph call", "f(x)", 1.2),
    per_call("ferrule.asarray(ndarray)", "ferrule.asarray(source)", 10.6),
    per_call("numpy.asarray(array)", "numpy.asarray(x)", 4.0),
    per_call("x.shape", "x.shape", 0.12),
    Latency("10,000 eager adds", SMALL_CALLS, EAGER_ADDS, Target("milliseconds", at_most=20.0)),
    Latency("10,000 eager adds, recorded by fe.profile", SMALL_CALLS_TRACED, EAGER_ADDS, None),
    Latency("10,000 graph calls", SMALL_CALLS, GRAPH_CALLS, Target("milliseconds", at_most=12.0)),
    Latency("10,000 graph calls, recorded by fe.profile", SMALL_CALLS_TRACED, GRAPH_CALLS, None),
    Latency("import onnxruntime over numpy", "import numpy", "import onnxruntime", None),
]


def measure(latencies: list[Latency], rounds: int, advance: Callable[[], None]) -> dict[str, Timing | str]:
    """A timing for each, or the reason why there is none; interleaved, after one round that warms the caches."""
    samples: dict[str, list[float]] = {latency.name: [] for latency in latencies}
    failures: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as cache:  # of verdicts and hashes: warm after the first round
        for number in range(rounds + 1):
            for latency in latencies:
                if latency.name in failures:
                    continue
                try:
                    seconds = _in_fresh_process(latency, cache)
                except RuntimeError as error:
                    failures[latency.name] = str(error)
                else:
                    samples[latency.name] += [seconds] if number else []
            advance()
    return {name: failures[name] if name in failures else Timing(times) for name, times in samples.items()}


def _in_fresh_process(latency: Latency, cache: str) -> float:
    lines = ["import time", latency.before, "start = time.perf_counter()", latency.timed]
    program = "\n".join([*lines, f"print({latency.seconds or 'time.perf_counter() - start'})"])
    if "{foreign}" in program:
        program = program.replace("{foreign}", str(folder_of_modules(50, _headers())))
    with tempfile.TemporaryDirectory() as empty:  # the current folder, so that nothing is imported from it
        environment = {**os.environ, "FERRULE_CACHE_DIR": cache}
        command = [sys.executable, "-c", program]
        result = subprocess.run(command, capture_output=True, text=True, cwd=empty, check=False, env=environment)
    if result.returncode != 0:
        last_line = (result.stderr.strip().splitlines() or [f"exit code {result.returncode}"])[-1]
        raise RuntimeError(last_line)
    return float(result.stdout.splitlines()[-1])


def _headers() -> Path:
    spec = importlib.util.find_spec("ferrule")
    if spec is None or spec.origin is None:
        raise RuntimeError("ferrule is not installed")
    return Path(spec.origin).parent / "include"

"""`python -m benchmarks`: measures, prints a table, writes one JSON file."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.cases import CASES
from benchmarks.latency import LATENCIES, Latency, measure
from benchmarks.limits import copy_bandwidth, peak_flops
from benchmarks.machine import describe_machine, usable_cores
from benchmarks.marks import OURS, PEERS
from benchmarks.race import ContenderError, Heat, Pace, Remote, run_heat
from benchmarks.report import Limits, Run, as_json, show

FULL = Pace(rounds=9, turn_seconds=0.1)
QUICK = Pace(rounds=3, turn_seconds=0.03)
TABLE_WIDTH = 150  # in a file or a log, where rich assumes 80
LATENCY_ROUNDS = {FULL: 15, QUICK: 9}


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 if everything was measured, at whatever speed; 1 if a contender failed or gave a wrong result."""
    options = parse(arguments)
    pace = QUICK if options.quick else FULL
    console = Console() if sys.stdout.isatty() else Console(width=TABLE_WIDTH)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        run = measure_all(options, pace, progress)
    show(run, console)
    path: Path = options.json
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(as_json(run), indent=1) + "\n")
    console.print(f"written: {path}")
    return 1 if any_failure(run) else 0


def any_failure(run: Run) -> bool:
    """Whether a contender raised, died, or gave a wrong result."""
    return any(heat.failures for heat in run.heats) or any(isinstance(time, str) for time in run.latencies.values())


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    default = Path(__file__).parent / "results" / time.strftime("%Y%m%d-%H%M%S.json")
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=sys.modules["benchmarks"].__doc__)
    parser.add_argument("--only", action="append", metavar="TEXT", help="only cases and latencies whose name has TEXT")
    parser.add_argument("--threads", default="1,2", metavar="N,N", help="numbers of threads, at most the cores")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns: for a look, not for a claim")
    parser.add_argument("--peers-only", action="store_true", help="without ferrule")
    parser.add_argument("--json", type=Path, default=default, metavar="PATH", help="where the result goes")
    options = parser.parse_args(arguments)
    options.threads = [int(number) for number in options.threads.split(",") if int(number) <= usable_cores()]
    return options


def measure_all(options: argparse.Namespace, pace: Pace, progress: Progress) -> Run:
    """Measures with each number of threads in turn, in new processes; then the latencies."""
    names = [*([] if options.peers_only else [OURS]), *PEERS]
    cases = [case for case in CASES if _wanted(case.name, options.only)]
    latencies = _latencies(options)
    machine = describe_machine()
    rounds = LATENCY_ROUNDS[pace]
    task = progress.add_task("", total=len(options.threads) * len(cases) * pace.rounds + (rounds + 1) * bool(latencies))
    contenders: dict[str, dict[str, str]] = {}
    limits: dict[int, Limits] = {}
    heats: list[Heat] = []
    for threads in options.threads:
        copied = copy_bandwidth(threads)
        remotes = [Remote(name, threads) for name in names]
        for case in cases:
            progress.update(task, description=f"{case.name}, threads {threads}")
            heats.append(run_heat(case, threads, remotes, pace, lambda: progress.advance(task)))
        for remote in remotes:
            contenders.setdefault(remote.name, _describe(remote))
            remote.close()
        # Measured before and after the cases, because the other load of the machine varies.
        limits[threads] = Limits(max(copied, copy_bandwidth(threads)), peak_flops(heats, threads))
    progress.update(task, description="latencies")
    timings = measure(latencies, rounds, lambda: progress.advance(task)) if latencies else {}
    return Run(machine, contenders, limits, heats, timings)


def _latencies(options: argparse.Namespace) -> list[Latency]:
    wanted = [latency for latency in LATENCIES if _wanted(latency.name, options.only)]
    return [latency for latency in wanted if not (options.peers_only and latency.mark)]


def _wanted(name: str, only: Sequence[str] | None) -> bool:
    return not only or any(text.lower() in name.lower() for text in only)


def _describe(remote: Remote) -> dict[str, str]:
    try:
        description: dict[str, str] = remote.ask("describe")
    except ContenderError as reason:
        return {"failure": str(reason)}
    return description


if __name__ == "__main__":
    sys.exit(main())

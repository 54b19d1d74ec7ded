"""`python -m benchmarks`: measures, prints a table, writes one JSON file."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.cases import CASES, Case
from benchmarks.devices import report as device_report
from benchmarks.devices.bench import SetupError, measure_device, set_up
from benchmarks.devices.sizes import SCALES
from benchmarks.interleaving import ContenderError, Heat, Pace, Remote, run_heat
from benchmarks.latency import LATENCIES, Latency, measure
from benchmarks.limits import copy_bandwidth, peak_flops
from benchmarks.machine import describe_machine, usable_cores
from benchmarks.report import Limits, Run, as_json, show
from benchmarks.targets import OURS, PEERS
from benchmarks.worker import Worker

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
        if options.device:
            device_run = measure_device(options.setup, options.only, options.peers_only, pace, progress)
        else:
            run = measure_all(options, pace, progress)
    if options.device:
        device_report.show(device_run, console)
        result, has_failed = device_report.as_json(device_run), device_report.any_failure(device_run)
    else:
        show(run, console)
        result, has_failed = as_json(run), any_failure(run)
    path: Path = options.json
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    console.print(f"written: {path}")
    return 1 if has_failed else 0


def any_failure(run: Run) -> bool:
    """Whether a contender raised, died, or gave a wrong result."""
    return any(heat.failures for heat in run.heats) or any(isinstance(time, str) for time in run.latencies.values())


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    default = Path(__file__).parent / "results" / time.strftime("%Y%m%d-%H%M%S.json")
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=sys.modules["benchmarks"].__doc__)
    parser.add_argument("--only", action="append", metavar="TEXT", help="only cases and latencies whose name has TEXT")
    parser.add_argument("--threads", metavar="N,N", help="numbers of threads, at most the cores (default: 1,2)")
    parser.add_argument("--device", metavar="NAME", help="the bench of one device, such as cuda:0")
    parser.add_argument("--scale", choices=SCALES, help="sizes of --device (default: what fits into its memory)")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns: for a look, not for a claim")
    parser.add_argument("--peers-only", action="store_true", help="without ferrule")
    parser.add_argument("--json", type=Path, default=default, metavar="PATH", help="where the result goes")
    options = parser.parse_args(arguments)
    if options.device:
        if options.threads:
            parser.error("--threads is not for --device: set FERRULE_THREADS")
        try:
            options.setup = set_up(options.device, options.scale)
        except SetupError as error:
            parser.error(str(error))
    elif options.scale:
        parser.error("--scale needs --device")
    numbers = (options.threads or "1,2").split(",")
    options.threads = [int(number) for number in numbers if int(number) <= usable_cores()]
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
    heats: list[Heat[Case]] = []
    for threads in options.threads:
        copied = copy_bandwidth(threads)
        remotes = [Remote(name, partial(Worker, name, threads)) for name in names]
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
    return [latency for latency in wanted if not (options.peers_only and latency.target)]


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

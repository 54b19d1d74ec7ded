"""`python -m ferrule.testing.programs --count 20000`: random programs on a device, in several processes."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ferrule.testing.programs.run_batches import Finding, Tally, batches_of, run_batches
from ferrule.testing.running.child import Child
from ferrule.testing.running.target import Target
from ferrule.tools.child import ChildEnded, ChildError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m ferrule.testing.programs", description=__doc__)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--device", default="cpu", metavar="NAME", help="a device that ferrule finds (default: cpu)")
    where.add_argument("--backend", type=Path, metavar="FILE", help="a module's file")
    where.add_argument("--variant", metavar="NAME", help="a variant of the CPU module")
    parser.add_argument(
        "--second",
        metavar="NAME",
        help="another device that computes, or a module's file: programs are split over both",
    )
    parser.add_argument("--count", type=int, default=300, help="how many programs (default: 300)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (default: 0)")
    parser.add_argument("--minutes", type=float, help="stop after so many")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="how many (default: one a core)")
    parser.add_argument(
        "--shrinks", type=int, default=2, help="programs of each kind of fault made smaller (default: 2)"
    )
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds without an answer that are a hang")
    options = parser.parse_args(arguments)
    if options.count < 1 or options.processes < 1:
        parser.error("--count and --processes are at least 1")
    return run(options)


def run(options: argparse.Namespace) -> int:
    """Run the programs. Returns the exit status: 0 if no program has a fault, 1 if one has, 2 if the target fails."""
    start = time.monotonic()
    batches = Batches(range(options.seed, options.seed + options.count), options.minutes)
    progress = Progress(options.count, options.processes)

    def part(number: int) -> Tally:
        child = Child(_target(options), options.timeout)
        try:
            child.start()
            name = child.devices[0]["name"]
            return run_batches(
                child, name, batches, options.second, options.shrinks, lambda tally: progress.tell(number, tally)
            )
        finally:
            child.close()

    try:
        with ThreadPoolExecutor(options.processes) as pool:
            tallies = list(pool.map(part, range(options.processes)))
    except (ChildEnded, ChildError) as error:
        print(f"programs: {error}", file=sys.stderr)
        return 2
    return _conclude(tallies, options.seed, time.monotonic() - start)


def _target(options: argparse.Namespace) -> Target:
    if options.backend is not None:
        return Target("backend", str(options.backend.expanduser().resolve()))
    return Target("device", options.device) if options.variant is None else Target("variant", options.variant)


class Batches:
    """A thread-safe iterator over batches of seeds, which stops when the time is over."""

    def __init__(self, seeds: range, minutes: float | None) -> None:
        self._rest = iter(batches_of(seeds))
        self._until = None if minutes is None else time.monotonic() + 60 * minutes
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[range]:
        return self

    def __next__(self) -> range:
        if self._until is not None and time.monotonic() > self._until:
            raise StopIteration
        with self._lock:
            return next(self._rest)


class Progress:
    """Prints findings as they come and, on a terminal, the progress."""

    def __init__(self, count: int, processes: int) -> None:
        self._count, self._lock = count, threading.Lock()
        self._programs, self._shown = [0] * processes, [0] * processes

    def tell(self, number: int, tally: Tally) -> None:
        with self._lock:
            for finding in tally.findings[self._shown[number] :]:
                print(f"{finding}\n", flush=True)
            self._programs[number], self._shown[number] = tally.programs, len(tally.findings)
            if sys.stderr.isatty():
                print(f"\r{sum(self._programs)} of {self._count}, {sum(self._shown)} faults", end="", file=sys.stderr)


def _conclude(tallies: list[Tally], seed: int, seconds: float) -> int:
    findings: list[Finding] = [finding for tally in tallies for finding in tally.findings]
    programs, refused = sum(tally.programs for tally in tallies), sum(tally.refused for tally in tallies)
    kinds = Counter((finding.way, finding.kind) for finding in findings)
    for (way, kind), count in kinds.most_common():
        print(f"{count:6} {way}: {kind}")
    print(f"{programs} programs from seed {seed} in {seconds:.0f} s, {refused} refused, {len(findings)} with a fault")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""Mutation tests: plants one fault at a time in copies of the tree, and shows which ones the kit and the tests catch:

    .venv/bin/python -m tests.mutation [kernel ...]      # hand-written faults in the kernels of the host's module
    .venv/bin/python -m tests.mutation --core [word ...] # and in the waits and errors of the core
    .venv/bin/python -m tests.mutation --planted cuda    # those of a backend's tests/mutation.toml
    .venv/bin/python -m tests.mutation --generate 200    # generated faults; --where passes, or the name of a backend

Works in build/mutation; needs ferrule installed (`./dev build`). docs/mutation.md explains the tables. The
exit status is the number of faults that no test caught and that have no reason in equivalent.toml, at most 100.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ferrule.testing.running.target import runnable_variants
from rich.console import Console
from rich.progress import Progress

from . import handwritten_faults, planted_faults, table
from .backends import BACKENDS, ROOT
from .campaign import Campaign, Tried, judged_equivalent
from .generated import AREAS, SHARES, GeneratedFault, all_faults, draw
from .trial import SURVIVED
from .workspace import FOLDER


def chosen(options: argparse.Namespace) -> list[GeneratedFault]:
    """The faults that --only names, or as many as asked for, in the order of the seed."""
    areas = [options.where] if options.where else list(AREAS)
    faults = {area: all_faults(area, ROOT) for area in areas}
    if options.only:
        names = {name.split("-")[-1] for name in options.only}  # only the fingerprint counts
        found = [fault for area in areas for fault in faults[area] if fault.fingerprint in names]
        if not found:
            raise SystemExit(f"no fault is called {' or '.join(options.only)}; --list prints their names")
        return found
    total = sum(SHARES[area] for area in areas)
    counts = {area: round(options.generate * SHARES[area] / total) for area in areas}
    return [fault for area in areas for fault in list(draw(faults[area], options.seed))[: counts[area]]]


def generate(options: argparse.Namespace, console: Console) -> int:
    faults = chosen(options)
    if options.list:
        for fault in faults:
            console.print(f"{fault.name}  {fault.what}", markup=False, highlight=False, soft_wrap=True)
        return 0
    variant = options.variant or runnable_variants()[0]
    console.print(f"{len(faults)} faults, seed {options.seed}, variant {variant}, level {options.level}")
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("faults", total=len(faults))

        def on_tried(one: Tried) -> None:
            console.print(table.line_of(one), highlight=False, soft_wrap=True)
            progress.advance(task)

        campaign = Campaign(variant, options.level, options.jobs, on_tried)
        again = {"none": (), "survived": (SURVIVED,), "all": table.STATES}[options.again]
        tried = campaign.run(faults, lambda outcome: outcome.state in again)
    table.show(console, tried)
    known = {fault.fingerprint for area in AREAS for fault in all_faults(area, ROOT)}
    if stale := sorted(set(judged_equivalent()) - known):
        console.print(f"equivalent.toml has reasons for faults that cannot be made any more: {', '.join(stale)}")
    table.save(options.report, tried)
    console.print(f"wrote {options.report}")
    return sum(one.state == SURVIVED for one in tried)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Are these faults caught?")
    parser.add_argument("kernels", nargs="*", help="written faults: only these")
    parser.add_argument("--core", action="store_true", help="written faults of the core; `kernels` are words of theirs")
    parser.add_argument(
        "--planted",
        choices=[backend.name for backend in BACKENDS.values() if backend.faults],
        help="written faults of this backend; `kernels` are words of theirs",
    )
    parser.add_argument("--level", default="quick", choices=["quick", "full"], help="of the kit")
    parser.add_argument("--variant", help="of the host's module; by default the widest that runs here")
    parser.add_argument("--generate", type=int, metavar="N", help="try N faults that are made automatically")
    parser.add_argument("--where", choices=list(AREAS), help="generated: only there; by default everywhere")
    parser.add_argument("--seed", type=int, default=0, help="generated: which faults are drawn")
    parser.add_argument("--only", action="append", metavar="NAME", help="generated: this one; may be given again")
    parser.add_argument("--list", action="store_true", help="generated: print which, and run nothing")
    parser.add_argument(
        "--again",
        choices=["none", "survived", "all"],
        default="none",
        help="generated: do not go by what is kept in build/mutation/results for these",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="generated: how many at once")
    parser.add_argument("--report", type=Path, default=FOLDER / "report.json", help="generated: where the JSON goes")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    if options.generate is not None or options.only:
        return min(generate(options, console), 100)
    if options.core:
        return min(handwritten_faults.run_core(options.kernels, console), 100)
    if options.planted:
        return min(planted_faults.run(BACKENDS[options.planted], options.kernels, console), 100)
    return handwritten_faults.run(options.kernels, options.level, options.variant or runnable_variants()[0], console)


if __name__ == "__main__":
    sys.exit(main())

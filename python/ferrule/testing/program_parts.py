"""The random programs of a kit run: their number at each level, split into parts of one test each."""

from __future__ import annotations

import dataclasses
import shlex

from ferrule.testing.kit import Subject
from ferrule.testing.programs.run_batches import Tally, batches_of, run_batches
from ferrule.testing.report import Record
from ferrule.tools.child import ChildEnded, ChildError

PROGRAMS = {"brief": 20, "quick": 300, "full": 4_000, "edge": 4_000}
PART = 100  # programs per test
STRIDE = 1_000_000  # between the first programs of two seeds of the kit


def parts_of(level: str) -> range:
    return range(-(-PROGRAMS[level] // PART))


def seeds_of(level: str, part: int, seed: int) -> range:
    first = seed * STRIDE
    return range(first + part * PART, first + min((part + 1) * PART, PROGRAMS[level]))


def programs_record(subject: Subject, part: int, seed: int) -> Record:
    """Run one part and return its record."""
    seeds = seeds_of(subject.target.level, part, seed)
    target = shlex.quote(subject.target.option.replace("--ferrule-", "--"))
    repeat = f"python -m ferrule.testing.programs {target} --seed {seeds.start} --count {len(seeds)}"
    try:
        tally = run_batches(subject.child, subject.device, batches_of(seeds), shrinks=1)
    except ChildEnded as end:
        return subject.module_record("programs", end.state, str(end), repeat)
    except ChildError as error:
        return subject.module_record("programs", "failed", str(error), repeat)
    record = subject.module_record("programs", state_of(tally), "\n\n".join(map(str, tally.findings)), repeat)
    if record.state == "refused":
        record = dataclasses.replace(record, reason="the device takes no step of any program")
    return dataclasses.replace(record, runs=tally.programs - tally.refused, seed=seed)


def state_of(tally: Tally) -> str:
    kinds = {finding.kind for finding in tally.findings}
    for state in ("crashed", "hung"):
        if state in kinds:
            return state
    return "failed" if kinds else "refused" if tally.refused == tally.programs else "passed"

"""Runs many programs in a child process. A crash of the child is a fault like any other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ferrule.testing.programs.program import Program
from ferrule.testing.programs.shrink import shrink
from ferrule.testing.programs.worker_requests import DRAWING
from ferrule.tools.child import Child, ChildEnded

BATCH = 10  # programs per request
CRASH_TRIES = 60  # tries of the shrinker for a crash or hang: most of them start a new process


@dataclass(frozen=True)
class Finding:
    """A program with a fault, possibly shrunk. `text` is the fault and the code."""

    seed: int
    way: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"seed {self.seed}, way {self.way!r}: {self.kind}\n{self.text}"


@dataclass
class Tally:
    """The counts and findings so far."""

    programs: int = 0
    refused: int = 0
    findings: list[Finding] = field(default_factory=list)


def run_batches(
    child: Child,
    device: str,
    batches: Iterable[range],
    second: str | None = None,
    shrinks: int = 3,
    tell: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Run the programs of these seeds. The first `shrinks` programs of each kind of fault are shrunk. `tell` is called
    after each batch."""
    tally = Tally()
    seen: dict[tuple[str, str], int] = {}
    for batch in batches:
        for seed, faults in _run(child, device, second, batch, tally):
            for fault in faults[:1]:
                kind = (fault["way"], fault["kind"])
                seen[kind] = seen.get(kind, 0) + 1
                tally.findings.append(_finding(child, device, second, seed, fault, seen[kind] <= shrinks))
        tell(tally)
    return tally


def batches_of(seeds: range) -> list[range]:
    return [seeds[start : start + BATCH] for start in range(0, len(seeds), BATCH)]


def _run(
    child: Child, device: str, second: str | None, seeds: range, tally: Tally
) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield seeds with faults; go on after a program that ended the child."""
    while seeds:
        try:
            reply = child.ask(do="programs", device=device, second=second, first=seeds[0], count=len(seeds))
        except ChildEnded as end:
            if not end.at.startswith("program "):
                raise
            seed, _, way = end.at.removeprefix("program ").partition(" ")
            tally.programs += int(seed) - seeds[0] + 1
            yield int(seed), [{"way": way, "kind": end.state, "text": str(end)}]
            seeds = range(int(seed) + 1, seeds[-1] + 1)
            continue
        tally.programs += len(seeds)
        tally.refused += reply["refused"]
        for seed, faults in reply["faults"]:
            yield seed, faults
        return


def _finding(child: Child, device: str, second: str | None, seed: int, fault: dict[str, Any], small: bool) -> Finding:
    if fault["way"] == DRAWING:
        return Finding(seed, fault["way"], fault["kind"], fault["text"])
    drawn = child.ask(do="program", device=device, second=second, seed=seed, program=None, ways=[])
    program = Program.from_json(drawn["program"])
    ways = [fault["way"]]

    def ask(candidate: Program) -> tuple[dict[str, Any] | None, str]:
        try:
            data = candidate.to_json()
            reply = child.ask(do="program", device=device, second=second, seed=seed, program=data, ways=ways)
        except ChildEnded as end:
            return {"way": end.at.rpartition(" ")[2], "kind": end.state, "text": str(end)}, ""
        found = [one for one in reply["faults"] if (one["way"], one["kind"]) == (fault["way"], fault["kind"])]
        return (found[0], found[0]["source"]) if found else (None, "")

    def fails(candidate: Program) -> bool:
        found, _ = ask(candidate)
        return found is not None and (found["way"], found["kind"]) == (fault["way"], fault["kind"])

    if small:
        program = (
            shrink(program, fails, CRASH_TRIES) if fault["kind"] in ("crashed", "hung") else shrink(program, fails)
        )
    last, source = ask(program)
    source = (
        source
        or child.ask(
            do="source", device=device, second=second, program=program.to_json(), way=fault["way"], kind=fault["kind"]
        )["source"]
    )
    return Finding(seed, fault["way"], fault["kind"], f"{(last or fault)['text']}\n{source}")

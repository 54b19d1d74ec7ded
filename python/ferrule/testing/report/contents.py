"""The contents of a report: the records of a run, its environment and its counts."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from ferrule.testing.report.matrix import Pair, Place, op_kinds
from ferrule.testing.report.notebook import NotebookMatrix
from ferrule.testing.report.record import OUTCOMES, Record
from ferrule.tools.machine import processor, version_of


@dataclass(frozen=True)
class Report:
    """The report of a run. `declared`, `expected` and `kinds` are as in Matrix."""

    records: tuple[Record, ...]
    environment: Mapping[str, str] = field(default_factory=lambda: environment())
    declared: frozenset[Place] = frozenset()
    expected: frozenset[Pair] = frozenset()
    kinds: Mapping[str, str] = field(default_factory=op_kinds)

    @cached_property
    def matrix(self) -> NotebookMatrix:
        return NotebookMatrix(self.records, kinds=self.kinds, declared=self.declared, expected=self.expected)

    @cached_property
    def failures(self) -> tuple[Record, ...]:
        """The failing records: crashes first, then one record of each cell before a second one of any cell."""
        of_cell: Counter[tuple[str, ...]] = Counter()
        ranked = []
        for record in (record for record in self.records if record.failing):
            place = (record.target, record.op, record.dtype) if record.op else (record.target, record.check)
            ranked.append((record.state == "failed", of_cell[place], record))
            of_cell[place] += 1
        return tuple(record for *_, record in sorted(ranked, key=lambda item: item[:2]))

    @cached_property
    def timed(self) -> tuple[Record, ...]:
        """The records of the benchmark."""
        return tuple(record for record in self.records if record.nanoseconds is not None)

    @property
    def ok(self) -> bool:
        return not self.failures and not any(cell.state.failing for cell in self.matrix.cells())

    def of(self, target: str) -> tuple[Record, ...]:
        return tuple(record for record in self.records if record.target == target)

    @cached_property
    def summary(self) -> dict[str, object]:
        """The counts of all records, and of those of each target."""
        targets = {target: {**count(self.of(target)), "matrix": self._cells(target)} for target in self.matrix.targets}
        return {**count(self.records), "matrix": self._cells(None), "targets": targets}

    def _cells(self, target: str | None) -> dict[str, int]:
        return {state.word: number for state, number in self.matrix.counts(target).items()}


def count(records: Iterable[Record]) -> dict[str, int | float]:
    """Count the cases, checks (one per record), runs and seconds, and the checks by outcome."""
    records = list(records)
    return {
        "cases": len({(record.target, record.case) for record in records if record.case}),
        "checks": len(records),
        "runs": sum(record.runs for record in records),
        "seconds": round(sum(record.seconds for record in records), 3),
        **{outcome: sum(record.state == outcome for record in records) for outcome in OUTCOMES},
    }


def environment() -> dict[str, str]:
    """The platform, the versions and the date."""
    return {
        "ferrule": version_of("ferrule"),
        "platform": platform.platform(),
        "processor": processor(),
        "python": platform.python_version(),
        "numpy": version_of("numpy"),
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    }

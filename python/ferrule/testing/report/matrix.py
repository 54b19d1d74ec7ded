"""The matrix: a cell for each target, op and dtype, whose state is that of its worst record."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ferrule.op_rows import OP_ROWS
from ferrule.testing.model.dtypes import REALS
from ferrule.testing.report.record import Record, plain
from ferrule.testing.report.state import State, cell_state, state_of

KINDS = ("elementwise", "primitive", "composite", "host", "view")
OTHER_KIND = "op"  # for ops of unknown kind

Pair = tuple[str, str]  # op, dtype
Place = tuple[str, str, str]  # target, op, dtype


@dataclass(frozen=True)
class Cell:
    """One op for one dtype of the first input, on one target."""

    target: str
    op: str
    dtype: str
    records: tuple[Record, ...] = ()
    declared: bool = False  # a kernel of the target says that it supports this
    known: bool = True  # a case exists

    @cached_property
    def state(self) -> State:
        return cell_state(self.records, self.declared) if self.known or self.declared else State.NO_CASE

    @cached_property
    def worst(self) -> Record | None:
        """The record with the greatest distance; in a failing cell, among the records that made it fail."""
        made = [r for r in self.records if not self.state.failing or state_of(r) is self.state]
        measured = [r for r in made if r.ulp is not None]
        return max(measured, key=lambda r: math.inf if math.isnan(r.ulp or 0.0) else r.ulp or 0.0, default=None)

    @property
    def ulp(self) -> float | None:
        return None if self.worst is None else self.worst.ulp

    @property
    def allowed(self) -> float | None:
        return None if self.worst is None else self.worst.allowed

    @property
    def where(self) -> str:
        return "" if self.worst is None else self.worst.where

    @property
    def cases(self) -> int:
        return len({record.case for record in self.records})

    @property
    def runs(self) -> int:
        return sum(record.runs for record in self.records)

    @property
    def why(self) -> str:
        """The message or reason of the worst record, in one line."""
        if self.state is State.WRONG and not any(record.failing for record in self.records):
            return "declared, but no case of it ran"
        texts = (r.message or r.reason for r in self.records if state_of(r) is self.state)
        return next((text.strip().splitlines()[0] for text in texts if text.strip()), "")

    def to_json(self) -> dict[str, object]:
        return {
            "target": self.target,
            "op": self.op,
            "dtype": self.dtype,
            "state": self.state.word,
            "ulp": plain(self.ulp),
            "allowed": plain(self.allowed),
            "where": self.where,
            "cases": self.cases,
            "checks": len(self.records),
            "runs": self.runs,
            "declared": self.declared,
            "why": self.why,
        }


class Matrix:
    """The cells of every target.

    `kinds` maps each op to its kind, in the order of the rows, and also lists the ops without records. `declared` are
    the capabilities that the kernels of a target declare. `expected` are the pairs that have a case: such a cell
    without a record is "not run" rather than "no case".
    """

    def __init__(
        self,
        records: Iterable[Record],
        *,
        kinds: Mapping[str, str] | None = None,
        declared: Collection[Place] = (),
        expected: Collection[Pair] = (),
        targets: Collection[str] = (),
    ) -> None:
        kinds = op_kinds() if kinds is None else kinds
        self.records = tuple(records)
        of_ops = [record for record in self.records if record.op]
        places: dict[Place, list[Record]] = {place: [] for place in declared}
        for record in of_ops:
            places.setdefault((record.target, record.op, record.dtype), []).append(record)
        seen = {(op, dtype) for _, op, dtype in places} | set(expected)
        self.targets = tuple(dict.fromkeys([*targets, *(r.target for r in self.records), *(p[0] for p in declared)]))
        self.dtypes = _order({dtype for _, dtype in seen} | set(REALS if seen else ()), REALS)
        self.ops = tuple(dict.fromkeys([*kinds, *sorted({op for op, _ in seen})])) if seen else ()
        self.groups = {
            kind: ops
            for kind in _order({kinds.get(op, OTHER_KIND) for op in self.ops}, KINDS)
            if (ops := tuple(op for op in self.ops if kinds.get(op, OTHER_KIND) == kind))
        }
        declared = set(declared)
        self._cells = {
            place: Cell(*place, tuple(places.get(place, ())), place in declared, place[1:] in seen)
            for place in ((target, op, dtype) for target in self.targets for op in self.ops for dtype in self.dtypes)
        }

    def cell(self, target: str, op: str, dtype: str) -> Cell:
        return self._cells[target, op, dtype]

    def cells(self, target: str | None = None) -> list[Cell]:
        """The cells that have a case or are declared, in the order of the rows."""
        cells = (cell for cell in self._cells.values() if cell.state is not State.NO_CASE)
        return [cell for cell in cells if target in (None, cell.target)]

    def row(self, target: str, op: str) -> list[Cell]:
        return [self.cell(target, op, dtype) for dtype in self.dtypes]

    def counts(self, target: str | None = None) -> dict[State, int]:
        """The number of cells in each state."""
        counts: dict[State, int] = {state: 0 for state in State if state is not State.NO_CASE}
        for cell in self.cells(target):
            counts[cell.state] += 1
        return counts


def op_kinds() -> dict[str, str]:
    """The kind of each op of this version of ferrule."""
    return {name: str(row.get("kind", OTHER_KIND)) for name, row in OP_ROWS.items()}


def _order(found: Collection[str], order: tuple[str, ...]) -> tuple[str, ...]:
    """Sort by the position in `order`; names that are not in it come last, by name."""
    return (*(name for name in order if name in found), *sorted(set(found) - set(order)))

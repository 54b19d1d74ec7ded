"""A row gives the same bits in every batch."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.dtypes import Values
from ferrule.testing.model.problem import Batch, Problem
from ferrule.testing.running.check_attempt import Attempt

BY_ITEM_SIZE = True


def parts_of(rows: int) -> list[slice]:
    """Parts of the batch: one row, a few, more than any tile, a remainder, the end."""
    fifth = rows // 5
    ends = [(0, 1), (fifth, fifth + 7), (3 * fifth, rows), (rows - 1, rows), (1, 3), (0, 16), (5, rows - fifth)]
    return [slice(first, min(last, rows)) for first, last in ends]


def check(attempt: Attempt) -> None:
    for batch in attempt.case.family.batches:
        inputs = attempt.inputs(batch.problem)
        execution = attempt.try_prepare(batch.problem, inputs)
        if execution is None:
            continue
        whole = attempt.compute(execution)
        rows = whole.shape[batch.output]
        parts = [part for part in parts_of(rows) if part.stop == rows or not batch.from_end]
        for part in parts[: attempt.pick(quick=4, full=7)]:
            _part(attempt, batch, inputs, whole, part)


def _part(attempt: Attempt, batch: Batch, inputs: list[Values], whole: Values, part: slice) -> None:
    def cut(values: Values, axis: int | None) -> Values:
        if axis is None:
            return values
        return np.ascontiguousarray(values[(slice(None),) * axis + (part,)])

    less = [cut(x, axis) for x, axis in zip(inputs, batch.inputs, strict=True)]
    problem = Problem(tuple(x.shape for x in less), batch.problem.attributes)
    execution = attempt.try_prepare(problem, less)
    if execution is None:
        return
    what = f"rows {part.start} to {part.stop} of {batch.problem}, computed alone and in the batch"
    attempt.equal_bits(problem, attempt.compute(execution), cut(whole, batch.output), what)

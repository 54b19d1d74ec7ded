"""A NaN reaches exactly the elements that it must, from every position in a row."""

from __future__ import annotations

import math

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import Values, is_floating
from ferrule.testing.model.problem import Batch, Problem
from ferrule.testing.model.sizes import LONGEST, above_blocks, around_vectors
from ferrule.testing.running.check_attempt import Attempt
from ferrule.testing.running.execution import Execution


def _places(case: Case) -> list[int]:
    return [i for i, _ in enumerate(case.family.plain[0].shapes) if is_floating(case.dtype(i))]


def applies(case: Case) -> bool:
    return bool(_places(case)) and not case.ordinary_only


def check(attempt: Attempt) -> None:
    case = attempt.case
    for problem in case.family.plain[: attempt.pick(quick=2, full=10)]:
        for number in _places(case):
            if number < len(problem.shapes):
                _one_problem(attempt, problem, number)
    if case.family.pointwise:
        _every_other(attempt)
    else:
        _two_in_a_row(attempt)
        for batch in case.family.batches:
            if max(math.prod(shape) for shape in batch.problem.shapes) <= attempt.pick(quick=10_000, full=1_000_000):
                _one_in_each_row(attempt, batch)


def _one_problem(attempt: Attempt, problem: Problem, number: int) -> None:
    """Set a NaN at the first, the last and random positions: NaN is often lost at the ends of vectors."""
    inputs = attempt.inputs(problem, number)
    size = inputs[number].size
    if size == 0:
        return
    rng = attempt.rng(problem, number, "place")
    for place in {0, size - 1, *rng.integers(0, size, attempt.pick(quick=1, full=4)).tolist()}:
        spoilt = [x.copy() for x in inputs]
        spoilt[number].reshape(-1)[place] = np.nan
        attempt.try_problem(problem, spoilt, f"NaN at {place} of input {number}")


def _two_in_a_row(attempt: Attempt) -> None:
    """A NaN in the first block of a long row and one at its end: argmax and others must report the first."""
    sized = attempt.case.family.sized
    if sized is None:
        return
    for size in above_blocks():
        for problem in sized(size)[:2] if size < LONGEST else []:
            inputs = attempt.inputs(problem)
            for number in _places(attempt.case)[:1]:
                shape = problem.shapes[number]
                if size in shape:
                    row = np.moveaxis(inputs[number], shape.index(size), -1)[(0,) * (len(shape) - 1)]
                    row[[size // 7, size - 1]] = np.nan
                    attempt.try_problem(problem, inputs, f"NaN at {size // 7} and at the end of a row")


def _every_other(attempt: Attempt) -> None:
    """For elementwise ops, NaN at every even position, then at every odd one."""
    case = attempt.case
    size = around_vectors(case.dtypes)[-1]
    problem = Problem(((size,),) * len(case.family.plain[0].shapes), case.family.plain[0].attributes)
    for number in _places(case):
        inputs = attempt.inputs(problem, number)
        for first in (0, 1):
            spoilt = [x.copy() for x in inputs]
            spoilt[number][first::2] = np.nan
            attempt.try_problem(problem, spoilt, f"NaN at every other place of input {number}, from {first} on")


def _one_in_each_row(attempt: Attempt, batch: Batch) -> None:
    """One NaN in each row, at another position in each, until all positions of a row were covered."""
    problem = batch.problem
    for number, axis in enumerate(batch.inputs):
        if axis is None or not is_floating(attempt.case.dtype(number)):
            continue
        inputs = attempt.inputs(problem, number)
        rows, size = inputs[number].shape[axis], inputs[number].size // inputs[number].shape[axis]
        execution = attempt.try_prepare(problem, inputs, "a NaN in each row")
        for first in range(0, min(size, attempt.pick(quick=300, full=10_000)), rows):
            if execution is not None:
                _spoil_rows(attempt, problem, execution, inputs, number, axis, first)


def _spoil_rows(
    attempt: Attempt, problem: Problem, execution: Execution, inputs: list[Values], number: int, axis: int, first: int
) -> None:
    spoilt = [x.copy() for x in inputs]
    for row, values in enumerate(np.moveaxis(spoilt[number], axis, 0)):
        values[np.unravel_index((first + row) % values.size, values.shape)] = np.nan
    note = f"NaN at {first}, {first + 1}, ... of the rows of input {number}"
    attempt.at(f"{problem} {note}")
    attempt.judge(problem, spoilt, attempt.compute_with(execution, spoilt), note)

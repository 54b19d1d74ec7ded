"""Rows of every length up to two vectors, and around the sizes of blocks: within the tolerance of the truth.

Long rows are also tested with strides: loops over strided rows may have other block sizes.
"""

from __future__ import annotations

from ferrule.testing.model.case import Case
from ferrule.testing.model.layouts import STRIDED, fits
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.sizes import above_blocks, around_blocks, around_vectors
from ferrule.testing.running.check_attempt import Attempt

BY_ITEM_SIZE = True

WRONG_IN_16_BITS = (1 << 15, 1 << 16, (1 << 16) + 1)  # as a negative number, as 0, as 1
LAYOUTS = ("stepped", "last_reversed")


def applies(case: Case) -> bool:
    return case.family.sized is not None


def check(attempt: Attempt) -> None:
    case = attempt.case
    sized = case.family.sized
    assert sized is not None
    for size in (*around_vectors(case.dtypes or (case.result,)), *around_blocks()):
        problems = sized(size)
        # The longest sizes take more time than all others together: one problem each is enough, for those that 16 bits
        # count wrongly. Loops over blocks end in the same way at shorter ones.
        if size > 1 << 14 and attempt.level == "quick":
            problems = problems[:1] if size in WRONG_IN_16_BITS else ()
        for problem in problems:
            attempt.try_problem(problem)
    for number, size in enumerate(above_blocks() if case.dtypes else []):
        for problem in sized(size):
            for name in LAYOUTS if attempt.level != "quick" else [LAYOUTS[number % 2]]:
                _strided(attempt, problem, name)


def _strided(attempt: Attempt, problem: Problem, name: str) -> None:
    inputs = attempt.inputs(problem)
    if not any(fits(name, x) for x in inputs):
        return
    lays = [STRIDED[name] if fits(name, x) else STRIDED["offset_by_1"] for x in inputs]
    execution = attempt.try_prepare(problem, inputs, name, layouts=lays)
    if execution is not None:
        attempt.judge(problem, execution.seen, attempt.compute(execution), name)

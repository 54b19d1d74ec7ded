"""An input that is constant, which the device may pack beforehand: still within the tolerance of the truth."""

from __future__ import annotations

from ferrule.testing.attempt import Attempt
from ferrule.testing.case import Case


def applies(case: Case) -> bool:
    return len(case.family.plain[0].shapes) > 1  # with its only input constant, nothing is left to compute


def check(attempt: Attempt) -> None:
    family = attempt.case.family
    for problem in family.plain[: attempt.pick(quick=2, full=20)]:
        inputs = attempt.inputs(problem)
        for number in range(len(inputs)):
            note = f"input {number} is constant"
            execution = attempt.try_prepare(problem, inputs, note, constants=[number])
            if execution is not None:
                attempt.judge(problem, inputs, attempt.compute(execution), note)

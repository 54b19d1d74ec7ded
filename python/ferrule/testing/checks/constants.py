"""A constant input, which the device may prepare beforehand: the result stays within the tolerance of the truth.

A constant may have any strides and offset.
"""

from __future__ import annotations

from ferrule.testing.model.case import Case
from ferrule.testing.model.layouts import STRIDED, contiguous, fits
from ferrule.testing.model.problem import Problem
from ferrule.testing.running.check_attempt import Attempt

BY_ITEM_SIZE = True

LAYOUTS = ("given_backwards", "given_turned", "last_reversed", "stepped")


def applies(case: Case) -> bool:
    return len(case.family.plain[0].shapes) > 1  # with its only input constant, the result is constant


def check(attempt: Attempt) -> None:
    family = attempt.case.family
    for problem in (*family.plain[: attempt.pick(quick=2, full=20)], *family.constants):
        for number in range(len(problem.shapes)):
            _constant(attempt, problem, number, "contiguous")
            for name in LAYOUTS:
                _constant(attempt, problem, number, name)


def _constant(attempt: Attempt, problem: Problem, number: int, name: str) -> None:
    inputs = attempt.inputs(problem)
    if not fits(name, inputs[number]):
        return
    layout = contiguous if name == "contiguous" else STRIDED[name]
    note = f"input {number} is constant, {name}"
    lays = [layout if place == number else contiguous for place in range(len(inputs))]
    execution = attempt.try_prepare(problem, inputs, note, constants=[number], layouts=lays)
    if execution is not None:
        attempt.judge(problem, inputs, attempt.compute(execution), note)

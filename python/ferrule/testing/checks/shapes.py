"""No elements, one element, up to eight axes, and shapes that hypothesis draws and shrinks."""

from __future__ import annotations

import hypothesis
from hypothesis import strategies

from ferrule.testing.model.problem import Problem
from ferrule.testing.running.check_attempt import Attempt

BY_ITEM_SIZE = True


def check(attempt: Attempt) -> None:
    family = attempt.case.family
    for problem in (*family.empty, *family.single, *family.plain[4:], *family.shapes):
        attempt.try_problem(problem)
    if family.draw is None:
        return

    @hypothesis.seed(attempt.seed)
    @hypothesis.settings(
        max_examples=attempt.pick(quick=5, full=30, edge=300),
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(family.draw(), strategies.integers(0, 1 << 30))
    def drawn(problem: Problem, number: int) -> None:
        attempt.try_problem(problem, attempt.inputs(problem, number))

    drawn()

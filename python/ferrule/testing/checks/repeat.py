"""The same inputs give the same bits in every run, and after another compilation."""

from __future__ import annotations

from ferrule.testing.running.check_attempt import Attempt

BY_ITEM_SIZE = True


def check(attempt: Attempt) -> None:
    family = attempt.case.family
    for problem in (*family.plain[: attempt.pick(quick=1, full=4)], *family.large[:1]):
        inputs = attempt.inputs(problem)
        execution = attempt.try_prepare(problem, inputs)
        if execution is None:
            continue
        first = attempt.compute(execution).copy()
        for number in range(attempt.pick(quick=3, full=10, edge=50)):
            attempt.equal_bits(problem, attempt.compute(execution), first, f"the first run, and run {number + 2}")
        attempt.equal_bits(problem, attempt.run(problem, inputs), first, "the first run, and one compiled anew")

"""The number of threads does not change the bits of a result."""

from __future__ import annotations

import ferrule as fe
from ferrule.testing.model.case import Case
from ferrule.testing.running.check_attempt import Attempt, NotApplicable

ALONE = True
BY_ITEM_SIZE = True


def applies(case: Case) -> bool:
    return bool(case.family.large)


def check(attempt: Attempt) -> None:
    if attempt.device.kind != "cpu":
        raise NotApplicable("the device does not compute on the threads of the process")
    try:
        for problem in attempt.case.family.large[: attempt.pick(quick=3, full=10)]:
            inputs = attempt.inputs(problem)
            fe.set_thread_count(1)
            execution = attempt.try_prepare(problem, inputs)
            if execution is None:
                continue
            alone = attempt.compute(execution).copy()
            for count in (8, 3, 2)[: attempt.pick(quick=2, full=3)]:  # also where the machine has fewer CPUs
                fe.set_thread_count(count)
                got = attempt.compute(execution)
                attempt.equal_bits(problem, got, alone, f"{count} threads, and one")
    finally:
        fe.set_thread_count(0)

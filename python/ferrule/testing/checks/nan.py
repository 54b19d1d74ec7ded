"""A NaN reaches the elements that the truth says, and no other."""

from __future__ import annotations

import numpy as np

from ferrule.testing.attempt import Attempt
from ferrule.testing.case import Case
from ferrule.testing.dtypes import is_floating


def _places(case: Case) -> list[int]:
    return [i for i, _ in enumerate(case.family.plain[0].shapes) if is_floating(case.dtype(i))]


def applies(case: Case) -> bool:
    return bool(_places(case))


def check(attempt: Attempt) -> None:
    case = attempt.case
    places = _places(case)
    for problem in case.family.plain[: attempt.pick(quick=2, full=10)]:
        for number in places:
            inputs = attempt.inputs(problem, number)
            if number >= len(inputs) or inputs[number].size == 0:
                continue
            rng = attempt.rng(problem, number, "place")
            size = inputs[number].size
            # First, last, and somewhere: where vectors end is where NaN is lost.
            for place in {0, size - 1, *rng.integers(0, size, attempt.pick(quick=1, full=4)).tolist()}:
                spoilt = [x.copy() for x in inputs]
                spoilt[number].reshape(-1)[place] = np.nan
                attempt.try_problem(problem, spoilt, f"NaN at {place} of input {number}")

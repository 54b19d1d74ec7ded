"""So many equal numbers that their sum leaves 32 bits: one element, repeated by a stride of zero."""

from __future__ import annotations

import numpy as np

from ferrule.testing.attempt import Attempt
from ferrule.testing.case import Case
from ferrule.testing.dtypes import is_floating
from ferrule.testing.layouts import STRIDED


def applies(case: Case) -> bool:
    return bool(case.family.repeated) and case.op == "sum" and not is_floating(case.dtypes[0])


def check(attempt: Attempt) -> None:
    case = attempt.case
    for problem in case.family.repeated:
        for value in case.domain(0).edge_values(case.dtype(0))[[0, -1]]:
            inputs = [np.broadcast_to(value, problem.shapes[0])]
            note = f"{value} repeated"
            execution = attempt.try_prepare(problem, inputs, note, layouts=[STRIDED["spread_out"]])
            if execution is not None:
                attempt.judge(problem, execution.seen, attempt.compute(execution), note)

"""So many equal numbers that their sum leaves 32 bits: one element, repeated by a stride of zero."""

from __future__ import annotations

import numpy as np

from ferrule.testing.attempt import Attempt
from ferrule.testing.case import Case, Problem
from ferrule.testing.dtypes import Values, is_floating
from ferrule.testing.layouts import STRIDED

MOST = {"quick": 1 << 26, "full": 1 << 33}  # elements: bools want a second or more


def applies(case: Case) -> bool:
    return case.op == "sum" and not is_floating(case.dtypes[0])


def extremes_of(dtype: str) -> Values:
    if dtype == "bool":
        return np.array([True])
    info = np.iinfo(dtype)
    return np.array([info.max, info.min] if info.min < 0 else [info.max], dtype)


def check(attempt: Attempt) -> None:
    case = attempt.case
    for value in extremes_of(case.dtypes[0]):
        count = max(1_000, (1 << 32) // int(abs(int(value))) + 1)
        if count > MOST["quick" if attempt.level == "quick" else "full"]:
            continue
        problem = Problem(((count,),), {"axis": [0], "keepdims": False})
        inputs = [np.broadcast_to(value, (count,))]
        note = f"{value} repeated"
        execution = attempt.try_prepare(problem, inputs, note, layouts=[STRIDED["spread_out"]])
        if execution is not None:
            attempt.judge(problem, execution.seen, attempt.compute(execution), note)

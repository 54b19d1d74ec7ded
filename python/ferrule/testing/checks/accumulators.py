"""Sums that exceed 32 bits: one element, repeated by a stride of zero."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import INTEGERS
from ferrule.testing.model.layouts import STRIDED
from ferrule.testing.model.problem import Problem
from ferrule.testing.running.check_attempt import Attempt


def applies(case: Case) -> bool:
    """A bool would need 2^32 elements, which a device may convert to 64 bits each."""
    return case.op == "sum" and case.dtypes[0] in INTEGERS


def check(attempt: Attempt) -> None:
    dtype = attempt.case.dtypes[0]
    info = np.iinfo(dtype)
    for value in np.array([info.max, info.min] if info.min < 0 else [info.max], dtype):
        count = max(1_000, (1 << 32) // abs(int(value)) + 1)
        if count > attempt.pick(quick=1 << 20, full=1 << 26):
            continue
        problem = Problem(((count,),), {"axis": [0], "keepdims": False})
        inputs = [np.broadcast_to(value, (count,))]
        note = f"{value} repeated"
        execution = attempt.try_prepare(problem, inputs, note, layouts=[STRIDED["spread_out"]])
        if execution is not None:
            attempt.judge(problem, execution.seen, attempt.compute(execution), note)

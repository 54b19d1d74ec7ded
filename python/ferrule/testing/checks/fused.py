"""Another op behind it in one graph, which the device may fuse, gives the bits of both one after the other."""

from __future__ import annotations

import dataclasses

from ferrule.testing.attempt import Attempt, NotApplicable
from ferrule.testing.case import Problem
from ferrule.testing.execution import Refused
from ferrule.testing.families import elementwise


def check(attempt: Attempt) -> None:
    case = attempt.case
    then = "logical_not" if case.result == "bool" else "abs" if case.floating else "bitwise_invert"
    second = dataclasses.replace(case, op=then, dtypes=(case.result,), family=elementwise(1))
    refusals = []
    for problem in case.family.plain[: attempt.pick(quick=2, full=10)]:
        inputs = attempt.inputs(problem)
        try:
            middle = attempt.run(problem, inputs)
            single = Attempt(attempt.device, second, attempt.check, attempt.level, attempt.seed, attempt.at)
            wanted = single.run(Problem((middle.shape,)), [middle])
            got = attempt.run(problem, inputs, f"then {then}", then=then)
        except Refused as refusal:
            refusals.append(f"{problem}, then {then}: {refusal}")
            continue
        attempt.equal_bits(problem, got, wanted, f"with {then} behind it in one graph, and one after the other")
    if attempt.runs < 3:
        raise NotApplicable(refusals[0])

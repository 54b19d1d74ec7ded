"""What a device says it supports, it compiles."""

from __future__ import annotations

from ferrule.testing.attempt import Attempt
from ferrule.testing.execution import Refused


def check(attempt: Attempt) -> None:
    case = attempt.case
    problem = case.family.plain[0]
    inputs = attempt.inputs(problem)
    asked = [*case.dtypes, case.result] if "dtype" in problem.attributes else list(case.dtypes)
    promised = bool(case.dtypes) and attempt.device.supports(case.op, *asked)
    try:
        attempt.judge(problem, inputs, attempt.run(problem, inputs))
    except Refused as refusal:
        if promised:
            raise attempt.fail(problem, f"the device supports {case.op} of {asked}, but: {refusal}") from refusal
        raise

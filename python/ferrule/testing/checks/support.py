"""A device compiles what its `supports` promises."""

from __future__ import annotations

from ferrule.testing.running.check_attempt import Attempt
from ferrule.testing.running.execution import Refused


def check(attempt: Attempt) -> None:
    case = attempt.case
    problem = case.family.plain[0]
    inputs = attempt.inputs(problem)
    promised = bool(case.dtypes) and attempt.device.supports(case.op, *case.asked)
    try:
        attempt.judge(problem, inputs, attempt.run(problem, inputs))
    except Refused as refusal:
        if promised:
            raise attempt.fail(problem, f"the device supports {case.op} of {case.asked}, but: {refusal}") from refusal
        raise

"""Invalid inputs raise an error, after which the device still works."""

from __future__ import annotations

import ferrule as fe
from ferrule.testing.model.case import Case
from ferrule.testing.running.check_attempt import Attempt


def applies(case: Case) -> bool:
    return case.errors is not None


def check(attempt: Attempt) -> None:
    case = attempt.case
    assert case.errors is not None
    for failing in case.errors(case):
        execution = attempt.prepare(failing.problem, failing.inputs, failing.why)
        try:
            got = attempt.compute(execution)
        except fe.Error as error:
            if not str(error):
                raise attempt.fail(failing.problem, f"{failing.why}: the error says nothing") from error
        else:
            raise attempt.fail(failing.problem, f"{failing.why}: gave {got!r} rather than an error")
        attempt.try_problem(case.family.plain[0])

"""No byte outside of outputs is written, none outside of inputs is read, and inputs are unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np

import ferrule as fe
from ferrule.testing.model.dtypes import BLOCKS, Values
from ferrule.testing.model.layouts import Laid, contiguous, offset
from ferrule.testing.model.problem import Problem
from ferrule.testing.running.array_conversion import values_of
from ferrule.testing.running.check_attempt import Attempt
from ferrule.testing.running.execution import Execution
from ferrule.testing.running.page_fences import fenced

BY_ITEM_SIZE = True


def check(attempt: Attempt) -> None:
    family = attempt.case.family
    problems = [*family.plain[: attempt.pick(quick=3, full=20)], *family.single[:1], *family.empty[:1]]
    large = family.large[: attempt.pick(quick=1, full=10)]  # for which modules use scratch memory
    for problem in (*problems, *large):
        inputs = attempt.inputs(problem)
        execution = attempt.try_prepare(problem, inputs, "guard zones", guard=True, layouts=[offset(64)] * len(inputs))
        if execution is None:
            continue
        before = [laid.base.copy() for laid in execution.laid]
        try:
            got = attempt.compute(execution)
        except fe.InternalError as error:
            raise attempt.fail(problem, str(error)) from error
        _inputs_are_untouched(attempt, problem, execution, before)
        if problem in large and attempt.level == "quick":
            continue  # other checks judge their values
        attempt.judge(problem, inputs, got, "guard zones")
        if attempt.is_in_host_memory and attempt.case.result not in BLOCKS:  # NumPy cannot write to blocks
            _between_fences(attempt, problem, inputs, got)


def _inputs_are_untouched(attempt: Attempt, problem: Problem, execution: Execution, before: list[Values]) -> None:
    for number, (array, old) in enumerate(zip(execution.given, before, strict=True)):
        if values_of(array).tobytes() != old.tobytes():
            raise attempt.fail(problem, f"input {number}, or memory beside it, was written to")


def _between_fences(attempt: Attempt, problem: Problem, inputs: list[Values], wanted: Values) -> None:
    """Run with inputs and output at the end, then at the start, of accessible memory."""
    for at_end in (True, False):
        copies = [fenced(x, at_end) for x in inputs]
        out: Any = fenced(wanted, at_end)
        if out is None:
            return

        def lay(values: Values, known: list[Any] = copies) -> Laid:
            place = next(copy for copy in known if copy is values)
            return Laid(place)

        note = f"at the {'end' if at_end else 'begin'} of its memory: a byte further is a segmentation fault"
        lays = [lay if x.size else contiguous for x in inputs]
        execution = attempt.prepare(problem, [c for c in copies if c is not None], note, layouts=lays)
        attempt.runs += 1
        execution.compute_into(out)
        attempt.judge(problem, inputs, np.array(out), note)

"""Views of every kind as inputs: transposed, stepped, reversed, repeated, aligned only to the size of an element."""

from __future__ import annotations

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import Values
from ferrule.testing.model.layouts import STRIDED, Layout, contiguous, fits
from ferrule.testing.model.problem import Problem
from ferrule.testing.running.check_attempt import Attempt

BY_ITEM_SIZE = True

OF_LARGE = ("stepped", "permuted")  # large problems are split for threads and caches


def applies(case: Case) -> bool:
    return bool(case.family.plain[0].shapes)


def check(attempt: Attempt) -> None:
    family = attempt.case.family
    # Four problems, so that reductions over several axes, which loops may merge, are included.
    for problem in family.plain[: attempt.pick(quick=2 if family.pointwise else 4, full=20)]:
        inputs = attempt.inputs(problem)
        for name, layout in STRIDED.items():
            lays: list[Layout] = [layout if fits(name, x) else contiguous for x in inputs]
            # All inputs in the layout, then each one alone.
            choices = [lays]
            if len(lays) > 1 and attempt.level != "quick":
                choices += [[lay if i == j else contiguous for j, lay in enumerate(lays)] for i in range(len(lays))]
            for chosen in choices:
                if any(lay is not contiguous for lay in chosen):
                    _try(attempt, problem, inputs, chosen, name)
    for problem in family.large[2:] or family.large[-1:]:
        inputs = attempt.inputs(problem)
        for name in OF_LARGE:
            if all(fits(name, x) for x in inputs):
                _try(attempt, problem, inputs, [STRIDED[name]] * len(inputs), name)


def _try(attempt: Attempt, problem: Problem, inputs: list[Values], lays: list[Layout], name: str) -> None:
    execution = attempt.try_prepare(problem, inputs, name, layouts=lays)
    if execution is None:
        return
    seen = execution.seen
    first = 0 if attempt.case.ordinary_only else 1
    if attempt.case.fill is not None and any((a != b).any() for a, b in zip(seen[first:], inputs[first:], strict=True)):
        return  # repeated indices or masks would no longer fit their shapes, and matrices of equal rows are singular
    attempt.judge(problem, seen, attempt.compute(execution), name)

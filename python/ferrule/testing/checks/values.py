"""Ordinary values, random bit patterns, and large shapes: within the tolerance of the truth."""

from __future__ import annotations

from ferrule.testing.model.dtypes import is_floating, numpy_dtype
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import every_pattern, patterns
from ferrule.testing.running.check_attempt import Attempt


def check(attempt: Attempt) -> None:
    family = attempt.case.family
    for problem in family.plain[: attempt.pick(brief=1, quick=4, full=100)]:
        attempt.try_problem(problem)
    if attempt.level == "brief":
        return
    for problem in family.large[: attempt.pick(quick=1, full=10)]:
        attempt.try_problem(problem)
    if family.pointwise and all(map(is_floating, attempt.case.dtypes)):
        _random_bits(attempt)


def has_few_numbers(dtype: str) -> bool:
    """Whether a floating-point dtype has few enough numbers to test all of them."""
    return is_floating(dtype) and numpy_dtype(dtype).itemsize <= 2


def _random_bits(attempt: Attempt) -> None:
    case = attempt.case
    if any(domain.within for domain in case.domains):
        return
    count = attempt.pick(quick=500, full=4_000, edge=200_000)
    arity = len(family_shapes := case.family.plain[0].shapes)
    problem = Problem(((count,),) * len(family_shapes), case.family.plain[0].attributes)
    rng = attempt.rng("bits")
    attempt.try_problem(problem, [patterns(rng, count, case.dtype(i)) for i in range(arity)], "random bits")
    if attempt.level != "edge" or arity != 1 or not has_few_numbers(case.dtype(0)):
        return
    every = every_pattern(case.dtype(0))
    for begin in range(0, every.size, 4096):  # larger results are judged by a sample
        part = every[begin : begin + 4096]
        attempt.try_problem(Problem((part.shape,), problem.attributes), [part], "every number")

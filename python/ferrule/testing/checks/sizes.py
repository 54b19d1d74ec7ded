"""Rows of every length up to two vectors, and around the sizes of blocks: within the tolerance of the truth.

Long rows are also tested with strides: loops over strided rows may have other block sizes. Long elementwise inputs have
subnormal numbers. Rows that are cut into parts have their extreme element at the ends of a part.
"""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import FORMATS, Values, is_floating, numpy_dtype
from ferrule.testing.model.layouts import STRIDED, fits
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.sizes import above_blocks, around_blocks, around_vectors
from ferrule.testing.running.check_attempt import Attempt

BY_ITEM_SIZE = True

WRONG_IN_16_BITS = (1 << 15, 1 << 16, (1 << 16) + 1)  # as a negative number, as 0, as 1
LAYOUTS = ("stepped", "last_reversed")
SELECTING = ("topk", "max", "min", "argmax", "argmin", "any", "all")
CUT = 1 << 17
# The last and the first element of two parts, if their number is a power of two, and the last of all.
ENDS = (CUT // 2 - 1, CUT // 2, CUT - 1)


def applies(case: Case) -> bool:
    return case.family.sized is not None


def check(attempt: Attempt) -> None:
    case = attempt.case
    sized = case.family.sized
    assert sized is not None
    for size in (*around_vectors(case.dtypes or (case.result,)), *around_blocks()):
        problems = sized(size)
        # The longest sizes take more time than all others together: one problem each is enough, for those that 16 bits
        # count wrongly. Loops over blocks end in the same way at shorter ones.
        if size > 1 << 14 and attempt.level == "quick":
            problems = problems[:1] if size in WRONG_IN_16_BITS else ()
        for problem in problems:
            attempt.try_problem(problem, _with_subnormals(attempt, problem) if size >= 1 << 14 else None)
    if case.op in SELECTING:
        _extreme_at_the_ends(attempt)
    for number, size in enumerate(above_blocks() if case.dtypes else []):
        for problem in sized(size):
            for name in LAYOUTS if attempt.level != "quick" else [LAYOUTS[number % 2]]:
                _strided(attempt, problem, name)


def _with_subnormals(attempt: Attempt, problem: Problem) -> list[Values]:
    """Ordinary inputs, of which one element in eight is subnormal if the op is elementwise."""
    case = attempt.case
    inputs = attempt.inputs(problem)
    if not case.family.pointwise or case.ordinary_only or case.fill is not None:
        return inputs
    rng = attempt.rng(problem, "subnormal")
    for number, x in enumerate(inputs):
        dtype, domain = case.dtype(number), case.domain(number)
        if is_floating(dtype) and not (domain.only or domain.within):
            units = rng.integers(1, 1 << FORMATS[dtype].digits - 1, x.shape) * rng.choice([-1, 1], x.shape)
            small = (units * FORMATS[dtype].least).astype(x.dtype)
            inputs[number] = np.where(rng.random(x.shape) < 0.125, small, x)
    return case.arranged(inputs)


def _extreme_at_the_ends(attempt: Attempt) -> None:
    """Rows whose one extreme element is at the end of a part, and whose other elements are far from it."""
    case = attempt.case
    sized = case.family.sized
    assert sized is not None
    dtype, problem = numpy_dtype(case.dtypes[0]), sized(CUT)[0]
    is_least = case.op in ("min", "argmin", "all") or not problem.attributes.get("largest", True)
    x = attempt.inputs(problem)[0]
    extreme: float
    if dtype.kind == "b":
        x, extreme = np.full(x.shape, is_least), float(not is_least)
    elif is_floating(case.dtypes[0]):
        x, extreme = np.clip(np.nan_to_num(x), -10, 10).astype(dtype), -100 if is_least else 100
    else:
        limits = np.iinfo(dtype)
        x, extreme = x // 4 + limits.max // 2, int(limits.min if is_least else limits.max)
    x[np.arange(len(ENDS)), ENDS] = extreme
    attempt.try_problem(problem, [x], "the extreme element at the end of a part")


def _strided(attempt: Attempt, problem: Problem, name: str) -> None:
    inputs = attempt.inputs(problem)
    if not any(fits(name, x) for x in inputs):
        return
    lays = [STRIDED[name] if fits(name, x) else STRIDED["offset_by_1"] for x in inputs]
    execution = attempt.try_prepare(problem, inputs, name, layouts=lays)
    if execution is not None:
        attempt.judge(problem, execution.seen, attempt.compute(execution), name)

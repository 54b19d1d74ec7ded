"""Values for which sums cancel or differ in magnitude: a mean far from zero, exponents over half the range, equal
numbers, and alternating infinities of both signs."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.case import Case, Draw
from ferrule.testing.model.dtypes import FORMATS, Values, is_floating
from ferrule.testing.model.values import Shape
from ferrule.testing.running.check_attempt import Attempt


def applies(case: Case) -> bool:
    """Elementwise cases are left out: the checks `values` and `edges` cover such numbers."""
    return not case.family.pointwise and not case.ordinary_only and any(map(is_floating, case.dtypes))


def far_from_zero(rng: np.random.Generator, shape: Shape, dtype: str) -> Values:
    """A mean of about 2^(digits / 2) times the distances to it: a variance from sums of squares loses all digits."""
    mean = 2.0 ** (FORMATS[dtype].digits // 2 - 1)
    return mean + rng.uniform(-1, 1, shape)


def of_all_sizes(rng: np.random.Generator, shape: Shape, dtype: str) -> Values:
    """Magnitudes over half the range of exponents, around 1, so that squares and their sums do not overflow."""
    reach = FORMATS[dtype].high // 4
    return rng.choice([-1.0, 1.0], shape) * np.exp2(rng.uniform(-reach, reach, shape))


def equal(rng: np.random.Generator, shape: Shape, dtype: str) -> Values:
    return np.full(shape, rng.uniform(1, 3))


def both_infinities(rng: np.random.Generator, shape: Shape, dtype: str) -> Values:
    """Alternating signs: the sum is NaN."""
    count = int(np.prod(shape))
    return np.where(np.arange(count).reshape(shape) % 2 == 0, np.inf, -np.inf)


FILLS: dict[str, Draw] = {
    "a mean far from zero": far_from_zero,
    "numbers of all sizes": of_all_sizes,
    "equal numbers": equal,
    "infinities of both signs": both_infinities,
}


def check(attempt: Attempt) -> None:
    case = attempt.case
    for problem in (*case.family.plain[: attempt.pick(quick=5, full=20)], *case.family.large[:1]):
        for what, fill in FILLS.items():
            if what not in case.left_out:
                attempt.try_problem(problem, case.inputs(problem, attempt.rng(problem, what), fill), what)

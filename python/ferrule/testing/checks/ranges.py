"""Values for which sums cancel or differ in magnitude: a mean far from zero, exponents over half the range, equal
numbers, and alternating infinities of both signs. Norms also get numbers whose squares, or their sum, are out of
range."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.case import Case, Draw
from ferrule.testing.model.dtypes import FORMATS, Values, is_floating, wide_of
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


def large_squares(rng: np.random.Generator, shape: Shape, dtype: str) -> Values:
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape) * 2.0 ** (FORMATS[dtype].high * 3 // 4)


def small_squares(rng: np.random.Generator, shape: Shape, dtype: str) -> Values:
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape) * 2.0 ** (FORMATS[dtype].low * 3 // 4)


NORMS = ("layer_norm", "rms_norm", "var", "sum_of_squares")
OF_NORMS: dict[str, Draw] = {"squares that overflow": large_squares, "squares that vanish": small_squares}

FILLS: dict[str, Draw] = {
    "a mean far from zero": far_from_zero,
    "numbers of all sizes": of_all_sizes,
    "equal numbers": equal,
    "infinities of both signs": both_infinities,
}


def check(attempt: Attempt) -> None:
    case = attempt.case
    # The oracle has no wider range for float64 where long double is float64.
    has_oracle = np.finfo(wide_of(case.dtypes[0])).maxexp > FORMATS[case.dtypes[0]].high if case.op in NORMS else False
    fills = {**FILLS, **(OF_NORMS if has_oracle else {})}
    for problem in (*case.family.plain[: attempt.pick(quick=5, full=20)], *case.family.large[:1]):
        for what, fill in fills.items():
            if what not in case.left_out:
                attempt.try_problem(problem, case.inputs(problem, attempt.rng(problem, what), fill), what)

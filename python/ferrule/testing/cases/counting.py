"""Counts of integers, and sums of weights by integer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule.testing.model.bounds import gamma
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import FLOATS, FORMATS, NUMERIC, Values, name_of, numpy_dtype
from ferrule.testing.model.exactness import EXACT, Tolerance
from ferrule.testing.model.problem import Family, Problem
from ferrule.testing.model.values import ANY, Domain, Shape

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


HALVES = ("float16", "bfloat16")


def bincount(x: Values, weights: Values, size: int) -> Values:
    counted = (x >= 0) & (x < size)
    result = np.zeros(size, weights.dtype)
    np.add.at(result, x[counted], weights[counted])
    return result


def sum_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    magnitudes = bincount(inputs[0], np.abs(inputs[1]), attributes["size"])
    return np.asarray(gamma(inputs[0].size, "float64") * magnitudes)


SUM = Tolerance("gamma_n of float64 times the sum of absolute values: Higham (4.4)", bound=sum_bound)


def keys() -> Family:
    """Attribute `size`. Some keys are outside of it."""

    def problem(length: int, size: int) -> Problem:
        return Problem(((length,), (length,)), {"size": size})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            return problem(pick(st.integers(0, 500)), pick(st.integers(0, 60)))

        return drawn()

    def sized(size: int) -> Sequence[Problem]:
        return problem(size, 7), problem(11, size)

    return Family(
        sized=sized,
        plain=(problem(67, 9), problem(1000, 40), problem(5, 100)),
        empty=(problem(0, 3), problem(4, 0)),
        single=(problem(1, 1),),
        large=(problem(70_001, 1003),),
        draw=draw,
    )


def near_ties(rng: np.random.Generator, shape: Shape, dtype: str) -> Values:
    """Weights of half precision whose sums are often so near to a tie that float32 has too few digits to tell."""
    weights = rng.choice([2.0 ** FORMATS[dtype].digits, 1.0, 2.0**-24], shape, p=[0.1, 0.3, 0.6])
    return weights.astype(numpy_dtype(dtype))


def with_outliers(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Fill the keys: most are in range, some are below or above, and some are far away."""
    if number == 1:
        dtype = name_of(drawn.dtype)
        return near_ties(rng, drawn.shape, dtype) if dtype in HALVES and rng.random() < 0.5 else drawn
    values = rng.integers(-2, problem.attributes["size"] + 2, drawn.shape, drawn.dtype)
    far = rng.random(drawn.shape) < 0.02
    limits = np.iinfo(drawn.dtype)
    return np.where(far, rng.choice([limits.min, limits.max], drawn.shape), values).astype(drawn.dtype)


FAMILY = keys()
KEYS = Domain(integer_low=0, integer_high=0)

CASES = [
    Case(
        "bincount",
        (k, d),
        d,
        FAMILY,
        bincount,
        SUM if d in FLOATS else EXACT,
        (KEYS, ANY),
        signed_zeros=False,
        fill=with_outliers,
    )
    for k, d in (*(("int64", d) for d in NUMERIC), ("int32", "float32"), ("int32", "int64"))
]

"""iota and arange. Sizes stay within the integers that the dtype represents; beyond them the result is undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import FORMATS, NUMERIC, Values, is_floating, wide_of
from ferrule.testing.model.exactness import Tolerance
from ferrule.testing.model.problem import Family, Problem
from ferrule.testing.model.values import Domain

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def iota(size: int, dtype: str) -> Values:
    return np.arange(size).astype(wide_of(dtype) if is_floating(dtype) else dtype)


def counts(dtype: str) -> Family:
    """Attributes `size` and `dtype`."""
    most = 2 ** FORMATS[dtype].digits if is_floating(dtype) else int(np.iinfo(dtype).max)
    most = min(most, 70_001)

    def problem(size: int) -> Problem:
        return Problem((), {"size": size, "dtype": dtype})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st

        return st.integers(0, most).map(problem)

    return Family(
        sized=lambda size: (problem(size),) if size <= most else (),
        plain=tuple(map(problem, (5, 67, 100))),
        empty=(problem(0),),
        single=(problem(1),),
        large=(problem(most),),
        draw=draw,
    )


def arange(start: Values, step: Values, size: int, dtype: str) -> Values:
    places = np.arange(size)
    if is_floating(dtype):
        return np.asarray(start + step * places.astype(start.dtype)).astype(wide_of(dtype))
    with np.errstate(over="ignore"):
        return np.asarray(start + step * places).astype(dtype)


def steps(dtype: str) -> Family:
    """A start and a step; attributes `size` and `dtype`."""
    family = counts(dtype)

    def with_inputs(problem: Problem) -> Problem:
        return Problem(((), ()), problem.attributes)

    sized, draw = family.sized, family.draw
    assert sized is not None
    assert draw is not None
    return Family(
        sized=lambda size: tuple(map(with_inputs, sized(size))),
        plain=tuple(map(with_inputs, family.plain)),
        empty=tuple(map(with_inputs, family.empty)),
        single=tuple(map(with_inputs, family.single)),
        large=tuple(map(with_inputs, family.large)),
        draw=lambda: draw().map(with_inputs),
    )


POSITIVE = Domain(0.5, 10.0, spread=False)  # without cancellation
STEPPED = Tolerance("a product and a sum in float64, rounded to the dtype", ulp=1.5)
WHOLE = Domain(integer_low=-1000, integer_high=1000)

CASES = [
    *(Case("iota", (), d, counts(d), iota) for d in NUMERIC),
    *(
        Case("arange", ("float64", "float64"), d, steps(d), arange, STEPPED, (POSITIVE,), f"to-{d}")
        if is_floating(d)
        else Case("arange", ("int64", "int64"), d, steps(d), arange, domains=(WHOLE,), variant=f"to-{d}")
        for d in NUMERIC
    ),
]

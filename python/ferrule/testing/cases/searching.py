"""Searching in sorted arrays. NaN is greater than any number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import REALS, Values, widen
from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Shape
from ferrule.testing.problems import RANK_8

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


def places(x1: Values, x2: Values, side: str) -> Values:
    return np.asarray(np.searchsorted(x1, x2, side))  # type: ignore[call-overload]


def repeated(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Let some of the elements of the first input be equal."""
    return drawn if number > 0 or drawn.size == 0 else drawn[rng.integers(0, drawn.size, drawn.size)]


def sorted_first(number: int, values: Values) -> Values:
    return values if number > 0 else values[np.argsort(widen(values), kind="stable")]


def searches() -> Family:
    """The sorted array and the elements to find; attribute `side`."""

    def problem(size: int, shape: Shape, side: str = "left") -> Problem:
        return Problem(((size,), shape), {"side": side})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            shape = pick(shapes.array_shapes(min_dims=0, max_dims=6, min_side=0, max_side=7))
            return problem(pick(st.integers(0, 40)), shape, pick(st.sampled_from(["left", "right"])))

        return drawn()

    def sized(size: int) -> Sequence[Problem]:
        return problem(size, (5,)), problem(33, (size,), "right"), problem(size, (2, 3), "right")

    return Family(
        sized=sized,
        plain=(
            problem(7, (5,)),
            problem(7, (5,), "right"),
            problem(300, (3, 17)),
            problem(129, (40,), "right"),
            problem(5, RANK_8),
        ),
        empty=(problem(0, (3,)), problem(5, (0,)), problem(0, (0, 2), "right")),
        single=(problem(1, ()), problem(1, (1,), "right"), problem(9, (1, 1))),
        large=(problem(70_001, (30_011,)), problem(3, (70_001,), "right")),
        draw=draw,
        batches=(Batch(problem(301, (67, 33)), (None, 0)),),
    )


SEARCHES = searches()

CASES = [Case("searchsorted", (d, d), "int64", SEARCHES, places, fill=repeated, arrange=sorted_first) for d in REALS]

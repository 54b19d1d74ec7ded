"""Ops that keep some elements and count them. The cases give `size`, which a graph requires."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import ALL, Values
from ferrule.testing.model.oracles import fitted
from ferrule.testing.model.problem import Family, Problem
from ferrule.testing.model.values import Shape
from ferrule.testing.problems import RANK_8

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


def indices(x: Values, size: int) -> Values:
    return fitted(np.argwhere(x != 0).astype(np.int64), size)


def count(x: Values, size: int) -> Values:
    return np.asarray(np.count_nonzero(x != 0))


def kept(x: Values, condition: Values, axis: int, size: int) -> Values:
    return fitted(np.compress(condition, x, axis), size, axis % x.ndim)


def kept_count(x: Values, condition: Values, axis: int, size: int) -> Values:
    return np.asarray(np.count_nonzero(condition))


def half_zeros(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    return np.where(rng.random(drawn.shape) < 0.5, np.zeros((), drawn.dtype), drawn)


def nonzero() -> Family:
    def problem(shape: Shape, size: int) -> Problem:
        return Problem((shape,), {"size": size})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            shape = pick(shapes.array_shapes(min_dims=1, max_dims=6, min_side=0, max_side=7))
            return problem(shape, pick(st.integers(0, math.prod(shape) + 2)))

        return drawn()

    def sized(size: int) -> Sequence[Problem]:
        return problem((size,), size), problem((3, size), size)

    return Family(
        sized=sized,
        plain=(
            problem((5, 7), 12),
            problem((67,), 80),
            problem((2, 3, 4), 24),
            problem((3, 129), 100),
            problem(RANK_8, 40),
        ),
        empty=(problem((0,), 3), problem((3, 0, 2), 1), problem((4,), 0)),
        single=(problem((1,), 1), problem((1, 1, 1), 2)),
        large=(problem((70_001,), 70_001), problem((61, 1_003), 20_000)),
        draw=draw,
    )


def compress() -> Family:
    def problem(shape: Shape, axis: int, size: int) -> Problem:
        return Problem((shape, (shape[axis],)), {"axis": axis, "size": size})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            shape = pick(shapes.array_shapes(min_dims=1, max_dims=6, min_side=0, max_side=7))
            axis = pick(st.integers(-len(shape), len(shape) - 1))
            return problem(shape, axis, pick(st.integers(0, shape[axis] + 2)))

        return drawn()

    def sized(size: int) -> Sequence[Problem]:
        return problem((size,), 0, size), problem((3, size), 1, size // 2), problem((size, 3), 0, size + 1)

    return Family(
        sized=sized,
        plain=(
            problem((5, 7), 1, 4),
            problem((5, 7), 0, 5),
            problem((67,), 0, 40),
            problem((2, 3, 4), -2, 5),
            problem((3, 129), 1, 70),
            problem(RANK_8, 7, 2),
        ),
        empty=(problem((0,), 0, 3), problem((3, 0), 1, 0), problem((0, 4), 1, 2)),
        single=(problem((1,), 0, 1), problem((1, 1, 1), 1, 2)),
        large=(problem((70_001,), 0, 50_000), problem((61, 1_003), 1, 700)),
        draw=draw,
    )


NONZERO = nonzero()
COMPRESS = compress()

COUNTED = ("bool", "float32", "complex128")  # the cases of the other outputs cover all dtypes

CASES = [
    *(Case("nonzero", (d,), "int64", NONZERO, indices, fill=half_zeros, output="indices") for d in ALL),
    *(Case("nonzero", (d,), "int64", NONZERO, count, fill=half_zeros, output="count") for d in COUNTED),
    *(Case("compress", (d, "bool"), d, COMPRESS, kept, output="slices") for d in ALL),
    *(Case("compress", (d, "bool"), "int64", COMPRESS, kept_count, output="count") for d in COUNTED),
]

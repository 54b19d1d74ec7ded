"""Ops that keep or replace the elements that a condition chooses. The cases give `size`, which a graph requires."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ferrule.testing.model.case import Case, Failing
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


def replaced(x: Values, mask: Values, values: Values) -> Values:
    result = x.copy()
    result[mask] = values
    return result


def mask_of_values(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Fill the mask: as many elements are true as there are values."""
    if number != 1:
        return drawn
    mask = np.zeros(drawn.size, np.bool_)
    mask[rng.permutation(drawn.size)[: problem.shapes[2][0]]] = True
    return mask.reshape(drawn.shape)


def other_counts(case: Case) -> Iterator[Failing]:
    problem = Problem(((5, 3), (5,), (2, 3)))
    rng = np.random.default_rng(0)
    for count in (0, 1, 3, 5):
        inputs = case.inputs(problem, rng)
        inputs[1] = np.arange(5) < count
        yield Failing(problem, inputs, f"{count} elements of a mask for 2 values")


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


def masked_scatter() -> Family:
    """x, a mask of its first axes, and values."""

    def problem(shape: Shape, rank: int, count: int) -> Problem:
        return Problem((shape, shape[:rank], (count, *shape[rank:])))

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            shape = pick(shapes.array_shapes(min_dims=1, max_dims=6, min_side=0, max_side=7))
            rank = pick(st.integers(1, len(shape)))
            return problem(shape, rank, pick(st.integers(0, math.prod(shape[:rank]))))

        return drawn()

    def sized(size: int) -> Sequence[Problem]:
        return problem((size,), 1, size // 2), problem((3, size), 2, 2 * size), problem((size, 3), 1, size)

    return Family(
        sized=sized,
        plain=(
            problem((5, 7), 2, 12),
            problem((5, 7), 1, 3),
            problem((67,), 1, 40),
            problem((2, 3, 4), 2, 5),
            problem((3, 129), 2, 380),
            problem(RANK_8, 7, 1),
        ),
        empty=(problem((0,), 1, 0), problem((3, 0), 1, 2), problem((4,), 1, 0)),
        single=(problem((1,), 1, 1), problem((1, 1, 1), 2, 1)),
        large=(problem((70_001,), 1, 50_000), problem((61, 1_003), 2, 60_000), problem((301, 203), 1, 150)),
        draw=draw,
    )


NONZERO = nonzero()
MASKED_SCATTER = masked_scatter()
COMPRESS = compress()

COUNTED = ("bool", "float32", "complex128")  # the cases of the other outputs cover all dtypes

CASES = [
    *(Case("nonzero", (d,), "int64", NONZERO, indices, fill=half_zeros, output="indices") for d in ALL),
    *(Case("nonzero", (d,), "int64", NONZERO, count, fill=half_zeros, output="count") for d in COUNTED),
    *(Case("compress", (d, "bool"), d, COMPRESS, kept, output="slices") for d in ALL),
    *(Case("compress", (d, "bool"), "int64", COMPRESS, kept_count, output="count") for d in COUNTED),
    *(
        Case("masked_scatter", (d, "bool", d), d, MASKED_SCATTER, replaced, fill=mask_of_values, errors=other_counts)
        for d in ALL
    ),
]

"""Sorting, always stable. NaN is greater than any number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ferrule.testing.cases.reduction import equals
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import NUMERIC, PARTS, REALS, Values, is_floating, name_of, numpy_dtype
from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Shape, complex_of
from ferrule.testing.problems import RANK_8

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


def best_first(x: Values, k: int, axis: int, largest: bool = True) -> Values:
    """The indices of the k elements. NumPy's stable sort is ascending, with NaN last."""
    if largest:
        from_behind = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
        order = x.shape[axis] - 1 - np.flip(from_behind, axis)
    else:
        order = np.argsort(x, axis=axis, kind="stable")
    return np.asarray(np.take(order, np.arange(k), axis).astype(np.int64))


def values(x: Values, k: int, axis: int, largest: bool = True) -> Values:
    return np.take_along_axis(x, best_first(x, k, axis, largest), axis)


def sorted_indices(x: Values, descending: bool) -> Values:
    return best_first(x, x.shape[-1], -1, descending)


def sorted_values(x: Values, descending: bool) -> Values:
    return np.take_along_axis(x, sorted_indices(x, descending), -1)


def ends_of_order(dtype: str) -> Values:
    """The first and the last values in the order of a dtype, and those that are equal but have different bits."""
    if dtype in PARTS:
        parts = ends_of_order(PARTS[dtype])
        return complex_of(*(part.ravel() for part in np.meshgrid(parts, parts)))
    if is_floating(dtype):
        return np.array([0.0, -0.0, np.inf, -np.inf, np.nan]).astype(numpy_dtype(dtype))
    if dtype == "bool":
        return np.array([False, True])
    limits = np.iinfo(numpy_dtype(dtype))
    return np.array([limits.min, limits.max], numpy_dtype(dtype))


def repeated(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Let about half of the values occur several times, and some of them next to each other. In half of the problems,
    a quarter of the values are at the ends of the order."""
    if drawn.size == 0:
        return drawn
    flat = drawn.reshape(-1)
    if rng.random() < 0.5:
        flat = np.where(rng.random(flat.size) < 0.25, rng.choice(ends_of_order(name_of(drawn.dtype)), flat.size), flat)
    others = flat[rng.integers(0, max(1, flat.size // 4), flat.size)]
    return np.where(rng.random(flat.size) < 0.5, others, flat).reshape(drawn.shape)


def sorts() -> Family:
    """Attribute `descending`."""

    def problem(shape: Shape, descending: bool = False) -> Problem:
        return Problem((shape,), {"descending": descending})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        found = shapes.array_shapes(min_dims=1, max_dims=6, min_side=0, max_side=7)
        return st.tuples(found, st.booleans()).map(lambda pair: problem(*pair))

    def sized(size: int) -> Sequence[Problem]:
        return problem((3, size)), problem((size,), True)

    return Family(
        sized=sized,
        plain=(
            problem((5, 7)),
            problem((5, 7), True),
            problem((67,)),
            problem((2, 300), True),
            problem((3, 4, 1)),
            problem((7, 2_000)),
            problem(RANK_8),
        ),
        empty=(problem((0,)), problem((3, 0)), problem((0, 4), True)),
        single=(problem((1,)), problem((1, 1, 1), True)),
        # The last two are rows that kernels sort with several threads.
        large=(problem((61, 1_003)), problem((300_007,)), problem((2, 70_001), True)),
        draw=draw,
        batches=(Batch(problem((67, 300)), (0,)),),
    )


def topk() -> Family:
    """Attributes `k`, `axis` and `largest`."""

    def problem(shape: Shape, k: int, axis: int = -1, largest: bool = True) -> Problem:
        return Problem((shape,), {"k": k, "axis": axis, "largest": largest})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            shape = pick(shapes.array_shapes(min_dims=1, max_dims=6, min_side=0, max_side=7))
            axis = pick(st.integers(-len(shape), len(shape) - 1))
            return problem(shape, pick(st.integers(0, shape[axis])), axis, pick(st.booleans()))

        return drawn()

    def sized(size: int) -> Sequence[Problem]:
        return problem((3, size), min(size, 5)), problem((size,), size, 0, False), problem((size, 2), 1, 0)

    return Family(
        sized=sized,
        plain=(
            problem((5, 7), 3),
            problem((5, 7), 2, 0, False),
            problem((67,), 67),
            problem((3, 4, 5), 1, -2),
            problem((2, 300), 129, 1, False),
            problem((17, 40, 3), 5, 1),
            problem(RANK_8, 2, 2),
        ),
        empty=(problem((3, 4), 0), problem((0, 3), 2), problem((3, 0), 0, 1, False)),
        single=(problem((1,), 1), problem((1, 1, 1), 1, 1)),
        # The last one is a row that kernels split into parts.
        large=(problem((3, 40_001), 50), problem((40_001, 3), 7, 0, False), problem((200_003,), 1_000)),
        draw=draw,
        batches=(Batch(problem((67, 300), 9), (0,)), Batch(problem((300, 67), 9, 0, False), (1,), 1)),
        shapes=(problem((2, 66_000), 1_025), problem((1, 70_000), 70_000, 1, False)),
    )


FAMILY = topk()
SORTS = sorts()

CASES = [
    case
    for d in NUMERIC
    for case in (
        Case("topk", (d,), d, FAMILY, values, fill=equals, output="values"),
        Case("topk", (d,), "int64", FAMILY, best_first, fill=equals, output="indices"),
    )
]
CASES += [
    case
    for d in REALS
    for case in (
        Case("sort", (d,), d, SORTS, sorted_values, fill=repeated),
        Case("argsort", (d,), "int64", SORTS, sorted_indices, fill=repeated),
    )
]

"""Problems of the ops that move elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Shape
from ferrule.testing.problems import RANK_8, drawn_of_shape, elementwise

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn


def copies() -> Family:
    """Elementwise problems. The last two have more rows and columns than kernels copy in one block; the last one has
    several planes when its axes are reversed."""
    family = elementwise(1)
    return replace(family, large=(*family.large, Problem(((150, 4_100),)), Problem(((900, 2, 300),))))


def dynamic_slices(update: bool = False) -> Family:
    """x and a start for each axis, with the attribute `sizes`; for an update x, the value to write, and the starts."""

    def problem(shape: Shape, sizes: Sequence[int]) -> Problem:
        starts = ((),) * len(shape)
        if update:
            return Problem((shape, tuple(sizes), *starts))
        return Problem((shape, *starts), {"sizes": list(sizes)})

    def make(pick: DrawFn, shape: Shape) -> Problem:
        import hypothesis.strategies as st

        return problem(shape, [pick(st.integers(0, size)) for size in shape])

    return Family(
        sized=lambda size: (problem((2, size + 3), (2, size)), problem((size, 3), (1, 3))),
        plain=(
            problem((5, 7), (3, 4)),
            problem((5, 7), (1, 7)),
            problem((67,), (20,)),
            problem((3, 4, 5), (3, 2, 1)),
            problem((2, 130, 3), (1, 129, 3)),
            problem(RANK_8, (1, 1, 2, 1, 2, 1, 1, 3)),
        ),
        empty=(problem((5, 7), (0, 7)), problem((0, 3), (0, 2))),
        single=(problem((1,), (1,)), problem((5, 7), (1, 1)), problem((1, 1, 1), (1, 1, 1))),
        large=(problem((61, 1_003), (31, 501)), problem((70_001,), (70_001,))),
        draw=drawn_of_shape(make),
    )


def concatenations() -> Family:
    """One input or several, attribute `axis`."""

    def problem(axis: int, *shapes: Shape) -> Problem:
        return Problem(shapes, {"axis": axis})

    def make(pick: DrawFn, shape: Shape) -> Problem:
        import hypothesis.strategies as st

        axis = pick(st.integers(-len(shape), len(shape) - 1))
        place = axis % len(shape)
        sizes = pick(st.lists(st.integers(0, 6), min_size=1, max_size=5))
        return problem(axis, *((*shape[:place], size, *shape[place + 1 :]) for size in sizes))

    return Family(
        sized=lambda size: (problem(1, (2, size), (2, size + 1)),),
        plain=(
            problem(0, (5, 7), (3, 7)),
            problem(1, (5, 7), (5, 2), (5, 9)),
            problem(-1, (67,), (5,)),
            problem(1, (2, 3, 4), (2, 0, 4), (2, 1, 4)),
            problem(-2, (2, 17, 33), (2, 1, 33)),
            problem(0, (4, 5)),
            problem(2, RANK_8, RANK_8),
        ),
        empty=(problem(0, (0, 3), (0, 3)), problem(1, (0, 3), (0, 2)), problem(0, (0,), (2,))),
        single=(problem(0, (1,)), problem(0, (1,), (0,)), problem(1, (1, 1), (1, 1))),
        shapes=tuple(problem(0, *((2, 3),) * count) for count in range(4, 18)),  # kernels may limit the inputs
        large=(
            problem(0, (301, 203), (67, 203)),
            problem(1, (301, 203), (301, 67)),
            problem(0, (70, 4_100), (1, 4_100)),
        ),
        draw=drawn_of_shape(make),
        batches=(Batch(problem(1, (67, 5), (67, 33)), (0, 0)), Batch(problem(0, (3, 67), (4, 67)), (1, 1), 1)),
    )


def paddings() -> Family:
    """The array and optionally the scalar to fill with; attributes `before` and `after`."""

    def problem(shape: Shape, before: Sequence[int], after: Sequence[int], value: bool = True) -> Problem:
        return Problem((shape, ()) if value else (shape,), {"before": list(before), "after": list(after)})

    def make(pick: DrawFn, shape: Shape) -> Problem:
        import hypothesis.strategies as st

        sizes = st.lists(st.integers(0, 3), min_size=len(shape), max_size=len(shape))
        return problem(shape, pick(sizes), pick(sizes), pick(st.booleans()))

    return Family(
        sized=lambda size: (problem((2, size), (0, 1), (0, 2)),),
        plain=(
            problem((5, 7), (1, 2), (0, 3)),
            problem((5, 7), (1, 2), (0, 3), False),
            problem((67,), (0,), (5,)),
            problem((2, 3, 4), (0, 0, 1), (2, 0, 0)),
            problem((3, 17, 33), (0, 1, 1), (0, 1, 1), False),
            problem(RANK_8, (1, 0, 0, 2, 0, 0, 0, 1), (0, 1, 0, 0, 0, 1, 0, 0)),
        ),
        empty=(problem((0, 3), (0, 1), (0, 1)), problem((0, 3), (2, 0), (0, 1)), problem((0,), (0,), (0,), False)),
        single=(problem((), (), ()), problem((1,), (0,), (0,)), problem((1, 1), (1, 1), (1, 1))),
        large=(problem((301, 203), (3, 5), (0, 1)), problem((70, 4_100), (0, 3), (0, 1))),
        draw=drawn_of_shape(make, (0, 5)),
        batches=(
            Batch(problem((67, 33), (0, 2), (0, 1)), (0, None)),
            Batch(problem((5, 67), (1, 0), (1, 0)), (1, None), 1),
        ),
    )


def scatters() -> Family:
    """The array, the indices and the values; attributes `axis` and `joined`."""

    def problem(shape: Shape, count: int, axis: int, joined: int = 1) -> Problem:
        place = axis % len(shape)
        values = (*shape[:place], count, *shape[place + joined :])
        return Problem((shape, (count,), values), {"axis": axis, "joined": joined})

    def make(pick: DrawFn, shape: Shape) -> Problem:
        import hypothesis.strategies as st

        axis = pick(st.integers(-len(shape), len(shape) - 1))
        joined = pick(st.integers(1, len(shape) - axis % len(shape)))
        size = math.prod(shape[axis % len(shape) : axis % len(shape) + joined])
        return problem(shape, pick(st.integers(0, 6)) if size else 0, axis, joined)

    return Family(
        sized=lambda size: (problem((4, size), 3, 0), problem((7, 3), size, 0, 2), problem((3, size), size, -1)),
        plain=(
            problem((5, 7), 4, 0),
            problem((5, 7), 9, 1),
            problem((67,), 15, -1),
            problem((3, 4, 5), 6, 0, 2),
            problem((3, 4, 5), 7, 1, 2),
            problem((40, 33), 1, 0),
            problem((2, 9, 65), 6, -2),
            problem(RANK_8, 3, 2, 4),
        ),
        empty=(problem((5, 7), 0, 0), problem((5, 0), 3, 0), problem((0, 3), 0, 0, 2)),
        single=(problem((1,), 1, 0), problem((1, 1), 1, 0, 2), problem((4,), 1, 0)),
        large=(problem((301, 203), 70, 0), problem((61, 1_003), 301, 1), problem((5, 70_001), 9, 0)),
        draw=drawn_of_shape(make, least=1),
    )


def takes() -> Family:
    """The array and the indices; attribute `axis`. An empty axis is only indexed by empty indices."""

    def problem(shape: Shape, indices: Shape, axis: int) -> Problem:
        return Problem((shape, indices), {"axis": axis})

    def make(pick: DrawFn, shape: Shape) -> Problem:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        indices = pick(shapes.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=6))
        return problem(shape, indices, pick(st.integers(-len(shape), len(shape) - 1)))

    return Family(
        sized=lambda size: (problem((4, size), (3,), 0), problem((7,), (size,), 0)),
        plain=(
            problem((5, 7), (4,), 0),
            problem((5, 7), (9,), 1),
            problem((67,), (3, 5), -1),
            problem((3, 4, 5), (2, 3), 1),
            problem((40, 33), (), 0),
            problem((2, 9, 65), (6,), -2),
            problem((2, 1, 3, 1, 2, 1, 3), (2, 2), 4),
        ),
        empty=(problem((5, 7), (0,), 0), problem((5, 0), (3,), 0), problem((0, 3), (0, 2), 0)),
        single=(problem((1,), (1,), 0), problem((1, 1), (), 1), problem((4,), (), 0)),
        large=(problem((301, 203), (70,), 0), problem((61, 1_003), (301,), 1)),
        draw=drawn_of_shape(make, least=1),
        batches=(
            Batch(problem((40, 33), (67,), 0), (None, 0)),
            Batch(problem((67, 33), (9,), 1), (0, None)),
        ),
    )


def takes_along_axis() -> Family:
    """The array and the indices, of the same shape except along the axis; attribute `axis`."""

    def problem(shape: Shape, count: int, axis: int) -> Problem:
        place = axis % len(shape)
        return Problem((shape, (*shape[:place], count, *shape[place + 1 :])), {"axis": axis})

    def make(pick: DrawFn, shape: Shape) -> Problem:
        import hypothesis.strategies as st

        return problem(shape, pick(st.integers(0, 6)), pick(st.integers(-len(shape), len(shape) - 1)))

    return Family(
        sized=lambda size: (problem((4, size), 3, 0), problem((7,), size, 0), problem((2, size), size, -1)),
        plain=(
            problem((5, 7), 4, 0),
            problem((5, 7), 9, 1),
            problem((67,), 15, -1),
            problem((3, 4, 5), 6, 1),
            problem((2, 9, 65), 6, -2),
            problem(RANK_8, 4, 2),
        ),
        empty=(problem((5, 7), 0, 0), problem((5, 0), 3, 0), problem((0, 3), 2, 1)),
        single=(problem((1,), 1, 0), problem((1, 1), 1, 1)),
        large=(problem((301, 203), 70, 0), problem((61, 1_003), 301, 1), problem((3, 40, 501), 67, 1)),
        draw=drawn_of_shape(make, least=1),
        batches=(
            Batch(problem((67, 33), 9, 1), (0, 0)),
            Batch(problem((33, 67), 9, 0), (1, 1), 1),
        ),
    )

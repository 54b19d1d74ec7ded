"""Problems of view ops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Shape
from ferrule.testing.problems import RANK_8, drawn_of_shape

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn


def reshapes() -> Family:
    """Attribute `shape`, in which one size may be -1."""

    def problem(shape: Shape, to: Sequence[int]) -> Problem:
        return Problem((shape,), {"shape": list(to)})

    def make(pick: DrawFn, shape: Shape) -> Problem:
        import hypothesis.strategies as st

        cut = pick(st.integers(0, len(shape)))
        sizes = pick(st.permutations([math.prod(shape[:cut]), math.prod(shape[cut:]), 1]))
        unknown = pick(st.integers(0, 3))
        others = math.prod(size for k, size in enumerate(sizes) if k != unknown)
        return problem(shape, [-1 if k == unknown and others else size for k, size in enumerate(sizes)])

    return Family(
        sized=lambda size: (problem((size, 3), (3, size)),),
        plain=(
            problem((5, 6), (3, 10)),
            problem((67,), (67, 1)),
            problem((2, 3, 4), (-1,)),
            problem((2, 3, 4), (4, -1, 2)),
            problem(RANK_8, (8, 9)),
            problem((72,), RANK_8),
        ),
        empty=(problem((0, 3), (0,)), problem((3, 0), (5, 0, 2)), problem((0, 4), (-1, 2))),
        single=(problem((), (1, 1)), problem((1,), ()), problem((1, 1, 1), (1,))),
        large=(problem((61, 1_003), (1_003, 61)),),
        draw=drawn_of_shape(make),
        batches=(Batch(problem((67, 3, 4), (-1, 12)), (0,)),),
    )


def permutations() -> Family:
    """Attribute `axes`."""

    def problem(shape: Shape, axes: Sequence[int]) -> Problem:
        return Problem((shape,), {"axes": list(axes)})

    def make(pick: DrawFn, shape: Shape) -> Problem:
        import hypothesis.strategies as st

        axes = pick(st.permutations(range(len(shape))))
        negative = pick(st.booleans())
        return problem(shape, [a - len(shape) if negative else a for a in axes])

    return Family(
        sized=lambda size: (problem((3, size), (1, 0)),),
        plain=(
            problem((5, 7), (1, 0)),
            problem((5, 7), (0, 1)),
            problem((2, 3, 4), (2, 0, 1)),
            problem((2, 3, 4), (-1, -3, -2)),
            problem((3, 17, 33), (0, 2, 1)),
            problem(RANK_8, (7, 5, 3, 1, 0, 2, 4, 6)),
        ),
        empty=(problem((0, 3), (1, 0)), problem((2, 0, 3), (2, 1, 0))),
        single=(problem((), ()), problem((1,), (0,)), problem((1, 1), (1, 0))),
        large=(problem((61, 1_003), (1, 0)), problem((31, 40, 57), (2, 1, 0))),
        draw=drawn_of_shape(make, (0, 6)),
        batches=(Batch(problem((67, 3, 5), (0, 2, 1)), (0,)), Batch(problem((67, 33), (1, 0)), (0,), 1)),
    )


def broadcasts() -> Family:
    """Attribute `shape`."""

    def problem(shape: Shape, to: Sequence[int]) -> Problem:
        return Problem((shape,), {"shape": list(to)})

    def make(pick: DrawFn, shape: Shape) -> Problem:
        import hypothesis.strategies as st

        flat = [pick(st.booleans()) for _ in shape]
        first = pick(st.integers(0, len(shape)))
        seen = tuple(1 if one else size for one, size in zip(flat, shape, strict=True))
        return problem(seen[first:] if all(size > 0 for size in shape[:first]) else seen, shape)

    return Family(
        sized=lambda size: (problem((size,), (3, size)), problem((2, 1), (2, size))),
        plain=(
            problem((5, 1), (5, 7)),
            problem((7,), (5, 7)),
            problem((), (3, 4)),
            problem((3, 1, 5), (3, 4, 5)),
            problem((1, 4, 1), (2, 3, 4, 5)),
            problem((2, 1, 1, 3), RANK_8),
        ),
        empty=(problem((1, 3), (0, 3)), problem((0,), (4, 0))),
        single=(problem((), ()), problem((1,), (1, 1))),
        large=(problem((1_003,), (61, 1_003)), problem((61, 1), (61, 1_003))),
        draw=drawn_of_shape(make),
    )


def slices() -> Family:
    """Attributes `starts`, `sizes` and `steps`."""

    def problem(shape: Shape, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> Problem:
        return Problem((shape,), {"starts": list(starts), "sizes": list(sizes), "steps": list(steps)})

    def make(pick: DrawFn, shape: Shape) -> Problem:
        import hypothesis.strategies as st

        starts, sizes, steps = [], [], []
        for size in shape:
            start = pick(st.integers(0, max(0, size - 1)))
            step = pick(st.sampled_from([1, 2, 3, -1, -2, -5]))
            room = (size - 1 - start) // step + 1 if step > 0 else start // -step + 1
            starts.append(start)
            steps.append(step)
            sizes.append(pick(st.integers(0, room if size else 0)))
        return problem(shape, starts, sizes, steps)

    return Family(
        sized=lambda size: (problem((2, size + 3), (0, size + 1), (2, size), (1, -1)),),
        plain=(
            problem((5, 7), (1, 2), (3, 4), (1, 1)),
            problem((5, 7), (4, 6), (5, 7), (-1, -1)),
            problem((67,), (3,), (20,), (3,)),
            problem((67,), (66,), (14,), (-5,)),
            problem((3, 4, 5), (0, 3, 1), (3, 2, 2), (1, -2, 3)),
            problem(RANK_8, (1, 0, 2, 0, 0, 0, 1, 2), (1, 1, 2, 1, 2, 1, 1, 3), (1, 1, -2, 1, 1, 1, 1, -1)),
        ),
        empty=(problem((5, 7), (0, 0), (0, 7), (1, 1)), problem((0, 3), (0, 1), (0, 2), (1, 1))),
        single=(problem((), (), (), ()), problem((1,), (0,), (1,), (1,)), problem((5, 7), (4, 6), (1, 1), (-3, 2))),
        large=(problem((61, 1_003), (60, 1), (31, 501), (-2, 2)),),
        draw=drawn_of_shape(make),
    )

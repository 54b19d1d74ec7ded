"""Problems of block dtypes. Shapes of such inputs count blocks; attributes count elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Shape
from ferrule.testing.problems import RANK_8

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def rows_of_blocks(elements: int, counts_elements: bool) -> Family:
    """Rows of whole blocks of `elements` elements. With `counts_elements` only the result is in blocks."""

    def problem(shape: Shape) -> Problem:
        return Problem(((*shape[:-1], shape[-1] * (elements if counts_elements else 1)),))

    def draw() -> SearchStrategy[Problem]:
        from hypothesis.extra import numpy as shapes

        return shapes.array_shapes(min_dims=1, max_dims=8, min_side=0, max_side=3).map(problem)

    def sized(size: int) -> Sequence[Problem]:
        return problem((2, -(-size // elements))), problem((size, 1)) if size <= 1_025 else problem((1, 2))

    return Family(
        sized=sized,
        plain=tuple(map(problem, ((5, 7), (67,), (2, 3, 4), RANK_8, (3, 129)))),
        empty=tuple(map(problem, ((0,), (3, 0, 2), (0, 5), (5, 0)))),
        single=tuple(map(problem, ((1,), (1, 1, 1)))),
        large=tuple(map(problem, ((9_001,), (61, 103)))),
        draw=draw,
        batches=(Batch(problem((67, 5)), (0,)),),
    )


def cuts(elements: int) -> Family:
    """Attributes `starts`, `sizes` and `steps`: any rows, and whole blocks along the last axis."""

    def problem(shape: Shape, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> Problem:
        def scaled(counts: Sequence[int]) -> list[int]:
            return [*counts[:-1], counts[-1] * elements]

        return Problem((shape,), {"starts": scaled(starts), "sizes": scaled(sizes), "steps": [*steps]})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st

        @st.composite
        def drawn(pick: Callable[..., int]) -> Problem:
            rows, blocks = pick(st.integers(1, 6)), pick(st.integers(1, 6))
            first, start = pick(st.integers(0, rows - 1)), pick(st.integers(0, blocks - 1))
            step = pick(st.sampled_from([1, 2, -1, -2]))
            most = (rows - 1 - first) // step + 1 if step > 0 else first // -step + 1
            count, size = pick(st.integers(0, most)), pick(st.integers(0, blocks - start))
            return problem((rows, blocks), [first, start], [count, size], [step, 1])

        return drawn()

    def sized(size: int) -> Sequence[Problem]:
        return (problem((3, size + 1), [0, 1], [3, size], [1, 1]),)

    return Family(
        sized=sized,
        plain=(
            problem((5, 7), [1, 2], [3, 4], [1, 1]),
            problem((5, 7), [4, 0], [2, 7], [-2, 1]),
            problem((67,), [3], [60], [1]),
            problem((2, 3, 4), [1, 0, 3], [1, 3, 1], [1, 1, 1]),
            problem((3, 129), [0, 1], [2, 128], [2, 1]),
        ),
        empty=(problem((3, 4), [0, 0], [0, 4], [1, 1]), problem((3, 4), [0, 0], [3, 0], [1, 1])),
        single=(problem((1,), [0], [1], [1]), problem((1, 1, 1), [0, 0, 0], [1, 1, 1], [1, 1, 1])),
        large=(problem((61, 103), [60, 1], [30, 102], [-2, 1]),),
        draw=draw,
        batches=(),  # the attributes depend on the number of rows
    )


def dynamic_cuts(elements: int) -> Family:
    """Attribute `sizes`: any rows, and the whole last axis. The inputs after x are the starts, one for each axis."""

    def problem(shape: Shape, sizes: Sequence[int]) -> Problem:
        return Problem((shape, *((),) * len(shape)), {"sizes": [*sizes[:-1], shape[-1] * elements]})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        return shapes.array_shapes(min_dims=1, max_dims=8, min_side=0, max_side=3).flatmap(
            lambda shape: st.tuples(*(st.integers(0, size) for size in shape)).map(lambda sizes: problem(shape, sizes))
        )

    def sized(size: int) -> Sequence[Problem]:
        return problem((3, -(-size // elements)), (2, 0)), problem((size, 2), (size // 2, 0))

    return Family(
        sized=sized,
        plain=(
            problem((5, 7), (3, 7)),
            problem((67,), (67,)),
            problem((4, 3, 4), (1, 2, 4)),
            problem((130, 3), (129, 3)),
            problem(RANK_8, RANK_8),
        ),
        empty=(problem((3, 4), (0, 4)), problem((0, 4), (0, 4))),
        single=(problem((1,), (1,)), problem((5, 1), (1, 1))),
        large=(problem((61, 103), (30, 103)),),
        draw=draw,
        batches=(),
    )


def reshapes(elements: int) -> Family:
    """Attribute `shape`, whose last axis consists of whole blocks."""

    def problem(shape: Shape, to: Sequence[int]) -> Problem:
        return Problem((shape,), {"shape": [*to[:-1], to[-1] * elements]})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st

        sizes = st.lists(st.integers(0, 4), min_size=1, max_size=4)
        return sizes.flatmap(
            lambda shape: st.permutations(shape).map(lambda to: problem(tuple(shape), to))  # the same number of blocks
        )

    def sized(size: int) -> Sequence[Problem]:
        return (problem((size, 3), (3, size)),)

    return Family(
        sized=sized,
        plain=(
            problem((5, 6), (3, 10)),
            problem((67,), (67, 1)),
            problem((2, 3, 4), (24,)),
            problem((2, 3, 4), (4, 3, 2)),
            problem(RANK_8, (8, 9)),
            problem((72,), RANK_8),
        ),
        empty=(problem((0, 3), (0,)), problem((3, 0), (5, 0, 2))),
        single=(problem((1,), (1, 1)), problem((1, 1, 1), (1,))),
        large=(problem((61, 103), (103, 61)),),
        draw=draw,
        batches=(),
    )


def takes() -> Family:
    """The array and the indices; attribute `axis`, which is not the last one."""

    def problem(shape: Shape, indices: Shape, axis: int) -> Problem:
        return Problem((shape, indices), {"axis": axis})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        return shapes.array_shapes(min_dims=2, max_dims=5, min_side=1, max_side=3).flatmap(
            lambda shape: st.tuples(
                shapes.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=6),
                st.integers(-len(shape), -2) | st.integers(0, len(shape) - 2),
            ).map(lambda chosen: problem(shape, *chosen))
        )

    return Family(
        sized=lambda size: (problem((4, size), (3,), 0), problem((7, 1), (size,), 0)),
        plain=(
            problem((5, 7), (4,), 0),
            problem((67, 1), (3, 5), -2),
            problem((3, 4, 5), (2, 3), 1),
            problem((40, 3), (), 0),
            problem((2, 9, 6), (6,), -2),
        ),
        empty=(problem((5, 7), (0,), 0), problem((5, 0), (3,), 0), problem((0, 3), (0, 2), 0)),
        single=(problem((1, 1), (1,), 0), problem((4, 1), (), 0)),
        large=(problem((301, 23), (70,), 0), problem((6, 61, 13), (301,), 1)),
        draw=draw,
        batches=(Batch(problem((40, 3), (67,), 0), (None, 0)),),
    )


def concatenations() -> Family:
    """One input or several, attribute `axis`."""

    def problem(axis: int, *shapes: Shape) -> Problem:
        return Problem(shapes, {"axis": axis})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: Callable[..., Any]) -> Problem:
            shape = pick(shapes.array_shapes(min_dims=1, max_dims=5, min_side=0, max_side=3))
            axis = pick(st.integers(-len(shape), len(shape) - 1))
            place = axis % len(shape)
            sizes = pick(st.lists(st.integers(0, 4), min_size=1, max_size=5))
            return problem(axis, *((*shape[:place], size, *shape[place + 1 :]) for size in sizes))

        return drawn()

    return Family(
        sized=lambda size: (problem(1, (2, size), (2, size + 1)), problem(0, (size, 2), (1, 2))),
        plain=(
            problem(0, (5, 7), (3, 7)),
            problem(1, (5, 7), (5, 2), (5, 9)),
            problem(-1, (67,), (5,)),
            problem(1, (2, 3, 4), (2, 0, 4), (2, 1, 4)),
            problem(2, RANK_8, RANK_8),
        ),
        empty=(problem(0, (0, 3), (0, 3)), problem(1, (0, 3), (0, 2)), problem(0, (0,), (2,))),
        single=(problem(0, (1,)), problem(1, (1, 1), (1, 1))),
        shapes=tuple(problem(0, *((2, 3),) * count) for count in (4, 5, 9)),  # kernels may limit the inputs
        large=(problem(0, (301, 23), (67, 23)), problem(1, (301, 20), (301, 7))),
        draw=draw,
        batches=(Batch(problem(1, (67, 5), (67, 3)), (0, 0)),),
    )


def permutations() -> Family:
    """Attribute `axes`, of which the last one stays the last."""

    def problem(shape: Shape, *axes: int) -> Problem:
        return Problem((shape,), {"axes": [*axes, len(shape) - 1]})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        return shapes.array_shapes(min_dims=1, max_dims=6, min_side=0, max_side=3).flatmap(
            lambda shape: st.permutations(range(len(shape) - 1)).map(lambda axes: problem(shape, *axes))
        )

    return Family(
        sized=lambda size: (problem((3, size, 2), 1, 0), problem((2, 2, size), 1, 0)),
        plain=(
            problem((5, 7), 0),
            problem((3, 5, 7), 1, 0),
            problem((2, 3, 4, 5), 2, 0, 1),
            problem((67,)),
            problem(RANK_8, 6, 0, 5, 1, 4, 2, 3),
        ),
        empty=(problem((0, 3, 2), 1, 0), problem((3, 2, 0), 1, 0)),
        single=(problem((1,)), problem((1, 1, 1), 1, 0)),
        large=(problem((61, 7, 13), 1, 0),),
        draw=draw,
        batches=(),
    )

"""Problems of decompositions: stacks of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Shape

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


def square(**attributes: Any) -> Family:
    """Square matrices."""

    def problem(*shape: int) -> Problem:
        return Problem((shape,), attributes)

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            n = pick(st.integers(0, 40))
            return problem(*pick(shapes.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)), n, n)

        return drawn()

    def sized(size: int) -> tuple[Problem, ...]:
        if size > 129:
            return (problem(size, 2, 2),) if size < 1_100 else ()
        return problem(size, size), problem(size, 3, 3)

    sizes = (5, 3, 1, 2, 4, 8, 16, 17, 31, 32, 33, 34, 65)
    return Family(
        sized=sized,
        plain=(problem(2, 5, 5), *(problem(n, n) for n in sizes), problem(2, 1, 3, 6, 6)),
        empty=(problem(0, 0), problem(3, 0, 0), problem(0, 4, 4)),
        single=(problem(1, 1), problem(1, 1, 1)),
        large=(problem(129, 129), problem(70, 9, 9), problem(200, 200)),
        draw=draw,
        batches=(Batch(problem(67, 7, 7), (0,)), Batch(problem(11, 70, 70), (0,))),
    )


def rectangular(**attributes: Any) -> Family:
    """Matrices of any height and width."""

    def problem(*shape: int) -> Problem:
        return Problem((shape,), attributes)

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            m, n = pick(st.integers(0, 40)), pick(st.integers(0, 40))
            return problem(*pick(shapes.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)), m, n)

        return drawn()

    def sized(size: int) -> tuple[Problem, ...]:
        if size > 129:  # full matrices are square
            return (problem(size, 2, 3),) if size < 1_100 else ()
        return problem(size, 3), problem(3, size), *((problem(size, size + 1),) if size <= 65 else ())

    return Family(
        sized=sized,
        plain=(
            problem(2, 5, 3),
            problem(3, 5),
            problem(6, 6),
            problem(33, 32),
            problem(20, 70),
            problem(70, 20),
            problem(65, 66),
            problem(1, 9),
            problem(9, 1),
            problem(2, 1, 3, 4, 6),
        ),
        empty=(problem(0, 3), problem(3, 0), problem(2, 0, 0), problem(0, 4, 3)),
        single=(problem(1, 1), problem(1, 1, 1)),
        large=(problem(150, 129), problem(70, 9, 12), problem(60, 200)),
        draw=draw,
        batches=(Batch(problem(67, 7, 5), (0,)), Batch(problem(11, 40, 70), (0,))),
    )


def equations() -> Family:
    """Square matrices and right-hand sides, whose stacks broadcast."""

    def problem(x1: Shape, x2: Shape) -> Problem:
        return Problem((x1, x2))

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            n, k = pick(st.integers(0, 40)), pick(st.integers(0, 40))
            stacks = pick(shapes.mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_side=3, max_dims=3))
            return problem((*stacks.input_shapes[0], n, n), (*stacks.input_shapes[1], n, k))

        return drawn()

    def sized(size: int) -> tuple[Problem, ...]:
        if size > 129:
            return (problem((3, 3), (3, size)),) if size < 10_000 else ()
        return problem((size, size), (size, 1)), problem((size, size), (size, 5)), problem((5, 5), (5, size))

    return Family(
        sized=sized,
        plain=(
            problem((5, 5), (5, 3)),
            problem((2, 4, 4), (4, 1)),
            problem((7, 7), (3, 7, 2)),
            problem((2, 1, 6, 6), (3, 6, 9)),
            problem((33, 33), (33, 1)),
            problem((65, 65), (65, 70)),
        ),
        empty=(problem((0, 0), (0, 3)), problem((4, 4), (4, 0)), problem((0, 4, 4), (4, 2))),
        single=(problem((1, 1), (1, 1)),),
        large=(problem((150, 150), (150, 40)), problem((70, 9, 9), (70, 9, 2))),
        draw=draw,
        batches=(Batch(problem((67, 7, 7), (67, 7, 3)), (0, 0)), Batch(problem((11, 70, 70), (11, 70, 1)), (0, 0))),
    )

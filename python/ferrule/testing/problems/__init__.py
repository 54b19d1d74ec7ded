"""Families of problems: the shapes and attributes with which ops are tested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Shape

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


RANK_8 = (2, 1, 3, 1, 2, 1, 2, 3)


def elementwise(arity: int) -> Family:
    """Inputs of one shape, and of shapes that broadcast."""

    def draw() -> SearchStrategy[Problem]:
        from hypothesis.extra import numpy as shapes

        if arity == 1:
            return shapes.array_shapes(min_dims=0, max_dims=8, min_side=0, max_side=6).map(lambda s: Problem((s,)))
        several = shapes.mutually_broadcastable_shapes(num_shapes=arity, min_side=0, max_side=6, max_dims=5)
        return several.map(lambda found: Problem(tuple(found.input_shapes)))

    def same(*shapes: Shape) -> tuple[Problem, ...]:
        return tuple(Problem((shape,) * arity) for shape in shapes)

    broadcast: tuple[Problem, ...] = ()
    if arity > 1:
        pairs: list[tuple[Shape, Shape]] = [
            ((3, 1, 5), (4, 1)),
            ((6,), (2, 6)),
            ((2, 6), (6,)),
            ((), (3, 4)),
            ((40, 1), (1, 33)),
        ]
        broadcast = tuple(Problem((*pair, *((pair[0],) * (arity - 2)))) for pair in pairs)

    def sized(size: int) -> tuple[Problem, ...]:
        if arity == 1 or size < 3 or size > 1_025:
            return same((size,))
        # Several rows, one row for all, one element for each row.
        shapes: list[Shape] = [(2, size), (size,), (2, 1)]
        turned = (shapes[(size + number) % 3] for number in range(arity))
        return (*same((size,)), Problem(tuple(turned)))

    return Family(
        sized=sized,
        plain=(*same((5, 7), (67,), (2, 3, 4), RANK_8, (3, 129)), *broadcast),
        empty=same((0,), (3, 0, 2), (0, 5)),
        single=same((), (1,), (1, 1, 1)),
        large=same((70_001,), (61, 1_003)),
        draw=draw,
        batches=(Batch(Problem(((67, 33),) * arity), (0,) * arity),),
        pointwise=True,
    )


def reduction(over_empty: bool = True) -> Family:
    """Attributes `axis`, a list (empty: all axes), and `keepdims`."""

    def problem(shape: Shape, axis: Sequence[int], keepdims: bool = False) -> Problem:
        return Problem((shape,), {"axis": list(axis), "keepdims": keepdims})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            # Rarely empty: an empty problem hardly tests the axes.
            least = 0 if over_empty and pick(st.integers(0, 7)) == 7 else 1
            shape = pick(shapes.array_shapes(min_dims=1, max_dims=6, min_side=least, max_side=7))
            axes = pick(st.lists(st.integers(0, len(shape) - 1), unique=True))
            negative = pick(st.booleans())
            return problem(shape, [a - len(shape) if negative else a for a in axes], pick(st.booleans()))

        return drawn()

    def sized(size: int) -> tuple[Problem, ...]:
        along = problem((3, size), [1]), problem((size, 3), [0]), problem((size,), [], True), problem((size, 1), [0])
        return (*along, problem((5, size), [0]))  # also results side by side

    return Family(
        sized=sized,
        plain=(
            problem((5, 7), [1]),
            problem((5, 7), [0]),
            problem((3, 4, 5), [0, 2], True),
            problem((4, 3, 5, 2), []),
            problem((300,), [0]),
            problem((9, 4), [-1]),
            problem((6, 40, 17), [-2]),
            problem((2, 130, 3), [1, 0], True),
            problem(RANK_8, [2, 4, 7]),
        ),
        empty=(problem((0, 3), [1]), *([problem((0, 3), [0]), problem((2, 0, 3), [])] if over_empty else [])),
        single=(problem((1,), [0]), problem((1, 1), [], True), problem((), [])),
        # The last one is many times as long as the blocks in which sums are computed.
        large=(problem((3, 40_001), [1]), problem((40_001, 3), [0]), problem((1_000_003,), [])),
        draw=draw,
        batches=(
            Batch(problem((67, 300), [1]), (0,)),
            Batch(problem((300, 67), [0]), (1,)),
            Batch(problem((67, 30, 5), [1, 2]), (0,)),
            Batch(problem((3, 300, 67), [1]), (2,), 1),  # a single column is contiguous
            Batch(problem((11, 70_001), [1]), (0,)),  # longer than the blocks in which sums are computed
        ),
    )


def along(over_empty: bool = False, keepdims: bool = False) -> Family:
    """An integer attribute `axis`; with `keepdims` also the attribute of that name."""

    def problem(shape: Shape, axis: int, keep: bool = False) -> Problem:
        return Problem((shape,), {"axis": axis, **({"keepdims": keep} if keepdims else {})})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            shape = pick(shapes.array_shapes(min_dims=1, max_dims=6, min_side=0 if over_empty else 1, max_side=7))
            return problem(shape, pick(st.integers(-len(shape), len(shape) - 1)), pick(st.booleans()))

        return drawn()

    def sized(size: int) -> tuple[Problem, ...]:
        return problem((3, size), -1), problem((size, 3), 0)

    removes = keepdims
    return Family(
        sized=sized,
        plain=(
            problem((5, 7), -1),
            problem((5, 7), 0),
            problem((3, 4, 5), 1, True),
            problem((300,), 0),
            problem((6, 4, 17), -3),
            problem((2, 9, 65), 2),
            problem(RANK_8, 2),
        ),
        empty=(problem((0, 3), 1), *([problem((3, 0), 1), problem((0,), 0)] if over_empty else [])),
        single=(problem((1,), 0), problem((1, 1), 1), problem((4, 1), 1)),
        large=(problem((3, 20_001), 1), problem((20_001, 3), 0), problem((301, 203), -1)),
        draw=draw,
        batches=(
            Batch(problem((67, 96), 1), (0,)),
            Batch(problem((11, 9_001), 1), (0,)),
            Batch(problem((30, 67), 0), (1,), 0 if removes else 1),
        ),
    )


def drawn_of_shape(
    make: Callable[[DrawFn, Shape], Problem], ranks: tuple[int, int] = (1, 6), least: int = 0
) -> Callable[[], SearchStrategy[Problem]]:
    """Return a function that gives a hypothesis strategy: it draws a shape and makes a problem of it."""

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            shape = pick(shapes.array_shapes(min_dims=ranks[0], max_dims=ranks[1], min_side=least, max_side=6))
            return make(pick, shape)

        return drawn()

    return draw

"""Problems of matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Shape

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


def matrix_products() -> Family:
    """Products of matrices, and of stacks of matrices that broadcast."""

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            m, k, n = (pick(st.integers(0, 20)) for _ in range(3))
            stacks = pick(shapes.mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_side=3, max_dims=3))
            return Problem(((*stacks.input_shapes[0], m, k), (*stacks.input_shapes[1], k, n)))

        return drawn()

    def product(x1: Shape, x2: Shape) -> Problem:
        return Problem((x1, x2))

    def sized(size: int) -> tuple[Problem, ...]:
        """`size` as the depth of products with one and two rows, and as the number of columns or rows."""
        if size > 1_025:
            row, column = product((1, size), (size, 3)), product((3, size), (size, 1))
            return (column, row) if size < 40_000 else (row, column)  # the quick level has one of the longest
        few, many = 5 + size % 3, 40 if size > 129 else 9
        deep = product((1, size), (size, 130)), product((2, size), (size, many))
        return (*deep, product((1 + size % 4, few), (few, size)), product((size, few), (few, 3 + size % 4)))

    return Family(
        sized=sized,
        constants=(
            product((1, 400), (400, 300)),
            product((2, 385), (385, 129)),
            product((40, 513), (513, 33)),
            product((3, 4, 20), (20, 9)),
        ),
        plain=(
            # The first four: few rows, no multiple of a tile; a depth that is worth splitting over threads; two rows,
            # for which kernels may read the second factor without packing it; a column for each of several matrices.
            product((15, 7), (7, 40)),
            product((20, 1_100), (1_100, 20)),
            product((2, 7), (7, 65)),
            product((3, 4, 50), (3, 50, 1)),
            product((5, 7), (7, 4)),
            product((17, 33), (33, 65)),
            product((1, 130), (130, 9)),
            product((9, 130), (130, 1)),
            product((3, 4, 5), (3, 5, 6)),
            product((2, 1, 4, 5), (3, 5, 6)),
            product((6, 5), (4, 1, 5, 3)),
            product((2, 1, 3, 1, 2, 1, 2, 3), (2, 1, 1, 2, 1, 3, 2)),
        ),
        empty=(product((0, 3), (3, 2)), product((3, 0), (0, 2)), product((0, 3, 4), (4, 5)), product((2, 3), (3, 0))),
        single=(product((1, 1), (1, 1)), product((1, 1, 1), (1, 1)), product((1, 7), (7, 1))),
        large=(
            product((150, 70), (70, 600)),  # several blocks of rows, and of columns
            product((3, 70, 40), (3, 40, 90)),
            product((1, 2_000), (2_000, 33)),
            product((131, 257), (257, 67)),
        ),
        draw=draw,
        batches=(
            Batch(product((67, 96), (96, 64)), (0, None)),
            Batch(product((67, 1_030), (1_030, 33)), (0, None)),
            Batch(product((67, 5, 33), (67, 33, 7)), (0, 0)),
            Batch(product((67, 4, 20), (20, 9)), (0, None)),
        ),
    )


def products_with_rows(block: int) -> Family:
    """Products of rows with the rows of weights, whose last axis counts blocks of `block` elements."""

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            m, k, n = pick(st.integers(0, 20)), pick(st.integers(0, 3)), pick(st.integers(0, 70))
            return product((m, k * block), (n, k))

        return drawn()

    def product(x: Shape, w: Shape) -> Problem:
        return Problem((x, w))

    def sized(size: int) -> tuple[Problem, ...]:
        """`size` as the number of rows of x and of w."""
        if size > (1_025 if block <= 32 else 130):  # large blocks differ only in how they are decoded
            return ()
        return product((1, 2 * block), (size, 2)), product((size, block), (5, 1))

    return Family(
        sized=sized,
        constants=(
            product((1, 5 * block), (130, 5)),
            product((40, 2 * block), (33, 2)),
            product((3, 4, block), (9, 1)),
        ),
        plain=(
            product((15, 2 * block), (40, 2)),
            product((1, 3 * block), (70, 3)),
            product((2, block), (65, 1)),
            product((2 * block,), (33, 2)),
            product((3, 4, block), (9, 1)),
            product((2, 5, block), (2, 6, 1)),
            product((2, 1, 4, block), (3, 5, 1)),
        ),
        empty=(product((0, block), (3, 1)), product((3, 0), (2, 0)), product((2, block), (0, 1))),
        single=(product((1, block), (1, 1)), product((block,), (1, 1))),
        large=(product((150, 4 * block), (100, 4)), product((1, 8 * block), (600, 8))),
        draw=draw,
        batches=(Batch(product((67, 2 * block), (64, 2)), (0, None)),),
    )

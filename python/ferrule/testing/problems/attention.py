"""Problems of attention."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Shape

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def attentions(mask: bool = False, length: bool = False) -> Family:
    """Queries, keys and values of shape (batch, heads, length, head size), then optionally a mask, which broadcasts,
    and the number of keys."""

    def problem(
        lead: Shape = (2, 3),
        lengths: tuple[int, int] = (5, 7),
        sizes: tuple[int, int] = (8, 8),
        causal: bool = False,
        scale: float = 0.0,
        mask_shape: Shape | None = None,
    ) -> Problem:
        queries, keys = lengths
        shapes: list[Shape] = [(*lead, queries, sizes[0]), (*lead, keys, sizes[0]), (*lead, keys, sizes[1])]
        if mask:
            shapes.append((*lead, queries, keys) if mask_shape is None else mask_shape)
        if length:
            shapes.append(())
        return Problem(tuple(shapes), {"causal": causal, "scale": scale})

    def axes(queries: int, keys: int | None, of_mask: int | None) -> tuple[int | None, ...]:
        """The axis of the rows in each input; keys and values have the same, and all rows share the length."""
        return (queries, keys, keys, *((of_mask,) if mask else ()), *((None,) if length else ()))

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        return st.builds(
            problem,
            shapes.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=3),
            st.tuples(st.integers(1, 20), st.integers(1, 20)),
            st.tuples(st.integers(1, 20), st.integers(1, 20)),
            st.booleans(),
            st.sampled_from([0.0, 0.5]),
        )

    def sized(size: int) -> tuple[Problem, ...]:
        """`size` as the number of keys, of queries, and as the head size of keys or of values. The last problem has
        several blocks of keys, so that an online softmax rescales its sums."""
        if size > 1_025:
            return ()
        found = [problem((1,), (3, size), (4, 5), mask_shape=(3, 1)), problem((1,), (size, 3), (4, 5))]
        found.append(problem((1,), (2, size), (4, 5), causal=True, mask_shape=(2, 1)))
        if size <= 257 and not (mask and length):  # the cases with only one of both cover head sizes
            found += [problem((1,), (2, 3), (size, 1 + size % 9)), problem((1,), (3, 300), (4, size))]
        return tuple(found)

    def masks() -> tuple[Problem, ...]:
        """All mask shapes that broadcast to the shape of the scores, (2, 3, 5, 7)."""
        scores = (2, 3, 5, 7)
        ranks = [itertools.product(*((1, size) for size in scores[4 - rank :])) for rank in range(5)]
        return tuple(problem(mask_shape=shape, scale=0.5) for shapes in ranks for shape in shapes)

    return Family(
        sized=sized,
        plain=(
            problem(),
            problem(causal=True),
            problem(lengths=(9, 4), causal=True),  # the first rows are fully masked
            problem((2,), (1, 33), (16, 5), scale=0.25, mask_shape=(33,)),
            problem((), (6, 70), (5, 3), mask_shape=(1, 70)),
            problem((2, 2), (17, 130), (64, 64), causal=True, mask_shape=(17, 130)),
            problem((2, 1, 2, 1, 1, 2), (3, 4), (2, 3)),
        ),
        shapes=masks() if mask else (),
        empty=(
            problem((0, 2), mask_shape=(5, 7)),
            problem((2,), (0, 4)),
            problem((2,), (3, 0)),
            problem((2,), (3, 4), (8, 0)),
        ),
        single=(problem((1, 1), (1, 1), (1, 1)), problem((1,), (1, 1), (8, 8))),
        large=(
            problem((1, 3), (65, 301), (40, 40), mask_shape=(1, 65, 301)),
            problem((5,), (130, 130), (64, 64), causal=True),
            problem((2,), (301, 150), (16, 16), mask_shape=(301, 1)),
        ),
        draw=draw,
        batches=(
            Batch(problem((67, 2), (5, 33), (16, 16)), axes(0, 0, 0)),
            Batch(problem((67,), (4, 20), (8, 8), causal=True, mask_shape=(4, 20)), axes(0, 0, None)),
            # Queries are rows, too. A causal mask counts them from the last one.
            Batch(problem((2,), (301, 300), (16, 16)), axes(1, None, 1), 1),
            Batch(
                problem((2,), (150, 300), (16, 8), causal=True, mask_shape=(150, 1)), axes(1, None, 0), 1, from_end=True
            ),
        ),
    )


def rotations() -> Family:
    """Rows, and cosines and sines of their angles, which broadcast."""

    def problem(x: Shape, table: Shape, interleaved: bool = False) -> Problem:
        return Problem((x, table, table), {"interleaved": interleaved})

    def both(x: Shape, table: Shape) -> tuple[Problem, ...]:
        return problem(x, table), problem(x, table, True)

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st

        def drawn(rows: int, pairs: int, rest: int, is_shared: bool, interleaved: bool) -> Problem:
            return problem((2, rows, 2 * pairs + rest), (1 if is_shared else rows, pairs), interleaved)

        return st.builds(drawn, st.integers(0, 9), st.integers(0, 40), st.integers(0, 5), st.booleans(), st.booleans())

    def sized(size: int) -> tuple[Problem, ...]:
        return both((2, 2 * size + size % 3), (2, size)) if size <= 1_025 else ()

    return Family(
        sized=sized,
        plain=(
            *both((2, 3, 5, 16), (5, 8)),
            *both((2, 3, 5, 64), (2, 1, 5, 32)),
            *both((3, 33), (1, 10)),
            *both((10,), (4,)),
        ),
        empty=(*both((0, 4), (0, 2)), *both((3, 4), (3, 0)), *both((2, 0), (2, 0))),
        single=both((1, 2), (1, 1)),
        large=both((2, 300, 128), (300, 64)),
        draw=draw,
        batches=(Batch(problem((67, 5, 32), (5, 16)), (0, None, None)),),
    )

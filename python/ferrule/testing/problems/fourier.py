"""Problems of discrete Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Shape

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

Make = Callable[[Shape, int], Problem]

# Powers of primes, products, primes beyond any radix, and their products, on both sides of 256 and 4096.
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 30, 31, 37, 60, 64, 74, 121, 210, 256, 257, 289, 343, 512, 961, 1_000, 1_024)
LONG = (2_310, 4_096, 4_097, 4_099, 5_000, 16_384, 30_030)


def transforms(make: Make, several: Sequence[Problem] = ()) -> Family:
    """Transforms along one axis, for which `make(shape, axis)` gives the problem, and along several."""

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            shape = list(pick(shapes.array_shapes(min_dims=1, max_dims=5, min_side=0, max_side=5)))
            axis = pick(st.integers(0, len(shape) - 1))
            shape[axis] = pick(st.integers(1, 300))
            return make(tuple(shape), axis - len(shape) if pick(st.booleans()) else axis)

        return drawn()

    def sized(size: int) -> Sequence[Problem]:
        if size > 4_096:
            return (make((size,), 0),)
        return make((2, size), 1), make((size, 3), 0), make((size,), 0)

    return Family(
        sized=sized,
        plain=(
            make((5, 12), 1),
            make((12, 5), 0),
            make((2, 300, 3), 1),
            make((3, 300), -1),
            *several,
            *(make((2, n), 1) for n in LENGTHS),
            *(make((n, 9), 0) for n in LENGTHS),
        ),
        empty=(make((0, 3), 1), make((3, 0), 0)),
        single=(make((1,), 0), make((1, 1), 1)),
        large=(*(make((n,), 0) for n in LONG), make((41, 1_024), 1), make((1_024, 41), 0), make((131_072,), 0)),
        draw=draw,
        batches=(
            Batch(make((67, 24), 1), (0,)),
            Batch(make((67, 300), 1), (0,)),
            Batch(make((24, 67), 0), (1,), 1),
            Batch(make((300, 67), 0), (1,), 1),
            Batch(make((11, 331), 1), (0,)),
        ),
    )

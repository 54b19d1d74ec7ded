"""Problems of the ops that normalize rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Shape

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def layer_norms() -> Family:
    """x, then optionally the weight, or weight and bias, of the size of the last axis."""
    return norms(2)


def rms_norms() -> Family:
    """x, then optionally the weight, of the size of the last axis."""
    return norms(1)


def norms(most: int) -> Family:
    """x, then up to `most` operands of the size of the last axis."""

    def problem(shape: Shape, further: int = 0, epsilon: float = 1e-5) -> Problem:
        return Problem((shape, *((shape[-1:],) * further)), {"epsilon": epsilon})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        return st.builds(
            problem,
            shapes.array_shapes(min_dims=1, max_dims=5, min_side=1, max_side=9),
            st.integers(0, most),
            st.sampled_from([1e-5, 1e-3, 0.5]),
        )

    return Family(
        sized=lambda size: (problem((3, size), most), problem((2, size))),
        plain=(
            problem((5, 7), most),
            problem((5, 7)),
            problem((3, 4, 33), 1),
            problem((300,), most, 1e-3),
            problem((2, 129), most),
            problem((2, 1, 2, 1, 2, 1, 2, 5), most),
        ),
        empty=(problem((0, 5), most), problem((3, 0), most)),
        single=(problem((1,), most), problem((4, 1))),
        large=(problem((301, 203), most), problem((3, 20_001), most, 0.5)),
        draw=draw,
        batches=(
            Batch(problem((67, 96), most), (0, *(None,) * most)),
            Batch(problem((67, 3, 33)), (0,)),
        ),
    )

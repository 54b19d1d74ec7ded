"""Cumulative sums and products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule.testing.cases.reduction import FACTORS, UNORDERED, wide_integer
from ferrule.testing.model.bounds import gamma
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import BOOL, FLOATS, INTEGERS, PARTS, Values, is_floating, numpy_dtype
from ferrule.testing.model.exactness import EXACT, Tolerance
from ferrule.testing.model.problem import Batch, Family, Problem
from ferrule.testing.model.values import Domain, Shape
from ferrule.testing.problems import RANK_8

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


def with_initial(result: Values, axis: int, include_initial: bool, initial: int) -> Values:
    return np.insert(result, 0, initial, axis) if include_initial else result


def wide(x: Values) -> Any:
    return x.dtype if x.dtype.kind in "fc" else wide_integer(x.dtype.name)


def sums(x: Values, axis: int, include_initial: bool) -> Values:
    return with_initial(np.cumsum(x, axis, dtype=wide(x)), axis, include_initial, 0)


def products(x: Values, axis: int, include_initial: bool) -> Values:
    return with_initial(np.cumprod(x, axis, dtype=wide(x)), axis, include_initial, 1)


def sum_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    x, axis = inputs[0], attributes["axis"]
    magnitudes = with_initial(np.cumsum(np.abs(x), axis), axis, attributes["include_initial"], 0)
    return gamma(x.shape[axis] + 1, dtype) * magnitudes


def product_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    return gamma(inputs[0].shape[attributes["axis"]], dtype) * np.abs(truth)


SUM = Tolerance("gamma_n times the sum of absolute values, in any order: Higham (4.4), (3.13)", bound=sum_bound)
PRODUCT = Tolerance("n roundings in a row: gamma_n, Higham lemma 3.1", bound=product_bound)


class Units(Domain):
    """Complex numbers whose parts are whole and small, so that their sums are exact, and products of units."""

    def ordinary(self, rng: np.random.Generator, shape: Shape, dtype: str) -> Values:
        return rng.choice(np.array([1, -1, 1j, -1j]), shape).astype(numpy_dtype(dtype))


UNITS = Units(only=(0.0, 1.0, -1.0))


def accumulations() -> Family:
    """Attributes `axis` and `include_initial`."""

    def problem(shape: Shape, axis: int, include_initial: bool = False) -> Problem:
        return Problem((shape,), {"axis": axis, "include_initial": include_initial})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st
        from hypothesis.extra import numpy as shapes

        @st.composite
        def drawn(pick: DrawFn) -> Problem:
            shape = pick(shapes.array_shapes(min_dims=1, max_dims=6, min_side=0, max_side=7))
            return problem(shape, pick(st.integers(-len(shape), len(shape) - 1)), pick(st.booleans()))

        return drawn()

    def sized(size: int) -> Sequence[Problem]:
        return problem((3, size), 1), problem((size, 3), 0, True), problem((2, 3, size), 1)

    return Family(
        sized=sized,
        plain=(
            problem((5, 7), -1),
            problem((5, 7), 0, True),
            problem((67,), 0, True),
            problem((3, 4, 5), 1),
            problem((2, 300, 3), 1, True),
            problem(RANK_8, 2),
        ),
        empty=(problem((0,), 0), problem((0,), 0, True), problem((3, 0), 0, True), problem((0, 3), 1)),
        single=(problem((1,), 0), problem((1, 1, 1), 1, True)),
        # Longer than the blocks in which sums are computed; of the first one, several threads compute columns.
        large=(
            problem((40, 2_100, 2), 1),
            problem((3, 20_001), 1),
            problem((5_001, 7), 0, True),
            problem((200_003,), 0),
            problem((301, 203), 0),
        ),
        draw=draw,
        batches=(
            Batch(problem((67, 300), 1), (0,)),
            Batch(problem((300, 67), 0), (1,), 1),
            Batch(problem((11, 9_001), 1), (0,)),
            Batch(problem((9_001, 11), 0), (1,), 1),  # a single column is contiguous
        ),
    )


ACCUMULATIONS = accumulations()


def accumulating(d: str) -> list[Case]:
    if d in PARTS:
        return [
            Case("cumulative_sum", (d,), d, ACCUMULATIONS, sums, domains=(UNITS,), signed_zeros=False),
            Case("cumulative_prod", (d,), d, ACCUMULATIONS, products, domains=(UNITS,), signed_zeros=False),
        ]
    floating = is_floating(d)
    result = d if floating else wide_integer(d)
    product, left_out = (PRODUCT, {"numbers of all sizes": UNORDERED}) if floating else (EXACT, {})
    return [
        Case("cumulative_sum", (d,), result, ACCUMULATIONS, sums, SUM if floating else EXACT, signed_zeros=False),
        Case("cumulative_prod", (d,), result, ACCUMULATIONS, products, product, (FACTORS,), left_out=left_out),
    ]


CASES = [case for d in (*BOOL, *INTEGERS, *FLOATS, *PARTS) for case in accumulating(d)]

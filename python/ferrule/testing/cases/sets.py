"""Distinct elements. The cases give `size`, which a graph requires."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ferrule.testing.cases.sorting import repeated
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import ALL, Values
from ferrule.testing.model.oracles import fitted
from ferrule.testing.model.problem import Family, Problem

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def order(x: Values) -> Values:
    """The indices that sort x: complex numbers by both parts, and those with a NaN last, in their order."""
    if x.dtype.kind != "c":
        return np.argsort(x, kind="stable")
    is_nan = np.isnan(x)
    real, imaginary = np.where(is_nan, 0, x.real), np.where(is_nan, 0, x.imag)
    return np.lexsort((imaginary, real, is_nan))


def found(output: str, x: Values, size: int) -> Values:
    """One output of unique_all. NumPy's own functions do not say which of equal elements they return."""
    places = order(x)
    ordered = x[places]
    begins = np.concatenate([np.ones(min(1, x.size), bool), ordered[1:] != ordered[:-1]])
    starts = np.flatnonzero(begins)
    if output == "count":
        return np.asarray(starts.size)
    if output == "inverse_indices":
        inverse = np.empty(x.size, np.int64)
        inverse[places] = np.cumsum(begins) - 1
        return inverse
    if output == "counts":
        return fitted(np.diff(np.append(starts, x.size)).astype(np.int64), size)
    indices = places[starts].astype(np.int64)
    return fitted(indices if output == "indices" else x[indices], size)


def oracle(output: str) -> Callable[..., Values]:
    return functools.partial(found, output)


def sets() -> Family:
    """Attribute `size`."""

    def problem(length: int, size: int) -> Problem:
        return Problem(((length,),), {"size": size})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st

        sizes = st.integers(0, 80)
        return st.tuples(sizes, sizes).map(lambda pair: problem(*pair))

    def sized(size: int) -> Sequence[Problem]:
        return problem(size, size), problem(size, size // 2)

    return Family(
        sized=sized,
        plain=(problem(35, 20), problem(67, 80), problem(300, 300), problem(2_000, 1_500)),
        empty=(problem(0, 0), problem(0, 3), problem(5, 0)),
        single=(problem(1, 1), problem(1, 2)),
        large=(problem(30_011, 30_011), problem(200_003, 150_000)),
        draw=draw,
    )


SETS = sets()
OUTPUTS = {
    "unique_values": ("values", "count"),
    "unique_counts": ("values", "counts", "count"),
    "unique_inverse": ("values", "inverse_indices", "count"),
    "unique_all": ("values", "indices", "counts", "inverse_indices", "count"),
}
COUNTED = ("bool", "float32", "complex128")  # the cases of the other outputs cover all dtypes

CASES = [
    Case(op, (d,), d if output == "values" else "int64", SETS, oracle(output), fill=repeated, output=output)
    for op, outputs in OUTPUTS.items()
    for output in outputs
    for d in (COUNTED if output == "count" else ALL)
]

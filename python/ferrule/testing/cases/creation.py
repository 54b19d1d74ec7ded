"""iota. Sizes stay within the integers that the dtype represents; beyond them the result is undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import FORMATS, NUMERIC, Values, is_floating, wide_of
from ferrule.testing.model.problem import Family, Problem

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def iota(size: int, dtype: str) -> Values:
    return np.arange(size).astype(wide_of(dtype) if is_floating(dtype) else dtype)


def counts(dtype: str) -> Family:
    """Attributes `size` and `dtype`."""
    most = 2 ** FORMATS[dtype].digits if is_floating(dtype) else int(np.iinfo(dtype).max)
    most = min(most, 70_001)

    def problem(size: int) -> Problem:
        return Problem((), {"size": size, "dtype": dtype})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st

        return st.integers(0, most).map(problem)

    return Family(
        sized=lambda size: (problem(size),) if size <= most else (),
        plain=tuple(map(problem, (5, 67, 100))),
        empty=(problem(0),),
        single=(problem(1),),
        large=(problem(most),),
        draw=draw,
    )


CASES = [Case("iota", (), d, counts(d), iota) for d in NUMERIC]

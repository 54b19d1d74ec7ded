"""Where the greatest and the least element is: the first of equals; the first NaN, if there is one."""

from __future__ import annotations

import numpy as np

from ferrule.testing.case import Case, Problem
from ferrule.testing.cases.reduction import with_edges
from ferrule.testing.dtypes import NUMERIC, Values, is_floating
from ferrule.testing.families import along

ALONG = along(keepdims=True)


def argmax(x: Values, axis: int, keepdims: bool = False) -> Values:
    return np.asarray(np.argmax(x, axis=axis, keepdims=keepdims))


def argmin(x: Values, axis: int, keepdims: bool = False) -> Values:
    return np.asarray(np.argmin(x, axis=axis, keepdims=keepdims))


def equals(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """The extremes occur more than once."""
    if is_floating(drawn.dtype.name):
        drawn = np.round(drawn.astype(np.float64)).astype(drawn.dtype)
    else:
        drawn = drawn // drawn.dtype.type(np.iinfo(drawn.dtype).max // 3)
    return with_edges(rng, number, problem, drawn)


CASES = [
    *(Case("argmax", (d,), "int64", ALONG, argmax, fill=equals) for d in NUMERIC),
    *(Case("argmin", (d,), "int64", ALONG, argmin, fill=equals) for d in NUMERIC),
]

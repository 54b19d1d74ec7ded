"""The comparison of a graph's results with those of an eager run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule.array.array import Array
from ferrule.dtypes.classification import is_block, is_inexact
from ferrule.functions.asarray import asarray, to_packed
from ferrule.functions.type_information import finfo
from ferrule.graphs.structure import Arguments


def difference_of(got: Any, wanted: Any) -> str | None:
    """Return a sentence about where two results differ by more than rounding; None if they do not.

    Sums of other layouts of the same values may differ by rounding: by the square root of the dtype's epsilon at most,
    compared with the largest element.
    """
    ours, theirs = Arguments(asarray), Arguments(asarray)
    if ours.take(got) != theirs.take(wanted):
        return f"the graph gives {got!r}, and an eager run {wanted!r}"
    for one, other in zip(ours.numbers, theirs.numbers, strict=True):
        if one != other and not (one != one and other != other):
            return f"the graph gives {one!r}, and an eager run {other!r}"
    for place, (x, y) in enumerate(zip(ours.arrays, theirs.arrays, strict=True)):
        name = "the result" if len(ours.arrays) == 1 else f"array {place} of the result"
        if x.dtype != y.dtype or x.shape != y.shape:
            return f"{name} is {x.dtype}{x.shape} by the graph, and {y.dtype}{y.shape} by an eager run"
        if not _are_close(x, y):
            return f"{name}, {x.dtype}{x.shape}, differs from that of an eager run"
    return None


def _are_close(x: Array, y: Array) -> bool:
    if is_block(x.dtype):
        return bool((np.asarray(to_packed(x)) == np.asarray(to_packed(y))).all())
    if not is_inexact(x.dtype):
        return bool((np.asarray(x) == np.asarray(y)).all())
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    one, other = np.asarray(x).astype(wide), np.asarray(y).astype(wide)
    is_special = ~np.isfinite(other)
    if not np.array_equal(one[is_special], other[is_special], equal_nan=True):
        return False
    one, other = one[~is_special], other[~is_special]
    allowed = float(finfo(x.dtype).eps) ** 0.5 * np.abs(other).max(initial=0)
    return bool((np.abs(one - other) <= allowed).all())

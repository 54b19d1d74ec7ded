"""The `repr` of an array, and its form in notebooks: shape, dtype, device and a few values.

Only the values shown are fetched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.array.symbols import Symbol
from ferrule.dtypes.classification import is_block
from ferrule.text.html_templates import render

if TYPE_CHECKING:
    from numpy.typing import NDArray


def text_of(array: Array) -> str:
    about = f"shape={array.shape}, dtype={array.dtype}, device={array.device}"
    if isinstance(array._handle, Symbol):
        return f"Array(traced, {about})"
    if donation := array._donation():
        return f"Array({donation}, {about})"
    prefix = "Array("
    options = np.get_printoptions()
    edge = options["edgeitems"] if array.size > options["threshold"] else None
    known = _some_values(array, edge)
    threshold = known.size if edge is None else 0
    values = np.array2string(known, separator=", ", prefix=prefix, threshold=threshold)
    if array.size == 0:
        values = "[]"
    is_one_line = array.ndim < 2 and "\n" not in values
    return f"{prefix}{values}, {about})" if is_one_line else f"{prefix}{values},\n{' ' * len(prefix)}{about})"


# In a notebook, rows and columns of more values are abbreviated to so many at both ends.
_MOST, _EDGE = 12, 4


def html_of(array: Array) -> str:
    """Return the array for a notebook: a table of the values of a matrix, of which the array may be one of many."""
    about: dict[str, Any] = {"dtype": array.dtype, "shape": array.shape, "device": array.device, "part": "", "rows": []}
    if not isinstance(array._handle, Symbol) and not array._donation() and array.size:
        if array.ndim > 2:
            about["part"] = f"x[{', '.join(['0'] * (array.ndim - 2))}]"
        about["rows"] = _table(array)
    return render("array.html.j2", {**about, "placement": array.placement})


def _table(array: Array) -> list[list[str | None]]:
    """Return the texts of a matrix of values, with None where values are left out."""
    known = _some_values(array, _EDGE if max(array.shape[-2:], default=0) > _MOST else None)
    while known.ndim > 2:
        known = known[0]
    for axis, size in enumerate(array.shape[-2:]):
        if size > _MOST:
            known = np.take(known, [*range(_EDGE), *range(known.shape[axis] - _EDGE, known.shape[axis])], axis)
    options: dict[str, Any] = {"threshold": max(known.size, 1), "separator": "\n", "max_line_width": 1 << 30}
    texts: list[str | None] = [*np.array2string(known.reshape(-1), **options)[1:-1].replace(" ", "").split("\n")]
    width = known.shape[-1] if known.ndim else 1
    rows = [texts[start : start + width] for start in range(0, len(texts), width)]
    if array.ndim and array.shape[-1] > _MOST:
        rows = [[*row[:_EDGE], None, *row[_EDGE:]] for row in rows]
    if array.ndim > 1 and array.shape[-2] > _MOST:
        rows.insert(_EDGE, [None] * len(rows[0]))
    return rows


def _some_values(array: Array, edge: int | None) -> NDArray[np.generic]:
    """Return the values to show; those of blocks as float32.

    If the text is abbreviated to `edge` values at both ends of an axis, and the array is on another device, return a
    smaller array that is abbreviated to the same text.
    """
    if is_block(array.dtype):  # not astype(), which belongs to the graph while a function is traced
        handle = array._concrete("repr()")
        array = Array._of(_ferrule.apply("astype", [handle], {"dtype": np.dtype("float32")})[0])
    host = array._host_view("repr()")
    if host is not None:
        return host
    for axis, size in enumerate(array.shape):
        if edge is not None and size > 2 * edge + 1:
            before = (slice(None),) * axis
            places = np.r_[0 : edge + 1, size - edge : size]
            array = array[(*before, places)]
    return np.asarray(array)

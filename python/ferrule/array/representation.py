"""The `repr` of an array: shape, dtype, device and a few values. Only the values shown are fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.array.symbols import Symbol
from ferrule.dtypes.classification import is_block

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

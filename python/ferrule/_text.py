"""What `repr` shows of an array: shape, dtype, device and few values, of which no more than those are fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ferrule import _ferrule
from ferrule._dtypes import is_block
from ferrule._symbols import Symbol
from ferrule.array import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

EDGE = 3  # values at either end of an axis


def text_of(array: Array) -> str:
    about = f"shape={array.shape}, dtype={array.dtype}, device={array.device}"
    if isinstance(array._handle, Symbol):
        return f"Array(traced, {about})"
    if donation := array._donation():
        return f"Array({donation}, {about})"
    prefix = "Array("
    values = np.array2string(_some_values(array), separator=", ", prefix=prefix, threshold=0, edgeitems=EDGE)
    if array.size == 0:
        values = "[]"
    return f"{prefix}{values}, {about})" if array.ndim < 2 else f"{prefix}{values},\n{' ' * len(prefix)}{about})"


def _some_values(array: Array) -> NDArray[np.generic]:
    """The values, or of a large array on another device an array that abbreviates to the same text; of blocks the
    numbers that they stand for."""
    if is_block(array.dtype):
        array = array.astype("float32")
    handle = array._computed("repr()")
    host = _ferrule.host_view(handle)
    if host is not None:
        return host
    for axis, size in enumerate(array.shape):
        if size > 2 * EDGE + 1:
            before = (slice(None),) * axis
            places = np.r_[0 : EDGE + 1, size - EDGE : size]
            array = array[(*before, places)]
    return np.asarray(array)

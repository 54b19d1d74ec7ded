"""Bounds of index arrays whose values the host has: they are checked before anything is recorded, on every device.

The kernels check others, and report the same sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule.array.array import Array
from ferrule.array.numbers import shown
from ferrule.array.symbols import Symbol
from ferrule.errors import OutOfRangeError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def known(indices: Array, is_for_write: bool = False) -> NDArray[Any] | None:
    """Return the values of indices that can be read without computing or copying them.

    For a write they are computed on a CPU: a wrong index would make the array unreadable.
    """
    if isinstance(indices._handle, Symbol):
        return None
    if not indices._handle.ready and not (is_for_write and indices.device.kind == "cpu"):
        return None
    return indices._host_view("an index")


def check_bounds(caller: str, values: NDArray[Any], axis: int, size: int) -> None:
    """Raise OutOfRangeError unless all values are indices of an axis."""
    if not values.size or (values.min() >= -size and values.max() < size):
        return
    outside = values[(values < -size) | (values >= size)]
    if outside.size:
        raise OutOfRangeError(
            f"{caller}: index {shown(int(outside.flat[0]))} is out of bounds for axis {axis} with size {size}"
        )

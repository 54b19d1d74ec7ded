"""Searching in sorted arrays."""

from __future__ import annotations

from typing import Literal

from ferrule.array.array import Array
from ferrule.array.attributes import one_of
from ferrule.array.recording import apply, as_operand
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions.asarray import asarray
from ferrule.functions.conversion import cast
from ferrule.functions.movement import take

__all__ = ["searchsorted"]


def searchsorted(
    x1: Array, x2: Array | float, /, *, side: Literal["left", "right"] = "left", sorter: Array | None = None
) -> Array:
    """Find the indices at which elements have to be inserted into a sorted array so that it stays sorted.

    Parameters
    ----------
    x1 : Array of shape (n,)
        The array, in ascending order with NaN last, or in any order if `sorter` is given.
    x2 : Array or number
        The elements to find places for. The dtypes of x1 and x2 are promoted.
    side : {'left', 'right'}
        Whether an element is inserted before the elements of x1 that are equal to it, or behind them.
    sorter : Array of shape (n,), optional
        Integer indices that sort x1, as from `argsort`.

    Returns
    -------
    Array
        The int64 indices, from 0 to n, in the shape of x2. The result is undefined if x1 is not sorted.

    Raises
    ------
    DTypeError
        x1 or x2 is complex, or `sorter` does not consist of integers.
    InvalidArgumentError
        x1 does not have 1 dimension, `sorter` does not have its shape or has an index that is out of range, or `side`
        is neither 'left' nor 'right'.

    Examples
    --------
    >>> fe.searchsorted(fe.asarray([1, 3, 3, 5]), fe.asarray([0, 3, 9])).tolist()
    [0, 1, 4]
    >>> fe.searchsorted(fe.asarray([1, 3, 3, 5]), fe.asarray([0, 3, 9]), side="right").tolist()
    [0, 3, 4]
    """
    x1 = as_operand("searchsorted", x1, x2)
    if not isinstance(x2, (bool, int, float)):  # a number takes the dtype of x1
        x2 = as_operand("searchsorted", x2, x1)
    elif isinstance(x2, float) and x1.dtype.kind in "iu":
        x1, x2 = cast(x1, "float64"), asarray(x2, dtype="float64", device=x1.device)
    one_of(("left", "right"), side, "searchsorted", "side")
    if x1.ndim != 1:
        raise InvalidArgumentError(f"searchsorted: x1 must have 1 dimension, not the shape {x1.shape}")
    if sorter is not None:
        order = as_operand("searchsorted", sorter, x1, x2)
        if order.dtype.kind not in "iu":
            raise DTypeError(f"searchsorted: sorter must consist of integers, not of dtype {order.dtype}")
        if order.shape != x1.shape:
            raise InvalidArgumentError(f"searchsorted: sorter has the shape {order.shape}, and x1 has {x1.shape}")
        x1 = take(x1, order)
    return apply("searchsorted", (x1, x2), {"side": side})

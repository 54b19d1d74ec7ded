"""Products of vectors."""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np

from ferrule.array.array import Array
from ferrule.array.attributes import axis_of, one_integer
from ferrule.array.numbers import shown
from ferrule.array.recording import apply, as_companion
from ferrule.errors import DTypeError, InvalidArgumentError, OutOfRangeError
from ferrule.functions.conversion import cast
from ferrule.functions.intermediate_dtypes import is_half, widened
from ferrule.functions.movement import expand_dims, moveaxis, stack
from ferrule.functions.type_information import result_type

__all__ = ["cross", "outer"]


def cross(x1: Array, x2: Array, /, *, axis: SupportsIndex = -1) -> Array:
    """Cross products of vectors of 3 elements.

    Parameters
    ----------
    x1, x2 : Array
        The vectors. Their other axes broadcast.
    axis : int
        The axis of the vectors, of length 3 in both; it counts from the end, or from the front where both arrays have
        the same number of dimensions.

    Returns
    -------
    Array
        The products, in the broadcast shape.

    Raises
    ------
    InvalidArgumentError
        A vector does not have 3 elements, or the other axes do not broadcast.
    DTypeError
        Both arrays are bool.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> fe.linalg.cross(fe.asarray([1, 0, 0]), fe.asarray([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    left, right = as_companion("cross", x1, x2), as_companion("cross", x2, x1)
    place = one_integer(axis, "cross", "axis")
    if place >= 0 and left.ndim != right.ndim:
        raise OutOfRangeError(
            f"cross: axis {shown(place)} is not negative, and {left.ndim} dimensions are not {right.ndim}"
        )
    if left.dtype == np.bool_ and right.dtype == np.bool_:
        raise DTypeError("cross: needs a numeric dtype, not bool")
    for x in (left, right):
        if x.shape[axis_of("cross", place, x.ndim)] != 3:
            raise InvalidArgumentError(
                f"cross: vectors have 3 elements: {left.shape} and {right.shape}, axis {shown(place)}"
            )
    dtype = result_type(left.dtype, right.dtype)
    if is_half(dtype):
        left, right = widened(left), widened(right)
    a, b = moveaxis(left, place, -1), moveaxis(right, place, -1)

    def difference(i: int, j: int) -> Array:
        products = [apply("multiply", (a[..., k], b[..., m]), {}) for k, m in ((i, j), (j, i))]
        return apply("subtract", products, {})

    result = stack([difference(1, 2), difference(2, 0), difference(0, 1)], axis=-1)
    return cast(moveaxis(result, -1, place), dtype)


def outer(x1: Array, x2: Array, /) -> Array:
    """Outer product of two vectors: all products of their elements.

    Parameters
    ----------
    x1 : Array of shape (m,)
        The factors of the rows.
    x2 : Array of shape (n,)
        The factors of the columns.

    Returns
    -------
    Array of shape (m, n)
        The products.

    Raises
    ------
    InvalidArgumentError
        An array does not have 1 dimension.

    Examples
    --------
    >>> fe.linalg.outer(fe.asarray([1, 2]), fe.asarray([3, 4, 5])).tolist()
    [[3, 4, 5], [6, 8, 10]]
    """
    left, right = as_companion("outer", x1, x2), as_companion("outer", x2, x1)
    if left.ndim != 1 or right.ndim != 1:
        raise InvalidArgumentError(f"outer: takes two vectors: {left.shape} and {right.shape}")
    return apply("multiply", (expand_dims(left, axis=1), expand_dims(right, axis=0)), {})

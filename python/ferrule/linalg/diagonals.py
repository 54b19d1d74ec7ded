"""Diagonals of matrices."""

from __future__ import annotations

from typing import Any, SupportsIndex

from ferrule.array.array import Array
from ferrule.array.attributes import one_integer
from ferrule.array.recording import as_operand
from ferrule.errors import InvalidArgumentError
from ferrule.functions import views
from ferrule.functions.reduction import sum

__all__ = ["diagonal", "trace"]


def diagonal(x: Array, /, *, offset: SupportsIndex = 0) -> Array:
    """Diagonals of matrices.

    Parameters
    ----------
    x : Array of shape (..., m, n)
        The matrices.
    offset : int
        Which diagonal: 0 is the main one, positive numbers are above it, negative ones below.

    Returns
    -------
    Array of shape (..., length)
        The diagonals; empty where the matrices have no such diagonal.

    Raises
    ------
    InvalidArgumentError
        x has fewer than 2 dimensions, or `offset` is not an integer.

    Examples
    --------
    >>> fe.linalg.diagonal(fe.asarray([[1, 2], [3, 4]])).tolist()
    [1, 4]
    >>> fe.linalg.diagonal(fe.asarray([[1, 2], [3, 4]]), offset=1).tolist()
    [2]
    """
    return _diagonal("diagonal", x, offset)


def _diagonal(caller: str, x: Array, offset: SupportsIndex) -> Array:
    array, place = as_operand(caller, x), one_integer(offset, caller, "offset")
    if array.ndim < 2:
        raise InvalidArgumentError(f"{caller}: needs at least 2 dimensions: {array.shape}")
    rows, columns = array.shape[-2:]
    length = max(0, min(rows - max(0, -place), columns - max(0, place)))
    shape = (*array.shape[:-2], rows * columns)
    flat = views.cut(array, views.Reshaped(shape))
    if length == 0:
        return flat[..., :0]
    first = place if place >= 0 else -place * columns
    return flat[..., first : first + (length - 1) * (columns + 1) + 1 : columns + 1]


def trace(x: Array, /, *, offset: SupportsIndex = 0, dtype: Any = None) -> Array:
    """Sums along diagonals of matrices.

    Parameters
    ----------
    x : Array of shape (..., m, n)
        The matrices.
    offset : int
        Which diagonal: 0 is the main one, positive numbers are above it, negative ones below.
    dtype : dtype or str, optional
        The dtype of the sums, as for `sum`.

    Returns
    -------
    Array of shape (...)
        The sums. Integers are added in 64 bits.

    Raises
    ------
    InvalidArgumentError
        x has fewer than 2 dimensions, or `offset` is not an integer.

    Examples
    --------
    >>> fe.linalg.trace(fe.asarray([[1, 2], [3, 4]])).item()
    5
    """
    return sum(_diagonal("trace", x, offset), axis=-1, dtype=dtype)

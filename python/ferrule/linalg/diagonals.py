"""Diagonals of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple, SupportsIndex

from ferrule.array.array import Array
from ferrule.array.attributes import one_integer
from ferrule.array.recording import as_operand
from ferrule.errors import InvalidArgumentError
from ferrule.functions import views
from ferrule.functions.basic_keys import plain_key
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
    return views.cut(array, _Diagonal(place if place >= 0 else -place * columns, length))


class _Diagonal(NamedTuple):
    """A step of views (views.py): `length` elements of a diagonal, from element number `first` of a matrix on."""

    first: int
    length: int

    def of(self, x: Array) -> Array:
        return views.apply_steps(x, self._steps(x))

    def back(self, x: Array, part: Array) -> Array:
        return views.replace_part(x, self._steps(x), part)

    def strides(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> views.Layout:
        return (*shape[:-2], self.length), (*strides[:-2], strides[-2] + strides[-1])

    def after(self, last: views.Step) -> None:
        return None

    def _steps(self, x: Array) -> tuple[views.Step, ...]:
        *batches, rows, columns = x.shape
        places = range(self.first, self.first + self.length * (columns + 1), columns + 1)
        flat = views.Reshaped((*batches, rows * columns))
        return flat, plain_key((*(range(size) for size in batches), places))


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

"""NumPy's functions that join arrays, and change the number or order of their axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from ferrule.array.array import Array
from ferrule.array.attributes import axis_of
from ferrule.array.recording import as_companion, as_operand, no_array
from ferrule.errors import InvalidArgumentError
from ferrule.functions.movement import concat, permute_dims, reshape
from ferrule.functions.views import is_contiguous

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "concatenate", "dstack", "hstack", "ravel", "swapaxes", "vstack"]
ARRAY_METHODS = {"swapaxes": "swapaxes"}


def concatenate(arrays: Sequence[Array], /, axis: SupportsIndex | None = 0) -> Array:
    """Join arrays along an axis: NumPy's name of `concat`.

    Parameters
    ----------
    arrays : sequence of Array
        Arrays whose shapes are equal except along the axis.
    axis : int, optional
        The axis; None flattens the arrays first.

    Returns
    -------
    Array
        The joined array.

    Raises
    ------
    InvalidArgumentError
        There are no arrays, the shapes do not match, or the axis is out of range.

    Examples
    --------
    >>> fe.concatenate([fe.arange(2), fe.arange(3)]).tolist()
    [0, 1, 0, 1, 2]
    """
    return concat(_arrays("concatenate", arrays), axis=axis)


def hstack(arrays: Sequence[Array], /) -> Array:
    """Join arrays along their second axis; vectors along their only one.

    Parameters
    ----------
    arrays : sequence of Array
        The arrays; those of 0 dimensions count as vectors.

    Returns
    -------
    Array
        The joined array.

    Raises
    ------
    InvalidArgumentError
        There are no arrays, or the shapes do not match.

    Examples
    --------
    >>> fe.hstack([fe.asarray([[1], [2]]), fe.asarray([[3], [4]])]).tolist()
    [[1, 3], [2, 4]]
    """
    parts = [_at_least(1, x) for x in _arrays("hstack", arrays)]
    return concat(parts, axis=0 if parts[0].ndim == 1 else 1)


def vstack(arrays: Sequence[Array], /) -> Array:
    """Join arrays along their first axis, after vectors have become rows.

    Parameters
    ----------
    arrays : sequence of Array
        The arrays.

    Returns
    -------
    Array
        The joined array, of at least 2 dimensions.

    Raises
    ------
    InvalidArgumentError
        There are no arrays, or the shapes do not match.

    Examples
    --------
    >>> fe.vstack([fe.asarray([1, 2]), fe.asarray([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    return concat([_at_least(2, x) for x in _arrays("vstack", arrays)], axis=0)


def dstack(arrays: Sequence[Array], /) -> Array:
    """Join arrays along their third axis, after `atleast_3d`.

    Parameters
    ----------
    arrays : sequence of Array
        The arrays.

    Returns
    -------
    Array
        The joined array, of at least 3 dimensions.

    Raises
    ------
    InvalidArgumentError
        There are no arrays, or the shapes do not match.

    Examples
    --------
    >>> fe.dstack([fe.asarray([1, 2]), fe.asarray([3, 4])]).tolist()
    [[[1, 3], [2, 4]]]
    """
    return concat([_at_least(3, x) for x in _arrays("dstack", arrays)], axis=2)


def atleast_1d(*arrays: Array) -> Array | tuple[Array, ...]:
    """Return arrays with at least 1 dimension.

    Parameters
    ----------
    *arrays : Array
        The arrays.

    Returns
    -------
    Array or tuple of Array
        The array, or one for each if there are several.

    Raises
    ------
    InvalidArgumentError
        An argument is neither an array nor a number; a list is not converted.

    Examples
    --------
    >>> fe.atleast_1d(fe.asarray(3.0)).shape
    (1,)
    """
    return _each("atleast_1d", 1, arrays)


def atleast_2d(*arrays: Array) -> Array | tuple[Array, ...]:
    """Return arrays with at least 2 dimensions: vectors become rows.

    Parameters
    ----------
    *arrays : Array
        The arrays.

    Returns
    -------
    Array or tuple of Array
        The array, or one for each if there are several.

    Raises
    ------
    InvalidArgumentError
        An argument is neither an array nor a number; a list is not converted.

    Examples
    --------
    >>> fe.atleast_2d(fe.arange(3)).shape
    (1, 3)
    """
    return _each("atleast_2d", 2, arrays)


def atleast_3d(*arrays: Array) -> Array | tuple[Array, ...]:
    """Return arrays with at least 3 dimensions: the shape (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1).

    Parameters
    ----------
    *arrays : Array
        The arrays.

    Returns
    -------
    Array or tuple of Array
        The array, or one for each if there are several.

    Raises
    ------
    InvalidArgumentError
        An argument is neither an array nor a number; a list is not converted. Or an array of a block dtype has fewer
        than 3 dimensions: its last axis must hold whole blocks.

    Examples
    --------
    >>> fe.atleast_3d(fe.ones((2, 3))).shape
    (2, 3, 1)
    """
    return _each("atleast_3d", 3, arrays)


def ravel(x: Array, /) -> Array:
    """Return the elements in one dimension, in C order.

    Parameters
    ----------
    x : Array
        The array.

    Returns
    -------
    Array of shape (size,)
        The elements: a view of a contiguous array, otherwise a copy.

    Raises
    ------
    InvalidArgumentError
        x is neither an array nor a number; a list is not converted.

    Examples
    --------
    >>> fe.ravel(fe.ones((2, 3))).shape
    (6,)
    """
    x = as_operand("ravel", x)
    return reshape(x, (x.size,), copy=None if is_contiguous(x) else True)


def swapaxes(x: Array, axis1: SupportsIndex, axis2: SupportsIndex, /) -> Array:
    """Exchange two axes of an array.

    Parameters
    ----------
    x : Array
        The array.
    axis1, axis2 : int
        The axes.

    Returns
    -------
    Array
        The array with the axes exchanged.

    Raises
    ------
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.swapaxes(fe.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    x = as_operand("swapaxes", x)
    order = list(range(x.ndim))
    first, second = (axis_of("swapaxes", axis, x.ndim) for axis in (axis1, axis2))
    order[first], order[second] = order[second], order[first]
    return permute_dims(x, tuple(order))


def transpose(x: Array, /, axes: Sequence[SupportsIndex] | None = None) -> Array:
    """Permute the axes: NumPy's name of `permute_dims`, which xarray calls. It is not among the names of dir(ferrule).

    Parameters
    ----------
    x : Array
        The array.
    axes : sequence of int, optional
        The axes of `x` in their new order; by default reversed.

    Returns
    -------
    Array
        The array with permuted axes.

    Raises
    ------
    InvalidArgumentError
        `axes` is not a permutation of the axes.

    Examples
    --------
    >>> fe.transpose(fe.ones((2, 3, 4))).shape
    (4, 3, 2)
    >>> fe.transpose(fe.ones((2, 3, 4)), (0, 2, 1)).shape
    (2, 4, 3)
    """
    x = as_operand("transpose", x)
    return permute_dims(x, tuple(reversed(range(x.ndim))) if axes is None else axes)


def _arrays(caller: str, arrays: Sequence[Array]) -> list[Array]:
    if not isinstance(arrays, (list, tuple)):
        if not isinstance(arrays, Array):
            raise no_array(caller, arrays)
        if arrays.ndim == 0:
            raise InvalidArgumentError(f"{caller}: takes a sequence of arrays, not one of 0 dimensions")
        arrays = list(arrays)
    if not arrays:
        raise InvalidArgumentError(f"{caller}: there are no arrays")
    return [as_companion(caller, x, *arrays) for x in arrays]


def _each(caller: str, rank: int, arrays: tuple[Array, ...]) -> Array | tuple[Array, ...]:
    results = tuple(_at_least(rank, as_operand(caller, x)) for x in arrays)
    return results[0] if len(results) == 1 else results


def _at_least(rank: int, x: Array) -> Array:
    if x.ndim >= rank:
        return x
    if rank == 3:
        return reshape(x, (*(1, 1, 1)[: 2 - x.ndim], *x.shape, 1))
    return reshape(x, (*(1,) * (rank - x.ndim), *x.shape))

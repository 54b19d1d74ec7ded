"""Sorting along an axis."""

from __future__ import annotations

from typing import SupportsIndex

from ferrule.array.array import Array
from ferrule.array.attributes import axis_of, flag
from ferrule.array.recording import apply, as_operand
from ferrule.errors import InvalidArgumentError
from ferrule.functions.movement import moveaxis

__all__ = ["argsort", "sort"]


def sort(x: Array, /, *, axis: SupportsIndex = -1, descending: bool = False, stable: bool = True) -> Array:
    """Sort the elements along an axis.

    Parameters
    ----------
    x : Array
        The array, of at least 1 dimension and a real dtype.
    axis : int
        The axis to sort along.
    descending : bool
        Whether the greatest element comes first.
    stable : bool
        Accepted for the standard; the sort is always stable.

    Returns
    -------
    Array
        The sorted elements, in x's shape and dtype. Equal elements keep their order: zeros of both signs are equal.
        NaN counts as the greatest: it comes last, and first if descending.

    Raises
    ------
    DTypeError
        x is complex.
    InvalidArgumentError
        x has 0 dimensions.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> fe.sort(fe.asarray([3, 1, 2])).tolist()
    [1, 2, 3]
    >>> fe.sort(fe.asarray([[3, 1], [2, 4]]), axis=0, descending=True).tolist()
    [[3, 4], [2, 1]]
    """
    return _along("sort", x, axis, descending, stable)


def argsort(x: Array, /, *, axis: SupportsIndex = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that sort an array along an axis.

    Parameters
    ----------
    x : Array
        The array, of at least 1 dimension and a real dtype.
    axis : int
        The axis to sort along.
    descending : bool
        Whether the index of the greatest element comes first.
    stable : bool
        Accepted for the standard; the sort is always stable.

    Returns
    -------
    Array
        The int64 indices, in x's shape: `take_along_axis(x, argsort(x, axis=axis), axis=axis)` is sorted. The indices
        of equal elements ascend, also if descending. NaN counts as the greatest.

    Raises
    ------
    DTypeError
        x is complex.
    InvalidArgumentError
        x has 0 dimensions.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> fe.argsort(fe.asarray([3, 1, 2])).tolist()
    [1, 2, 0]
    >>> fe.argsort(fe.asarray([5, 7, 5, 7]), descending=True).tolist()
    [1, 3, 0, 2]
    """
    return _along("argsort", x, axis, descending, stable)


def _along(op: str, x: Array, axis: SupportsIndex, descending: bool, stable: bool) -> Array:
    x = as_operand(op, x)
    flag(stable, op, "stable")
    attributes = {"descending": flag(descending, op, "descending")}
    if x.ndim == 0:
        raise InvalidArgumentError(f"{op}: an array of 0 dimensions has no axis; use reshape(x, (1,))")
    place = axis_of(op, axis, x.ndim)
    if place == x.ndim - 1:
        return apply(op, (x,), attributes)
    return moveaxis(apply(op, (moveaxis(x, place, -1),), attributes), -1, place)

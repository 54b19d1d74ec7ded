"""Logic on bools, and on numbers, of which those other than zero are true."""

from __future__ import annotations

from ferrule.array import recording
from ferrule.array.array import Array
from ferrule.functions.conversion import astype


def logical_and(x1: object, x2: object, /) -> Array:
    """Whether both x1 and x2 are true, elementwise.

    Parameters
    ----------
    x1, x2 : array_like
        Arrays that broadcast with each other. Numbers other than zero are true, and so is NaN.

    Returns
    -------
    Array of bool
        The results.

    Raises
    ------
    InvalidArgumentError
        The shapes do not broadcast.

    Examples
    --------
    >>> fe.logical_and(fe.asarray([0, 1, 2]), fe.asarray([True, False, True])).tolist()
    [False, False, True]
    """
    return _of_bools("logical_and", x1, x2)


def logical_or(x1: object, x2: object, /) -> Array:
    """Whether x1 or x2 or both are true, elementwise.

    Parameters
    ----------
    x1, x2 : array_like
        Arrays that broadcast with each other. Numbers other than zero are true, and so is NaN.

    Returns
    -------
    Array of bool
        The results.

    Raises
    ------
    InvalidArgumentError
        The shapes do not broadcast.

    Examples
    --------
    >>> fe.logical_or(fe.asarray([0.0, 0.5]), False).tolist()
    [False, True]
    """
    return _of_bools("logical_or", x1, x2)


def logical_xor(x1: object, x2: object, /) -> Array:
    """Whether exactly one of x1 and x2 is true, elementwise.

    Parameters
    ----------
    x1, x2 : array_like
        Arrays that broadcast with each other. Numbers other than zero are true, and so is NaN.

    Returns
    -------
    Array of bool
        The results.

    Raises
    ------
    InvalidArgumentError
        The shapes do not broadcast.

    Examples
    --------
    >>> fe.logical_xor(fe.asarray([0, 1, 2]), True).tolist()
    [True, False, False]
    """
    return _of_bools("logical_xor", x1, x2)


def logical_not(x: object, /) -> Array:
    """Whether x is not true, elementwise.

    Parameters
    ----------
    x : array_like
        An array. Numbers other than zero are true, and so is NaN.

    Returns
    -------
    Array of bool
        The results.

    Raises
    ------
    DTypeError
        The dtype is a block dtype.

    Examples
    --------
    >>> fe.logical_not(fe.asarray([0, 1, 2])).tolist()
    [True, False, False]
    """
    return _of_bools("logical_not", x)


def _of_bools(op: str, *operands: object) -> Array:
    return recording.apply(op, tuple(_as_bool(op, x, operands) for x in operands), {})


def _as_bool(op: str, x: object, operands: tuple[object, ...]) -> Array:
    array = recording.as_operand(op, bool(x) if isinstance(x, (int, float, complex)) else x, *operands)
    return array if array.dtype.kind == "b" else astype(array, "bool")

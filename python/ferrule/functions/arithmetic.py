"""Division and its rest, of any numbers."""

from __future__ import annotations

from ferrule.array.array import Array
from ferrule.array.recording import apply, as_companion
from ferrule.dtypes.classification import class_of
from ferrule.functions import operators


def divide(x1: object, x2: object, /) -> Array:
    """Quotient x1 / x2, elementwise, as the operator computes it.

    Parameters
    ----------
    x1, x2 : array_like
        Arrays that broadcast with each other, or a number and an array. Integers and bools are divided in the
        default dtype, or in the dtype of the other operand if that is floating-point.

    Returns
    -------
    Array
        The quotients, of a floating-point or complex dtype. Nonzero numbers divided by zero are infinite, zero by zero
        is NaN.

    Raises
    ------
    InvalidArgumentError
        The shapes do not broadcast.

    Examples
    --------
    >>> fe.divide(fe.asarray([1, 2, 3]), 2).tolist()
    [0.5, 1.0, 1.5]
    """
    quotient = operators.divide(x1, x2) if isinstance(x1, Array) or isinstance(x2, Array) else NotImplemented
    if quotient is NotImplemented:
        return operators.divide(as_companion("divide", x1, x2), as_companion("divide", x2, x1))
    return quotient


def fmod(x1: object, x2: object, /) -> Array:
    """The rest of x1 / x2 with the sign of x1, exactly.

    Parameters
    ----------
    x1, x2 : array_like
        Arrays of real numbers that broadcast with each other, or a number and an array.

    Returns
    -------
    Array
        The rests; NaN where x2 is 0, and 0 of integers.

    Raises
    ------
    DTypeError
        A dtype is bool or complex, or the dtypes have no common one.
    InvalidArgumentError
        The shapes do not broadcast.

    Examples
    --------
    >>> fe.fmod(fe.asarray([-5.5, 5.5]), 2).tolist()
    [-1.5, 1.5]
    >>> fe.fmod(fe.asarray([-5, 5]), 3).tolist()
    [-2, 2]
    """
    left, right = as_companion("fmod", x1, x2), as_companion("fmod", x2, x1)
    if not all(class_of(x.dtype) in ("signed", "unsigned") for x in (left, right)):
        return apply("fmod", (left, right), {})
    rest = apply("remainder", (left, right), {})  # with the sign of x2
    has_other_sign = apply("less", (left, 0), {}) ^ apply("less", (rest, 0), {})
    return apply("where", (has_other_sign & apply("not_equal", (rest, 0), {}), rest - right, rest), {})

"""Division of any numbers."""

from __future__ import annotations

from ferrule.array.array import Array
from ferrule.array.caller_names import names_itself
from ferrule.array.recording import as_companion
from ferrule.functions import operators


@names_itself
def divide(x1: object, x2: object, /) -> Array:
    """Quotient x1 / x2, elementwise, as the operator computes it.

    Parameters
    ----------
    x1, x2 : array_like
        Arrays that broadcast with each other, or a number and an array. Integers and bools are divided as float32, or
        in the dtype of the other operand if that is floating-point.

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

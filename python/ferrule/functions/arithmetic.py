"""The rest of a division, of any real numbers."""

from __future__ import annotations

from ferrule.array.array import Array
from ferrule.array.recording import apply, as_companion
from ferrule.dtypes.classification import class_of

__all__ = ["fmod"]


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

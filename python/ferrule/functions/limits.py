"""Limiting elements to a range."""

from __future__ import annotations

from ferrule.array.array import Array
from ferrule.array.recording import apply, as_companion

__all__ = ["clip"]


def clip(x: Array, /, min: object = None, max: object = None) -> Array:
    """Limit the elements of x to a range.

    Parameters
    ----------
    x : Array
        The array.
    min, max : number or Array, optional
        The limits, which broadcast with x; None does not limit. Where min is greater than max, the result is max.

    Returns
    -------
    Array
        The elements of x, or the limit that they are beyond; NaN where x or a limit is NaN. An array as a limit
        promotes with x.

    Raises
    ------
    DTypeError
        A dtype is complex.
    InvalidArgumentError
        The shapes do not broadcast.
    NumberOverflowError
        A Python number does not fit into x's dtype.

    Examples
    --------
    >>> fe.clip(fe.asarray([-1, 5, 10]), 0, 8).tolist()
    [0, 5, 8]
    >>> fe.clip(fe.asarray([-1, 5, 10]), max=8).tolist()
    [-1, 5, 8]
    """
    x = as_companion("clip", x, min, max)
    if min is not None and max is not None:
        return apply("clip", (x, min, max), {})
    if min is not None:
        return apply("maximum", (x, min), {})
    if max is not None:
        return apply("minimum", (x, max), {})
    return x._copied("clip")

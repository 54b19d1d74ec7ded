"""Selection between two arrays by a condition."""

from __future__ import annotations

from typing import overload

from ferrule.array.array import Array
from ferrule.array.recording import apply, as_operand
from ferrule.errors import InvalidArgumentError
from ferrule.functions.conversion import astype
from ferrule.later import later

__all__ = ["where"]

compaction = later("ferrule.functions.compaction")


@overload
def where(condition: object, x1: object, x2: object, /) -> Array: ...
@overload
def where(condition: object, /) -> tuple[Array, ...]: ...
def where(condition: object, x1: object = None, x2: object = None, /) -> Array | tuple[Array, ...]:
    """Return x1 where the condition is true, and x2 elsewhere; without x1 and x2, the indices of true elements.

    Parameters
    ----------
    condition : array_like
        Usually bools. Numbers other than zero are true, and so is NaN.
    x1, x2 : array_like, optional
        Arrays that broadcast with each other and with the condition, or numbers. Their dtypes are promoted.

    Returns
    -------
    Array
        The selected elements. Without x1 and x2, a tuple of index arrays, as from `nonzero`.

    Raises
    ------
    InvalidArgumentError
        The shapes do not broadcast, or only one of x1 and x2 is given.

    Examples
    --------
    >>> x = fe.asarray([-1.0, 2.0, -3.0])
    >>> fe.where(x > 0, x, 0).tolist()
    [0.0, 2.0, 0.0]
    >>> [places] = fe.where(x < 0)
    >>> places.tolist()
    [0, 2]
    """
    if (x1 is None) != (x2 is None):
        raise InvalidArgumentError("where: takes a condition alone, or with both x1 and x2")
    flags = as_operand("where", condition, x1, x2)
    if flags.dtype.kind != "b":
        flags = astype(flags, "bool")
    return compaction.nonzero(flags) if x1 is None else apply("where", (flags, x1, x2), {})

"""NumPy's products of arrays."""

from __future__ import annotations

import math

from ferrule.array.array import Array
from ferrule.array.recording import apply, as_companion
from ferrule.dtypes.classification import is_block
from ferrule.errors import InvalidArgumentError
from ferrule.functions.linear_algebra import matmul
from ferrule.functions.movement import moveaxis, reshape

__all__ = ["dot", "outer"]


def outer(x1: Array, x2: Array, /) -> Array:
    """Products of all pairs of elements.

    Parameters
    ----------
    x1, x2 : Array
        The factors, which are flattened.

    Returns
    -------
    Array of shape (size of x1, size of x2)
        Element (i, j) is x1[i] * x2[j].

    Raises
    ------
    DTypeError
        The dtypes have no common dtype, or are block dtypes.
    InvalidArgumentError
        A factor is neither an array nor a number.

    Examples
    --------
    >>> fe.outer(fe.asarray([1, 2]), fe.asarray([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    left, right = as_companion("outer", x1, x2), as_companion("outer", x2, x1)
    # Blocks cannot stand in a column: multiply refuses them, with the error that it has for x2.
    column = left if is_block(left.dtype) else reshape(left, (left.size, 1))
    return apply("multiply", (column, reshape(right, (1, right.size))), {})


def dot(x1: Array, x2: Array, /) -> Array:
    """Product over the last axis of x1 and the last but one of x2.

    Parameters
    ----------
    x1, x2 : Array
        The factors. If one has 0 dimensions, the result is x1 * x2; the last axis of a vector is its only one.

    Returns
    -------
    Array
        The products, with the remaining axes of x1 and x2; for matrices it is `x1 @ x2`.

    Raises
    ------
    InvalidArgumentError
        The axes have different lengths.

    Examples
    --------
    >>> fe.dot(fe.asarray([1, 2]), fe.asarray([3, 4])).item()
    11
    """
    left, right = as_companion("dot", x1, x2), as_companion("dot", x2, x1)
    if left.ndim == 0 or right.ndim == 0:
        return apply("multiply", (left, right), {})
    if left.shape[-1] != right.shape[max(right.ndim - 2, 0)]:
        raise InvalidArgumentError(f"dot: inner sizes differ: {left.shape} and {right.shape}")
    if right.ndim <= 2:
        return matmul(left, right)
    length, rest = left.shape[-1], (*right.shape[:-2], right.shape[-1])
    columns = reshape(moveaxis(right, -2, 0), (length, math.prod(rest)))
    rows = reshape(left, (math.prod(left.shape[:-1]), length))
    return reshape(matmul(rows, columns), (*left.shape[:-1], *rest))

"""Matrix products."""

from __future__ import annotations

from ferrule.array.array import Array
from ferrule.array.recording import apply, as_operand
from ferrule.errors import InvalidArgumentError
from ferrule.functions.movement import reshape


def matmul(x1: object, x2: object, /) -> Array:
    """Matrix product over the last two axes; the leading axes broadcast.

    Parameters
    ----------
    x1 : Array of shape (..., m, k) or (k,)
        The left operand. A vector is treated as a row.
    x2 : Array of shape (..., k, n) or (k,)
        The right operand. A vector is treated as a column.

    Returns
    -------
    Array of shape (..., m, n)
        The product. The axis of a vector operand is removed.

    Raises
    ------
    InvalidArgumentError
        An operand has 0 dimensions, or the inner sizes differ.

    Examples
    --------
    >>> fe.matmul(fe.asarray([[1, 2], [3, 4]]), fe.asarray([1, 1])).tolist()
    [3, 7]
    """
    left, right = as_operand("matmul", x1, x2), as_operand("matmul", x2, x1)
    if left.ndim == 0 or right.ndim == 0:
        raise InvalidArgumentError(f"matmul: needs at least 1 dimension: {left.shape} @ {right.shape}")
    if left.ndim > 1 and right.ndim > 1:
        return apply("matmul", (left, right), {})
    if left.shape[-1] != right.shape[0 if right.ndim == 1 else -2]:
        raise InvalidArgumentError(f"matmul: inner sizes differ: {left.shape} @ {right.shape}")
    row = reshape(left, (1, -1)) if left.ndim == 1 else left
    column = reshape(right, (-1, 1)) if right.ndim == 1 else right
    product = apply("matmul", (row, column), {})
    shape = list(product.shape)
    if right.ndim == 1:
        del shape[-1]
    if left.ndim == 1:
        del shape[-1 if right.ndim == 1 else -2]
    return reshape(product, tuple(shape))

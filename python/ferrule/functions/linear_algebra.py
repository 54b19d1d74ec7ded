"""Matrix products."""

from __future__ import annotations

from ferrule.array.array import Array
from ferrule.array.recording import apply, as_operand
from ferrule.errors import InvalidArgumentError
from ferrule.functions.movement import reshape


def matmul(x1: object, x2: object, /) -> Array:
    """Matrix product over the last two axes; the leading axes broadcast. A vector is a row on the left, a column on the
    right, and its axis is gone from the result."""
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

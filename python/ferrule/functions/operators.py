"""The operators of arrays, for operands that the extension does not record itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule.array.array import Array, is_number
from ferrule.array.recording import apply_all, graph_of, no_array
from ferrule.errors import DTypeError
from ferrule.functions import linear_algebra

OPERANDS = (int, float, complex, np.ndarray, np.generic)


def operate(op: str, left: Any, *right: object) -> Array:
    """An operator on operands that the extension does not record itself: traced numbers, NumPy arrays, others."""
    if op == "matmul":
        return _matmul(left, *right)
    if op in ("equal", "not_equal"):
        return compare(op, left, *right)
    return binary(op, left, *right) if right else _unary(op, left)


def binary(op: str, left: object, right: object) -> Array:
    other = right if isinstance(left, Array) else left
    if not isinstance(other, (Array, *OPERANDS)):
        if op == "multiply" and isinstance(other, (str, bytes, list, tuple)):  # whose own product takes an index
            raise DTypeError(str(no_array(op, other)))
        return NotImplemented  # type: ignore[no-any-return]
    if is_number(left) and is_number(right):
        return graph_of(left, right)._number_of(op, left, right)
    return apply_all(op, (left, right), {})[0]


def _matmul(left: object, right: object) -> Array:
    if isinstance(left, (Array, np.ndarray)) and isinstance(right, (Array, np.ndarray)):
        return linear_algebra.matmul(left, right)
    return NotImplemented  # type: ignore[no-any-return]


def compare(op: str, left: object, right: object) -> Array:
    if isinstance(right, (list, tuple)):  # an error, where comparison with other objects gives false
        raise no_array(op, right)
    return binary(op, left, right)


def _unary(op: str, x: Array) -> Array:
    return graph_of(x)._number_of(op, x) if is_number(x) else apply_all(op, (x,), {})[0]

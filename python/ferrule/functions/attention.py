"""Attention, whose keys may be fewer than there is room for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array
from ferrule.array.attributes import one_integer
from ferrule.array.recording import as_operand
from ferrule.errors import InvalidArgumentError
from ferrule.functions.movement import broadcast_to
from ferrule.functions.slicing import one_index

if TYPE_CHECKING:
    from ferrule.functions.ops import Operand

_OP = "scaled_dot_product_attention"


def scaled_dot_product_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    /,
    mask: Operand | None = None,
    *,
    scale: float = 0.0,
    causal: bool = False,
    kv_length: SupportsIndex | Array | None = None,
) -> Array:
    """softmax(query @ key^T * scale + mask) @ value over the last two axes, (length, head size) (Vaswani et al. 2017).
    The leading axes of query, key and value broadcast.

    A bool mask keeps where it holds, one of numbers is added; it broadcasts to (..., query length, key length). A row
    that keeps nothing gives zeros. scale 0 means 1 / sqrt(head size). `kv_length` is how many of the keys and values
    there are, an integer from 0 to the key length: those behind it are not read. A number that a traced function was
    called with, or an array of one integer, compiles nothing anew. causal keeps key j for query i where
    j <= i + (number of keys - query length).

    >>> cache = fe.zeros((1, 128, 4))  # room for 128 keys, of which there is one
    >>> fe.scaled_dot_product_attention(fe.ones((1, 1, 4)), cache, cache + 2, kv_length=1).tolist()
    [[[2.0, 2.0, 2.0, 2.0]]]
    """
    if mask is not None and _dtype_of(mask).kind in "iu":
        raise InvalidArgumentError(
            f"{_OP}: mask is {_dtype_of(mask)}, and must be bool or floating; the number of keys is kv_length="
        )
    query, key, value = (as_operand(_OP, x, query, key, value) for x in (query, key, value))
    query, key, value = _with_common_leading_axes(query, key, value)
    operands = [query, key, value] if mask is None else [query, key, value, mask]
    if kv_length is not None and key.ndim > 1:  # else the op refuses the key
        length = kv_length if isinstance(kv_length, Array) else one_integer(kv_length, _OP, "kv_length")
        operands.append(one_index(_OP, "kv_length", length, query, "key_count", (key.shape[-2],)))
    return recording.apply(_OP, operands, {"scale": scale, "causal": causal})


def _with_common_leading_axes(*arrays: Array) -> list[Array]:
    """The arrays, broadcast over all axes but the last two; as they are where the op refuses them."""
    try:
        leading = np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    except ValueError:
        return [*arrays]
    if any(array.ndim < 2 for array in arrays):
        return [*arrays]
    shapes = [(*leading, *array.shape[-2:]) for array in arrays]
    return [
        array if array.shape == shape else broadcast_to(array, shape)
        for array, shape in zip(arrays, shapes, strict=True)
    ]


def _dtype_of(mask: Operand) -> np.dtype[Any]:
    return mask.dtype if isinstance(mask, (Array, np.ndarray, np.generic)) else np.dtype(type(mask))

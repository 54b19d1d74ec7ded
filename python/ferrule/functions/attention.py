"""Scaled dot-product attention, also over a key-value cache that is partly filled."""

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

__all__ = ["scaled_dot_product_attention"]

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
    """Attention: softmax(query @ key^T * scale + mask) @ value over the last two axes.

    Parameters
    ----------
    query : Array of shape (..., query length, head size)
        Floating-point. The leading axes of query, key and value broadcast.
    key : Array of shape (..., key length, head size)
        The keys.
    value : Array of shape (..., key length, value size)
        The values.
    mask : Array, optional
        Broadcasts to (..., query length, key length). A bool mask is true for the keys to keep; a floating-point mask
        is added to the scores. A query that keeps no key gives zeros.
    scale : float
        The factor of the scores; 0 means 1 / sqrt(head size).
    causal : bool
        Whether query i keeps only the keys j <= i + (number of keys - query length).
    kv_length : int or Array, optional
        The number of valid keys and values, from 0 to the key length; the rest is not read. A number argument of a
        traced function, or an array of one integer, does not cause a new compilation when it changes.

    Returns
    -------
    Array of shape (..., query length, value size)
        The weighted sums of the values.

    Raises
    ------
    InvalidArgumentError
        The shapes do not match, or the mask has an integer dtype.
    OutOfRangeError
        `kv_length` is out of range.

    Notes
    -----
    Vaswani et al., "Attention Is All You Need", 2017.

    Examples
    --------
    >>> cache = fe.zeros((1, 128, 4))  # room for 128 keys, of which one is valid
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
    if kv_length is not None and key.ndim > 1:  # the op refuses a key of fewer dimensions
        length = kv_length if isinstance(kv_length, Array) else one_integer(kv_length, _OP, "kv_length")
        operands.append(one_index(_OP, "kv_length", length, query, "key_count", (key.shape[-2],)))
    return recording.apply(_OP, operands, {"scale": scale, "causal": causal})


def _with_common_leading_axes(*arrays: Array) -> list[Array]:
    """Broadcast all axes but the last two. Arrays that the op will refuse are returned unchanged."""
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

"""Casts to another dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import flag
from ferrule.array.recording import as_operand
from ferrule.array.symbols import Symbol, on_thread, refuse
from ferrule.dtypes.classification import as_dtype, is_block
from ferrule.loading import device_lookup

if TYPE_CHECKING:
    from ferrule.loading.devices import Device

__all__ = ["astype"]
ARRAY_METHODS = {"astype": "astype"}


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Device | str | None = None) -> Array:
    """Cast an array to another dtype.

    Floating-point numbers are truncated to integers; for bool, the result is x != 0.

    Parameters
    ----------
    x : Array
        The array.
    dtype : dtype or str
        The dtype of the result.
    copy : bool
        Matters if x has the dtype already. True gives the current value of x, even if x borrows memory that its owner
        writes to later; False returns x itself, so that later assignments to one are seen in the other.
    device : Device or str, optional
        The device of the result; by default that of x.

    Returns
    -------
    Array
        The elements of x in the dtype, in x's shape.

    Raises
    ------
    DTypeError
        The dtype does not exist, or x is complex and the dtype is real: `real` and `abs` say which part is wanted.

    Notes
    -----
    In a traced function the cast of a block dtype is recorded in the graph, even if the array is not traced: the graph
    then keeps the blocks.

    Examples
    --------
    >>> fe.astype(fe.asarray([1.5, -1.5]), "int32").tolist()
    [1, -1]
    """
    target = as_dtype(dtype, "astype")
    is_traced_number = isinstance(x, Array) and is_number(x)
    x = recording.array_of_number(x, target) if is_traced_number else as_operand("astype", x)
    if device is not None:
        x = moved("astype", x, device)
    if target != x.dtype:
        if on_thread.graph is not None and is_block(x.dtype) and not isinstance(x._handle, Symbol):
            x = on_thread.graph.constant(x)  # the graph then keeps the blocks instead of the float numbers
        return recording.apply("astype", (x,), {"dtype": target})
    return x._copied("astype") if flag(copy, "astype", "copy") else x  # itself, as the standard demands


def moved(caller: str, x: Array, device: Device | str) -> Array:
    """Return x on a device; x itself if it is there already."""
    target = device_lookup.device(device)
    if target == x.device:
        return x
    if isinstance(x._handle, Symbol):
        refuse(f"{caller} to another device", x._handle)
    return x.to_device(target)


def cast(x: Array, dtype: Any) -> Array:
    """Cast to another dtype; x itself is returned if it has the dtype already."""
    return x if x.dtype == dtype and not is_number(x) else astype(x, dtype, copy=False)


_INT32, _INT64, _UINT64 = map(np.dtype, ("int32", "int64", "uint64"))


def as_index_dtype(indices: Array) -> Array:
    """Cast integers to int64, unless they are int32, which kernels take as well."""
    dtype = indices.dtype
    return indices if dtype in (_INT32, _INT64) else as_int64(indices)


def as_int64(indices: Array) -> Array:
    """Cast integers to int64.

    Indices above the greatest int64 become the greatest, so that they stay out of bounds and do not become negative.
    """
    if indices.dtype == _UINT64:
        indices = recording.apply("minimum", (indices, np.iinfo(np.int64).max), {})
    return cast(indices, "int64")

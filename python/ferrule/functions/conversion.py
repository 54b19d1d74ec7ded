"""Casts to another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.recording import as_operand
from ferrule.array.symbols import Symbol, on_thread
from ferrule.dtypes.classification import as_dtype, is_block


def astype(x: Array, dtype: Any, /, *, copy: bool = True) -> Array:
    """x in another dtype. Floating-point to integer truncates; to bool: x != 0.

    With the dtype that x has, `copy=True` gives the value that x has now, also where x is borrowed from memory that
    its owner writes later; `copy=False` gives the same array. Both are new objects. In a traced function the cast of
    an array of blocks is a part of the graph, also where the array comes from outside.
    """
    target = as_dtype(dtype)
    if is_number(x):
        return recording.array_of_number(x, target)
    x = as_operand("astype", x)
    if target != x.dtype:
        if on_thread.graph is not None and is_block(x.dtype) and not isinstance(x._handle, Symbol):
            x = on_thread.graph.constant(x)  # so that the graph keeps the blocks, and not the numbers in them
        return recording.apply("astype", (x,), {"dtype": target})
    return x._snapshot("astype") if copy else x._another("astype")


def cast(x: Array, dtype: Any) -> Array:
    """x in another dtype; x itself where it has that one."""
    return x if x.dtype == dtype and not is_number(x) else astype(x, dtype, copy=False)


def as_int64(indices: Array) -> Array:
    """Integers in int64, of which those that are greater than all of these become the greatest: out of bounds still,
    and not negative."""
    if indices.dtype.name == "uint64":
        indices = recording.apply("minimum", (indices, np.iinfo(np.int64).max), {})
    return cast(indices, "int64")

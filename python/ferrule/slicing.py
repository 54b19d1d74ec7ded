"""Slices whose starts are values, not facts of the trace: one compiled graph serves all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from ferrule import _ferrule, _record
from ferrule._errors import InvalidArgumentError, OutOfRangeError
from ferrule._numbers import shown
from ferrule._symbols import Symbol
from ferrule.array import Array
from ferrule.manipulation import Shape, as_operand, astype, one_integer, sizes

Starts = Sequence[SupportsIndex | Array]
_INT64 = np.dtype("int64")


def dynamic_slice(x: Array, /, starts: Starts, shape: Shape) -> Array:
    """The elements of x from `starts` on, one for each axis, in an array of this shape: `x[s:s+n, t:t+m]` of
    `starts=(s, t)` and `shape=(n, m)`.

    Starts are integers, the numbers that a traced function was called with, or arrays of one integer; they do not count
    from the end. A slice that leaves x is an error. No start is a reason to compile anew.

    >>> fe.dynamic_slice(fe.arange(10), (3,), (4,)).tolist()
    [3, 4, 5, 6]
    """
    x = as_operand("dynamic_slice", x)
    lengths = sizes(shape, "dynamic_slice")
    return cut("dynamic_slice", x, _given("dynamic_slice", x, starts), lengths)


def update_slice(x: Array, value: Array, /, starts: Starts) -> Array:
    """x with the elements of `value` in the place of those from `starts` on, one for each axis.

    Starts are as in dynamic_slice. Where nobody reads x any more only the slice is written, into the memory of x.

    >>> fe.update_slice(fe.arange(5), fe.asarray([7, 8]), (1,)).tolist()
    [0, 7, 8, 3, 4]
    """
    x = as_operand("update_slice", x, value)
    value = astype(as_operand("update_slice", value, x), x.dtype, copy=False)
    if value.ndim != x.ndim or any(have > room for have, room in zip(value.shape, x.shape, strict=True)):
        raise InvalidArgumentError(f"update_slice: a value of shape {value.shape} does not fit into x of {x.shape}")
    return written("update_slice", x, value, _given("update_slice", x, starts))


def cut(caller: str, x: Array, starts: Sequence[int | Array], lengths: Sequence[int]) -> Array:
    """x from the starts on, which are as many as it has axes."""
    if x.ndim == 0:
        return x
    operands = (x, *_starts(caller, x, starts, lengths))
    return _record.apply("dynamic_slice", operands, {"sizes": tuple(lengths)})


def written(caller: str, x: Array, value: Array, starts: Sequence[int | Array]) -> Array:
    """x with the value from the starts on."""
    if x.ndim == 0 or 0 in value.shape:
        return value if x.ndim == 0 else x
    return _record.apply("update_slice", (x, value, *_starts(caller, x, starts, value.shape)), {})


def _given(caller: str, x: Array, starts: Starts) -> list[int | Array]:
    if not isinstance(starts, Sequence) or len(starts) != x.ndim:
        raise InvalidArgumentError(
            f"{caller}: starts are {x.ndim} integers for an array of shape {x.shape}: {starts!r}"
        )
    return [start if isinstance(start, Array) else one_integer(start, caller, "a start") for start in starts]


def _starts(caller: str, x: Array, starts: Sequence[int | Array], lengths: Sequence[int]) -> list[Array]:
    """As scalars of the graph, or beside x; those that are known are held against the shape."""
    operands = []
    for axis, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        most = x.shape[axis] - length
        if isinstance(start, int) and not 0 <= start <= most:
            raise OutOfRangeError(
                f"{caller}: {length} elements from {shown(start)} on leave axis {axis} of shape {x.shape}"
            )
        operands.append(one_index(caller, "a start", start, x, "start", (x.shape[axis], length)))
    return operands


def one_index(
    caller: str, what: str, value: int | Array, like: Array, operation: str, limits: tuple[int, ...]
) -> Array:
    """One integer as a scalar of the graph, or beside an array.

    `operation` of _numbers holds a number of a traced call against the limits before anything is computed.
    """
    if isinstance(value, int):
        if isinstance(like._handle, Symbol):
            return like._handle.graph._scalar(value, _INT64)
        return Array._of(_ferrule.scalar(like._handle.device, value, _INT64))
    if value.ndim != 0 or value.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{caller}: {what} is {value.dtype}{value.shape}, and no single integer")
    if _record.is_number(value):
        return _record.array_of_number(_record.number_of(operation, value, *limits), _INT64)
    return astype(value, _INT64, copy=False)

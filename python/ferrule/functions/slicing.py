"""Slices whose starts are values of the graph: one compiled graph serves all starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from ferrule import _ferrule
from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import Shape, one_integer, sizes
from ferrule.array.numbers import perform, shown
from ferrule.array.recording import as_companion, as_operand, graph_of
from ferrule.array.symbols import Symbol
from ferrule.dtypes.classification import is_same_kind
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions.conversion import as_int64, cast

__all__ = ["dynamic_slice", "update_slice"]

Starts = Sequence[SupportsIndex | Array]
_INT64 = np.dtype("int64")


def dynamic_slice(x: Array, /, starts: Starts, shape: Shape) -> Array:
    """Return a slice of a fixed shape that begins at variable starts: `x[s:s+n, t:t+m]`.

    Parameters
    ----------
    x : Array
        The array.
    starts : sequence of int or Array
        The first index along each axis: an integer, a number argument of a traced function, or an array of one integer.
        Negative starts do not count from the end. Different starts do not cause a new compilation.
    shape : int or sequence of int
        The shape of the slice.

    Returns
    -------
    Array
        The slice, of shape `shape`.

    Raises
    ------
    InvalidArgumentError
        `starts` or `shape` do not fit x.
    OutOfRangeError
        The slice exceeds x.

    Examples
    --------
    >>> fe.dynamic_slice(fe.arange(10), (3,), (4,)).tolist()
    [3, 4, 5, 6]
    """
    x = as_operand("dynamic_slice", x)
    lengths = sizes(shape, "dynamic_slice")
    if len(lengths) != x.ndim:
        raise InvalidArgumentError(f"dynamic_slice: shape {lengths} has not one size for each axis of x, {x.shape}")
    for axis, (length, size) in enumerate(zip(lengths, x.shape, strict=True)):
        if not 0 <= length <= size:
            raise InvalidArgumentError(
                f"dynamic_slice: size {shown(length)} of axis {axis} is not between 0 and {size}, the axis of x"
            )
    return cut("dynamic_slice", x, _given("dynamic_slice", x, starts), lengths)


def update_slice(x: Array, value: Array, /, starts: Starts) -> Array:
    """Return x with a slice replaced by `value`.

    Parameters
    ----------
    x : Array
        The array.
    value : Array
        The new elements, with as many axes as x. They are cast to x's dtype as far as NumPy's "same_kind" allows:
        float64 to float32, or integers to floating-point numbers, but not signed to unsigned integers.
        `x[key] = value` casts any dtype.
    starts : sequence of int or Array
        The first index of the slice along each axis, as in `dynamic_slice`.

    Returns
    -------
    Array
        An array of x's shape and dtype. If x is not used elsewhere, its memory is reused and only the slice written.

    Raises
    ------
    DTypeError
        The dtype of `value` cannot be cast.
    InvalidArgumentError
        `value` or `starts` do not fit x.
    OutOfRangeError
        The slice exceeds x.

    Examples
    --------
    >>> fe.update_slice(fe.arange(5), fe.asarray([7, 8]), (1,)).tolist()
    [0, 7, 8, 3, 4]
    """
    x, value = as_operand("update_slice", x, value), as_companion("update_slice", value, x)
    if not is_same_kind(value.dtype, x.dtype):
        raise DTypeError(
            f"update_slice: the value is {value.dtype}, which {x.dtype} does not hold; cast it with "
            f"value.astype('{x.dtype}')"
        )
    if value.ndim != x.ndim or any(have > room for have, room in zip(value.shape, x.shape, strict=True)):
        raise InvalidArgumentError(f"update_slice: a value of shape {value.shape} does not fit into x of {x.shape}")
    return write_slice("update_slice", x, cast(value, x.dtype), _given("update_slice", x, starts))


def cut(caller: str, x: Array, starts: Sequence[int | Array], lengths: Sequence[int]) -> Array:
    """Return the slice of x from `starts` on, with one start for each axis."""
    if x.ndim == 0:
        return x._another(caller)
    operands = (x, *_starts(caller, x, starts, lengths))
    return recording.apply("dynamic_slice", operands, {"sizes": tuple(lengths)})


def write_slice(caller: str, x: Array, value: Array, starts: Sequence[int | Array]) -> Array:
    """Return x with the value written from `starts` on."""
    if x.ndim == 0:
        return value
    operands = (x, value, *_starts(caller, x, starts, value.shape))
    return x._another(caller) if 0 in value.shape else recording.apply("update_slice", operands, {})


def _given(caller: str, x: Array, starts: Starts) -> list[int | Array]:
    if not isinstance(starts, Sequence) or len(starts) != x.ndim:
        raise InvalidArgumentError(
            f"{caller}: starts are {x.ndim} integers for an array of shape {x.shape}: {starts!r}"
        )
    return [start if isinstance(start, Array) else one_integer(start, caller, "a start") for start in starts]


def _starts(caller: str, x: Array, starts: Sequence[int | Array], lengths: Sequence[int]) -> list[Array]:
    """Return the starts as scalars of the graph, or as arrays; known starts are checked against the shape."""
    if 0 in lengths:  # no kernel will run that checks the arrays among them
        starts = [_known(start) for start in starts]
    limits = zip(range(x.ndim), x.shape, lengths, strict=True)
    operation = f"start of {caller}"
    return [
        one_index(caller, "a start", start, x, operation, limit) for start, limit in zip(starts, limits, strict=True)
    ]


def _known(start: int | Array) -> int | Array:
    """Return the value of an array that is not traced."""
    if not isinstance(start, Array) or isinstance(start._handle, Symbol):
        return start
    return int(start) if start.ndim == 0 and start.dtype.kind in "iu" else start


def one_index(
    caller: str, what: str, value: int | Array, like: Array, operation: str, limits: tuple[int, ...]
) -> Array:
    """Return one integer as a scalar of the graph, or as an array beside `like`.

    `operation` of array.numbers checks an integer, or a number of a traced call, against the limits before anything is
    computed.
    """
    if isinstance(value, int):
        perform(operation, value, *limits)
        if isinstance(like._handle, Symbol):
            return graph_of(like)._scalar(value, _INT64)
        return Array._of(_ferrule.scalar(like._handle.device, value, _INT64))
    if value.ndim != 0 or value.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{caller}: {what} must be a 0-d integer, not {value.dtype}{value.shape}")
    if is_number(value):
        return recording.array_of_number(recording.number_of(operation, value, *limits), _INT64)
    return as_int64(value)

"""Moving elements along axes, parts of matrices, and differences of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from ferrule.array.array import Array, is_number
from ferrule.array.attributes import axis_of, one_integer, sizes
from ferrule.array.numbers import shown
from ferrule.array.recording import apply, as_operand, number_like
from ferrule.errors import InvalidArgumentError
from ferrule.functions.creation import arange, device_of
from ferrule.functions.movement import broadcast_to, concat, reshape

__all__ = ["diff", "roll", "tril", "triu", "unstack"]


def roll(
    x: Array,
    /,
    shift: SupportsIndex | Sequence[SupportsIndex],
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
) -> Array:
    """Shift the elements along axes; those that leave an end come in at the other one.

    Parameters
    ----------
    x : Array
        The array.
    shift : int or sequence of int
        By how many places, towards higher indices if positive: one number for all axes, or one for each.
    axis : int or sequence of int, optional
        The axes; by default x is flattened, shifted, and reshaped again.

    Returns
    -------
    Array
        An array of x's shape.

    Raises
    ------
    InvalidArgumentError
        `shift` and `axis` differ in length, or are not integers.
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.roll(fe.asarray([1, 2, 3, 4]), 1).tolist()
    [4, 1, 2, 3]
    >>> fe.roll(fe.asarray([[1, 2], [3, 4]]), 1, axis=1).tolist()
    [[2, 1], [4, 3]]
    """
    x = as_operand("roll", x)
    shifts = sizes(shift, "roll", "shift")
    if axis is None:
        if isinstance(shift, (tuple, list)) and len(shifts) != 1:
            raise InvalidArgumentError(f"roll: {len(shifts)} shifts need as many axes: give axis")
        return reshape(roll(reshape(x, (x.size,)), shifts, axis=0), x.shape)
    axes = [axis_of("roll", place, x.ndim) for place in sizes(axis, "roll", "axis")]
    if len(shifts) == 1:
        shifts *= len(axes)
    elif len(axes) == 1:
        axes *= len(shifts)
    if len(shifts) != len(axes):
        raise InvalidArgumentError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    rolled = x
    for place, distance in zip(axes, shifts, strict=True):
        size = x.shape[place]
        split = -distance % size if size else 0
        if split:
            before = (slice(None),) * place
            rolled = concat([rolled[(*before, slice(split, None))], rolled[(*before, slice(split))]], axis=place)
    return x._copied("roll") if rolled is x else rolled


def unstack(x: Array, /, *, axis: SupportsIndex = 0) -> tuple[Array, ...]:
    """Split an array into its slices along an axis, without that axis.

    Parameters
    ----------
    x : Array
        An array of at least 1 dimension.
    axis : int
        The axis.

    Returns
    -------
    tuple of Array
        The slices.

    Raises
    ------
    OutOfRangeError
        The axis is out of range.

    See Also
    --------
    stack : The inverse.

    Examples
    --------
    >>> [part.tolist() for part in fe.unstack(fe.asarray([[1, 2], [3, 4]]), axis=1)]
    [[1, 3], [2, 4]]
    """
    x = as_operand("unstack", x)
    place = axis_of("unstack", axis, x.ndim)
    before = (slice(None),) * place
    return tuple(x[(*before, index)] for index in range(x.shape[place]))


def tril(x: Array, /, *, k: SupportsIndex = 0) -> Array:
    """Return matrices with zeros above a diagonal.

    Parameters
    ----------
    x : Array of shape (..., m, n)
        The matrices.
    k : int
        The diagonal: 0 is the main one, positive numbers are above it, negative ones below.

    Returns
    -------
    Array of shape (..., m, n)
        The matrices.

    Raises
    ------
    InvalidArgumentError
        x has fewer than 2 dimensions, or k is not an integer.

    Examples
    --------
    >>> fe.tril(fe.ones((2, 3), dtype="int8")).tolist()
    [[1, 0, 0], [1, 1, 0]]
    """
    return _triangle("tril", x, k)


def triu(x: Array, /, *, k: SupportsIndex = 0) -> Array:
    """Return matrices with zeros below a diagonal.

    Parameters
    ----------
    x : Array of shape (..., m, n)
        The matrices.
    k : int
        The diagonal: 0 is the main one, positive numbers are above it, negative ones below.

    Returns
    -------
    Array of shape (..., m, n)
        The matrices.

    Raises
    ------
    InvalidArgumentError
        x has fewer than 2 dimensions, or k is not an integer.

    Examples
    --------
    >>> fe.triu(fe.ones((2, 3), dtype="int8"), k=1).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return _triangle("triu", x, k)


def _triangle(caller: str, x: Array, k: SupportsIndex) -> Array:
    x, diagonal = as_operand(caller, x), one_integer(k, caller, "k")
    if x.ndim < 2:
        raise InvalidArgumentError(f"{caller}: needs at least 2 dimensions, not {x.ndim}")
    rows, columns = x.shape[-2:]
    diagonal = max(-rows - 1, min(diagonal, columns + 1))  # beyond these, nothing changes
    device = device_of(x)
    places = reshape(arange(columns, device=device), (1, columns))
    ends = reshape(arange(diagonal, diagonal + rows, device=device), (rows, 1))
    kept = apply("less_equal" if caller == "tril" else "greater_equal", (places, ends), {})
    return apply("where", (kept, x, False if x.dtype.kind == "b" else 0), {})


def diff(
    x: Array,
    /,
    n: SupportsIndex = 1,
    axis: SupportsIndex = -1,
    *,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    """Differences of neighbours along an axis.

    Parameters
    ----------
    x : Array
        An array of at least 1 dimension.
    n : int
        How often the differences are taken. The order of n and axis is NumPy's; the standard passes both by name.
    axis : int
        The axis.
    prepend, append : Array, optional
        Elements to put before and after x along the axis first; a number or an array of 0 dimensions stands for one
        slice of it.

    Returns
    -------
    Array
        The differences, in x's shape with n elements less along the axis. For bools, whether neighbours differ.

    Raises
    ------
    InvalidArgumentError
        x has 0 dimensions, n is negative, or a shape does not match.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> fe.diff(fe.asarray([1, 4, 9, 16])).tolist()
    [3, 5, 7]
    >>> fe.diff(fe.asarray([1, 4, 9]), prepend=fe.asarray([0]), n=2).tolist()
    [2, 2]
    """
    x = as_operand("diff", x, prepend, append)
    if x.ndim == 0:
        raise InvalidArgumentError("diff: needs at least 1 dimension, not 0")
    place, times = axis_of("diff", axis, x.ndim), one_integer(n, "diff", "n")
    if times < 0:
        raise InvalidArgumentError(f"diff: n is {shown(times)}, and must not be negative")
    if times == 0:
        return x._copied("diff")
    parts = [_beside("diff", part, x, place) for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        x = concat(parts, axis=place)
    before = (slice(None),) * place
    for _ in range(min(times, x.shape[place])):
        op = "not_equal" if x.dtype.kind == "b" else "subtract"
        x = apply(op, (x[(*before, slice(1, None))], x[(*before, slice(-1))]), {})
    return x


def _beside(caller: str, part: Array, x: Array, axis: int) -> Array:
    part = number_like(caller, part, x, exact=True) if is_number(part) else as_operand(caller, part, x)
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    if part.ndim == 0:
        return broadcast_to(part, shape)
    if part.ndim != x.ndim or any(
        have != want for place, (have, want) in enumerate(zip(part.shape, x.shape, strict=True)) if place != axis
    ):
        raise InvalidArgumentError(f"{caller}: shapes {part.shape} and {x.shape} do not join along axis {axis}")
    return part

"""The distinct elements of an array."""

from __future__ import annotations

from typing import NamedTuple, SupportsIndex

import numpy as np

from ferrule.array.array import Array
from ferrule.array.attributes import flag, one_integer
from ferrule.array.recording import apply, apply_all, as_companion, as_operand
from ferrule.array.symbols import Symbol, refuse
from ferrule.dtypes.classification import is_complex
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions.asarray import list_beside
from ferrule.functions.conversion import cast
from ferrule.functions.creation import full
from ferrule.functions.movement import reshape, take
from ferrule.functions.ops import minimum
from ferrule.functions.searching import searchsorted
from ferrule.functions.sorting import sort
from ferrule.functions.type_information import result_type

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: Array
    inverse_indices: Array


def unique_all(x: Array, /, *, size: SupportsIndex | None = None) -> UniqueAllResult:
    """Return the distinct elements of an array, where each occurs first, its inverse, and how often each occurs.

    Parameters
    ----------
    x : Array
        The array, of any shape.
    size : int, optional
        The length of values, indices and counts: the least elements, padded with zeros. A traced function needs it,
        because the number of distinct elements depends on values. The padding has the counts 0.

    Returns
    -------
    values : Array of shape (n,)
        The distinct elements in ascending order, as `unique_values` returns them.
    indices : Array of shape (n,)
        The int64 index of the first occurrence of each in the flattened x.
    inverse_indices : Array of x's shape
        The int64 index of each element of x among the values; with `size`, among those before they are cut to it.
    counts : Array of shape (n,)
        How often each occurs, int64.

    Raises
    ------
    InvalidArgumentError
        `size` is negative or not an integer.
    TracingError
        x is being traced, and `size` is not given.

    Examples
    --------
    >>> found = fe.unique_all(fe.asarray([7, 5, 7, 6]))
    >>> found.values.tolist(), found.indices.tolist()
    ([5, 6, 7], [1, 3, 0])
    >>> found.inverse_indices.tolist(), found.counts.tolist()
    ([2, 0, 2, 1], [1, 1, 2])
    """
    x, outputs = _apply("unique_all", x, size)
    values, indices, counts, inverse, _ = outputs
    return UniqueAllResult(values, indices, reshape(inverse, x.shape), counts)


def unique_counts(x: Array, /, *, size: SupportsIndex | None = None) -> UniqueCountsResult:
    """Return the distinct elements of an array, and how often each occurs.

    Parameters
    ----------
    x : Array
        The array, of any shape.
    size : int, optional
        The length of the results: the least elements, padded with zeros. A traced function needs it, because the number
        of distinct elements depends on values. The padding has the counts 0.

    Returns
    -------
    values : Array of shape (n,)
        The distinct elements in ascending order, as `unique_values` returns them.
    counts : Array of shape (n,)
        How often each occurs, int64.

    Raises
    ------
    InvalidArgumentError
        `size` is negative or not an integer.
    TracingError
        x is being traced, and `size` is not given.

    Examples
    --------
    >>> found = fe.unique_counts(fe.asarray([[7, 5], [7, 6]]))
    >>> found.values.tolist(), found.counts.tolist()
    ([5, 6, 7], [1, 1, 2])
    """
    _, outputs = _apply("unique_counts", x, size)
    return UniqueCountsResult(outputs[0], outputs[1])


def unique_inverse(x: Array, /, *, size: SupportsIndex | None = None) -> UniqueInverseResult:
    """Return the distinct elements of an array, and the index of each element among them.

    Parameters
    ----------
    x : Array
        The array, of any shape.
    size : int, optional
        The length of the values: the least elements, padded with zeros. A traced function needs it, because the number
        of distinct elements depends on values.

    Returns
    -------
    values : Array of shape (n,)
        The distinct elements in ascending order, as `unique_values` returns them.
    inverse_indices : Array of x's shape
        The int64 index of each element of x among the values: `take(values, inverse_indices)` is x. With `size`, it is
        the index among the values before they are cut to it.

    Raises
    ------
    InvalidArgumentError
        `size` is negative or not an integer.
    TracingError
        x is being traced, and `size` is not given.

    Examples
    --------
    >>> found = fe.unique_inverse(fe.asarray([[7, 5], [7, 6]]))
    >>> found.values.tolist(), found.inverse_indices.tolist()
    ([5, 6, 7], [[2, 0], [2, 1]])
    """
    x, outputs = _apply("unique_inverse", x, size)
    return UniqueInverseResult(outputs[0], reshape(outputs[1], x.shape))


def unique_values(x: Array, /, *, size: SupportsIndex | None = None) -> Array:
    """Return the distinct elements of an array.

    Parameters
    ----------
    x : Array
        The array, of any shape.
    size : int, optional
        The length of the result: the least elements, padded with zeros. A traced function needs it, because the number
        of distinct elements depends on values.

    Returns
    -------
    Array of shape (n,)
        The distinct elements in ascending order; complex numbers are ordered by their real parts, then by their
        imaginary parts. Zeros of both signs are equal: the first one stands for them. NaN equals nothing, so that each
        NaN is an element of its own, behind all numbers.

    Raises
    ------
    InvalidArgumentError
        `size` is negative or not an integer.
    TracingError
        x is being traced, and `size` is not given.

    Examples
    --------
    >>> fe.unique_values(fe.asarray([[7, 5], [7, 6]])).tolist()
    [5, 6, 7]
    >>> fe.unique_values(fe.asarray([7, 5, 7]), size=4).tolist()
    [5, 7, 0, 0]
    """
    _, outputs = _apply("unique_values", x, size)
    return outputs[0]


def isin(x1: object, x2: object, /, *, invert: bool = False) -> Array:
    """Whether each element of x1 is among the elements of x2.

    Parameters
    ----------
    x1 : array_like
        The elements to look for.
    x2 : array_like
        An array of any shape, a list or a number. Its dtype and that of x1 promote.
    invert : bool
        True gives the opposite: whether an element is not among them.

    Returns
    -------
    Array of bool, of the shape of x1
        The results. Zeros of both signs are equal; NaN is equal to nothing.

    Raises
    ------
    DTypeError
        The dtypes do not promote, or are complex or block dtypes.
    InvalidArgumentError
        `invert` is not a bool.

    Examples
    --------
    >>> fe.isin(fe.asarray([[1, 2], [3, 4]]), [4, 1]).tolist()
    [[True, False], [False, True]]
    """
    negated = flag(invert, "isin", "invert")
    device = next((x.device for x in (x1, x2) if isinstance(x, Array)), None)
    if isinstance(x1, (list, tuple, float)):
        x1 = list_beside("isin", x1, x2, device)
    if isinstance(x2, (list, tuple, float)):
        x2 = list_beside("isin", x2, x1, device)
    wanted, among = as_companion("isin", x1, x2), as_companion("isin", x2, x1)
    for name, x in (("x1", wanted), ("x2", among)):
        if is_complex(x.dtype):
            raise DTypeError(f"isin: {name} is {x.dtype}{x.shape}, but needs a real dtype")
    dtype = result_type(wanted, among)
    if dtype == np.dtype("bool"):
        dtype = np.dtype("uint8")
    wanted, among = cast(wanted, dtype), sort(reshape(cast(among, dtype), (among.size,)))
    if among.size == 0:
        return full(wanted.shape, negated, device=wanted.device)
    places = minimum(searchsorted(among, reshape(wanted, (wanted.size,))), among.size - 1)
    return apply("not_equal" if negated else "equal", (reshape(take(among, places), wanted.shape), wanted), {})


def _apply(op: str, x: Array, size: SupportsIndex | None) -> tuple[Array, list[Array]]:
    x = as_operand(op, x)
    number = -1
    if size is not None:
        number = one_integer(size, op, "size")
        if number < 0:
            raise InvalidArgumentError(f"{op}: size is {number}")
    elif isinstance(x._handle, Symbol):
        refuse(f"{op} without size=")
    return x, apply_all(op, (reshape(x, (x.size,)),), {"size": number})

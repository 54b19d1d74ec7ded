"""Counts of elements: how often integers occur, histograms, and the places of nonzero elements."""

from __future__ import annotations

from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array
from ferrule.array.attributes import flag, one_integer, one_real
from ferrule.array.recording import as_operand
from ferrule.array.symbols import Symbol, refuse
from ferrule.dtypes.classification import is_floating, is_inexact
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions.asarray import asarray
from ferrule.functions.compaction import nonzero
from ferrule.functions.conversion import as_int64, cast
from ferrule.functions.creation import full, linspace
from ferrule.functions.intermediate_dtypes import intermediate, widened
from ferrule.functions.movement import broadcast_to, reshape, stack
from ferrule.functions.searching import searchsorted
from ferrule.functions.type_information import result_type

__all__ = ["argwhere", "bincount", "flatnonzero", "histogram"]


class Histogram(NamedTuple):
    """The counts of a histogram, and the edges of its bins."""

    hist: Array
    bin_edges: Array


def bincount(
    x: Array,
    /,
    weights: Array | None = None,
    minlength: SupportsIndex = 0,
    *,
    length: SupportsIndex | None = None,
) -> Array:
    """Count how often each integer occurs, or add the weights of its places.

    Parameters
    ----------
    x : Array of shape (n,)
        Integers, none of them negative.
    weights : Array of shape (n,), optional
        What to add for each element instead of 1.
    minlength : int
        The least length of the result. Without `length` it is at least max(x) + 1.
    length : int, optional
        The length of the result; integers outside of it do not count. A traced function needs it, because the length
        depends on values otherwise.

    Returns
    -------
    Array
        int64 counts, or sums of the weights: of bools and integers in 64 bits, of other dtypes in their own.
        Floating-point weights are added in float64.

    Raises
    ------
    InvalidArgumentError
        An integer is negative, x has another number of dimensions, or the weights another shape.
    DTypeError
        x does not consist of integers.
    TracingError
        x is being traced, and `length` is not given.

    Examples
    --------
    >>> fe.bincount(fe.asarray([0, 2, 2])).tolist()
    [1, 0, 2]
    >>> fe.bincount(fe.asarray([0, 2, 2]), fe.asarray([0.5, 1.0, 2.0]), length=2).tolist()
    [0.5, 0.0]
    """
    x = as_operand("bincount", x, *(() if weights is None else (weights,)))
    if x.dtype.kind not in "iu":
        raise DTypeError(f"bincount: x consists of integers, not {x.dtype}")
    if x.ndim != 1:
        raise InvalidArgumentError(f"bincount: x has one dimension, not the shape {x.shape}")
    least = one_integer(minlength, "bincount", "minlength")
    keys = as_int64(x)
    if length is not None:
        size = one_integer(length, "bincount", "length")
    elif isinstance(x._handle, Symbol):
        refuse("bincount without length=")
    elif x.size == 0:
        size = 0
    else:
        smallest, greatest = keys.min().item(), int(keys.max().item())
        if smallest < 0:
            raise InvalidArgumentError(f"bincount: x has a negative integer, {smallest}")
        size = greatest + 1
    size = max(size, least) if length is None else size
    if size < 0 or least < 0:
        raise InvalidArgumentError(f"bincount: the length is {min(size, least)}")
    if weights is None:
        ones = full((), 1, dtype="int64", device=None if isinstance(keys._handle, Symbol) else keys.device)
        added = broadcast_to(ones, keys.shape)
    else:
        added = as_operand("bincount", weights, x)
        if added.shape != keys.shape:
            raise InvalidArgumentError(f"bincount: x has the shape {keys.shape}, and weights have {added.shape}")
        if not is_inexact(added.dtype):
            added = cast(added, "uint64" if added.dtype.kind == "u" else "int64")
    return recording.apply("bincount", (keys, added), {"size": size})


def histogram(
    x: Array,
    /,
    bins: SupportsIndex | Array = 10,
    range: tuple[float, float] | None = None,
    *,
    density: bool = False,
    weights: Array | None = None,
) -> Histogram:
    """Count the elements in bins. The last bin contains its upper edge.

    Parameters
    ----------
    x : Array
        The array, which is flattened.
    bins : int or Array of shape (n + 1,)
        The number of bins of equal width, or the edges of n bins in ascending order.
    range : tuple of float, optional
        The lower and the upper edge of all bins; by default the least and the greatest element.
    density : bool
        Whether to return a density, whose integral is 1, instead of counts.
    weights : Array, optional
        What to add for each element instead of 1, in the shape of x.

    Returns
    -------
    hist : Array of shape (n,)
        The int64 counts, or the sums of the weights. NaN is in no bin.
    bin_edges : Array of shape (n + 1,)
        The edges.

    Raises
    ------
    InvalidArgumentError
        There is no bin, or the range or the edges are not in ascending order, or not finite. The values of a traced x,
        and of traced edges, are not known: without `range`, the edges are NaN if x has NaN or infinity, and the counts
        are 0 then. Traced edges that are not in ascending order give counts without a meaning.

    Examples
    --------
    >>> counts, edges = fe.histogram(fe.asarray([1.0, 2.0, 2.5, 5.0]), bins=2)
    >>> counts.tolist(), edges.tolist()
    ([3, 1], [1.0, 3.0, 5.0])
    """
    x = as_operand("histogram", x)
    values = reshape(x if is_floating(x.dtype) else cast(x, "float64"), (x.size,))
    if isinstance(bins, (list, tuple)):
        try:
            bins = np.asarray(bins)
        except (ValueError, TypeError) as error:
            raise InvalidArgumentError(f"histogram: bins is a number or numbers, not {bins!r}") from error
    if isinstance(bins, (Array, np.ndarray)) and bins.ndim == 1:
        edges = as_operand("histogram", bins, x)
        edges = edges if is_floating(edges.dtype) else cast(edges, values.dtype)
        if edges.size < 2:
            raise InvalidArgumentError(f"histogram: n bins have n + 1 edges, not {edges.size}")
        if not isinstance(edges._handle, Symbol) and bool((edges[1:] < edges[:-1]).any()):
            raise InvalidArgumentError("histogram: the edges are not in ascending order")
    else:
        edges = _equal_bins(values, bins, range)
    count = edges.shape[0] - 1
    place = sorted_position(edges, values, right=True) - 1
    is_last = recording.apply("equal", (values, edges[-1]), {})
    place = recording.apply("where", (is_last, count - 1, place), {})
    added = None if weights is None else reshape(as_operand("histogram", weights, x), (x.size,))
    is_density = flag(density, "histogram", "density")
    hist = bincount(place, added if added is None or not is_density else widened(added), length=count)
    if is_density:
        dtype, wide = result_type(values.dtype, edges.dtype), widened(edges)
        hist = cast(cast(hist, intermediate(values.dtype)) / (wide[1:] - wide[:-1]) / hist.sum(), dtype)
    return Histogram(hist, edges)


def _equal_bins(values: Array, bins: Any, limits: tuple[float, float] | None) -> Array:
    count = one_integer(bins, "histogram", "bins")
    if count < 1:
        raise InvalidArgumentError(f"histogram: there is no bin in {count}")
    if limits is not None:
        if not isinstance(limits, (tuple, list)) or len(limits) != 2:
            raise InvalidArgumentError(f"histogram: range is two finite numbers in ascending order, not {limits!r}")
        low, high = (one_real(limit, "histogram", "a limit of range") for limit in limits)
        if not low <= high or not np.isfinite([low, high]).all():
            raise InvalidArgumentError(f"histogram: range is two finite numbers in ascending order, not {limits}")
        if low == high:
            low, high = low - 0.5, high + 0.5
        device = None if isinstance(values._handle, Symbol) else values.device
        return linspace(low, high, count + 1, dtype=values.dtype, device=device)
    if values.size == 0:
        return _equal_bins(values, count, (0.0, 1.0))
    least, greatest = values.min(), values.max()
    if not isinstance(values._handle, Symbol):
        return _equal_bins(values, count, (least.item(), greatest.item()))
    same = recording.apply("equal", (least, greatest), {})
    low_edge = recording.apply("where", (same, least - 0.5, least), {})
    high_edge = recording.apply("where", (same, greatest + 0.5, greatest), {})
    first, end = cast(low_edge, "float64"), cast(high_edge, "float64")  # as linspace, which rounds once
    is_too_wide = recording.apply("isinf", (end - first,), {})  # then of halves, as linspace
    scale = recording.apply("where", (is_too_wide, asarray(np.float64(0.5)), asarray(np.float64(1))), {})
    edges = (asarray(np.arange(count + 1.0)) * ((end * scale - first * scale) / count) + first * scale) / scale
    last = asarray(np.arange(count + 1) == count)
    return cast(recording.apply("where", (last, end, edges), {}), values.dtype)


def sorted_position(edges: Array, x: Array, right: bool) -> Array:
    """Return how many of the ascending edges are below each element, or with `right` not above it; 0 for NaN."""
    found = searchsorted(edges, x, side="right" if right else "left")
    return recording.apply("where", (recording.apply("isnan", (x,), {}), 0, found), {})


def flatnonzero(x: Array, /, *, size: SupportsIndex | None = None, fill_value: int = 0) -> Array:
    """Return the indices of the elements that are not zero, in the flattened array.

    Parameters
    ----------
    x : Array
        The array.
    size : int, optional
        The length of the result, see `nonzero`. A traced function needs it.
    fill_value : int
        The padding.

    Returns
    -------
    Array of shape (count,)
        The int64 indices.

    Raises
    ------
    InvalidArgumentError
        `size` is negative.
    TracingError
        x is being traced, and `size` is not given.

    Examples
    --------
    >>> fe.flatnonzero(fe.asarray([[0, 7], [8, 0]])).tolist()
    [1, 2]
    """
    x = as_operand("flatnonzero", x)
    return nonzero(reshape(x, (x.size,)), size=size, fill_value=fill_value)[0]


def argwhere(x: Array, /, *, size: SupportsIndex | None = None, fill_value: int = 0) -> Array:
    """Return the indices of the elements that are not zero, one row for each.

    Parameters
    ----------
    x : Array
        An array of at least 1 dimension.
    size : int, optional
        The number of rows, see `nonzero`. A traced function needs it.
    fill_value : int
        The padding.

    Returns
    -------
    Array of shape (count, number of axes)
        The int64 indices.

    Raises
    ------
    InvalidArgumentError
        x has 0 dimensions, or `size` is negative.
    TracingError
        x is being traced, and `size` is not given.

    Examples
    --------
    >>> fe.argwhere(fe.asarray([[0, 7], [8, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    return stack(list(nonzero(x, size=size, fill_value=fill_value)), axis=1)

"""Quantiles, and the median, which reduction_functions.toml describes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ferrule.array.array import Array, Axes, is_number
from ferrule.array.attributes import axes_of, flag, one_of
from ferrule.array.recording import apply, array_of_number, as_operand, number_of
from ferrule.array.symbols import Symbol
from ferrule.dtypes.classification import class_of, is_floating
from ferrule.errors import InvalidArgumentError, OutOfRangeError
from ferrule.functions.asarray import asarray
from ferrule.functions.conversion import cast
from ferrule.functions.intermediate_dtypes import resulting, widened
from ferrule.functions.interpolation import between, middle_of
from ferrule.functions.movement import permute_dims, reshape, take
from ferrule.functions.reduction import mean
from ferrule.functions.sorting import sort

__all__ = ["percentile", "quantile"]

# The parameters of Hyndman & Fan (1996): the place of quantile q is n q + alpha + q (1 - alpha - beta) - 1.
_CONTINUOUS = {
    "linear": (1.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
    "interpolated_inverted_cdf": (0.0, 1.0),
}
METHODS = (*_CONTINUOUS, "lower", "higher", "midpoint", "nearest")


def median(x: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return median_of("median", as_operand("median", x), axis, keepdims)


def median_of(caller: str, x: Array, axis: Axes, keepdims: bool) -> Array:
    """Return what `median` does; messages name the caller."""
    if class_of(x.dtype) in ("block", "complex"):
        x = cast(x, "float32")
    rows, shape = last_axis_sorted(caller, x, axis, keepdims)
    length = rows.shape[1]
    if length == 0:
        return reshape(mean(rows, axis=1), shape)  # NaN
    upper = rows[:, length // 2]
    middle = upper if length % 2 else middle_of(widened(rows[:, length // 2 - 1]), widened(upper))
    middle = cast(middle, resulting(x.dtype))
    return reshape(_nan_where_any(rows, middle) if is_floating(x.dtype) else middle, shape)


def quantile(x: Array, q: Any, /, axis: Axes = None, *, method: str = "linear", keepdims: bool = False) -> Array:
    """Quantiles over axes.

    Parameters
    ----------
    x : Array
        The array.
    q : number, sequence of numbers or Array
        The probabilities, from 0 to 1.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    method : str
        How a quantile between two elements is estimated: "linear", "lower", "higher", "midpoint", "nearest", "hazen",
        "weibull", "median_unbiased", "normal_unbiased" or "interpolated_inverted_cdf", as in NumPy.
    keepdims : bool
        Whether reduced axes stay, with length 1.

    Returns
    -------
    Array
        The quantiles. The first axes are those of `q`. A quantile is NaN where an element is NaN. Quantiles of integers
        have the default dtype, but are integers with "lower", "higher" and "nearest". They are rounded once. A quantile
        in the place of an element is that element. Between an infinity and a finite element it is that infinity, and
        between two infinities of opposite signs NaN; NumPy's may be NaN beside any infinity.

    Raises
    ------
    InvalidArgumentError
        An axis is out of range, the method is unknown, or there are no elements.
    OutOfRangeError
        A probability is not from 0 to 1. A traced function checks its number arguments in each call. In an array `q`
        that is traced, probabilities outside of this range give NaN; where the result consists of integers, they count
        as the nearest bound, and NaN as 0.

    Examples
    --------
    >>> fe.quantile(fe.asarray([1.0, 2.0, 3.0, 4.0]), [0.5, 1.0]).tolist()
    [2.5, 4.0]
    """
    return _quantile("quantile", x, q, 1.0, axis, method, keepdims)


def percentile(x: Array, q: Any, /, axis: Axes = None, *, method: str = "linear", keepdims: bool = False) -> Array:
    """Percentiles over axes: `quantile(x, q / 100)`.

    Parameters
    ----------
    x : Array
        The array.
    q : number, sequence of numbers or Array
        The percentages, from 0 to 100.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    method : str
        How a percentile between two elements is estimated, see `quantile`.
    keepdims : bool
        Whether reduced axes stay, with length 1.

    Returns
    -------
    Array
        The percentiles. The first axes are those of `q`. NaN where an element is NaN. See `quantile`.

    Raises
    ------
    InvalidArgumentError
        An axis is out of range, the method is unknown, or there are no elements.
    OutOfRangeError
        A percentage is not from 0 to 100. For traced ones see `quantile`.

    Examples
    --------
    >>> fe.percentile(fe.asarray([1.0, 2.0, 3.0, 4.0]), 50).item()
    2.5
    """
    return _quantile("percentile", x, q, 100.0, axis, method, keepdims)


def _quantile(caller: str, x: Array, q: Any, whole: float, axis: Axes, method: str, keepdims: bool) -> Array:
    one_of(METHODS, method, caller, "method")
    x = as_operand(caller, x)
    rows, shape = last_axis_sorted(caller, x, axis, keepdims)
    length = rows.shape[1]
    if length == 0:
        raise InvalidArgumentError(f"{caller}: {x.shape} has no elements along the axes")
    probabilities, are_valid = _probabilities(caller, q, whole, x)
    before, after, part = _places(probabilities, length, method)
    columns = rows.T
    if method in ("lower", "higher", "nearest"):
        values = take(columns, reshape(before, (before.size,)), axis=0)
    else:
        lower, upper = (widened(take(columns, reshape(place, (place.size,)), axis=0)) for place in (before, after))
        share = cast(reshape(part, (part.size, 1)), lower.dtype)
        values = cast(between(lower, upper, share), resulting(columns.dtype))
    if is_floating(values.dtype):
        if is_floating(rows.dtype):
            values = _nan_where_any(rows, values)
        if are_valid is not None:
            values = apply("where", (reshape(are_valid, (are_valid.size, 1)), values, math.nan), {})
    return reshape(values, (*before.shape, *shape))


def _probabilities(caller: str, q: Any, whole: float, x: Array) -> tuple[Array, Array | None]:
    """Return the probabilities in float64, on the device of x, and which of them are valid; None for all."""
    if isinstance(q, Array) and is_number(q):
        return array_of_number(number_of(f"q of {caller}", q), np.dtype("float64")) / whole, None
    if isinstance(q, Array) and isinstance(q._handle, Symbol):
        probabilities = cast(q, "float64") / whole
        are_valid = apply("greater_equal", (probabilities, 0), {}) & apply("less_equal", (probabilities, 1), {})
        probabilities = apply("where", (apply("isnan", (probabilities,), {}), 0, probabilities), {})
        return apply("clip", (probabilities, 0, 1), {}), are_valid
    try:
        given = np.asarray(q)
        host = given.astype(np.float64) if given.dtype.kind != "c" else None
    except (TypeError, ValueError, OverflowError):
        host = None
    if host is None:
        raise InvalidArgumentError(f"{caller}: q is numbers from 0 to {whole:g}, not {q!r}") from None
    if not np.all((host >= 0) & (host <= whole)):
        raise OutOfRangeError(f"{caller}: q is from 0 to {whole:g}, not {q!r}")
    return asarray(host / whole, device=None if isinstance(x._handle, Symbol) else x.device), None


def _places(q: Array, length: int, method: str) -> tuple[Array, Array, Array]:
    """Return the places of the elements before and after each quantile, and its share of the way between them."""
    floor: Callable[[Array], Array] = lambda x: apply("floor", (x,), {})  # noqa: E731
    last = length - 1
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        place = q * last if method == "linear" else q * length + (q * (1 - alpha - beta) + alpha) - 1
        place = apply("clip", (place, 0, last), {})
    else:
        place = q * last
        if method == "nearest":
            place = apply("round", (place,), {})
        elif method == "higher":
            place = apply("ceil", (place,), {})
        elif method == "lower":
            place = floor(place)
    lower = floor(place)
    share = place - lower
    if method == "midpoint":
        share = apply("where", (apply("greater", (share, 0), {}), share * 0 + 0.5, share), {})
    before = cast(lower, "int64")
    return before, apply("minimum", (before + 1, last), {}), share


def last_axis_sorted(caller: str, x: Array, axis: Axes, keepdims: bool) -> tuple[Array, tuple[int, ...]]:
    """Return the reduced elements as sorted rows, NaN last, and the shape of a reduction."""
    rank = x.ndim
    reduced = axes_of(caller, axis, rank)
    keepdims = flag(keepdims, caller, "keepdims")
    kept = [place for place in range(rank) if place not in reduced]
    shape = tuple(1 if place in reduced else size for place, size in enumerate(x.shape) if keepdims or place in kept)
    together = permute_dims(x, (*kept, *sorted(reduced))) if rank else x
    counts = math.prod(x.shape[place] for place in kept), math.prod(x.shape[place] for place in reduced)
    rows = reshape(together, counts)
    return sort(rows), shape


def _nan_where_any(rows: Array, values: Array) -> Array:
    """Return NaN for the rows that contain one: it is their last element."""
    return apply("where", (apply("isnan", (rows[:, -1],), {}), math.nan, values), {})

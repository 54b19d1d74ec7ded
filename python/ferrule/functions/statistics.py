"""Averages and interpolation."""

from __future__ import annotations

import math

import numpy as np

from ferrule.array.array import Array, Axes
from ferrule.array.attributes import axis_of, is_index, one_real
from ferrule.array.recording import apply, apply_all, as_companion, as_operand
from ferrule.errors import InvalidArgumentError
from ferrule.functions.conversion import cast
from ferrule.functions.counting import sorted_position
from ferrule.functions.intermediate_dtypes import intermediate, resulting, widened
from ferrule.functions.interpolation import between
from ferrule.functions.movement import broadcast_to, concat, reshape, take
from ferrule.functions.reduction import max as max_of, mean
from ferrule.functions.sorting import argsort
from ferrule.functions.type_information import result_type

__all__ = ["average", "interp"]


def average(x: Array, /, axis: Axes = None, *, weights: Array | None = None, keepdims: bool = False) -> Array:
    """Weighted mean over axes.

    Parameters
    ----------
    x : Array
        The array.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    weights : Array, optional
        The weight of each element, in the shape of x; or of each slice along one axis, in one dimension. By default all
        are the same.
    keepdims : bool
        Whether reduced axes stay, with length 1.

    Returns
    -------
    Array
        sum(weights * x) / sum(weights); for integers in the default dtype. It is rounded once: sums of half-precision
        arrays are kept in float32, and sums of integers of 32 and 64 bits in float64.

    Raises
    ------
    InvalidArgumentError
        The shape of the weights fits neither x nor the axis, or an axis is out of range.

    Examples
    --------
    >>> fe.average(fe.asarray([1.0, 2.0]), weights=fe.asarray([1.0, 3.0])).item()
    1.75
    """
    x = as_operand("average", x)
    if weights is None:
        return mean(x, axis=axis, keepdims=keepdims)
    shares = as_operand("average", weights, x)
    if shares.shape != x.shape:
        place = axis_of("average", axis, x.ndim) if is_index(axis) else None
        if place is None or shares.ndim != 1 or shares.shape[0] != x.shape[place]:
            raise InvalidArgumentError(
                f"average: weights have the shape {shares.shape}, neither {x.shape} nor the length of one axis"
            )
        shares = reshape(shares, [-1 if k == place else 1 for k in range(x.ndim)])
        shares = broadcast_to(shares, x.shape)
    dtype = result_type(resulting(x.dtype), resulting(shares.dtype))
    x, shares = widened(x), _at_most_one(widened(shares), axis)
    # A sum of numbers may leave the range although their average is in it. A mean does not.
    weighted, share = (mean(each, axis=axis, keepdims=keepdims) for each in (x * shares, shares))
    return cast(weighted / share, dtype)


def _at_most_one(weights: Array, axis: Axes) -> Array:
    """Return the weights of each slice times a power of two, so that none has a size above 1, and if there are normal
    numbers among them, not all are small.
    """
    limits = np.finfo(weights.dtype)
    greatest = max_of(abs(weights), axis=axis, keepdims=True, initial=float(limits.tiny))
    greatest = apply("minimum", (greatest, float(limits.max) / 8), {})  # so that the power of two is a normal number
    mantissa, _ = apply_all("frexp", (greatest,), {})
    return weights * (mantissa / greatest) * 0.125


def interp(
    x: Array,
    xp: Array,
    fp: Array,
    /,
    left: float | None = None,
    right: float | None = None,
    period: float | None = None,
) -> Array:
    """Piecewise linear interpolation between points.

    Parameters
    ----------
    x : Array
        Where to interpolate.
    xp : Array of shape (n,)
        The places of the points, in ascending order; with `period` in any order.
    fp : Array of shape (n,)
        Their values.
    left, right : number, optional
        The results below xp[0] and above xp[-1]; by default fp[0] and fp[-1].
    period : number, optional
        The period of the function, such as 360 for angles in degrees. `left` and `right` have no meaning then.

    Returns
    -------
    Array
        The interpolated values, in the shape of x; for integers in the default dtype, computed in float64 if there are
        integers of 32 or 64 bits.

    Raises
    ------
    InvalidArgumentError
        There are no points, or their places and values are not of one length; or the period is 0 or not finite.

    Examples
    --------
    >>> fe.interp(fe.asarray([0.5, 1.5, 9.0]), fe.asarray([0.0, 1.0, 2.0]), fe.asarray([0.0, 10.0, 30.0])).tolist()
    [5.0, 20.0, 30.0]
    """
    arrays = [as_companion("interp", part, x, xp, fp) for part in (x, xp, fp)]
    if arrays[1].ndim != 1 or arrays[1].shape != arrays[2].shape or arrays[1].shape[0] == 0:
        raise InvalidArgumentError(
            f"interp: xp and fp are vectors of one length, of at least 1, not {arrays[1].shape} and {arrays[2].shape}"
        )
    double = np.dtype("float64")
    dtype = double if double in [resulting(part.dtype) for part in arrays] else np.dtype("float32")
    wide = double if double in [intermediate(part.dtype) for part in arrays] else dtype
    at, places, values = (cast(part, wide) for part in arrays)
    if period is not None:
        at, places, values = _repeated(at, places, values, period)
        left = right = None
    last = places.shape[0] - 1
    found = reshape(sorted_position(places, at, right=True), (at.size,))
    before = apply("clip", (found - 1, 0, max(last - 1, 0)), {})
    after = apply("minimum", (before + 1, last), {})
    x0, x1 = (reshape(take(places, place, axis=0), at.shape) for place in (before, after))
    y0, y1 = (reshape(take(values, place, axis=0), at.shape) for place in (before, after))
    inside = between(y0, y1, _share(x0, x1, at), apply("equal", (at, x0), {}))
    inside = apply("where", (apply("equal", (at, x1), {}), y1, inside), {})  # exact, although y0 may be infinite
    low = values[0] if left is None else left
    high = values[-1] if right is None else right
    result = apply("where", (apply("less", (at, places[0]), {}), low, inside), {})
    result = apply("where", (apply("greater", (at, places[-1]), {}), high, result), {})
    return cast(apply("where", (apply("isnan", (at,), {}), np.nan, result), {}), dtype)


def _share(x0: Array, x1: Array, at: Array) -> Array:
    """Return the share of the way from x0 to x1 at which `at` is."""
    width = x1 - x0
    share = (at - x0) / apply("where", (apply("equal", (x0, x1), {}), 1, width), {})
    halves = (at * 0.5 - x0 * 0.5) / (x1 * 0.5 - x0 * 0.5)  # of intervals that are wider than the greatest number
    share = apply("where", (apply("isinf", (width,), {}), halves, share), {})
    return apply("where", (apply("equal", (x0, -np.inf), {}), 1, share), {})


def _repeated(at: Array, places: Array, values: Array, period: float) -> tuple[Array, Array, Array]:
    """Return all places within one period, and the points with one more before and behind them, in ascending order."""
    length = abs(one_real(period, "interp", "period"))
    if not 0 < length < math.inf:
        raise InvalidArgumentError(f"interp: period is a finite number other than 0, not {period}")
    at, places = at % length, places % length
    order = argsort(places)
    places, values = take(places, order, axis=0), take(values, order, axis=0)
    around = concat([places[-1:] - length, places, places[:1] + length])
    return at, around, concat([values[-1:], values, values[:1]])

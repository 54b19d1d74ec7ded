"""Derivatives of values on a grid, by differences."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import SupportsIndex

import numpy as np

from ferrule.array.array import Array, Axes
from ferrule.array.attributes import axes_of, one_integer, one_real
from ferrule.array.recording import apply, as_operand
from ferrule.dtypes.classification import is_complex, is_floating
from ferrule.errors import InvalidArgumentError
from ferrule.functions.conversion import cast
from ferrule.functions.intermediate_dtypes import resulting, widened
from ferrule.functions.movement import concat, reshape

__all__ = ["gradient"]


def gradient(
    x: Array, /, *spacing: float | Array, axis: Axes = None, edge_order: SupportsIndex = 1
) -> Array | tuple[Array, ...]:
    """Derivatives along axes: central differences, and differences to one side at the edges.

    Parameters
    ----------
    x : Array
        The values. Integers are differentiated in the default dtype.
    spacing : number or Array of shape (n,), optional
        The distance between neighbours, 1 by default, or the n coordinates along an axis of length n: one for all axes,
        or one for each.
    axis : int or tuple of int, optional
        The axes; by default all.
    edge_order : {1, 2}
        The order of the error at the edges.

    Returns
    -------
    Array or tuple of Array
        The derivatives in the shape of x, a tuple for several axes. Derivatives inside have errors of the second order
        in the distance, also where the distances differ.

    Raises
    ------
    InvalidArgumentError
        An axis has too few elements, or is given twice; or there are more or fewer spacings than axes.

    Examples
    --------
    >>> fe.gradient(fe.asarray([0.0, 1.0, 4.0, 9.0])).tolist()
    [1.0, 2.0, 4.0, 5.0]
    >>> fe.gradient(fe.asarray([0.0, 1.0, 9.0]), fe.asarray([0.0, 1.0, 3.0]), edge_order=2).tolist()
    [0.0, 2.0, 6.0]
    """
    x = as_operand("gradient", x)
    dtype = resulting(x.dtype)
    x = widened(cast(x, dtype))
    order = one_integer(edge_order, "gradient", "edge_order")
    if order not in (1, 2):
        raise InvalidArgumentError(f"gradient: edge_order must be 1 or 2, not {order}")
    axes = axes_of("gradient", axis, x.ndim)
    steps = spacing or (1.0,)
    if len(steps) not in (1, len(axes)):
        raise InvalidArgumentError(f"gradient: there are {len(steps)} spacings for {len(axes)} axes")
    if len(steps) == 1:
        steps = steps * len(axes)
    results = tuple(cast(_along(x, place, step, order), dtype) for place, step in zip(axes, steps, strict=True))
    return results[0] if len(axes) == 1 else results


def _along(x: Array, axis: int, step: float | Array, order: int) -> Array:
    length = x.shape[axis]
    if length < order + 1:
        raise InvalidArgumentError(f"gradient: axis {axis} of {x.shape} needs at least {order + 1} elements")

    def part(start: int, count: int) -> Array:
        start = start % length
        return x[(slice(None),) * axis + (slice(start, start + count),)]

    if isinstance(step, (Array, np.ndarray)) and step.ndim > 0:
        return _by_coordinates(x, axis, as_operand("gradient", step, x), order)
    width = step if isinstance(step, (Array, np.generic)) else one_real(step, "gradient", "the spacing")
    inside = _slope([(1, part(2, length - 2)), (-1, part(0, length - 2))], 2 * width)
    if order == 1:
        first, last = (_slope([(1, part(at + 1, 1)), (-1, part(at, 1))], width) for at in (0, length - 2))
    else:
        first = _slope([(2, part(1, 1)), (-1.5, part(0, 1)), (-0.5, part(2, 1))], width)
        last = _slope([(1.5, part(-1, 1)), (-2, part(-2, 1)), (0.5, part(-3, 1))], width)
    return concat([first, inside, last], axis=axis)


def _slope(terms: Sequence[tuple[float, Array]], width: float | Array) -> Array:
    """Return the sum of factors times arrays, divided by a width. The sum may be out of range."""

    def quotient(scale: float) -> Array:
        products = [y * (factor * scale) for factor, y in terms]
        return reduce(operator.add, products) / (width * scale)

    slope = quotient(1)
    return apply("where", (apply("isfinite", (slope,), {}), slope, quotient(0.25)), {})


def _by_coordinates(x: Array, axis: int, places: Array, order: int) -> Array:
    """Differentiate the polynomial through each element and its neighbours."""
    length = x.shape[axis]
    if places.shape != (length,):
        raise InvalidArgumentError(f"gradient: axis {axis} has {length} elements, and its coordinates {places.shape}")
    if not is_floating(places.dtype):
        places = cast(places, "float64" if x.dtype.itemsize == 8 + 8 * is_complex(x.dtype) else "float32")
    places = widened(places)
    widths = reshape(places[1:] - places[:-1], [-1 if k == axis else 1 for k in range(x.ndim)])

    def cut(y: Array, start: int, count: int) -> Array:
        start = start % y.shape[axis]
        return y[(slice(None),) * axis + (slice(start, start + count),)]

    slopes = _slope([(1, cut(x, 1, length - 1)), (-1, cut(x, 0, length - 1))], widths)
    first, last = cut(slopes, 0, 1), cut(slopes, -1, 1)
    if length == 2:
        return concat([first, last], axis=axis)
    before, behind = cut(widths, 0, length - 2), cut(widths, 1, length - 2)
    both = before + behind
    # Between equal distances the middle has no part, so neither has a NaN there.
    across = _slope([(1, cut(x, 2, length - 2)), (-1, cut(x, 0, length - 2))], both)
    weighted = cut(slopes, 0, length - 2) * (behind / both) + cut(slopes, 1, length - 2) * (before / both)
    inside = apply("where", (apply("equal", (before, behind), {}), across, weighted), {})
    if order == 2:
        first = first + (first - cut(slopes, 1, 1)) * (cut(before, 0, 1) / cut(both, 0, 1))
        last = last + (last - cut(slopes, -2, 1)) * (cut(behind, -1, 1) / cut(both, -1, 1))
    return concat([first, inside, last], axis=axis)

"""`sliding_window_view`, under NumPy's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from ferrule.array.array import Array
from ferrule.array.attributes import axes_of, is_index, sizes
from ferrule.array.recording import as_operand
from ferrule.errors import InvalidArgumentError
from ferrule.functions.creation import arange
from ferrule.functions.movement import expand_dims, moveaxis, take

__all__ = ["sliding_window_view"]


def sliding_window_view(
    x: Array, window_shape: int | Sequence[int], axis: SupportsIndex | Sequence[SupportsIndex] | None = None
) -> Array:
    """All windows of an array, as NumPy's function, but as a copy.

    Parameters
    ----------
    x : Array
        The array.
    window_shape : int or sequence of int
        The lengths of the windows along the axes.
    axis : int or sequence of int, optional
        The axes; by default all.

    Returns
    -------
    Array
        In the shape of x, with `size - length + 1` in place of the sizes of the axes, and the lengths of the windows
        after them.

    Raises
    ------
    InvalidArgumentError
        A window is longer than its axis, or has a negative length, or there are more lengths than axes, or fewer.

    Examples
    --------
    >>> fe.lib.stride_tricks.sliding_window_view(fe.asarray([1, 2, 3, 4]), 3).tolist()
    [[1, 2, 3], [2, 3, 4]]
    """
    name = "sliding_window_view"
    x = as_operand(name, x)
    lengths = sizes(window_shape, name, "window_shape")
    given = range(x.ndim) if axis is None else (axis,) if is_index(axis) else axis
    places = [axes_of(name, place, x.ndim)[0] for place in given]  # type: ignore[union-attr]  # an axis may be named twice
    if len(places) != len(lengths):
        raise InvalidArgumentError(f"{name}: {len(lengths)} lengths of windows for {len(places)} axes")
    for place, length in zip(places, lengths, strict=True):
        size = x.shape[place]
        if not 0 <= length <= size:
            raise InvalidArgumentError(f"{name}: a window of {length} along axis {place} of length {size}")
        device = x.device
        indices = expand_dims(arange(size - length + 1, device=device), axis=1) + arange(length, device=device)
        x = moveaxis(take(x, indices, axis=place), place + 1, -1)
    return x if places else x._another(f"{name}()")

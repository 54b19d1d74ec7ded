"""Ops whose results are as long as their values say."""

from __future__ import annotations

from typing import SupportsIndex

from ferrule import _record
from ferrule._errors import InvalidArgumentError
from ferrule._symbols import Symbol, refuse
from ferrule.array import Array
from ferrule.manipulation import as_operand, astype, axis_of, one_integer, reshape


def nonzero(x: Array, /, *, size: SupportsIndex | None = None) -> tuple[Array, ...]:
    """The indices of the elements that are not zero, one array of int64 for each axis, in the order of the elements.

    With `size` there are so many: the first ones, or zeros behind the last. A traced function needs it, because how
    many there are, only the values tell: without it that is a TracingError.

    >>> [i.tolist() for i in fe.nonzero(fe.asarray([[0, 7], [8, 0]]))]
    [[0, 1], [1, 0]]
    """
    x = as_operand("nonzero", x)
    indices, _ = _record.apply_all("nonzero", (x,), {"size": _size("nonzero", size, x)})
    return tuple(indices[:, axis] for axis in range(x.ndim))


def compress(
    condition: Array, x: Array, /, *, axis: SupportsIndex | None = None, size: SupportsIndex | None = None
) -> Array:
    """The slices of x along an axis for which the condition, of one dimension, holds; those of x flattened when axis is
    None. Where the condition is shorter than the axis the rest is left out.

    With `size` there are so many: the first ones, or zeros behind the last. A traced function needs it, because how
    many there are, only the values tell: without it that is a TracingError.

    >>> fe.compress(fe.asarray([True, False, True]), fe.asarray([1, 2, 3])).tolist()
    [1, 3]
    """
    x, condition = as_operand("compress", x, condition), as_operand("compress", condition, x)
    if condition.ndim != 1:
        raise InvalidArgumentError(f"compress: the condition has one dimension, not the shape {condition.shape}")
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    place = axis_of("compress", axis, x.ndim)
    if condition.shape[0] > x.shape[place]:
        raise InvalidArgumentError(
            f"compress: a condition of {condition.shape[0]} is longer than axis {place} of {x.shape}"
        )
    x = x[(*(slice(None),) * place, slice(condition.shape[0]))]
    attributes = {"axis": place, "size": _size("compress", size, x, condition)}
    return _record.apply_all("compress", (x, astype(condition, "bool", copy=False)), attributes)[0]


def _size(caller: str, size: SupportsIndex | None, *operands: Array) -> int:
    if size is not None:
        number = one_integer(size, caller, "size")
        if number < 0:
            raise InvalidArgumentError(f"{caller}: size is {number}")
        return number
    if any(isinstance(operand._handle, Symbol) for operand in operands):
        refuse(f"{caller} without size=")
    return -1

"""Cumulative sums and products."""

from __future__ import annotations

from typing import Any, SupportsIndex

from ferrule.array.array import Array
from ferrule.array.attributes import axis_of, flag
from ferrule.array.recording import apply, as_operand
from ferrule.dtypes.classification import as_dtype, class_of
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions.conversion import cast
from ferrule.functions.reduction import wraps

__all__ = ["cumulative_prod", "cumulative_sum"]


def cumulative_sum(
    x: Array, /, *, axis: SupportsIndex | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return the sums of all elements up to each one along an axis.

    Parameters
    ----------
    x : Array
        The array.
    axis : int, optional
        The axis; it may be omitted if x has one dimension.
    dtype : dtype or str, optional
        The dtype of the sums, to which x is cast first. By default it is x's own dtype, and for integers and bool a
        dtype of 64 bits.
    include_initial : bool
        Whether the sum of no elements, 0, comes first; the result then has one element more along the axis.

    Returns
    -------
    Array
        The sums. Integers wrap. Half-precision numbers are added in float32.

    Raises
    ------
    DTypeError
        The dtype is not one of numbers.
    InvalidArgumentError
        x does not have 1 dimension, and `axis` is not given.
    OutOfRangeError
        The axis is out of range.

    Notes
    -----
    Blocks of 2048 elements are added up separately, each from its first element to its last, and the sum of the blocks
    before is added to each of their results. Neither the number of threads nor other rows change the result.

    Examples
    --------
    >>> fe.cumulative_sum(fe.asarray([1, 2, 3])).tolist()
    [1, 3, 6]
    >>> fe.cumulative_sum(fe.asarray([[1, 2], [3, 4]]), axis=0, include_initial=True).tolist()
    [[0, 0], [1, 2], [4, 6]]
    """
    return _accumulate("cumulative_sum", x, axis, dtype, include_initial)


def cumulative_prod(
    x: Array, /, *, axis: SupportsIndex | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return the products of all elements up to each one along an axis.

    Parameters
    ----------
    x : Array
        The array.
    axis : int, optional
        The axis; it may be omitted if x has one dimension.
    dtype : dtype or str, optional
        The dtype of the products, to which x is cast first. By default it is x's own dtype, and for integers and bool
        a dtype of 64 bits.
    include_initial : bool
        Whether the product of no elements, 1, comes first; the result then has one element more along the axis.

    Returns
    -------
    Array
        The products, computed from the first element to the last. Integers wrap. Half-precision numbers are multiplied
        in float32.

    Raises
    ------
    DTypeError
        The dtype is not one of numbers.
    InvalidArgumentError
        x does not have 1 dimension, and `axis` is not given.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> fe.cumulative_prod(fe.asarray([1, 2, 3])).tolist()
    [1, 2, 6]
    >>> fe.cumulative_prod(fe.asarray([2.0, 3.0]), dtype="float64", include_initial=True).tolist()
    [1.0, 2.0, 6.0]
    """
    return _accumulate("cumulative_prod", x, axis, dtype, include_initial)


def _accumulate(op: str, x: Array, axis: SupportsIndex | None, dtype: Any, include_initial: bool) -> Array:
    x = as_operand(op, x)
    include_initial = flag(include_initial, op, "include_initial")
    if x.ndim == 0:
        raise InvalidArgumentError(f"{op}: an array of 0 dimensions has no axis; use reshape(x, (1,))")
    if axis is None:
        if x.ndim != 1:
            raise InvalidArgumentError(f"{op}: needs an axis for {x.ndim} dimensions")
        axis = 0
    attributes = {"axis": axis_of(op, axis, x.ndim), "include_initial": include_initial}
    if dtype is None:
        return apply(op, (x,), attributes)
    target = as_dtype(dtype)
    if class_of(target) not in ("signed", "unsigned", "float", "complex") or target.name.startswith("float8"):
        raise DTypeError(f"{op}: dtype must be one of numbers, not {target}")
    return cast(apply(op, (x if wraps(x.dtype, target) else cast(x, target),), attributes), target)

"""Products of matrices and vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ferrule.array.array import Array
from ferrule.array.attributes import axes_of, axis_of, is_index, one_integer
from ferrule.array.host_memory import check_ndim
from ferrule.array.numbers import shown
from ferrule.array.recording import apply, as_companion
from ferrule.dtypes.classification import as_dtype, is_block, is_complex, is_floating
from ferrule.errors import DTypeError, InvalidArgumentError, OutOfRangeError
from ferrule.functions.conversion import cast
from ferrule.functions.movement import moveaxis, permute_dims, reshape

__all__ = ["matmul", "tensordot", "vecdot"]


def matmul(x1: object, x2: object, /, *, dtype: Any = None) -> Array:
    """Matrix product over the last two axes; the leading axes broadcast.

    Parameters
    ----------
    x1 : Array of shape (..., m, k) or (k,)
        The left operand. A vector is treated as a row.
    x2 : Array of shape (..., k, n) or (k,)
        The right operand. A vector is treated as a column.
    dtype : dtype or str, optional
        The dtype that the operands are cast to; by default their common one. Integers of 8 bits with 'int32' are
        multiplied as they are, and their products summed in 32 bits.

    Returns
    -------
    Array of shape (..., m, n)
        The product. The axis of a vector operand is removed.

    Raises
    ------
    InvalidArgumentError
        An operand has 0 dimensions, or the inner sizes differ.
    DTypeError
        `dtype` is none, or a block dtype.

    Examples
    --------
    >>> fe.matmul(fe.asarray([[1, 2], [3, 4]]), fe.asarray([1, 1])).tolist()
    [3, 7]
    >>> x = fe.asarray([[100, 100]], dtype=fe.int8)
    >>> fe.matmul(x, x.mT, dtype=fe.int32).tolist()
    [[20000]]
    """
    left, right = as_companion("matmul", x1, x2), as_companion("matmul", x2, x1)
    given = None if dtype is None else as_dtype(dtype, "matmul")
    if is_block(given):
        raise DTypeError(f"matmul: nothing is computed in blocks, and the dtype is {given}")
    if left.ndim == 0 or right.ndim == 0:
        raise InvalidArgumentError(f"matmul: needs at least 1 dimension: {left.shape} @ {right.shape}")
    if left.ndim > 1 and right.ndim > 1:
        return _matrix_product(left, right, given)
    if left.shape[-1] != right.shape[0 if right.ndim == 1 else -2]:
        raise InvalidArgumentError(f"matmul: inner sizes differ: {left.shape} @ {right.shape}")
    row = reshape(left, (1, -1)) if left.ndim == 1 else left
    column = reshape(right, (-1, 1)) if right.ndim == 1 else right
    product = _matrix_product(row, column, given)
    shape = list(product.shape)
    if right.ndim == 1:
        del shape[-1]
    if left.ndim == 1:
        del shape[-1 if right.ndim == 1 else -2]
    return reshape(product, tuple(shape))


def _matrix_product(left: Array, right: Array, dtype: np.dtype[Any] | None) -> Array:
    """Return the product of matrices; of bools, whether any product of two elements is true."""
    if dtype is not None:
        are_bytes = all(x.dtype in ("int8", "uint8") for x in (left, right))
        if dtype == "int32" and are_bytes and left.shape[-1] == right.shape[-2]:
            return apply("matmul_integer", (left, right), {})
        left, right = cast(left, dtype), cast(right, dtype)
    if left.dtype != "bool" or right.dtype != "bool":
        return apply("matmul", (left, right), {})
    # Sums of zeros and ones are 0 only if all are, also where float32 rounds them.
    return cast(apply("matmul", (cast(left, "float32"), cast(right, "float32")), {}), "bool")


def tensordot(x1: Array, x2: Array, /, *, axes: int | Sequence[Sequence[int]] = 2) -> Array:
    """Sum of products over axes of two arrays.

    Parameters
    ----------
    x1, x2 : Array
        The arrays.
    axes : int or pair of sequences of int
        The axes to sum over: a number means as many last axes of x1 and first axes of x2; a pair names those of x1 and
        those of x2, in the order in which they belong together.

    Returns
    -------
    Array
        The remaining axes of x1, followed by those of x2.

    Raises
    ------
    InvalidArgumentError
        The sizes of axes that belong together differ, or `axes` names different numbers of them.
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.tensordot(fe.ones((2, 3, 4)), fe.ones((3, 4, 5))).shape
    (2, 5)
    >>> fe.tensordot(fe.asarray([1, 2]), fe.asarray([3, 4]), axes=0).tolist()
    [[3, 4], [6, 8]]
    """
    left, right = as_companion("tensordot", x1, x2), as_companion("tensordot", x2, x1)
    if is_index(axes):
        count = one_integer(axes, "tensordot", "axes")
        if not 0 <= count <= min(left.ndim, right.ndim):
            raise OutOfRangeError(f"tensordot: {shown(count)} axes of shapes {left.shape} and {right.shape}")
        ours, theirs = tuple(range(left.ndim - count, left.ndim)), tuple(range(count))
    else:
        try:
            first, second = axes  # type: ignore[misc]
        except (TypeError, ValueError) as error:
            raise InvalidArgumentError(f"tensordot: axes must be a number or a pair of tuples, not {axes!r}") from error
        ours = axes_of("tensordot", first, left.ndim, "axes")
        theirs = axes_of("tensordot", second, right.ndim, "axes")
    if [left.shape[axis] for axis in ours] != [right.shape[axis] for axis in theirs]:
        raise InvalidArgumentError(
            f"tensordot: axes {ours} of {left.shape} and {theirs} of {right.shape} differ in size"
        )
    rows = [axis for axis in range(left.ndim) if axis not in ours]
    columns = [axis for axis in range(right.ndim) if axis not in theirs]
    depth = math.prod(left.shape[axis] for axis in ours)
    height, width = (math.prod(x.shape[axis] for axis in kept) for x, kept in ((left, rows), (right, columns)))
    shape = (*(left.shape[axis] for axis in rows), *(right.shape[axis] for axis in columns))
    check_ndim("tensordot", len(shape))
    matrices = (
        reshape(permute_dims(left, [*rows, *ours]), (height, depth)),
        reshape(permute_dims(right, [*theirs, *columns]), (depth, width)),
    )
    return reshape(_matrix_product(*matrices, None), shape)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Dot product of vectors along an axis: the sum of conj(x1) * x2.

    Parameters
    ----------
    x1, x2 : Array
        The vectors. Their other axes broadcast.
    axis : int
        The axis of the vectors; it counts from the end, or from the front where both arrays have the same number of
        dimensions.

    Returns
    -------
    Array
        The broadcast shape without the axis, in the dtype that x1 and x2 promote to.

    Raises
    ------
    InvalidArgumentError
        The lengths of the vectors differ, or the other axes do not broadcast.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> fe.vecdot(fe.asarray([[1, 2], [3, 4]]), fe.asarray([1, 10])).tolist()
    [21, 43]
    """
    left, right = as_companion("vecdot", x1, x2), as_companion("vecdot", x2, x1)
    place = one_integer(axis, "vecdot", "axis")
    if place >= 0 and left.ndim != right.ndim:
        raise OutOfRangeError(
            f"vecdot: axis {shown(place)} is not negative, and {left.ndim} dimensions are not {right.ndim}"
        )
    lengths = [x.shape[axis_of("vecdot", place, x.ndim)] for x in (left, right)]
    if lengths[0] != lengths[1]:
        raise InvalidArgumentError(f"vecdot: lengths differ: {left.shape} and {right.shape}, axis {place}")
    if is_complex(left.dtype):
        left = apply("conj", (left,), {})
    left, right = moveaxis(left, place, -1), moveaxis(right, place, -1)
    dtype = _product_dtype(left, right)
    if dtype in ("float32", "float64"):  # their products of matrices need no array of products
        return _dot_products(cast(left, dtype), cast(right, dtype))
    if dtype.itemsize == 2 and is_floating(dtype):  # half-precision products are added in float32, and rounded once
        left, right = cast(left, "float32"), cast(right, "float32")
    return cast(apply("sum", (apply("multiply", (left, right), {}),), {"axis": (-1,)}), dtype)


def _dot_products(left: Array, right: Array) -> Array:
    """Return the products of the rows of two arrays, as those of matrices of one row and of one column."""
    if left.ndim == 1:
        left, right = right, left
    if right.ndim == 1:
        return matmul(left, right)
    rows, columns = reshape(left, (*left.shape[:-1], 1, left.shape[-1])), reshape(right, (*right.shape, 1))
    return reshape(apply("matmul", (rows, columns), {}), np.broadcast_shapes(left.shape[:-1], right.shape[:-1]))


def _product_dtype(left: Array, right: Array) -> np.dtype[Any]:
    """Return the dtype of a product, of which no element is computed."""
    return apply("multiply", (left, right), {}).dtype

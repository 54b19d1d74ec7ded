"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, SupportsIndex

import numpy as np

from ferrule.array.array import Array
from ferrule.array.attributes import axes_of, flag, one_real
from ferrule.array.recording import apply
from ferrule.dtypes.classification import is_complex
from ferrule.errors import InvalidArgumentError
from ferrule.functions import reduction
from ferrule.functions.conversion import cast
from ferrule.functions.intermediate_dtypes import widened
from ferrule.functions.movement import expand_dims, reshape
from ferrule.linalg.decompositions import svdvals
from ferrule.linalg.operands import floating, matrices

__all__ = ["matrix_norm", "vector_norm"]

MatrixOrder = Literal["fro", "nuc"] | float | None


def vector_norm(
    x: Array, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool = False, ord: float = 2
) -> Array:
    """Norms of vectors.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int or sequence of int, optional
        The axes over which a vector extends; by default all.
    keepdims : bool
        Whether reduced axes stay, with length 1.
    ord : float
        The order: 2 is the Euclidean norm, 1 the sum of magnitudes, inf and -inf the largest and the least magnitude, 0
        the number of elements that are not zero, any other p the sum of magnitudes to the power p, to the power 1 / p.

    Returns
    -------
    Array
        The norms, in the dtype of x; for complex x in the dtype of its real parts, and for integers in the default
        dtype. Norms of float16 and bfloat16 are computed in float32 and rounded once. Norms of empty vectors are 0, and
        infinite for negative orders.

    Raises
    ------
    InvalidArgumentError
        An axis is out of range, or `ord` is not a number, or vectors of the order -inf are empty.
    NumberOverflowError
        `ord` does not fit into float64.

    Examples
    --------
    >>> fe.linalg.vector_norm(fe.asarray([3.0, 4.0])).item()
    5.0
    >>> fe.linalg.vector_norm(fe.asarray([[3.0, -4.0], [1.0, 2.0]]), axis=1, ord=float("inf")).tolist()
    [4.0, 2.0]
    """
    order = one_real(ord, "vector_norm", "ord")
    x = floating("vector_norm", x)
    axes = None if axis is None else axes_of("vector_norm", axis, x.ndim)
    wide = widened(x)
    norms = _norm(wide, axes, keepdims, order)
    return norms if wide is x else cast(norms, x.dtype)


def _magnitudes(x: Array) -> Array:
    return apply("abs", (x,), {})


def _are_empty(x: Array, axes: Sequence[int] | None) -> bool:
    return 0 in (x.shape if axes is None else [x.shape[axis] for axis in axes])


def _greatest(x: Array, axes: Sequence[int] | None, keepdims: bool) -> Array:
    """Return the greatest of the numbers, none of which is negative; 0 of none."""
    return (reduction.sum if _are_empty(x, axes) else reduction.max)(x, axis=axes, keepdims=keepdims)


def _weightiest(x: Array, axes: Sequence[int] | None, order: float) -> Array:
    """Return the number with the greatest power, or 1 where it is 0, not finite, or there is none.

    Powers of numbers that are divided by it neither overflow nor all vanish.
    """
    greatest = order > 0 or _are_empty(x, axes)
    found = _greatest(x, axes, True) if greatest else reduction.min(x, axis=axes, keepdims=True)
    is_usable = apply("logical_and", (apply("isfinite", (found,), {}), apply("greater", (found, 0), {})), {})
    return apply("where", (is_usable, found, 1), {})


def _norm(x: Array, axes: Sequence[int] | None, keepdims: bool, order: float) -> Array:
    if order == 2:
        return reduction.sum_of_squares(_magnitudes(x) if is_complex(x.dtype) else x, axes, keepdims, root=True)
    sizes_of_elements = _magnitudes(x)
    if math.isinf(order):
        if order > 0:
            return _greatest(sizes_of_elements, axes, keepdims)
        return reduction.min(sizes_of_elements, axis=axes, keepdims=keepdims)
    if order == 0:
        is_counted = cast(apply("not_equal", (sizes_of_elements, 0), {}), sizes_of_elements.dtype)
        return reduction.sum(is_counted, axis=axes, keepdims=keepdims)
    if order == 1:
        return reduction.sum(sizes_of_elements, axis=axes, keepdims=keepdims)
    unit = _weightiest(sizes_of_elements, axes, order)
    powers = apply("pow", (apply("divide", (sizes_of_elements, unit), {}), order), {})
    root = apply("pow", (reduction.sum(powers, axis=axes, keepdims=keepdims), 1 / order), {})
    return apply("multiply", (root, reshape(unit, root.shape)), {})


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: MatrixOrder = "fro") -> Array:
    """Norms of matrices.

    Parameters
    ----------
    x : Array of shape (..., m, n)
        The matrices.
    keepdims : bool
        Whether the last two axes stay, with length 1.
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}
        "fro" is the Frobenius norm, "nuc" the sum of the singular values. 2 and -2 are the largest and the least
        singular value, 1 and -1 the largest and the least sum of magnitudes of a column, inf and -inf those of a row.

    Returns
    -------
    Array of shape (...) or (..., 1, 1)
        The norms, in the dtype of x; for complex x in the dtype of its real parts, and for integers in the default
        dtype. Norms of float16 and bfloat16 are computed in float32 and rounded once. Norms of empty matrices are 0.

    Raises
    ------
    InvalidArgumentError
        x has fewer than 2 dimensions, or `ord` is another value, or an empty matrix has no least value.

    Examples
    --------
    >>> x = fe.asarray([[3.0, 0.0], [0.0, -4.0]])
    >>> fe.linalg.matrix_norm(x).item(), fe.linalg.matrix_norm(x, ord=1).item()
    (5.0, 4.0)
    """
    known = isinstance(ord, str) and ord in ("fro", "nuc")
    if isinstance(ord, Array):  # an argument of a traced call has no value
        ord = one_real(ord, "matrix_norm", "ord")
    is_number = isinstance(ord, (int, float, np.integer, np.floating)) and not isinstance(ord, bool)
    if not known and ord is not None and not (is_number and ord in (1, -1, 2, -2, math.inf, -math.inf)):
        raise InvalidArgumentError(f"matrix_norm: ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, not {ord!r}")
    x = matrices("matrix_norm", x)
    wide = widened(x)
    norms = _matrix_norm(wide, flag(keepdims, "matrix_norm", "keepdims"), ord)
    return norms if wide is x else cast(norms, x.dtype)


def _matrix_norm(x: Array, keepdims: bool, ord: MatrixOrder) -> Array:
    if ord is None or ord == "fro":
        return _norm(x, (x.ndim - 2, x.ndim - 1), keepdims, 2)
    if ord == "nuc" or ord in (2, -2):
        values = svdvals(x)
        if ord == 2:
            result = _greatest(values, [-1], False)
        else:
            result = (reduction.sum if ord == "nuc" else reduction.min)(values, axis=-1)
        return expand_dims(expand_dims(result, axis=-1), axis=-1) if keepdims else result
    ord = float(ord)
    summed, compared = (-2, -1) if abs(ord) == 1 else (-1, -2)
    sums = reduction.sum(_magnitudes(x), axis=summed, keepdims=True)
    result = _greatest(sums, [compared], True) if ord > 0 else reduction.min(sums, axis=compared, keepdims=True)
    return result if keepdims else reshape(result, result.shape[:-2])

"""Systems of linear equations, inverses, determinants and ranks."""

from __future__ import annotations

from typing import NamedTuple, SupportsIndex

import numpy as np

from ferrule.array.array import Array
from ferrule.array.attributes import one_integer, one_real
from ferrule.array.recording import apply, apply_all, as_operand
from ferrule.dtypes.classification import is_floating, is_inexact
from ferrule.errors import InvalidArgumentError
from ferrule.functions import reduction
from ferrule.functions.conversion import cast
from ferrule.functions.creation import eye, zeros
from ferrule.functions.linear_algebra import matmul
from ferrule.functions.movement import broadcast_to, expand_dims, reshape
from ferrule.linalg.decompositions import svd, svdvals
from ferrule.linalg.operands import adjoint, floating, matrices, square_matrices

__all__ = ["SlogdetResult", "det", "inv", "matrix_power", "matrix_rank", "pinv", "slogdet", "solve"]


class SlogdetResult(NamedTuple):
    """The result of `slogdet`.

    Examples
    --------
    >>> fe.linalg.slogdet(fe.eye(2))._fields
    ('sign', 'logabsdet')
    """

    sign: Array
    logabsdet: Array


def solve(x1: Array, x2: Array, /) -> Array:
    """Solve the linear equations x1 @ y = x2.

    Parameters
    ----------
    x1 : Array of shape (..., n, n)
        The matrices.
    x2 : Array of shape (n,) or (..., n, k)
        The right-hand sides: one vector, or matrices whose columns are the vectors. Their leading axes broadcast with
        those of x1.

    Returns
    -------
    Array of shape (..., n) or (..., n, k)
        The solutions.

    Raises
    ------
    InvalidArgumentError
        The shapes do not fit. Computing the result raises it where a matrix is singular.

    Examples
    --------
    >>> fe.linalg.solve(fe.asarray([[2.0, 0.0], [0.0, 4.0]]), fe.asarray([6.0, 8.0])).tolist()
    [3.0, 2.0]
    """
    left, right = as_operand("solve", x1, x2), as_operand("solve", x2, x1)
    if not any(is_inexact(x.dtype) for x in (left, right)):
        left, right = floating("solve", left), floating("solve", right)
    if left.ndim < 2 or left.shape[-1] != left.shape[-2]:
        raise InvalidArgumentError(f"solve: x1 must consist of square matrices: {left.shape}")
    if right.ndim == 0 or right.shape[0 if right.ndim == 1 else -2] != left.shape[-1]:
        raise InvalidArgumentError(f"solve: the numbers of rows differ: {left.shape} and {right.shape}")
    if right.ndim > 1:
        return apply("solve", (left, right), {})
    solution = apply("solve", (left, expand_dims(right, axis=-1)), {})
    return reshape(solution, solution.shape[:-1])


def inv(x: Array, /) -> Array:
    """Inverses of square matrices.

    Parameters
    ----------
    x : Array of shape (..., n, n)
        The matrices.

    Returns
    -------
    Array of shape (..., n, n)
        The inverses.

    Raises
    ------
    InvalidArgumentError
        x is not an array of square matrices. Computing the result raises it where a matrix is singular.

    Examples
    --------
    >>> fe.linalg.inv(fe.asarray([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return apply("inv", (square_matrices("inv", x),), {})


def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Pseudoinverses (Moore & Penrose), by singular value decomposition.

    Parameters
    ----------
    x : Array of shape (..., m, n)
        The matrices.
    rtol : float or Array of shape (...), optional
        Singular values up to `rtol` times the largest one count as zero; by default max(m, n) times the machine
        epsilon.

    Returns
    -------
    Array of shape (..., n, m)
        The pseudoinverses.

    Raises
    ------
    InvalidArgumentError
        x has fewer than 2 dimensions. Computing the result raises it where a matrix has NaN or infinity.

    Examples
    --------
    >>> fe.linalg.pinv(fe.asarray([[2.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    x = matrices("pinv", x)
    u, s, vh = svd(x, full_matrices=False)
    if s.shape[-1] == 0:
        return matmul(adjoint(vh), adjoint(u))
    is_kept = apply("greater", (s, _cutoff("pinv", x, s, rtol)), {})
    inverses = apply("where", (is_kept, apply("reciprocal", (s,), {}), 0), {})
    return matmul(adjoint(vh), apply("multiply", (cast(expand_dims(inverses, axis=-1), x.dtype), adjoint(u)), {}))


def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Ranks of matrices: the numbers of singular values that are not zero.

    Parameters
    ----------
    x : Array of shape (..., m, n)
        The matrices.
    rtol : float or Array of shape (...), optional
        Singular values up to `rtol` times the largest one count as zero; by default max(m, n) times the machine
        epsilon.

    Returns
    -------
    Array of shape (...)
        The ranks, as int64.

    Raises
    ------
    InvalidArgumentError
        x has fewer than 2 dimensions. Computing the result raises it where a matrix has NaN or infinity.

    Examples
    --------
    >>> fe.linalg.matrix_rank(fe.asarray([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
    x = matrices("matrix_rank", x)
    s = svdvals(x)
    if s.shape[-1] == 0:
        return zeros(s.shape[:-1], dtype="int64", device=x.device)
    return reduction.sum(apply("greater", (s, _cutoff("matrix_rank", x, s, rtol)), {}), axis=-1)


def _cutoff(caller: str, x: Array, s: Array, rtol: float | Array | None) -> Array:
    """Return the largest singular value that counts as zero, with an axis of length 1 at the end."""
    largest = reduction.max(s, axis=-1, keepdims=True)
    tolerance: object
    if rtol is None:
        tolerance = max(x.shape[-2:]) * float(np.finfo(s.dtype).eps)
    elif not isinstance(rtol, (Array, np.ndarray)):
        tolerance = one_real(rtol, caller, "rtol")
    else:
        array = as_operand(caller, rtol, x)
        if not is_floating(array.dtype):
            raise InvalidArgumentError(f"{caller}: rtol must be real and floating-point, not {array.dtype}")
        tolerance = expand_dims(array, axis=-1)
    return apply("multiply", (largest, tolerance), {})


def det(x: Array, /) -> Array:
    """Determinants of square matrices.

    Parameters
    ----------
    x : Array of shape (..., n, n)
        The matrices.

    Returns
    -------
    Array of shape (...)
        The determinants.

    Raises
    ------
    InvalidArgumentError
        x is not an array of square matrices.

    Examples
    --------
    >>> fe.linalg.det(fe.asarray([[2.0, 1.0], [0.0, 4.0]])).item()
    8.0
    """
    return apply("det", (square_matrices("det", x),), {})


def slogdet(x: Array, /) -> SlogdetResult:
    """Signs and logarithms of the magnitudes of determinants, which neither overflow nor underflow.

    Parameters
    ----------
    x : Array of shape (..., n, n)
        The matrices.

    Returns
    -------
    SlogdetResult
        `sign`, of magnitude 1, or 0 for a singular matrix; and `logabsdet`, the natural logarithm of the magnitude,
        -inf for a singular matrix. The determinant is sign * exp(logabsdet).

    Raises
    ------
    InvalidArgumentError
        x is not an array of square matrices.

    Examples
    --------
    >>> sign, logarithm = fe.linalg.slogdet(fe.asarray([[0.0, 1.0], [1.0, 0.0]]))
    >>> sign.item(), logarithm.item()
    (-1.0, 0.0)
    """
    return SlogdetResult(*apply_all("slogdet", (square_matrices("slogdet", x),), {}))


def matrix_power(x: Array, n: SupportsIndex, /) -> Array:
    """Powers of square matrices, by repeated squaring.

    Parameters
    ----------
    x : Array of shape (..., m, m)
        The matrices.
    n : int
        The exponent. A negative one gives powers of the inverses.

    Returns
    -------
    Array of shape (..., m, m)
        The powers; for n = 0 identity matrices.

    Raises
    ------
    InvalidArgumentError
        x is not an array of square matrices, or n is not an integer. Computing the result raises it where n is negative
        and a matrix is singular.

    Examples
    --------
    >>> fe.linalg.matrix_power(fe.asarray([[1, 1], [0, 1]]), 5).tolist()
    [[1, 5], [0, 1]]
    """
    exponent = one_integer(n, "matrix_power", "n")
    x = square_matrices("matrix_power", x) if exponent < 0 else as_operand("matrix_power", x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise InvalidArgumentError(f"matrix_power: needs square matrices: {x.shape}")
    if exponent == 0:
        return broadcast_to(eye(x.shape[-1], dtype=x.dtype, device=x.device), x.shape)
    if exponent == 1:
        return x._another("matrix_power()")
    if exponent < 0:
        x, exponent = inv(x), -exponent
    result: Array | None = None
    while True:
        if exponent & 1:
            result = x if result is None else matmul(result, x)
        exponent >>= 1
        if exponent == 0:
            return x if result is None else result
        x = matmul(x, x)

"""Decompositions of matrices."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ferrule.array.array import Array
from ferrule.array.attributes import flag, one_of
from ferrule.array.recording import apply, apply_all
from ferrule.linalg.operands import matrices, square_matrices

__all__ = [
    "EigResult",
    "EighResult",
    "QRResult",
    "SVDResult",
    "cholesky",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "qr",
    "svd",
    "svdvals",
]


class QRResult(NamedTuple):
    """The result of `qr`.

    Examples
    --------
    >>> fe.linalg.qr(fe.eye(2))._fields
    ('Q', 'R')
    """

    Q: Array
    R: Array


class EigResult(NamedTuple):
    """The result of `eig`.

    Examples
    --------
    >>> fe.linalg.eig(fe.eye(2))._fields
    ('eigenvalues', 'eigenvectors')
    """

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """The result of `eigh`.

    Examples
    --------
    >>> fe.linalg.eigh(fe.eye(2))._fields
    ('eigenvalues', 'eigenvectors')
    """

    eigenvalues: Array
    eigenvectors: Array


class SVDResult(NamedTuple):
    """The result of `svd`.

    Examples
    --------
    >>> fe.linalg.svd(fe.eye(2))._fields
    ('U', 'S', 'Vh')
    """

    U: Array
    S: Array
    Vh: Array


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Cholesky decomposition of Hermitian positive definite matrices.

    Parameters
    ----------
    x : Array of shape (..., n, n)
        The matrices. Only the lower triangle is read, or with `upper` the upper one.
    upper : bool
        Whether to return the upper triangular U with x = U^H @ U, in place of the lower triangular L with x = L @ L^H.

    Returns
    -------
    Array of shape (..., n, n)
        The triangular matrices.

    Raises
    ------
    InvalidArgumentError
        x is not an array of square matrices. Computing the result raises it where a matrix is not positive definite.

    Examples
    --------
    >>> fe.linalg.cholesky(fe.asarray([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    return apply("cholesky", (square_matrices("cholesky", x),), {"upper": upper})


def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """QR decomposition: matrices Q with orthonormal columns and upper triangular R with x = Q @ R.

    Parameters
    ----------
    x : Array of shape (..., m, n)
        The matrices.
    mode : {"reduced", "complete"}
        "reduced" gives min(m, n) columns of Q and rows of R, "complete" gives m.

    Returns
    -------
    QRResult
        `Q` and `R`.

    Raises
    ------
    InvalidArgumentError
        x has fewer than 2 dimensions, or `mode` is another word.

    Examples
    --------
    >>> q, r = fe.linalg.qr(fe.asarray([[3.0, 1.0], [4.0, 2.0]]))
    >>> np.allclose(q @ r, [[3.0, 1.0], [4.0, 2.0]], atol=1e-5)
    True
    """
    one_of(("reduced", "complete"), mode, "qr", "mode")
    return QRResult(*apply_all("qr", (matrices("qr", x),), {"mode": mode}))


def eig(x: Array, /) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices.

    Parameters
    ----------
    x : Array of shape (..., n, n)
        The matrices.

    Returns
    -------
    EigResult
        `eigenvalues` of shape (..., n), in no particular order; and `eigenvectors` of shape (..., n, n), whose columns
        have norm 1 and belong to the eigenvalues in order. Both are complex. Of a real matrix, the imaginary parts of
        real eigenvalues and their vectors are zero, and other eigenvalues are pairs of conjugates.

    Raises
    ------
    InvalidArgumentError
        x is not an array of square matrices. Computing the result raises it where a matrix has NaN or infinity, or the
        iteration does not converge.

    See Also
    --------
    eigh : of Hermitian matrices, with orthonormal eigenvectors.

    Notes
    -----
    Balancing, reduction to Hessenberg form and the QR algorithm with double shifts (Golub & Van Loan, Matrix
    Computations, chapter 7). The eigenvectors of a matrix that cannot be diagonalised are linearly dependent.

    Examples
    --------
    >>> values, vectors = fe.linalg.eig(fe.asarray([[0.0, 1.0], [-1.0, 0.0]]))
    >>> values.tolist()
    [1j, -1j]
    >>> np.allclose(abs(vectors), [[0.5**0.5] * 2] * 2, atol=1e-5)
    True
    """
    return EigResult(*apply_all("eig", (square_matrices("eig", x),), {}))


def eigh(x: Array, /) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian (real: symmetric) matrices.

    Parameters
    ----------
    x : Array of shape (..., n, n)
        The matrices. Only the lower triangle is read.

    Returns
    -------
    EighResult
        `eigenvalues`, ascending and real, of shape (..., n); and `eigenvectors` of shape (..., n, n), whose columns are
        orthonormal.

    Raises
    ------
    InvalidArgumentError
        x is not an array of square matrices. Computing the result raises it where a matrix has NaN or infinity.

    Examples
    --------
    >>> values, vectors = fe.linalg.eigh(fe.asarray([[0.0, 2.0], [2.0, 0.0]]))
    >>> np.allclose(values, [-2.0, 2.0], atol=1e-5)
    True
    """
    return EighResult(*apply_all("eigh", (square_matrices("eigh", x),), {}))


def eigvals(x: Array, /) -> Array:
    """Eigenvalues of square matrices.

    Parameters
    ----------
    x : Array of shape (..., n, n)
        The matrices.

    Returns
    -------
    Array of shape (..., n)
        The eigenvalues, complex and in no particular order. Those of a real matrix are real, with imaginary parts of
        zero, or pairs of conjugates.

    Raises
    ------
    InvalidArgumentError
        x is not an array of square matrices. Computing the result raises it where a matrix has NaN or infinity, or the
        iteration does not converge.

    See Also
    --------
    eigvalsh : of Hermitian matrices, real and ascending.

    Examples
    --------
    >>> fe.linalg.eigvals(fe.asarray([[0.0, 1.0], [-1.0, 0.0]])).tolist()
    [1j, -1j]
    """
    return apply("eigvals", (square_matrices("eigvals", x),), {})


def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of Hermitian (real: symmetric) matrices.

    Parameters
    ----------
    x : Array of shape (..., n, n)
        The matrices. Only the lower triangle is read.

    Returns
    -------
    Array of shape (..., n)
        The eigenvalues, ascending and real.

    Raises
    ------
    InvalidArgumentError
        x is not an array of square matrices. Computing the result raises it where a matrix has NaN or infinity.

    Examples
    --------
    >>> np.allclose(fe.linalg.eigvalsh(fe.asarray([[0.0, 2.0], [2.0, 0.0]])), [-2.0, 2.0], atol=1e-5)
    True
    """
    return apply("eigvalsh", (square_matrices("eigvalsh", x),), {})


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular value decomposition x = U @ diag(S) @ Vh.

    Parameters
    ----------
    x : Array of shape (..., m, n)
        The matrices.
    full_matrices : bool
        Whether U and Vh are square. Otherwise they have min(m, n) columns and rows.

    Returns
    -------
    SVDResult
        `U`, whose columns are orthonormal; `S`, descending and real, of shape (..., min(m, n)); `Vh`, whose rows are
        orthonormal.

    Raises
    ------
    InvalidArgumentError
        x has fewer than 2 dimensions. Computing the result raises it where a matrix has NaN or infinity.

    Examples
    --------
    >>> fe.linalg.svd(fe.asarray([[0.0, 3.0], [4.0, 0.0]])).S.tolist()
    [4.0, 3.0]
    """
    return SVDResult(
        *apply_all("svd", (matrices("svd", x),), {"full_matrices": flag(full_matrices, "svd", "full_matrices")})
    )


def svdvals(x: Array, /) -> Array:
    """Singular values.

    Parameters
    ----------
    x : Array of shape (..., m, n)
        The matrices.

    Returns
    -------
    Array of shape (..., min(m, n))
        The singular values, descending and real.

    Raises
    ------
    InvalidArgumentError
        x has fewer than 2 dimensions. Computing the result raises it where a matrix has NaN or infinity.

    Examples
    --------
    >>> fe.linalg.svdvals(fe.asarray([[0.0, 3.0], [4.0, 0.0]])).tolist()
    [4.0, 3.0]
    """
    return apply("svdvals", (matrices("svdvals", x),), {})

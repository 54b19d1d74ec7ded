"""Decompositions of matrices against NumPy's, of all shapes and dtypes; matrices without a decomposition are errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

DTYPES = ["float32", "float64", "complex64", "complex128"]
SHAPES = [(0, 0), (1, 1), (5, 5), (40, 40), (3, 7), (7, 3), (1, 4), (4, 1), (0, 3), (3, 0), (2, 3, 4), (0, 3, 3)]
SHAPES += [(2, 1, 6, 6), (70, 33), (33, 70), (129, 129), (150, 20)]
SQUARE = [shape for shape in SHAPES if shape[-1] == shape[-2]]

Values = np.ndarray[Any, Any]


def matrices(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Values:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values.astype(dtype))


def adjoint(x: Values) -> Values:
    return np.asarray(np.swapaxes(np.conj(x), -1, -2))


def hermitian(shape: tuple[int, ...], dtype: str) -> Values:
    x = matrices(shape, dtype)
    return np.asarray(x + adjoint(x))


def assert_near(got: object, wanted: object, dtype: str, scale: float = 1.0) -> None:
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape
    side = max(*got.shape[-2:], 1) if got.ndim > 1 else max(got.size, 1)
    limit = 30 * side * np.finfo(dtype).eps * max(scale, 1.0)
    assert np.max(np.abs(got - wanted), initial=0) <= limit


def norm_of(x: Values) -> float:
    return float(np.sqrt(np.max(np.sum(np.abs(x) ** 2, axis=(-2, -1)), initial=0)))


def identities(x: Values) -> Values:
    return np.broadcast_to(np.eye(x.shape[-1]), x.shape)


@each("dtype", DTYPES)
@each("shape", SHAPES)
@each("mode", ["reduced", "complete"])
def test_qr(mode: Any, shape: tuple[int, ...], dtype: str) -> None:
    x = matrices(shape, dtype)
    q, r = map(np.asarray, fe.linalg.qr(fe.asarray(x), mode=mode))
    wanted = np.linalg.qr(x, mode=mode)
    assert (q.shape, r.shape) == (wanted.Q.shape, wanted.R.shape)
    assert q.dtype == r.dtype == dtype
    assert_near(q @ r, x, dtype, norm_of(x))
    assert_near(adjoint(q) @ q, identities(adjoint(q) @ q), dtype)
    assert np.array_equal(np.triu(r), r)


@each("dtype", DTYPES)
@each("shape", SHAPES)
@each("full", [True, False])
def test_svd(full: bool, shape: tuple[int, ...], dtype: str) -> None:
    x = matrices(shape, dtype)
    u, s, vh = map(np.asarray, fe.linalg.svd(fe.asarray(x), full_matrices=full))
    wanted = np.linalg.svd(x, full_matrices=full)
    assert (u.shape, vh.shape) == (wanted.U.shape, wanted.Vh.shape)
    assert (u.dtype, s.dtype, vh.dtype) == (dtype, wanted.S.dtype, dtype)
    k, size = s.shape[-1], norm_of(x)
    assert_near(s, wanted.S, dtype, size * k)
    assert_near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, dtype, size)
    assert_near(adjoint(u) @ u, identities(adjoint(u) @ u), dtype)
    assert_near(vh @ adjoint(vh), identities(vh @ adjoint(vh)), dtype)
    assert (np.diff(s) <= 0).all()
    assert_near(fe.linalg.svdvals(fe.asarray(x)), s, dtype, size * k)


@each("dtype", DTYPES)
@each("shape", SQUARE)
def test_eigh(shape: tuple[int, ...], dtype: str) -> None:
    x = hermitian(shape, dtype)
    values, vectors = map(np.asarray, fe.linalg.eigh(fe.asarray(x)))
    wanted = np.linalg.eigh(x)
    assert (values.dtype, vectors.dtype) == (wanted.eigenvalues.dtype, dtype)
    assert_near(values, wanted.eigenvalues, dtype, norm_of(x) * shape[-1])
    assert_near(x @ vectors, vectors * values[..., None, :], dtype, norm_of(x))
    assert_near(adjoint(vectors) @ vectors, identities(vectors), dtype)
    assert_near(fe.linalg.eigvalsh(fe.asarray(x)), values, dtype, norm_of(x) * shape[-1])


def test_eigh_reads_the_lower_triangle_only() -> None:
    x = hermitian((6, 6), "complex128")
    spoilt = np.tril(x) + np.triu(np.full((6, 6), np.nan), 1)
    spoilt.imag[np.diag_indices(6)] = 7  # does not count, either
    assert np.array_equal(fe.linalg.eigh(fe.asarray(spoilt))[0], fe.linalg.eigh(fe.asarray(x))[0])


@each("dtype", DTYPES)
@each("shape", SQUARE)
@each("upper", [False, True])
def test_cholesky(upper: bool, shape: tuple[int, ...], dtype: str) -> None:
    x = matrices(shape, dtype)
    x = x @ adjoint(x) + np.eye(shape[-1], dtype=dtype)
    x = ((x + adjoint(x)) / 2).astype(dtype)
    factor = np.asarray(fe.linalg.cholesky(fe.asarray(x), upper=upper))
    assert factor.dtype == dtype
    product = adjoint(factor) @ factor if upper else factor @ adjoint(factor)
    assert_near(product, x, dtype, norm_of(x))
    assert np.array_equal(np.triu(factor) if upper else np.tril(factor), factor)
    other = np.tril(x) + np.triu(np.full(shape, np.nan), 1)
    of_triangle = fe.linalg.cholesky(fe.asarray((adjoint(other) if upper else other).astype(dtype)), upper=upper)
    assert np.array_equal(of_triangle, factor)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_matrices_larger_than_all_blocks(dtype: str) -> None:
    """Products in decompositions are divided into blocks of the depth, and into groups of 512 columns."""
    n = 1100
    x = matrices((n, n), dtype)
    x = (x + adjoint(x)) / 2 + (3 * np.sqrt(n) * np.eye(n)).astype(dtype)
    factor = np.asarray(fe.linalg.cholesky(fe.asarray(x)))
    assert_near(factor @ adjoint(factor), x, dtype, norm_of(x) / 10)
    rows = np.roll(x, n // 2, axis=0)  # pivots are far from the diagonal
    assert_near(np.asarray(fe.linalg.inv(fe.asarray(rows))) @ rows, np.eye(n), dtype)
    right = matrices((n, 40), dtype, seed=1)
    assert_near(rows @ np.asarray(fe.linalg.solve(fe.asarray(rows), fe.asarray(right))), right, dtype, norm_of(right))
    narrow = x[:, :600]
    q, r = map(np.asarray, fe.linalg.qr(fe.asarray(narrow)))
    assert_near(q @ r, narrow, dtype, norm_of(narrow) / 10)
    assert_near(adjoint(q) @ q, np.eye(600), dtype)


SPECTRA = {
    "one value": np.ones(80),
    "two values": np.repeat([1.0, 2.0], 40),
    "zeros": np.zeros(80),
    "graded": 10.0 ** -np.arange(80.0),
    "a cluster": np.r_[1 + 1e-13 * np.arange(40), np.arange(40.0)],
    "huge": 1e300 * np.arange(1, 81),
    "tiny": 1e-300 * np.arange(1, 81),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_values_that_coincide_or_differ_in_size(name: str) -> None:
    """Divide and conquer deflates equal values; squares of huge and tiny ones overflow and underflow."""
    wanted = SPECTRA[name]
    basis = np.linalg.qr(matrices((80, 80), "float64")).Q
    other = np.linalg.qr(matrices((80, 80), "float64", seed=1)).Q
    largest = wanted.max() or 1.0
    symmetric = (basis * wanted) @ basis.T
    values, vectors = map(np.asarray, fe.linalg.eigh(fe.asarray(np.tril(symmetric))))
    assert np.abs(values - np.sort(wanted)).max() <= 1e-12 * largest
    assert_near(vectors.T @ vectors, np.eye(80), "float64")
    u, s, vh = map(np.asarray, fe.linalg.svd(fe.asarray((basis * wanted) @ other.T)))
    assert np.abs(s - np.sort(wanted)[::-1]).max() <= 1e-12 * largest
    assert_near(u.T @ u, np.eye(80), "float64")
    assert_near(vh @ vh.T, np.eye(80), "float64")


@pytest.mark.parametrize("n", [33, 100, 257])
def test_tridiagonal_and_bidiagonal_matrices(n: int) -> None:
    """Their off-diagonal elements couple the halves of divide and conquer as they are, zeros included."""
    for off_diagonal in (np.ones(n - 1), np.zeros(n - 1), np.arange(n - 1) % 3 - 1.0, np.full(n - 1, 1e-9)):
        x = np.diag(np.r_[2.0, np.arange(n - 1) % 5]) + np.diag(off_diagonal, -1) + np.diag(off_diagonal, 1)
        values, vectors = map(np.asarray, fe.linalg.eigh(fe.asarray(x)))
        assert_near(x @ vectors, vectors * values, "float64", 10)
        assert_near(vectors.T @ vectors, np.eye(n), "float64")
        u, s, vh = map(np.asarray, fe.linalg.svd(fe.asarray(np.triu(x))))
        assert_near((u * s) @ vh, np.triu(x), "float64", 10)
        assert_near(u.T @ u, np.eye(n), "float64")


@each("n", [2, 40, 150])
@each(
    ("name", "make", "why"),
    [
        ("cholesky", lambda n: -np.eye(n), "is not positive definite"),
        ("cholesky", lambda n: np.ones((n, n)), "is not positive definite"),
        ("cholesky", lambda n: np.full((n, n), np.nan), "is not positive definite"),
        ("inv", lambda n: np.ones((n, n)), "is singular"),
        ("eigh", lambda n: np.full((n, n), np.nan), "has no eigenvalues"),
        ("eigvalsh", lambda n: np.full((n, n), np.inf), "has no eigenvalues"),
        ("eig", lambda n: np.full((n, n), np.nan), "has no eigenvalues"),
        ("eigvals", lambda n: np.full((n, n), -np.inf), "has no eigenvalues"),
        ("svd", lambda n: np.full((n, n), np.nan), "has no singular values"),
        ("svdvals", lambda n: np.full((n, n), -np.inf), "has no singular values"),
    ],
)
def test_the_error_names_the_matrix(name: str, make: Callable[[int], Values], why: str, n: int) -> None:
    compute = getattr(fe.linalg, name)
    with pytest.raises(fe.InvalidArgumentError, match=rf"^linalg\.{name}: the matrix {why}"):
        fe.eval(compute(fe.asarray(make(n))))
    stack = np.broadcast_to(np.eye(n), (2, 3, n, n)).copy()
    stack[1, 2] = stack[1, 0] = make(n)
    with pytest.raises(fe.InvalidArgumentError, match=rf"^linalg\.{name}: the matrix at index \(1, 0\) {why}"):
        fe.eval(compute(fe.asarray(stack)))


@each("name", ["cholesky", "qr", "eig", "eigh", "eigvals", "eigvalsh", "svd", "svdvals"])
def test_wrong_arguments(name: str) -> None:
    compute = getattr(fe.linalg, name)
    with pytest.raises(fe.InvalidArgumentError, match=rf"^linalg\.{name}: needs at least 2 dimensions"):
        compute(fe.ones(3))
    with pytest.raises(fe.InvalidArgumentError, match=rf"^linalg\.{name}: takes arrays, not list"):
        compute([[1.0]])
    with pytest.raises(fe.DTypeError, match=rf"^linalg\.{name}: "):
        compute(fe.ones((2, 2), dtype="float16"))
    if name in ("cholesky", "eig", "eigh", "eigvals", "eigvalsh"):
        with pytest.raises(fe.InvalidArgumentError, match=rf"^linalg\.{name}: needs square matrices"):
            compute(fe.ones((2, 3)))


def test_qr_knows_two_modes() -> None:
    with pytest.raises(fe.InvalidArgumentError, match=r"^linalg\.qr: mode must be 'reduced' or 'complete', not 'raw'"):
        fe.linalg.qr(fe.ones((2, 2)), mode="raw")  # type: ignore[arg-type]


@pytest.mark.parametrize(("dtype", "size"), [("float32", 2.0**-140), ("float64", 2.0**-1060)])
def test_values_of_subnormal_matrices(dtype: str, size: float) -> None:
    """No power of two brings them to 1 at once: it would overflow."""
    x = fe.asarray((np.array([[3.0, 1.0], [1.0, 3.0]]) * size).astype(dtype))
    np.testing.assert_allclose(np.asarray(fe.linalg.svdvals(x)).astype("float64") / size, [4, 2], rtol=1e-2)
    np.testing.assert_allclose(np.asarray(fe.linalg.eigvalsh(x)).astype("float64") / size, [2, 4], rtol=1e-2)
    np.testing.assert_allclose(np.asarray(fe.linalg.eigh(x)[0]).astype("float64") / size, [2, 4], rtol=1e-2)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (40, 2)])
def test_no_singular_value_is_a_negative_zero(shape: tuple[int, ...]) -> None:
    assert not np.signbit(fe.linalg.svdvals(fe.asarray(np.full(shape, -0.0)))).any()


def test_integers_become_float32() -> None:
    assert fe.linalg.svdvals(fe.asarray([[3, 0], [0, 4]])).dtype == "float32"


def test_traced_functions_decompose() -> None:
    @fe.graph
    def rebuilt(x: fe.Array) -> fe.Array:
        u, s, vh = fe.linalg.svd(x, full_matrices=False)
        q, r = fe.linalg.qr(x)
        return (u * s) @ vh + q @ r

    x = matrices((6, 4), "float64")
    for factor in (1.0, 2.0):
        assert_near(rebuilt(fe.asarray(factor * x)), 2 * factor * x, "float64", 10)


@pytest.mark.parametrize("shape", [(200, 200), (3, 130, 130), (50, 12, 12)])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_the_number_of_threads_changes_no_bit(shape: tuple[int, ...], dtype: str) -> None:
    x = fe.asarray(hermitian(shape, dtype))

    def results() -> list[bytes]:
        found = [*fe.linalg.svd(x), *fe.linalg.eigh(x), *fe.linalg.qr(x), fe.linalg.inv(x), fe.linalg.det(x)]
        return [np.asarray(each).tobytes() for each in found]

    try:
        fe.set_thread_count(1)
        alone = results()
        fe.set_thread_count(3)
        assert results() == alone
    finally:
        fe.set_thread_count(0)


def assert_eigenpairs(a: Values) -> None:
    """Compare with NumPy in double precision; the scale of the matrix is divided out, so that no square overflows."""
    most = np.abs(a).max()
    scaled = (a / most).astype("c16" if a.dtype.kind == "c" else "f8")
    values, vectors = (np.asarray(x) for x in fe.linalg.eigh(fe.asarray(a)))
    alone = np.asarray(fe.linalg.eigvalsh(fe.asarray(a)))
    exact = np.linalg.eigvalsh(scaled)
    allowed = 8 * len(a) * np.finfo(a.dtype).eps
    largest = np.abs(exact).max()
    unit = float(most)
    assert np.abs(values.astype("f8") / unit - exact).max() <= allowed * largest
    assert np.abs(alone.astype("f8") / unit - exact).max() <= allowed * largest
    assert np.abs(scaled @ vectors - vectors * (values.astype("f8") / unit)).max() <= allowed * largest
    assert np.abs(adjoint(vectors) @ vectors - np.eye(len(a))).max() <= allowed


@pytest.mark.parametrize("n", [3, 32, 33, 70])
@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues_of_matrices_of_any_scale(dtype: str, n: int) -> None:
    limit = 36 if np.finfo(dtype).bits == 32 else 300
    for exponent in range(-limit, limit + 1, limit // 12):
        assert_eigenpairs((hermitian((n, n), "c16" if "complex" in dtype else "f8") * 10.0**exponent).astype(dtype))


ROWS = np.random.default_rng(7).standard_normal((100, 1)) * 10
HARD: dict[str, Values] = {
    **{f"rank {rank}": (lambda x: x @ x.T)(matrices((100, rank), "float64", rank)) for rank in (1, 2, 3, 5, 10)},
    "checkerboard": np.add.outer(np.arange(64), np.arange(64)) % 2.0,
    "kernel of distances": np.exp(-((ROWS - ROWS.T) ** 2) / 200),
    "Vandermonde": (lambda x: x @ x.T)(np.vander(np.linspace(0, 1, 100))),
    "Hilbert": 1 / (1.0 + np.add.outer(np.arange(120), np.arange(120))),
    "graded": np.outer(10.0 ** -np.arange(90.0), 10.0 ** -np.arange(90.0)),
    "products": np.outer(np.arange(300) + 1.0, np.arange(300) + 1.0),
    "ones": np.ones((150, 150)),
    "least": np.minimum.outer(np.arange(200.0), np.arange(200.0)),
    "diagonal": np.diag(10.0 ** -np.arange(0, 30, 0.3)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", HARD)
def test_eigenvalues_of_singular_and_graded_matrices(name: str, dtype: str) -> None:
    assert_eigenpairs(HARD[name].astype(dtype))


def test_qr_of_huge_and_tiny_columns() -> None:
    for dtype, sizes in (("float32", (2e38, 3e38, 1e-38, 1e-44)), ("float64", (1e308, 1.2e308, 1e-308, 1e-320))):
        for size in sizes:
            x = np.asarray([[size], [size / 2]], dtype)
            q, r = (np.asarray(part).astype("f8") for part in fe.linalg.qr(fe.asarray(x)))
            wanted = np.abs(np.linalg.qr(np.asarray([[1.0], [x[1, 0] / x[0, 0]]]))[0])
            np.testing.assert_allclose(np.abs(q), wanted, rtol=1e-6)
            np.testing.assert_allclose(
                q * r, x.astype("f8"), rtol=1e-5, atol=2 * float(np.finfo(dtype).smallest_subnormal)
            )

"""Eigenvalues and eigenvectors of general matrices, beside NumPy's in double precision."""

from __future__ import annotations

from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

DTYPES = ["float32", "float64", "complex64", "complex128"]
Values = np.ndarray[Any, Any]


def complex_of(dtype: str) -> str:
    return "complex64" if dtype in ("float32", "complex64") else "complex128"


def matrices(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Values:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values.astype(dtype))


def distance_of_spectra(values: Values, wanted: Values) -> float:
    """The largest distance after each wanted value has taken the nearest of the values that are left."""
    left, worst = list(values), 0.0
    for each_value in wanted:
        nearest = int(np.argmin(np.abs(np.asarray(left) - each_value)))
        worst = max(worst, float(np.abs(left.pop(nearest) - each_value)))
    return worst


def eig(a: Values, residual: float = 10.0) -> tuple[Values, Values]:
    """The eigenvalues of one matrix in complex128, divided by its largest element, and the eigenvectors. They satisfy
    what all matrices' do."""
    n, eps = len(a), float(np.finfo(a.dtype).eps)
    most = float(np.abs(a).max(initial=0)) or 1.0
    found = fe.linalg.eig(fe.asarray(a))
    values, vectors = map(np.asarray, found)
    assert type(found).__name__ == "EigResult"
    assert values.dtype == vectors.dtype == complex_of(str(a.dtype))
    assert (values.shape, vectors.shape) == ((n,), (n, n))
    assert np.isfinite(values).all()
    assert np.isfinite(vectors).all()
    x, scaled = a.astype("c16") / most, values.astype("c16") / most
    norm = np.linalg.norm(x, 2)
    assert np.abs(x @ vectors.astype("c16") - vectors * scaled).max(initial=0) <= residual * eps * max(n, 3) * norm
    assert np.abs(np.linalg.norm(vectors.astype("c16"), axis=0) - 1).max(initial=0) <= eps * (n + 3)
    alone = np.asarray(fe.linalg.eigvals(fe.asarray(a)))
    assert alone.dtype == values.dtype
    if a.dtype.kind == "f":
        for each_of in (values, alone):
            assert distance_of_spectra(each_of.conj(), each_of) == 0
        is_real = values.imag == 0
        assert not vectors[:, is_real].imag.any()
        pairs = np.flatnonzero(values.imag > 0)
        assert np.array_equal(vectors[:, pairs], vectors[:, pairs + 1].conj())
    return scaled, vectors


@each("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 8, 16, 33, 34, 35, 40, 67, 100, 150])
def test_random_matrices(n: int, dtype: str) -> None:
    a = matrices((n, n), dtype)
    values, _ = eig(a)
    x = a.astype("c16") / (float(np.abs(a).max(initial=0)) or 1.0)
    wanted, vectors = np.linalg.eig(x)
    condition = np.linalg.norm(np.linalg.inv(vectors), axis=-1).max(initial=1)
    allowed = 10 * max(n, 3) * np.finfo(a.dtype).eps * condition * max(np.abs(wanted).max(initial=0), 1)
    assert distance_of_spectra(values, wanted) <= allowed
    alone = np.asarray(fe.linalg.eigvals(fe.asarray(a))).astype("c16") / (float(np.abs(a).max(initial=0)) or 1.0)
    assert distance_of_spectra(alone, wanted) <= allowed


@each("dtype", DTYPES)
def test_exact_eigenvalues(dtype: str) -> None:
    def values_of(a: object) -> list[complex]:
        eig(np.asarray(a, dtype))
        return sorted(fe.linalg.eig(fe.asarray(a, dtype=dtype)).eigenvalues.tolist(), key=lambda z: (z.real, z.imag))

    assert values_of(np.zeros((3, 3))) == [0, 0, 0]
    assert values_of(np.eye(4)) == [1, 1, 1, 1]
    assert values_of([[5]]) == [5]
    upper = np.triu(np.arange(1.0, 37).reshape(6, 6))
    assert values_of(upper) == sorted(np.diag(upper).tolist())
    assert values_of(upper.T) == sorted(np.diag(upper).tolist())
    assert values_of(upper[:, ::-1][::-1]) == sorted(np.diag(upper).tolist())
    if np.dtype(dtype).kind == "f":
        assert values_of([[0, 1], [-1, 0]]) == [-1j, 1j]
        assert values_of([[3, 4], [-4, 3]]) == [3 - 4j, 3 + 4j]


@each("dtype", DTYPES)
def test_defective_matrices_have_finite_vectors(dtype: str) -> None:
    for value in (0.0, 2.0, 0.3):
        for n in (2, 8, 60):
            for side in (1, -1):
                values, vectors = eig((value * np.eye(n) + np.eye(n, k=side)).astype(dtype))
                assert np.abs(values - values[0]).max() == 0
                assert np.abs(vectors[:, 0]).max() >= 0.9
    eig(np.triu(np.ones((40, 40)), 1).astype(dtype))
    eig(np.kron(np.triu(np.ones((10, 10))), [[1.0, 2.0], [-3.0, 1.0]]).astype(dtype))  # equal pairs


FORMS = {
    "a cycle": np.roll(np.eye(30), 1, axis=0),
    "a permutation": np.eye(30)[np.random.default_rng(1).permutation(30)],
    "ones": np.ones((30, 30)),
    "rotations": np.kron(np.diag(np.arange(1.0, 7)), [[0.6, 0.8], [-0.8, 0.6]]),
    "companion": np.r_[-np.random.default_rng(1).standard_normal((1, 20)), np.eye(19, 20)],
    "companion of 1 to 10": np.r_[-np.poly(np.arange(1, 11))[None, 1:], np.eye(9, 10)],
    "Grcar": np.triu(np.tril(np.ones((50, 50)), 3)) - np.eye(50, k=-1),
    "symmetric": (lambda x: x + x.T)(matrices((50, 50), "float64")),
    "skew": (lambda x: x - x.T)(matrices((51, 51), "float64")),
    "low rank": matrices((40, 2), "float64") @ matrices((2, 40), "float64", 1),
    "blocks": np.kron(np.eye(3), matrices((9, 9), "float64")),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
def test_matrices_of_a_form(form: str, dtype: str) -> None:
    a = FORMS[form].astype(dtype)
    values, _ = eig(a)
    if form in ("a cycle", "a permutation", "ones", "rotations", "symmetric", "skew"):  # normal
        wanted = np.linalg.eigvals(a.astype("c16") / float(np.abs(a).max()))
        allowed = 10 * len(a) * np.finfo(dtype).eps * np.abs(wanted).max()
        assert distance_of_spectra(values, wanted) <= allowed


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices_of_any_scale(dtype: str) -> None:
    """Their squares overflow and underflow; the eigenvalues scale exactly, because a power of two does."""
    a = matrices((20, 20), dtype)
    alone = np.asarray(fe.linalg.eigvals(fe.asarray(a)))
    limit = 100 if np.finfo(dtype).bits == 32 else 1000
    for exponent in (-limit, -limit // 2, limit // 2, limit):
        scale = np.asarray(2.0**exponent, a.real.dtype)
        assert np.array_equal(fe.linalg.eigvals(fe.asarray(a * scale)), alone * scale)
        eig(a * scale)


def test_balancing_brings_huge_and_tiny_elements_together() -> None:
    values = np.asarray(fe.linalg.eigvals(fe.asarray(np.array([[0, 1e300], [1e-300, 0]]))))
    np.testing.assert_allclose(sorted(values.real), [-1, 1], rtol=1e-15)
    assert not values.imag.any()
    rng = np.random.default_rng(2)
    x, powers = rng.standard_normal((12, 12)), rng.integers(-40, 40, 12)
    scaled = x * 2.0**powers / 2.0 ** powers[:, None]
    found, wanted = np.asarray(fe.linalg.eigvals(fe.asarray(scaled))), np.linalg.eigvals(x)
    assert distance_of_spectra(found, wanted) <= 1e-12


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_graded_matrices(dtype: str) -> None:
    a = matrices((20, 20), "float64") * 10.0 ** -np.arange(20)[:, None]
    eig(a.astype(dtype), residual=100)
    eig(a.T.astype(dtype), residual=100)


def test_values_that_nearly_coincide() -> None:
    values, _ = eig(np.array([[1.0, 1e-12], [0.0, 1 + 1e-13]]))
    assert sorted((values * (1 + 1e-13)).real.tolist()) == pytest.approx([1, 1 + 1e-13], abs=3e-16)
    for small in (0.0, 1e-30, 1e-17, -1e-17, 1e-9, -1e-9):
        for corner in (0.0, 1e-17, 1e-16):
            eig(np.array([[1.0, 1.0], [small, 1.0 + corner]]))


def test_stacks_and_empty_matrices() -> None:
    x = matrices((2, 3, 6, 6), "float32")
    values, vectors = map(np.asarray, fe.linalg.eig(fe.asarray(x)))
    for index in np.ndindex(2, 3):
        alone = fe.linalg.eig(fe.asarray(x[index]))
        assert np.array_equal(values[index], alone.eigenvalues)
        assert np.array_equal(vectors[index], alone.eigenvectors)
    assert np.array_equal(fe.linalg.eigvals(fe.asarray(x)).shape, (2, 3, 6))
    for shape in ((3, 0, 2, 2), (3, 0, 0), (0, 0)):
        empty = fe.linalg.eig(fe.zeros(shape))
        assert empty.eigenvalues.shape == shape[:-1] == fe.linalg.eigvals(fe.zeros(shape)).shape
        assert empty.eigenvectors.shape == shape
        assert empty.eigenvectors.dtype == "complex64"


@pytest.mark.parametrize("shape", [(200, 200), (3, 130, 130), (50, 12, 12)])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_the_number_of_threads_changes_no_bit(shape: tuple[int, ...], dtype: str) -> None:
    x = fe.asarray(matrices(shape, dtype))

    def results() -> list[bytes]:
        return [np.asarray(each_of).tobytes() for each_of in (*fe.linalg.eig(x), fe.linalg.eigvals(x))]

    try:
        fe.set_thread_count(1)
        alone = results()
        fe.set_thread_count(3)
        assert results() == alone
    finally:
        fe.set_thread_count(0)


def test_numpys_functions_give_arrays() -> None:
    x = fe.asarray(matrices((4, 4), "float64"))
    found = np.linalg.eig(x)
    assert isinstance(found.eigenvalues, fe.Array)
    assert isinstance(found.eigenvectors, fe.Array)
    assert isinstance(np.linalg.eigvals(x), fe.Array)
    assert distance_of_spectra(np.asarray(np.linalg.eigvals(x)), np.linalg.eigvals(np.asarray(x))) <= 1e-13


def test_traced_functions_find_eigenpairs() -> None:
    @fe.graph
    def residual(x: fe.Array) -> fe.Array:
        values, vectors = fe.linalg.eig(x)
        return fe.astype(x, "complex128") @ vectors - vectors * values

    for factor in (1.0, 2.0):
        assert np.abs(residual(fe.asarray(factor * matrices((6, 6), "float64")))).max() <= 1e-13


def test_integers_become_complex64() -> None:
    assert fe.linalg.eigvals(fe.asarray([[3, 0], [0, 4]])).dtype == "complex64"

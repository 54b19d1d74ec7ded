"""Decompositions of matrices. Where several results are right, properties are compared that all of them have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ferrule.testing.model import eigenpairs
from ferrule.testing.model.case import Case, Failing
from ferrule.testing.model.dtypes import FORMATS, PARTS, Values, narrow, numpy_dtype
from ferrule.testing.model.exactness import Tolerance
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import Domain
from ferrule.testing.problems.decompositions import equations, rectangular, square

DTYPES = (*PARTS.values(), *PARTS)
COMPLEX = {part: whole for whole, part in PARTS.items()}
DOMAIN = (Domain(-1, 1),)


def adjoint(x: Values) -> Values:
    turned: Values = np.swapaxes(x.conj(), -1, -2)
    return turned


# ---- inputs


def dominant(drawn: Values) -> Values:
    """Well-conditioned matrices: the diagonal is larger than the sum of the rest, in the mean of squares."""
    n = drawn.shape[-1]
    shifted: Values = drawn + 3 * np.sqrt(n) * np.eye(n)
    return shifted.astype(drawn.dtype)


def regular(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Well-conditioned matrices. In half of the problems their rows are in another order, so that pivots are far from
    the diagonal."""
    if number > 0:
        return drawn
    rows = np.arange(drawn.shape[-1])
    return dominant(drawn)[..., rng.permutation(rows) if rng.random() < 0.5 else rows, :]


def near_identity(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Matrices whose determinants neither overflow nor vanish, with the rows in another order."""
    n = drawn.shape[-1]
    near: Values = np.eye(n) + drawn / (3 * np.sqrt(n or 1))
    return near[..., rng.permutation(n), :].astype(drawn.dtype)


def hermitian(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    return ((drawn + adjoint(drawn)) / 2).astype(drawn.dtype)


def with_any_spectrum(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Divide and conquer deflates equal eigenvalues: in a third of the problems all but two are 1. In another third the
    matrices are tridiagonal, and some of the couplings are zero."""
    kind, n = rng.integers(0, 3), drawn.shape[-1]
    x = hermitian(rng, number, problem, drawn)
    if kind == 1:
        columns = drawn[..., :2]
        x = hermitian(rng, number, problem, columns @ adjoint(columns) + np.eye(n, dtype=drawn.dtype))
    elif kind == 2:
        couplings = np.arange(1, n) % 4 > 0
        x = np.where(np.eye(n, dtype=bool) | np.diag(couplings, 1) | np.diag(couplings, -1), x, x.dtype.type(0))
    return without_triangle(rng, x, upper=True)


def positive_definite(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    x = dominant(hermitian(rng, number, problem, drawn))
    return without_triangle(rng, x, upper=not problem.attributes["upper"])


def without_triangle(rng: np.random.Generator, x: Values, upper: bool) -> Values:
    """In half of the problems, the triangle that may not be read is NaN."""
    read = np.tri(x.shape[-1], dtype=bool)
    return np.where(read.T if not upper else read, x, x.dtype.type(np.nan)) if rng.random() < 0.5 else x


def from_lower(x: Values) -> Values:
    """The Hermitian matrices with these lower triangles."""
    return np.asarray(np.tril(x) + adjoint(np.tril(x, -1)))


def of_any_rank(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """In a third of the problems the rows from the third on are equal, in another third some columns are zero. The norm
    is about that of other matrices, with which the tolerance grows."""
    kind, values = rng.integers(0, 3), drawn.copy()
    if kind == 1:
        values[..., 2:, :] = values[..., :1, :] / np.sqrt(values.shape[-2] or 1)
    elif kind == 2:
        values[..., 1::3] = 0
    return values


# ---- oracles


def solve(x1: Values, x2: Values) -> Values:
    """NumPy's solution, refined twice with residuals in the wide dtype."""
    matrices, solution = narrow(x1), np.zeros((), x2.dtype)
    for _ in range(3):
        residual = x2 - np.matmul(x1, solution) if solution.ndim else np.broadcast_to(x2, _solution_shape(x1, x2))
        solution = solution + np.linalg.solve(matrices, narrow(residual))
    return solution


def _solution_shape(x1: Values, x2: Values) -> tuple[int, ...]:
    return (*np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2]), *x2.shape[-2:])


def inv(x: Values) -> Values:
    return solve(x, np.eye(x.shape[-1], dtype=x.dtype))


def det(x: Values) -> Values:
    """Elimination with pivots, in the wide dtype."""
    determinants = np.ones(x.shape[:-2], x.dtype)
    for index in np.ndindex(x.shape[:-2]):
        a = x[index].copy()
        for k in range(len(a)):
            pivot = k + int(np.argmax(np.abs(a[k:, k])))
            if pivot != k:
                a[[k, pivot]] = a[[pivot, k]]
                determinants[index] *= -1
            determinants[index] *= a[k, k]
            a[k + 1 :] -= a[k + 1 :, k : k + 1] / a[k, k] * a[k]
    return determinants


def sign(x: Values) -> Values:
    return np.asarray(det(x) / np.abs(det(x)))


def logabsdet(x: Values) -> Values:
    return np.asarray(np.log(np.abs(det(x))))


def cholesky(x: Values, upper: bool) -> Values:
    """Column by column, in the wide dtype."""
    x, lower = adjoint(x) if upper else x, np.zeros_like(x)
    for k in range(x.shape[-1]):
        column = x[..., k:, k] - (lower[..., k:, :k] @ lower[..., k, :k, None].conj())[..., 0]
        lower[..., k:, k] = column / np.sqrt(column[..., :1].real)
    return adjoint(lower) if upper else lower


def eigenvalues(x: Values) -> Values:
    return np.linalg.eigvalsh(narrow(from_lower(x))).astype(x.real.dtype)


def singular_values(x: Values, **_: object) -> Values:
    return np.linalg.svd(narrow(x), compute_uv=False).astype(x.real.dtype)


# ---- properties


def eigenvector_property(inputs: list[Values], attributes: dict[str, Any], v: Values) -> Values:
    """V^H V beside V^H x V."""
    return np.concatenate([adjoint(v) @ v, adjoint(v) @ from_lower(inputs[0]) @ v], axis=-1)


def eigenvector_truth(x: Values) -> Values:
    return np.concatenate([_diagonals(np.ones_like(eigenvalues(x)), x), _diagonals(eigenvalues(x), x)], axis=-1)


def _diagonals(values: Values, like: Values) -> Values:
    return np.asarray(values[..., None] * np.eye(values.shape[-1])).astype(like.dtype)


def q_property(inputs: list[Values], attributes: dict[str, Any], q: Values) -> Values:
    """Q^H Q beside what is below the diagonal of Q^H x."""
    return np.concatenate([adjoint(q) @ q, np.tril(adjoint(q) @ inputs[0], -1)], axis=-1)


def q_truth(x: Values, mode: str) -> Values:
    k = x.shape[-2] if mode == "complete" else min(x.shape[-2:])
    identity = np.concatenate([np.eye(k), np.zeros((k, x.shape[-1]))], axis=-1)
    return np.broadcast_to(identity, (*x.shape[:-2], *identity.shape)).astype(x.dtype)


def r_property(inputs: list[Values], attributes: dict[str, Any], r: Values) -> Values:
    """The elements of R below its diagonal, above R^H R, which is x^H x."""
    return np.concatenate([np.tril(r, -1), adjoint(r) @ r], axis=-2)


def r_truth(x: Values, mode: str) -> Values:
    k = x.shape[-2] if mode == "complete" else min(x.shape[-2:])
    return np.concatenate([np.zeros((*x.shape[:-2], k, x.shape[-1]), x.dtype), adjoint(x) @ x], axis=-2)


def u_property(inputs: list[Values], attributes: dict[str, Any], u: Values) -> Values:
    """U^H U beside U^H x x^H U."""
    turned = adjoint(u) @ inputs[0]
    return np.concatenate([adjoint(u) @ u, turned @ adjoint(turned)], axis=-1)


def vh_property(inputs: list[Values], attributes: dict[str, Any], vh: Values) -> Values:
    return u_property([adjoint(inputs[0])], attributes, adjoint(vh))


def u_truth(x: Values, full_matrices: bool) -> Values:
    squares = singular_values(x) ** 2
    count = x.shape[-2] if full_matrices else squares.shape[-1]
    squares = np.concatenate([squares, np.zeros((*squares.shape[:-1], count - squares.shape[-1]))], axis=-1)
    return np.concatenate([_diagonals(np.ones_like(squares), x), _diagonals(squares, x)], axis=-1)


def vh_truth(x: Values, full_matrices: bool) -> Values:
    return u_truth(adjoint(x), full_matrices)


# ---- tolerances


def of_size(power: int, read: Callable[[Values], Values] = np.asarray) -> Tolerance:
    """A multiple of the side and the unit roundoff, times a power of the norm of the matrices (at least 1)."""

    def bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
        x = read(inputs[0])
        roundoff = 2.0 ** -FORMATS[PARTS.get(dtype, dtype)].digits
        side = max(*x.shape[-2:], 1)
        norm = np.max(np.linalg.svd(narrow(x), compute_uv=False), initial=1.0) if power and x.size else 1.0
        scale = np.max(np.abs(truth), initial=1.0) if power == 0 else norm**power
        return np.broadcast_to(np.float64(10 * side * roundoff * scale), truth.shape)

    reason = "backward errors of a small multiple of n u |x| (Higham, theorems 9.4, 10.3, 19.4), of regular matrices"
    return Tolerance(reason, bound=bound)


OF_RESULT, OF_NORM, OF_SQUARE = of_size(0), of_size(1), of_size(2)
OF_LOWER = of_size(1, from_lower)


# ---- errors


def without_result(values: Callable[[Values], Values], why: str) -> Callable[[Case], Iterable[Failing]]:
    """One matrix of three has no result."""

    def failing(case: Case) -> Iterable[Failing]:
        for n in (2, 40, 150):
            stack = np.stack([np.eye(n)] * 3).astype(numpy_dtype(case.dtypes[0]))
            stack[1] = values(stack[1])
            inputs = [stack, np.ones((n, 1), stack.dtype)][: len(case.family.plain[0].shapes)]
            yield Failing(Problem(tuple(x.shape for x in inputs), case.family.plain[0].attributes), inputs, why)

    return failing


SINGULAR = without_result(lambda x: np.ones_like(x), "a singular matrix")
INDEFINITE = without_result(lambda x: -x, "a matrix that is not positive definite")
NOT_FINITE = without_result(lambda x: np.full_like(x, np.nan), "a matrix of NaN")


def case(op: str, dtype: str, family: Any, oracle: Any, tolerance: Tolerance, **options: Any) -> Case:
    options = {"fill": of_any_rank, **options}
    result = options.pop("result", dtype)
    dtypes = (dtype,) * len(family.plain[0].shapes)
    return Case(
        op, dtypes, result, family, oracle, tolerance, DOMAIN, signed_zeros=False, ordinary_only=True, **options
    )


SQUARE, EQUATIONS, RECTANGULAR = square(), equations(), rectangular()
CASES = [
    each
    for d in DTYPES
    for real in (PARTS.get(d, d),)
    for complex_dtype in (COMPLEX.get(d, d),)
    for each in (
        case("solve", d, EQUATIONS, solve, OF_RESULT, fill=regular, errors=SINGULAR),
        case("inv", d, SQUARE, inv, OF_RESULT, fill=regular, errors=SINGULAR),
        case("det", d, SQUARE, det, OF_RESULT, fill=near_identity),
        case("slogdet", d, SQUARE, sign, OF_RESULT, fill=near_identity, output="sign"),
        case("slogdet", d, SQUARE, logabsdet, OF_RESULT, fill=near_identity, output="logabsdet", result=real),
        *(
            case(
                "cholesky",
                d,
                SQUARE.with_attributes(upper=upper),
                cholesky,
                OF_RESULT,
                fill=positive_definite,
                errors=INDEFINITE,
                variant="upper" if upper else "lower",
            )
            for upper in (False, True)
        ),
        case(
            "eigh",
            d,
            SQUARE,
            eigenvalues,
            OF_LOWER,
            fill=with_any_spectrum,
            output="eigenvalues",
            result=real,
            errors=NOT_FINITE,
        ),
        case(
            "eigh",
            d,
            SQUARE,
            eigenvector_truth,
            OF_LOWER,
            fill=with_any_spectrum,
            output="eigenvectors",
            measured=eigenvector_property,
        ),
        case(
            "eig",
            d,
            SQUARE,
            eigenpairs.eigenvalues,
            eigenpairs.OF_VALUES,
            fill=eigenpairs.of_any_form,
            output="eigenvalues",
            result=complex_dtype,
            measured=eigenpairs.value_property,
            errors=NOT_FINITE,
        ),
        case(
            "eig",
            d,
            SQUARE,
            eigenpairs.vector_truth,
            eigenpairs.OF_VECTORS,
            fill=eigenpairs.of_any_form,
            output="eigenvectors",
            result=complex_dtype,
            measured=eigenpairs.vector_property,
        ),
        case(
            "eigvals",
            d,
            SQUARE,
            eigenpairs.eigenvalues,
            eigenpairs.OF_VALUES,
            fill=eigenpairs.of_any_form,
            result=complex_dtype,
            measured=eigenpairs.value_property,
            errors=NOT_FINITE,
        ),
        case("eigvalsh", d, SQUARE, eigenvalues, OF_LOWER, fill=with_any_spectrum, result=real, errors=NOT_FINITE),
        *(
            case(
                "qr",
                d,
                RECTANGULAR.with_attributes(mode=mode),
                oracle,
                OF_SQUARE,
                output=output,
                measured=measured,
                variant=mode,
            )
            for mode in ("reduced", "complete")
            for output, oracle, measured in (("q", q_truth, q_property), ("r", r_truth, r_property))
        ),
        *(
            case(
                "svd",
                d,
                RECTANGULAR.with_attributes(full_matrices=full),
                oracle,
                OF_SQUARE,
                output=output,
                measured=measured,
                variant="full" if full else "",
            )
            for full in (False, True)
            for output, oracle, measured in (("u", u_truth, u_property), ("vh", vh_truth, vh_property))
        ),
        case(
            "svd",
            d,
            RECTANGULAR.with_attributes(full_matrices=False),
            singular_values,
            OF_NORM,
            output="s",
            result=real,
            errors=NOT_FINITE,
        ),
        case("svdvals", d, RECTANGULAR, singular_values, OF_NORM, result=real, errors=NOT_FINITE),
    )
]

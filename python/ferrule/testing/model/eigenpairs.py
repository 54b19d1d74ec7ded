"""Eigenvalues and eigenvectors of general matrices: inputs, the truth by LAPACK, and what all right results share.

Eigenvalues have no order: those of a result are compared in the order in which they are nearest to the truth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule.testing.model.dtypes import FORMATS, PARTS, Values, narrow
from ferrule.testing.model.exactness import Tolerance
from ferrule.testing.model.problem import Problem


def of_any_form(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Matrices whose eigenvalues are well-conditioned. In a third of the problems they are circulant, and so normal. In
    another third, they are not normal. In the last third, balancing has to isolate eigenvalues and to scale. Tiny
    elements are left out: balancing would enlarge them at the cost of the residuals (Watkins 2006)."""
    kind, n = rng.integers(0, 3), drawn.shape[-1]
    rows = rng.uniform(-1, 1, drawn.shape[:-1])
    if drawn.dtype.kind == "c":
        rows = rows + 1j * rng.uniform(-1, 1, rows.shape)
    isolated = n // 3 if kind == 2 else 0
    x, connected = np.zeros(drawn.shape, rows.dtype), n - isolated
    places = np.subtract.outer(np.arange(connected), np.arange(connected)) % max(connected, 1)
    x[..., :connected, :connected] = rows[..., places]
    if kind > 0:
        x += np.where(np.abs(drawn) < 1 / 64, 0, drawn) / 4
    if kind == 2:
        x[..., connected:, :] = 0
        x[..., range(connected, n), range(connected, n)] = np.sqrt(n) * (2 + np.arange(isolated))
        order, scales = rng.permutation(n), np.ldexp(np.ones(n), rng.integers(-1, 2, n))
        x = (x * scales / scales[:, None])[..., order, :][..., order]
    return x.astype(drawn.dtype)


def eigenvalues(x: Values) -> Values:
    values = np.linalg.eig(narrow(x)).eigenvalues
    return np.asarray(values.astype(np.result_type(x.dtype, np.complex64)))


def paired(values: Values, wanted: Values) -> Values:
    """The values of each matrix in an order in which they are near to the wanted ones."""
    ordered = np.empty_like(values)
    for index in np.ndindex(values.shape[:-1]):
        apart = np.abs(values[index] - wanted[index][:, None])
        for k in range(len(apart)):
            nearest = int(np.argmin(np.where(np.isnan(apart[k]), np.inf, apart[k])))
            ordered[(*index, k)] = values[(*index, nearest)]
            apart[:, nearest] = np.inf
    return ordered


def value_property(inputs: list[Values], attributes: dict[str, Any], values: Values) -> Values:
    """The eigenvalues in the order of the truth."""
    return paired(values, eigenvalues(inputs[0]))


def vector_property(inputs: list[Values], attributes: dict[str, Any], v: Values) -> Values:
    """The squared norms of the vectors, above their Rayleigh quotients in the order of the truth, above x V - V D,
    where D has the quotients."""
    x = inputs[0]
    products, squares = x @ v, np.sum(v.conj() * v, axis=-2)
    quotients = np.sum(v.conj() * products, axis=-2) / squares
    residuals = products - v * quotients[..., None, :]
    ordered = paired(quotients, eigenvalues(x))
    return np.concatenate([squares[..., None, :], ordered[..., None, :], residuals], axis=-2)


def vector_truth(x: Values) -> Values:
    values = eigenvalues(x)[..., None, :]
    return np.concatenate([np.ones_like(values), values, np.zeros(x.shape, values.dtype)], axis=-2)


def _conditions(x: Values) -> Values:
    """The condition numbers of the eigenvalues, in the order of the truth: norms of left eigenvectors whose products
    with the right ones are 1."""
    return np.asarray(np.linalg.norm(np.linalg.inv(np.linalg.eig(narrow(x)).eigenvectors), axis=-1))


def _backward_error(x: Values, dtype: str) -> Values:
    """Return the backward error of each matrix, doubled for LAPACK's own error in float64."""
    norms = np.linalg.svd(narrow(x), compute_uv=False).max(axis=-1, initial=1)
    return np.asarray(20 * max(x.shape[-1], 1) * 2.0 ** -FORMATS[PARTS[dtype]].digits * norms)


def _value_distances(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    x = inputs[0]
    return np.asarray(_backward_error(x, dtype)[..., None] * _conditions(x))


def _vector_distances(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    x = inputs[0]
    of_values = _value_distances(inputs, attributes, truth, dtype)[..., None, :]
    of_rows = np.broadcast_to(_backward_error(x, dtype)[..., None, None], truth.shape)
    return np.concatenate([of_rows[..., :1, :], of_values, of_rows[..., 2:, :]], axis=-2)


_REASON = "backward errors of a small multiple of n u |x|, times the condition of an eigenvalue (Golub & Van Loan, 7.2)"
OF_VALUES = Tolerance(_REASON, bound=_value_distances)
OF_VECTORS = Tolerance(_REASON, bound=_vector_distances)

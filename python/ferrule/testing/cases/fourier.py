"""Discrete Fourier transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import FORMATS, PARTS, Values
from ferrule.testing.model.exactness import Tolerance
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import Domain, Shape
from ferrule.testing.problems.fourier import transforms

DOMAIN = (Domain(-2, 2),)


def fft_complex(x: Values, axes: list[int], inverse: bool, scale: float) -> Values:
    """NumPy's, in the wide dtype."""
    transform = np.fft.ifftn if inverse else np.fft.fftn
    return np.asarray(transform(x, axes=axes, norm="forward" if inverse else "backward") * scale)


def fft_real(x: Values, axis: int, scale: float) -> Values:
    return np.asarray(np.fft.rfft(x, axis=axis) * scale)


def fft_to_real(x: Values, size: int, axis: int, scale: float) -> Values:
    return np.asarray(np.fft.irfft(x, n=size, axis=axis, norm="forward") * scale)


def bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    """A multiple of u log2 n times the norm of the result's line, of each axis (Higham, theorem 24.2)."""
    axes = attributes.get("axes", [attributes.get("axis")])
    roundoff = 2.0 ** -FORMATS[PARTS.get(dtype, dtype)].digits
    count = max(math.prod(max(x.shape[a] for x in (inputs[0], truth)) for a in axes), 2)
    if truth.size == 0:
        return np.zeros(truth.shape)
    # A convolution takes three transforms of about four times the length.
    norm = np.sqrt(np.sum(np.abs(truth) ** 2, axis=tuple(axes), keepdims=True)).astype(np.float64)
    return np.broadcast_to(4 * roundoff * (math.log2(count) + 4) * norm, truth.shape)


TOLERANCE = Tolerance("4 u (log2 n + 4) times the norm of the result: Higham, theorem 24.2", bound=bound)


def complex_problem(shape: Shape, axis: int) -> Problem:
    return Problem((shape,), {"axes": [axis], "inverse": sum(shape) % 2 == 1, "scale": 1.0})


def real_problem(shape: Shape, axis: int) -> Problem:
    return Problem((shape,), {"axis": axis, "scale": 0.5})


def to_real_problem(shape: Shape, axis: int) -> Problem:
    """The shape is that of the result."""
    place = axis % len(shape)
    half = tuple(n // 2 + 1 if k == place else n for k, n in enumerate(shape))
    return Problem((half,), {"size": shape[place], "axis": axis, "scale": 2.0})


SEVERAL = (
    Problem(((6, 5, 4),), {"axes": [0, 1, 2], "inverse": False, "scale": 0.25}),
    Problem(((2, 40, 3, 33),), {"axes": [-1, 1], "inverse": True, "scale": 1.0}),
    Problem(((5, 4),), {"axes": [], "inverse": False, "scale": 2.0}),
)
COMPLEX, REAL, TO_REAL = transforms(complex_problem, SEVERAL), transforms(real_problem), transforms(to_real_problem)


def case(op: str, dtype: str, result: str, family: Any, oracle: Any) -> Case:
    return Case(op, (dtype,), result, family, oracle, TOLERANCE, DOMAIN, signed_zeros=False, ordinary_only=True)


CASES = [
    *(case("fft_complex", d, d, COMPLEX, fft_complex) for d in PARTS),
    *(case("fft_real", real, d, REAL, fft_real) for d, real in PARTS.items()),
    *(case("fft_to_real", d, real, TO_REAL, fft_to_real) for d, real in PARTS.items()),
]

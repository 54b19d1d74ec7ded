"""`gradient` against NumPy's: spacings, coordinates, axes, orders and dtypes, eager and traced."""

from __future__ import annotations

from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

RNG = np.random.default_rng(3)
X = RNG.standard_normal((5, 7, 4))
PLACES = [np.cumsum(RNG.uniform(0.1, 2, size)) for size in X.shape]


STEPS = [("float16", 300), ("float16", 1e-4), ("float32", 1e20), ("float32", 1e-25), ("float64", 1e160)]


@each(("dtype", "step"), STEPS)
@each("edge_order", [1, 2])
def test_coordinates_may_be_far_apart_or_near(dtype: str, step: float, edge_order: int) -> None:
    places = fe.asarray(np.array([0, 1, 2, 5, 7]) * step, dtype=dtype)
    exact = np.asarray(places).astype("float64")
    got = fe.gradient(fe.asarray(exact / step, dtype=dtype), places, edge_order=edge_order)
    wanted = np.gradient(exact / step, exact, edge_order=edge_order) if step < 1e100 else np.full(5, 1 / step)
    np.testing.assert_allclose(np.asarray(got).astype("float64"), wanted, rtol=2e-3 if dtype == "float16" else 1e-6)


@each("edge_order", [1, 2])
@each(
    ("spacing", "axis"),
    [
        ((), None),
        ((0.5,), None),
        ((0.5, 2, 3.0), None),
        ((), 1),
        ((2.0,), -1),
        ((0.5, 2.0), (2, 0)),
        (tuple(PLACES), None),
        ((PLACES[1],), 1),
        ((PLACES[2], 0.25), (2, 0)),
    ],
)
@each("dtype", ["float64", "float32", "complex128", "int64"])
def test_derivatives_are_those_of_numpy(dtype: str, spacing: Any, axis: Any, edge_order: int) -> None:
    x = (X * 10).astype(dtype) if dtype != "complex128" else X + 1j * X[::-1]
    given = [fe.asarray(step) if isinstance(step, np.ndarray) else step for step in spacing]
    expected = np.gradient(x, *spacing, axis=axis, edge_order=edge_order)
    options: Any = {"axis": axis, "edge_order": edge_order}
    for call in (
        lambda y: fe.gradient(y, *given, **options),
        lambda y: np.gradient(y, *given, **options),
        fe.graph(lambda y: fe.gradient(y, *given, **options)),
    ):
        found = call(fe.asarray(x))
        assert isinstance(found, tuple) == isinstance(expected, tuple)
        pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
        for one, other in pairs:
            assert isinstance(one, fe.Array)
            assert one.dtype == ("float32" if dtype == "int64" else dtype)
            allowed = np.abs(other).max() * (1e-6 if one.itemsize == 4 else 1e-14)
            np.testing.assert_allclose(np.asarray(one), other, rtol=0, atol=allowed)


def test_two_elements_have_one_difference() -> None:
    for spacing in ((), (2.0,), (np.array([1.0, 4.0]),)):
        x = np.array([1.0, 7.0])
        given = [fe.asarray(step) if isinstance(step, np.ndarray) else step for step in spacing]
        np.testing.assert_allclose(np.asarray(fe.gradient(fe.asarray(x), *given)), np.gradient(x, *spacing))  # type: ignore[arg-type]


@each(
    ("call", "words"),
    [
        (lambda x: fe.gradient(x[:1]), r"gradient: axis 0 of \(1, 7, 4\) needs at least 2 elements"),
        (lambda x: fe.gradient(x[:2], axis=0, edge_order=2), "gradient: axis 0 of .* needs at least 3 elements"),
        (lambda x: fe.gradient(x, edge_order=3), "gradient: edge_order must be 1 or 2, not 3"),
        (lambda x: fe.gradient(x, 1.0, 2.0), "gradient: there are 2 spacings for 3 axes"),
        (lambda x: fe.gradient(x, fe.ones(3), axis=0), r"gradient: axis 0 has 5 elements, and its coordinates \(3,\)"),
        (lambda x: fe.gradient(x, axis=(0, 0)), "gradient: an axis is named twice"),
        (lambda x: fe.gradient(x, axis=3), "gradient: axis 3 is out of range for 3 dimensions"),
        (lambda x: fe.gradient(x, "a"), "gradient: the spacing must be a number, not 'a'"),
        (lambda x: fe.gradient([1.0, 2.0]), "gradient: takes arrays, not list"),
    ],
)
def test_wrong_arguments_are_named(call: Any, words: str) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=words):
        call(fe.asarray(X))

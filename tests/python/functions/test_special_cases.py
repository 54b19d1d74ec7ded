"""The special cases of the array API standard, for the public functions. The kit tests the ops of each device."""

from __future__ import annotations

import math
from collections.abc import Callable

import ferrule as fe
import numpy as np
import pytest
from ferrule.testing.model.dtypes import COMPLEX, FLOATS, PARTS
from ferrule.testing.running.array_conversion import values_of
from ferrule.testing.special_cases.conditions import agrees, covered
from ferrule.testing.special_cases.notation import entries

from tests.python.each import each


@each("dtype", [*FLOATS, *COMPLEX, "int8", "uint64"])
@each("shape", [(0,), (3, 0)])
def test_reductions_of_no_elements(dtype: str, shape: tuple[int, ...]) -> None:
    x = fe.zeros(shape, dtype=dtype)
    rows = shape[:-1]
    np.testing.assert_array_equal(values_of(fe.sum(x, axis=-1)), np.zeros(rows))
    np.testing.assert_array_equal(values_of(fe.prod(x, axis=-1)), np.ones(rows))
    np.testing.assert_array_equal(np.isnan(values_of(fe.mean(x, axis=-1)).astype(np.complex128)), np.ones(rows, bool))
    if dtype not in COMPLEX:
        assert np.isnan(values_of(fe.var(x, axis=-1)).astype(np.float64)).all()
        assert np.isnan(values_of(fe.std(x, axis=-1)).astype(np.float64)).all()
        for function in (fe.max, fe.min):
            with pytest.raises(fe.InvalidArgumentError, match=function.__name__):
                function(x, axis=-1)


def test_mean_of_no_complex_numbers_is_nan_in_both_parts() -> None:
    got = fe.mean(fe.zeros((0,), dtype="complex64")).item()
    assert isinstance(got, complex)
    assert math.isnan(got.real)
    assert math.isnan(got.imag)


@each("dtype", FLOATS)
@each("function", [fe.var, fe.std])
@each(("size", "correction"), [(1, 1), (2, 2), (2, 2.5), (3, 7), (5, 5.0)])
def test_variance_without_degrees_of_freedom_is_nan(
    dtype: str, function: Callable[..., fe.Array], size: int, correction: float
) -> None:
    x = fe.asarray(np.arange(2 * size, dtype=np.float32).reshape(2, size)).astype(dtype)
    assert np.isnan(values_of(function(x, axis=1, correction=correction)).astype(np.float64)).all()
    assert np.isfinite(values_of(function(x, axis=1, correction=size - 0.5)).astype(np.float64)).all()
    traced = fe.graph(lambda x: function(x, axis=1, correction=correction))
    assert np.isnan(values_of(traced(x)).astype(np.float64)).all()


@each("function", [fe.sum, fe.prod, fe.mean, fe.max, fe.min, fe.var, fe.std])
def test_reductions_propagate_nan(function: Callable[..., fe.Array]) -> None:
    x = np.full((67, 67), 0.5, np.float32)
    np.fill_diagonal(x, np.nan)
    for dtype in FLOATS:
        given = fe.asarray(x).astype(dtype)
        assert np.isnan(values_of(function(given, axis=0)).astype(np.float64)).all()
        assert np.isnan(values_of(function(given, axis=1)).astype(np.float64)).all()
        assert np.isnan(float(function(given).item()))


def test_all_and_any_of_no_elements() -> None:
    x = fe.zeros((2, 0), dtype="bool")
    assert fe.all(x).item() is True
    assert fe.any(x).item() is False
    assert fe.all(x, axis=1).tolist() == [True, True]
    assert fe.any(x, axis=1).tolist() == [False, False]


SPECIAL = [0.0, -0.0, 5e-324, -5e-324, 0.5, -0.5, 1.0, -2.75, 1e300, math.inf, -math.inf, math.nan, -math.nan]
ERRORS = {"OverflowError": OverflowError, "ValueError": ValueError}


@pytest.mark.parametrize(
    ("name", "convert"), [("__bool__", bool), ("__complex__", complex), ("__float__", float), ("__int__", int)]
)
def test_conversions_of_real_numbers(name: str, convert: Callable[[fe.Array], complex]) -> None:
    entry = entries()[name, False]
    for row in entry.rows:
        held = covered(entry, row, [np.array(SPECIAL)], 0)
        assert held.any(), row.text
        for value in np.array(SPECIAL)[held]:
            x = fe.asarray(np.array(value))
            if row.results[0] in ERRORS:
                with pytest.raises(ERRORS[row.results[0]]):
                    convert(x)
                continue
            got = complex(convert(x))
            parts = (got.real, got.imag)[: len(row.results)]
            for what, part in zip(row.results, parts, strict=True):
                good = agrees(what, np.array([part]), entry, [np.array([value])], np.zeros_like)
                assert good.all(), (row.text, value, got)


def test_conversions_of_bools() -> None:
    for value in (False, True):
        x = fe.asarray(np.array(value))
        for convert in (int, float, complex):
            got = convert(x)
            assert type(got) is convert
            assert got == convert(value)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_bool_of_complex_numbers(dtype: str) -> None:
    entry = entries()["__bool__", True]
    with np.errstate(over="ignore"):
        parts = np.array([(a, b) for a in SPECIAL for b in SPECIAL]).astype(PARTS[dtype])
    rows = [covered(entry, row, [parts[:, 0], parts[:, 1]], 0) for row in entry.rows]
    assert (rows[0] ^ rows[1]).all()
    for (a, b), is_false in zip(parts, rows[0], strict=True):
        z = np.zeros((), dtype)
        z.real, z.imag = a, b
        assert bool(fe.asarray(z)) is not bool(is_false), (a, b)
    for convert in (int, float):
        with pytest.raises(TypeError):
            convert(fe.asarray(np.array(1 + 2j, dtype)))


def test_real_beside_complex_numbers() -> None:
    """A real array beside a complex one has an imaginary part of +0."""
    x, z = fe.asarray(np.array([-0.0, 1.0], np.float32)), fe.asarray(np.array([-0.0 - 0.0j, 2 - 0.0j], np.complex64))
    got = values_of(x + z)
    assert np.signbit(got.real).tolist() == [True, False]
    assert np.signbit(got.imag).tolist() == [False, False]


@pytest.mark.parametrize("dtype", ["float32", "float64", *COMPLEX])
def test_traces_and_determinants(dtype: str) -> None:
    assert fe.linalg.trace(fe.zeros((0, 0), dtype=dtype)).item() == 0
    x = np.eye(3, dtype=dtype)
    for value, wanted in ((np.inf, np.inf), (-np.inf, -np.inf), (np.nan, np.nan)):
        x[1, 1] = value
        np.testing.assert_array_equal(values_of(fe.linalg.trace(fe.asarray(x))).real, wanted)
    x[1, 1], x[0, 0] = np.inf, -np.inf
    assert np.isnan(values_of(fe.linalg.trace(fe.asarray(x))).real)
    sign, logarithm = fe.linalg.slogdet(fe.zeros((2, 3, 3), dtype=dtype))
    np.testing.assert_array_equal(values_of(sign), [0, 0])
    np.testing.assert_array_equal(values_of(logarithm), [-np.inf, -np.inf])

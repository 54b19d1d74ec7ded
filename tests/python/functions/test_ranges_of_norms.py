"""Norms, deviations and means are right wherever they are in range, even if squares or sums are not.

The oracle computes in numbers scaled by a power of two, which is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ferrule as fe
import ml_dtypes
import numpy as np
import pytest

from tests.python.each import each

RANDOM = np.random.default_rng(7)
EXPONENTS = {"float32": (126, 100, 63, -70, -110), "float64": (1022, 700, 511, -530, -900), "bfloat16": (124, 100)}
EPSILON = {"float32": 2e-6, "float64": 1e-14, "bfloat16": 2e-2}
SCALES = [(dtype, exponent) for dtype, exponents in EXPONENTS.items() for exponent in exponents]


def numbers(dtype: str, exponent: int, shape: tuple[int, ...]) -> tuple[Any, Any, float]:
    """An array, what it is divided by a power of two, and that power."""
    wanted = np.dtype(getattr(ml_dtypes, dtype) if dtype == "bfloat16" else dtype)
    scaled = (RANDOM.uniform(0.5, 1.9, shape) * RANDOM.choice([-1, 1, 1], shape)).astype(wanted)
    power = float(2.0**exponent)
    return fe.asarray((scaled.astype("float64") * power).astype(wanted)), scaled.astype("float64"), power


def check(got: Any, exact: Any, power: float, dtype: str) -> None:
    """Compare with an exact result divided by the power; those beyond the range are infinite."""
    host = np.asarray(got).astype("float64")
    greatest = float(ml_dtypes.finfo(np.asarray(got).dtype).max) / power
    wanted = np.where(np.abs(exact) > greatest, np.sign(exact) * np.inf, exact)
    np.testing.assert_allclose(host / power, wanted, rtol=EPSILON[dtype])


def of_order(p: float) -> Callable[[Any, Any], Any]:
    return lambda x, axis: np.sum(np.abs(x) ** p, axis=axis) ** (1 / p)


def _without_nan(reduce: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The reduction of x with as many NaN behind it."""

    def reduce_more(x: Any, axis: Any) -> Any:
        first = axis[0] if isinstance(axis, tuple) else axis or 0
        return reduce(fe.concat([x, fe.full_like(x, math.nan)], axis=first), axis=axis)

    return reduce_more


NORMS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "mean": (lambda x, axis: fe.mean(x, axis=axis), lambda x, axis: x.mean(axis)),
    "std": (lambda x, axis: fe.std(x, axis=axis), lambda x, axis: x.std(axis)),
    "corrected std": (lambda x, axis: fe.std(x, axis=axis, correction=1), lambda x, axis: x.std(axis, ddof=1)),
    "nanstd": (lambda x, axis: fe.nanstd(x, axis=axis), lambda x, axis: x.std(axis)),
    "nanmean": (_without_nan(fe.nanmean), lambda x, axis: x.mean(axis)),
    "nanstd beside NaN": (_without_nan(fe.nanstd), lambda x, axis: x.std(axis)),
    "average": (
        lambda x, axis: fe.average(x, axis=axis, weights=abs(x)),
        lambda x, axis: np.sum(x * np.abs(x), axis=axis) / np.sum(np.abs(x), axis=axis),
    ),
    "norm": (lambda x, axis: fe.linalg.vector_norm(x, axis=axis), of_order(2)),
    "norm of order 3": (lambda x, axis: fe.linalg.vector_norm(x, axis=axis, ord=3), of_order(3)),
    "norm of order 1.5": (lambda x, axis: fe.linalg.vector_norm(x, axis=axis, ord=1.5), of_order(1.5)),
    "norm of order -2": (lambda x, axis: fe.linalg.vector_norm(x, axis=axis, ord=-2), of_order(-2)),
}


@each("scale", SCALES)
@each("name", NORMS)
@each("traced", [False, True])
def test_reductions_are_right_wherever_they_are_in_range(scale: tuple[str, int], name: str, traced: bool) -> None:
    dtype, exponent = scale
    function, exact = NORMS[name]
    for shape, axis in (((6,), None), ((5, 300), 1), ((300, 5), 0), ((3, 40, 7), (0, 2)), ((70_001,), None)):
        x, scaled, power = numbers(dtype, exponent, shape)
        f = fe.graph(lambda x, axis=axis: function(x, axis)) if traced else lambda x, axis=axis: function(x, axis)
        got = f(x)
        if dtype == "bfloat16" and np.asarray(got).size > 1:
            continue  # a bfloat16 result of few digits is compared where there is one
        tolerant = EPSILON[dtype] * (1 if scaled.size < 1000 else 20)
        host = np.asarray(got).astype("float64") / power
        wanted = exact(scaled, axis)
        greatest = float(ml_dtypes.finfo(np.asarray(got).dtype).max) / power
        wanted = np.where(np.abs(wanted) > greatest, np.sign(wanted) * np.inf, wanted)
        np.testing.assert_allclose(host, wanted, rtol=tolerant, atol=tolerant)


@each("scale", SCALES)
@each("epsilon", [0.0, 1e-5])
@each("width", [4, 33, 5000])
def test_normalized_rows_are_right_at_any_magnitude(scale: tuple[str, int], epsilon: float, width: int) -> None:
    dtype, exponent = scale
    x, scaled, power = numbers(dtype, exponent, (3, width))
    ordinary = RANDOM.uniform(-1, 1, width)  # rows do not change each other
    x = fe.concat([x, fe.asarray(ordinary[None], dtype=x.dtype)])
    scaled = np.concatenate([scaled, ordinary.astype(x.dtype).astype("float64")[None]])
    scaled_epsilon = epsilon / power**2 if abs(exponent) < 512 else epsilon * (0 if exponent > 0 else 1e300)
    added = np.array([[scaled_epsilon]] * 3 + [[epsilon]])
    centered = scaled - scaled.mean(1, keepdims=True)
    with np.errstate(over="ignore"):
        wanted = centered / np.sqrt(scaled.var(1, keepdims=True) + added)
        root = scaled / np.sqrt((scaled**2).mean(1, keepdims=True) + added)
    tolerance = {"rtol": 20 * EPSILON[dtype], "atol": 20 * EPSILON[dtype]}
    np.testing.assert_allclose(np.asarray(fe.layer_norm(x, epsilon=epsilon)).astype("float64"), wanted, **tolerance)
    np.testing.assert_allclose(np.asarray(fe.rms_norm(x, epsilon=epsilon)).astype("float64"), root, **tolerance)


@each("value", [("float32", 2.0**126), ("float64", 2.0**1022), ("bfloat16", 2.0**127), ("float32", 2.0**-140)])
@each("width", [4, 64, 4096])
def test_a_row_of_equal_elements_is_normalized_to_zeros(value: tuple[str, float], width: int) -> None:
    x = fe.full((2, width), value[1], dtype=value[0])
    assert not np.asarray(fe.layer_norm(x)).any()


@each("value", [("float32", 3e38), ("float64", 1e308), ("bfloat16", 3e38)])
@each("keys", [4, 300])
def test_attention_to_large_values_is_their_mean(value: tuple[str, float], keys: int) -> None:
    """Sums of other columns stay as they are."""
    dtype, greatest = value
    values = np.full((keys, 3), greatest)
    values[:, 1], values[:, 2] = 1e-30, np.arange(keys)
    values[1, 2] = np.inf
    q, k, v = (fe.asarray(x, dtype=dtype) for x in (np.ones((2, 2)), np.ones((keys, 2)), values))
    got = np.asarray(fe.scaled_dot_product_attention(q, k, v)).astype("float64")
    wanted = [float(v[0, 0]), float(v[0, 1]), np.inf]
    np.testing.assert_allclose(got, [wanted, wanted], rtol=EPSILON[dtype] * 20)


@each("dtype", ["complex64", "complex128"])
def test_complex_norms_and_means_are_right_wherever_they_are_in_range(dtype: str) -> None:
    large = 2.0 ** (126 if dtype == "complex64" else 1022)
    x = np.array([1 + 1j, 1 - 0.5j, 0.25j] * 50, dtype) * np.dtype(dtype).type(large)
    scaled = x / large
    np.testing.assert_allclose(np.asarray(fe.mean(fe.asarray(x))) / large, scaled.mean(), rtol=1e-5)
    small = fe.asarray(x[:3] / 4)
    assert np.asarray(fe.linalg.vector_norm(small)) / large == pytest.approx(np.linalg.norm(scaled[:3]) / 4, rel=1e-5)


def test_matrix_norms_and_masked_deviations_of_large_numbers_are_right() -> None:
    x = np.array([[3.0, 0.0], [0.0, -4.0]]) * 1e200
    assert fe.linalg.matrix_norm(fe.asarray(x)).item() == pytest.approx(5e200)
    assert fe.asarray(x).std(where=fe.asarray(x) != 0).item() == pytest.approx(3.5e200)
    assert fe.asarray(x).std(mean=fe.asarray([[0.0]], dtype="float64")).item() == pytest.approx(2.5e200)


@each("dtype", ["float32", "float64"])
def test_differences_and_products_with_powers_of_ten_may_leave_the_range(dtype: str) -> None:
    large, tiny = (float(number) for number in (np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal))
    x = fe.asarray([-large, large, large, -large], dtype=dtype)
    assert fe.gradient(x).tolist() == [math.inf, large, -large, -math.inf]
    assert fe.gradient(x, 4.0).tolist() == [large / 2, large / 4, -large / 4, -large / 2]
    edges = fe.gradient(x, 8.0, edge_order=2)[np.array([0, 3])].tolist()
    assert edges == pytest.approx([3 * (large / 8), -3 * (large / 8)], rel=EPSILON[dtype])
    for decimals in (2, 40, 400):
        assert fe.round(x, decimals).tolist() == x.tolist()
    assert fe.round(fe.asarray([1.5, tiny, 0.0, -math.inf], dtype=dtype), 400).tolist() == [1.5, tiny, 0, -math.inf]
    assert fe.round(x, -400).tolist() == [0] * 4
    assert fe.average(fe.asarray([1, 3], dtype=dtype), weights=fe.asarray([tiny] * 2, dtype=dtype)).item() == 2


def test_what_is_not_in_range_stays_infinite_or_nan() -> None:
    x = np.array([[1e30, 1e30], [np.inf, 1], [-np.inf, np.inf], [np.nan, 1e30], [0, 0]], "float32")
    np.testing.assert_array_equal(np.asarray(fe.var(fe.asarray(x), axis=1)), [0, np.nan, np.nan, np.nan, 0])
    assert np.isinf(fe.var(fe.asarray([1e30, -1e30])).item())
    np.testing.assert_array_equal(
        np.asarray(fe.linalg.vector_norm(fe.asarray(x), axis=1))[1:], np.float32([np.inf, np.inf, np.nan, 0])
    )
    means = [np.float32(1e30), np.inf, np.nan, np.nan, 0]
    np.testing.assert_array_equal(np.asarray(fe.mean(fe.asarray(x), axis=1)), means)

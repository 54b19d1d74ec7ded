"""Composites of half-precision inputs are computed in float32 and rounded once, so intermediates may exceed a half's
range.

The reference is NumPy in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ferrule as fe
import ml_dtypes
import numpy as np
import pytest
from ferrule.op_rows import OP_ROWS
from numpy.typing import NDArray

from tests.python.each import each

FLOAT16, BFLOAT16 = np.dtype("float16"), np.dtype(ml_dtypes.bfloat16)
Host = NDArray[Any]
Wide = NDArray[np.float64]
RANDOM = np.random.default_rng(5)


@pytest.fixture(params=[FLOAT16, BFLOAT16], ids=str)
def half(request: pytest.FixtureRequest) -> np.dtype[Any]:
    dtype: np.dtype[Any] = request.param
    return dtype


def close(got: object, exact: Wide, dtype: np.dtype[Any], error: float = 2.0**-16, absolute: float = 0) -> None:
    """Allows one rounding of the exact result and the float32 steps' `error`, relative to the result; overflow gives
    infinity."""
    host = np.asarray(got)
    assert host.dtype == dtype
    finfo = ml_dtypes.finfo(dtype)
    rounding, least = float(finfo.eps) / 2 + error, float(finfo.smallest_subnormal) / 2 + absolute
    greatest = float(finfo.max)
    wide = host.astype("float64")
    exact = np.asarray(exact, "float64")
    np.testing.assert_array_equal(np.isnan(wide), np.isnan(exact))
    beyond = np.abs(exact) > greatest * (1 + float(finfo.eps) / 4)
    np.testing.assert_array_equal(np.isinf(wide), beyond)
    np.testing.assert_array_equal(np.sign(wide[beyond]), np.sign(exact[beyond]))
    inside = ~beyond & ~np.isnan(exact)
    assert np.all(np.abs(wide - exact)[inside] <= (rounding * np.abs(exact) + least * 1.01)[inside])


def rows_of(half: np.dtype[Any]) -> dict[str, Host]:
    """Rows whose squares, sums or means overflow or underflow a half."""
    wide: dict[str, Any] = {
        "a square is too large": [60000, -20000, 0],
        "a sum is too large": [65000, 64000, 63000, 60000] * 8,
        "a square is too small": [1e-4, -2e-4, 3e-4, 0],
        "far from zero": 2048 + np.arange(0, 64, 16),
        "a large mean, small distances": np.where(np.arange(400) % 2 == 0, 30000, 30016),
        "long": RANDOM.standard_normal(5000) * 300,
        "ordinary": RANDOM.standard_normal(64),
    }
    return {name: np.array(values).astype(half) for name, values in wide.items()}


ROWS = list(rows_of(FLOAT16))


@pytest.fixture(params=ROWS)
def row(request: pytest.FixtureRequest, half: np.dtype[Any]) -> Host:
    return rows_of(half)[request.param]


def test_std_of_halves_whose_variance_overflows_is_right() -> None:
    x = np.array([60000, -20000, 0], "float16")
    assert np.isinf(fe.var(fe.asarray(x)).item())
    assert fe.std(fe.asarray(x)).item() == float(np.float16(x.astype("float64").std()))


@each("traced", [False, True])
def test_statistics_of_large_halves_are_right(row: Host, half: np.dtype[Any], traced: bool) -> None:
    wide = row.astype("float64")
    functions: dict[str, tuple[Callable[[fe.Array], fe.Array], Any]] = {
        "mean": (fe.mean, wide.mean()),
        "var": (fe.var, wide.var()),
        "std": (fe.std, wide.std()),
        "corrected": (lambda x: fe.std(x, correction=1), wide.std(ddof=1)),
        "norm": (fe.linalg.vector_norm, np.sqrt((wide**2).sum())),  # of the op sum_of_squares
        "kept": (lambda x: fe.std(x, axis=0, keepdims=True), wide.std(keepdims=True)),
    }
    # float32 loses as much of the differences as of the mean: relative to the largest element.
    lost = 2.0**-20 * np.abs(wide).max() / max(wide.std(), 1e-30)
    for function, exact in functions.values():
        close((fe.graph(function) if traced else function)(fe.asarray(row)), exact, half, 2.0**-16 + lost)


def test_deviation_along_each_axis(half: np.dtype[Any]) -> None:
    host = (RANDOM.standard_normal((7, 11, 13)) * 500).astype(half)
    wide = host.astype("float64")
    for axis in (None, 0, 1, -1, (0, 2)):
        close(fe.std(fe.asarray(host), axis=axis), np.asarray(wide.std(axis)), half)
    close(fe.std(fe.asarray(host), axis=()), np.zeros(host.shape), half)


# Kernels handle rows along the last axis; decompositions handle other axes and longer rows.
@each("axis", [-1, 0])
def test_row_ops_of_large_halves_are_right(row: Host, half: np.dtype[Any], axis: int) -> None:
    host = np.stack([row, row[::-1]], axis=0 if axis == -1 else 1)
    x, wide = fe.asarray(host), host.astype("float64")
    shifted = wide - wide.max(axis, keepdims=True)
    total = np.exp(shifted).sum(axis, keepdims=True)
    # Row kernels compute in float32, where an exponential below the smallest normal number may be 0.
    close(fe.softmax(x, axis=axis), np.exp(shifted) / total, half, absolute=2.0**-126)
    # The logarithm of a sum slightly above 1 has the absolute error of the sum.
    close(fe.log_softmax(x, axis=axis), shifted - np.log(total), half, absolute=2.0**-22)


def test_layer_norm_of_large_halves_is_right(row: Host, half: np.dtype[Any]) -> None:
    host = np.stack([row, row[::-1]])
    wide = host.astype("float64")
    weight, bias = (RANDOM.standard_normal(row.size).astype(half) for _ in range(2))
    centred = wide - wide.mean(-1, keepdims=True)
    normal = centred / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    exact = normal * weight.astype("float64") + bias.astype("float64")
    got = np.asarray(fe.layer_norm(fe.asarray(host), fe.asarray(weight), fe.asarray(bias)))
    assert got.dtype == half
    step = float(ml_dtypes.finfo(half).eps)
    lost = 2.0**-20 * np.abs(wide).max() / max(wide.std(-1).min(), 1e-30)
    np.testing.assert_allclose(got.astype("float64"), exact, rtol=step / 2 + 1e-5, atol=1e-5 + lost)


def test_rms_norm_of_large_halves_is_right(row: Host, half: np.dtype[Any]) -> None:
    host = np.stack([row, row[::-1]])
    wide = host.astype("float64")
    weight = RANDOM.standard_normal(row.size).astype(half)
    exact = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-5) * weight.astype("float64")
    got = np.asarray(fe.rms_norm(fe.asarray(host), fe.asarray(weight)))
    assert got.dtype == half
    step = float(ml_dtypes.finfo(half).eps)
    np.testing.assert_allclose(got.astype("float64"), exact, rtol=step / 2 + 1e-5, atol=1e-5)


@each("size", [16, 300])  # 300 is longer than the kernel supports
@each("masked", [False, True])
def test_attention_with_scores_beyond_half_range_is_right(size: int, masked: bool, half: np.dtype[Any]) -> None:
    q, k, v = (RANDOM.standard_normal((2, 9, size)) * scale for scale in (40, 40, 1000))
    q, k, v = (x.astype(half) for x in (q, k, v))
    mask = RANDOM.integers(0, 2, (9, 9)).astype(bool) | np.eye(9, dtype=bool)
    wide_q, wide_k, wide_v = (x.astype("float64") for x in (q, k, v))
    scores = wide_q @ wide_k.swapaxes(-1, -2) / np.sqrt(size)
    if masked:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    exact = e / e.sum(-1, keepdims=True) @ wide_v
    inputs = [fe.asarray(x) for x in ((q, k, v, mask) if masked else (q, k, v))]
    got = np.asarray(fe.scaled_dot_product_attention(*inputs))
    assert got.dtype == half
    # A score has the error of a float32 sum, which the exponential makes relative.
    lost = np.abs(scores[np.isfinite(scores)]).max() * 2.0**-20
    np.testing.assert_allclose(
        got.astype("float64"), exact, rtol=float(ml_dtypes.finfo(half).eps), atol=lost * np.abs(wide_v).max()
    )


ELEMENTWISE: dict[str, tuple[Callable[[fe.Array], fe.Array], Callable[[Wide], Any]]] = {
    "silu": (fe.silu, lambda x: x / (1 + np.exp(-x))),
    "gelu": (lambda x: fe.gelu(x, approximate="tanh"), lambda x: 0.5 * x * (1 + np.tanh(_inner(x)))),
    "square": (fe.square, np.square),
    "reciprocal": (fe.reciprocal, lambda x: 1 / x),
    "relu": (fe.relu, lambda x: np.maximum(x, 0)),
    "rsqrt": (lambda x: fe.rsqrt(fe.abs(x)), lambda x: 1 / np.sqrt(np.abs(x))),
    "clip": (lambda x: fe.clip(x, -2, 3), lambda x: np.clip(x, -2, 3)),
}


def _inner(x: Wide) -> Wide:
    return np.asarray(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))


@each("name", ELEMENTWISE)
def test_elementwise_composites_of_large_halves_are_right(name: str, half: np.dtype[Any]) -> None:
    ours, exact = ELEMENTWISE[name]
    host = np.concatenate([[60000, -60000, 300, -300, 256, 1e-4, -1e-4], RANDOM.standard_normal(500)]).astype(half)
    with np.errstate(all="ignore"):
        wide = np.asarray(exact(host.astype("float64")))
    # Where tanh is close to -1, float32 has lost most of the remaining digits: relative to x.
    close(ours(fe.asarray(host)), wide, half, 2.0**-7 if name == "gelu" else 2.0**-16)


def test_linear_whose_products_leave_half_range_is_right(half: np.dtype[Any]) -> None:
    x, w = np.full((3, 4), 256, half), np.array([[256, 256, -256, -255], [0, 1, 0, 0]], half)
    np.testing.assert_array_equal(np.asarray(fe.linear(fe.asarray(x), fe.asarray(w))), np.full((3, 2), 256, half))


@each("interleaved", [False, True])
def test_rope_of_large_halves_is_right(interleaved: bool, half: np.dtype[Any]) -> None:
    x, table = np.full((2, 4), 60000, half), np.array([1e-4, 1], half)
    y = np.asarray(fe.rope(*map(fe.asarray, (x, table, table)), interleaved=interleaved)).astype("float64")
    wide = x.astype("float64")[:, :2] * table.astype("float64")
    pairs = (y[:, 0::2], y[:, 1::2]) if interleaved else (y[:, :2], y[:, 2:])
    np.testing.assert_array_equal(pairs[0], np.zeros((2, 2)))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(pairs[1], (2 * wide).astype(half).astype("float64"))


def test_every_composite_has_a_test_here() -> None:
    """Every composite op must be tested with values that overflow or underflow a half on the way."""
    tried = {"mean", "var", "softmax", "log_softmax", "layer_norm", "rms_norm", "scaled_dot_product_attention"}
    tried |= {"linear", "rope"}
    tried |= {"sum_of_squares", "random_bits", "matmul_integer"}  # the last two are of integers
    tried |= set(ELEMENTWISE)
    composite = {name for name, row in OP_ROWS.items() if row["kind"] == "composite"}
    assert composite <= tried


@each("step", [0.1, 0.25, 3.0])
def test_arange_uses_steps_beyond_half_precision(step: float, half: np.dtype[Any]) -> None:
    for first, last in ((0, 30), (1000, 1030), (-250.5, -200)):
        exact = np.arange(first, last, step)
        np.testing.assert_array_equal(np.asarray(fe.arange(first, last, step, dtype=half)), exact.astype(half))
    np.testing.assert_array_equal(
        np.asarray(fe.arange(1e6, 1e6 + 10, step, dtype="float32")), np.arange(1e6, 1e6 + 10, step).astype("float32")
    )


def test_linspace_rounds_once(half: np.dtype[Any]) -> None:
    exact = np.linspace(1000, 1010, 77)
    np.testing.assert_array_equal(np.asarray(fe.linspace(1000, 1010, 77, dtype=half)), exact.astype(half))
    assert np.isinf(np.asarray(fe.linspace(0, 1e39, 3, dtype=half))[-1])

"""float16 and bfloat16, against NumPy, ml_dtypes and float64."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ferrule as fe
import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.python.each import each

FLOAT16, BFLOAT16 = np.dtype("float16"), np.dtype(ml_dtypes.bfloat16)
HALVES = [FLOAT16, BFLOAT16]
RANDOM = np.random.default_rng(11)
EVERY = np.arange(65536, dtype=np.uint16)


@pytest.fixture(params=HALVES, ids=str)
def half(request: pytest.FixtureRequest) -> np.dtype[Any]:
    dtype: np.dtype[Any] = request.param
    return dtype


def normal(shape: tuple[int, ...] | int, dtype: np.dtype[Any]) -> NDArray[Any]:
    return RANDOM.standard_normal(shape, "float32").astype(dtype)


def same_bits(got: fe.Array, expected: NDArray[Any]) -> None:
    """Compares bits, except those of NaN."""
    host = np.asarray(got)
    assert host.dtype == expected.dtype
    assert host.shape == expected.shape
    nan = np.isnan(expected.astype("float32"))
    np.testing.assert_array_equal(np.isnan(host.astype("float32")), nan)
    np.testing.assert_array_equal(np.where(nan, 0, host.view(np.uint16)), np.where(nan, 0, expected.view(np.uint16)))


def rounding(dtype: np.dtype[Any]) -> float:
    """The largest relative error of one rounding."""
    return 2.0**-11 if dtype == FLOAT16 else 2.0**-8


# ---- dtypes


def test_dtypes_match_numpy_and_ml_dtypes() -> None:
    assert fe.float16 is FLOAT16
    assert fe.bfloat16 == BFLOAT16
    assert fe.zeros(3, dtype="bfloat16").dtype == BFLOAT16
    assert fe.zeros(3, dtype=ml_dtypes.bfloat16).dtype == BFLOAT16


@each(
    ("left", "right", "result"),
    [
        ("float16", "float16", "float16"),
        ("bfloat16", "bfloat16", "bfloat16"),
        ("float16", "bfloat16", "float32"),
        ("float16", "float32", "float32"),
        ("bfloat16", "float64", "float64"),
        ("bfloat16", "int64", "bfloat16"),
        ("uint8", "float16", "float16"),
        ("bool", "bfloat16", "bfloat16"),
    ],
)
def test_promotion_matches_the_table(left: str, right: str, result: str) -> None:
    for a, b in ((left, right), (right, left)):
        assert (fe.ones(2, dtype=a) + fe.ones(2, dtype=b)).dtype == fe.zeros((), dtype=result).dtype


def test_ferrule_imports_ml_dtypes_with_the_first_bfloat16(run_python: Callable[..., object]) -> None:
    program = """
import sys, numpy as np, ferrule as fe
assert "ml_dtypes" not in sys.modules
y = fe.sum(fe.ones((2, 3), dtype="float16") * 2.5).item()
assert y == 15 and "ml_dtypes" not in sys.modules
x = fe.full((2,), 1.5, dtype="bfloat16")
assert np.asarray(x).dtype.name == "bfloat16" and "ml_dtypes" in sys.modules
"""
    run_python(program)


def test_missing_ml_dtypes_affects_only_bfloat16_with_an_explanation(run_python: Callable[..., object]) -> None:
    program = """
import sys
sys.modules["ml_dtypes"] = None  # as if it were not installed
import ferrule as fe
assert fe.sum(fe.ones(3, dtype="float16")).item() == 3
for use in (lambda: fe.bfloat16, lambda: fe.ones(3, dtype="bfloat16"), lambda: fe.ones(3).astype("bfloat16")):
    try:
        use()
    except fe.UnsupportedError as error:
        assert "ml_dtypes" in str(error), error
    else:
        raise AssertionError("no error")
"""
    run_python(program)


# ---- import and export


def test_memory_is_borrowed(half: np.dtype[Any]) -> None:
    host = normal((5, 64), half)
    host.flags.writeable = False
    x = fe.asarray(host, copy=False)
    assert x.placement == "borrowed"
    assert np.shares_memory(np.asarray(x), host)
    same_bits(x[::2, 1:], host[::2, 1:])
    assert x[1, 2].item() == float(host[1, 2])
    assert x.tolist() == host.tolist()
    assert str(half) in repr(x)


def test_every_half_round_trips(half: np.dtype[Any]) -> None:
    np.testing.assert_array_equal(np.asarray(fe.asarray(EVERY.view(half))).view(np.uint16), EVERY)


@pytest.mark.parametrize("make", [fe.arange, fe.eye], ids=["arange", "eye"])
def test_creation(make: Callable[..., fe.Array], half: np.dtype[Any]) -> None:
    expected = np.arange(5) if make is fe.arange else np.eye(5)
    for dtype in (half, half.name):
        same_bits(make(5, dtype=dtype), expected.astype(half))
    same_bits(fe.asarray([1.5, -2, 1e-3], dtype=half.name), np.array([1.5, -2, 1e-3], half))
    same_bits(fe.linspace(0, 1, 5, dtype=half.name), np.linspace(0, 1, 5).astype(half))
    assert fe.host_empty((2, 3), half.name).dtype == half


def test_dlpack_both_ways(half: np.dtype[Any]) -> None:
    x = fe.asarray(normal((4, 6), half))
    again = fe.from_dlpack(x[1:, ::2])
    same_bits(again, np.asarray(x)[1:, ::2])
    through = _Producer(x)
    same_bits(fe.from_dlpack(through), np.asarray(x))
    if half == FLOAT16:
        same_bits(fe.from_dlpack(np.asarray(x)), np.asarray(x))
        assert np.from_dlpack(x).dtype == half


class _Producer:
    """A type that ferrule does not recognise, so that the capsule is really read."""

    def __init__(self, array: fe.Array) -> None:
        self.array = array

    def __dlpack__(self, **arguments: Any) -> object:
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("at", [0, 1], ids=["aligned", "unaligned"])
def test_safetensors(at: int, half: np.dtype[Any], tmp_path: Path) -> None:
    host = normal((3, 4), half)
    name = "F16" if half == FLOAT16 else "BF16"
    header = {
        "b": {"dtype": "U8", "shape": [at], "data_offsets": [0, at]},
        "h": {"dtype": name, "shape": [3, 4], "data_offsets": [at, at + 24]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = tmp_path / "halves.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(at) + host.tobytes())
    same_bits(fe.io.open_safetensors(path)["h"], host)


def test_saved_graphs_keep_half_constants(half: np.dtype[Any]) -> None:
    weight, x = normal((8, 4), half), normal((3, 8), half)
    graph = fe.Graph()
    given = graph.input((3, 8), half)
    graph.output(fe.matmul(given, graph.constant(weight)) * 2.5 + 0.1)
    again = fe.Graph.from_bytes(graph.to_bytes())
    same_bits(again.compute(x), np.asarray(graph.compute(x)))
    assert half.name in str(graph)


# ---- casts


@each("other", ["float32", "float64", "bool", "int8", "int32", "int64", "uint8", "uint16"])
def test_casts_of_every_half(other: str, half: np.dtype[Any]) -> None:
    host = EVERY.view(half)
    with np.errstate(invalid="ignore"):  # of signalling NaN
        wide = host.astype("float64")
    if other.startswith(("i", "u")):  # saturates; NumPy's result depends on the processor
        limits = np.iinfo(other)
        inside = np.where(np.isnan(wide) | (wide >= limits.max), 0, np.maximum(wide, limits.min)).astype(other)
        expected = np.where(wide >= limits.max, limits.max, inside).astype(other)
    else:
        with np.errstate(invalid="ignore"):
            expected = wide.astype(other)
    np.testing.assert_array_equal(np.asarray(fe.asarray(host).astype(other)), expected)


def test_float32_rounds_as_numpy_and_ml_dtypes_do(half: np.dtype[Any]) -> None:
    bits = RANDOM.integers(0, 1 << 32, 200_000, dtype=np.uint32)
    near = np.concatenate([EVERY.view(half).astype("float32").view(np.int32) + step for step in (-1, 0, 1)])
    host = np.concatenate([bits, near.view(np.uint32)]).view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        same_bits(fe.asarray(host).astype(half), host.astype(half))


def test_float64_rounds_once() -> None:
    host = np.array([1 + 2.0**-11 + 2.0**-40, 2.0**-25 * (1 + 2.0**-40), 65520 - 2.0**-20, 65520, -1e300, np.nan])
    with np.errstate(over="ignore"):
        same_bits(fe.asarray(host).astype("float16"), host.astype("float16"))
    above = 1 + 2.0**-8 + 2.0**-40  # a tie of two bfloat16 in float32, but not in float64
    assert fe.asarray(np.array(above)).astype("bfloat16").item() == 1 + 2.0**-7
    assert fe.asarray(np.array(2**62 + 2**54 + 1)).astype("bfloat16").item() == 2.0**62 + 2.0**55


def test_python_scalars_are_weak_and_round_once(half: np.dtype[Any]) -> None:
    x = fe.asarray(normal(50, half))
    host = np.asarray(x)
    for result in (x * 2.5, 2.5 * x, x + 1, x**2, x / 3, True + x):
        assert result.dtype == half
    same_bits(x * 2.5, (host.astype("float32") * np.float32(2.5)).astype(half))
    same_bits(x / 3, (host.astype("float32") / np.float32(3)).astype(half))
    above = 1 + rounding(half) + 2.0**-40  # rounds up from float64, to even from float32
    wanted = 1 + 2 * rounding(half)
    assert (fe.zeros(1, dtype=half) + above).item() == wanted
    assert fe.full((), above, dtype=half).item() == wanted
    assert fe.graph(lambda x: x + above)(fe.zeros(1, dtype=half)).item() == wanted
    assert (fe.ones(2, dtype="float16") * 0.1 * fe.ones(2, dtype="bfloat16")).dtype == fe.float32
    three = fe.where(fe.asarray([True]), 0.1, fe.zeros(1, dtype=half))
    assert three.dtype == half
    assert np.isinf(fe.full((), 1e300, dtype=half).item())
    assert np.isnan(fe.full((), float("nan"), dtype=half).item())


# ---- ops

UNARY: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "negative": np.negative,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sin": np.sin,
    "floor": np.floor,
    "square": np.square,
    "sign": np.sign,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: np.where(x == -np.inf, -0.0, x / (1 + np.exp(-x))),  # its limit
}


@each("op", UNARY)
def test_elementwise_functions_of_every_half(op: str, half: np.dtype[Any]) -> None:
    host = EVERY.view(half)
    with np.errstate(all="ignore"):
        exact = UNARY[op](host.astype("float64"))
        expected = exact.astype("float32").astype(half)
    got = np.asarray(getattr(fe, op)(fe.asarray(host)))
    assert got.dtype == half
    # Computed in float32 to a few of its ULP and rounded: the nearest half, or its neighbour near a tie.
    differ = (got.view(np.uint16) != expected.view(np.uint16)) & ~np.isnan(exact)
    if op in ("negative", "abs", "floor", "square", "sign", "relu", "sqrt"):
        assert not np.any(differ & (exact != 0))
    np.testing.assert_array_equal(np.isnan(got.astype("float32")), np.isnan(exact))
    left, right = (values.view(np.uint16)[differ].astype("int64") for values in (got, expected))
    negligible = np.abs(exact[differ]) < float(np.finfo(np.float32).tiny) * 2  # subnormal results may become zero
    assert np.all((np.abs(left - right) <= 1) | negligible)
    assert np.mean(differ & (exact != 0)) < 0.01


@each("op", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_comparisons(op: str, half: np.dtype[Any]) -> None:
    a, b = EVERY.view(half), RANDOM.permutation(EVERY).view(half)
    with np.errstate(invalid="ignore"):  # of signalling NaN
        expected = getattr(np, op)(a.astype("float64"), b.astype("float64"))
    np.testing.assert_array_equal(np.asarray(getattr(fe, op)(fe.asarray(a), fe.asarray(b))), expected)


def test_fused_halves_match_unfused_bit_for_bit(half: np.dtype[Any]) -> None:
    def chain(x: fe.Array, y: fe.Array) -> fe.Array:
        z = fe.exp(x * y - 1.5) + fe.where(x > 0, x, y)
        return fe.gelu(z / 3) * z.astype("float32").astype(half) + fe.clip(z, -1, 0.7)

    x, y = fe.asarray(normal((33, 70), half)), fe.asarray(normal(70, half))
    traced = fe.graph(chain).trace(x, y)
    fused, single = (np.asarray(traced.compile(fuse=fuse).compute(x, y)) for fuse in (True, False))
    np.testing.assert_array_equal(fused.view(np.uint16), single.view(np.uint16))


def test_movement(half: np.dtype[Any]) -> None:
    host = normal((6, 5, 4), half)
    x = fe.asarray(host)
    same_bits(fe.permute_dims(x, (2, 0, 1)) * 1, host.transpose(2, 0, 1).copy())
    same_bits(fe.concat([x, x[:2]]), np.concatenate([host, host[:2]]))
    same_bits(fe.pad(x, 1, value=2.5), np.pad(host, 1, constant_values=2.5))
    same_bits(fe.take(x, [3, 0, -1], axis=1), host.take([3, 0, -1], axis=1))
    same_bits(fe.flip(x, axis=0), np.flip(host, 0))
    same_bits(fe.broadcast_to(x[:, :1], (6, 5, 4)) * 1, np.broadcast_to(host[:, :1], (6, 5, 4)).copy())
    same_bits(fe.where(x > 0, x, 0.5), np.where(host > 0, host, half.type(0.5)))


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T,
    "every other": lambda x: x[::2, 1::3],
    "reversed": lambda x: x[::-1],
}


@each("layout", LAYOUTS)
@each("axis", [None, 0, 1])
def test_reductions_accumulate_in_float32(axis: int | None, layout: str, half: np.dtype[Any]) -> None:
    host = LAYOUTS[layout](normal((300, 420), half))
    x, wide = fe.asarray(host), host.astype("float64")
    count = host.size if axis is None else host.shape[axis]
    # One rounding of the result, and for float32 sums at most one rounding per addend.
    bound = rounding(half) * 1.01 * np.abs(wide.sum(axis)) + count * 2.0**-24 * np.abs(wide).sum(axis)
    total = np.asarray(fe.sum(x, axis=axis))
    assert total.dtype == half
    assert np.all(np.abs(total.astype("float64") - wide.sum(axis)) <= bound)
    mean = np.asarray(fe.mean(x, axis=axis)).astype("float64")
    assert np.all(np.abs(mean - wide.mean(axis)) <= bound / count)
    np.testing.assert_allclose(
        np.asarray(fe.var(x, axis=axis)).astype("float64"), wide.var(axis), rtol=rounding(half) + 1e-4
    )
    same_bits(fe.max(x, axis=axis), np.asarray(wide.max(axis)).astype(half))
    same_bits(fe.min(x, axis=axis), np.asarray(wide.min(axis)).astype(half))
    np.testing.assert_array_equal(np.asarray(fe.argmax(x, axis=axis)), wide.argmax(axis))
    np.testing.assert_array_equal(np.asarray(fe.argmin(x, axis=axis)), wide.argmin(axis))
    np.testing.assert_array_equal(np.asarray(fe.any(x > 2, axis=axis)), (wide > 2).any(axis))


def test_sums_with_intermediates_beyond_half_range_are_right(half: np.dtype[Any]) -> None:
    x = fe.full((100_000,), 300.0, dtype=half)
    exact = float(half.type(300.0))
    assert fe.mean(x).item() == exact
    assert fe.var(x).item() == 0
    same_bits(fe.sum(fe.ones(4097, dtype=half)), np.array(4097).astype(half))
    assert fe.var(fe.asarray(np.array([-200, 200] * 9, half))).item() == float(half.type(40000))

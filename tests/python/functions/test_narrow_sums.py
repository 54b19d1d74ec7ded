"""Sums of bool and narrow integers have the values of NumPy's, and no copy of the elements in 64 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np

from tests.python.each import each

RANDOM = np.random.default_rng(3)
DTYPES = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32")
OPS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda xp, x: xp.sum(x, axis=-1),
    "prod": lambda xp, x: xp.prod(x, axis=-1),
    "sum of columns": lambda xp, x: xp.sum(x, axis=0),
    "sum of all": lambda xp, x: xp.sum(x),
    "sum as int32": lambda xp, x: xp.sum(x, dtype="int32"),
    "sum as float64": lambda xp, x: xp.sum(x, axis=0, dtype="float64"),
    "sum as uint8": lambda xp, x: xp.sum(x, axis=0, dtype="uint8"),
}


def drawn(dtype: str, shape: tuple[int, ...]) -> Any:
    if dtype == "bool":
        return RANDOM.integers(0, 2, shape).astype(bool)
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max, shape, dtype, endpoint=True)


@each("dtype", DTYPES)
@each("name", OPS)
def test_sums_of_narrow_integers_are_numpys(dtype: str, name: str) -> None:
    for host in (drawn(dtype, (5, 7)), drawn(dtype, (3, 70_001)), drawn(dtype, (9_000, 3))):
        for part in (host, host[:, ::-1], host.T, host[::2, 1:]):
            got = np.asarray(OPS[name](fe, fe.asarray(host)[:, ::-1] if part.strides[1] < 0 else fe.asarray(part)))
            wanted = np.asarray(OPS[name](np, part))
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


@each("dtype", DTYPES)
def test_the_least_and_greatest_integers_are_added_exactly(dtype: str) -> None:
    for value in (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max):
        host = np.full(100_001, value, dtype)
        assert fe.sum(fe.asarray(host)).item() == int(value) * host.size
        assert fe.mean(fe.asarray(host)).item() == np.float32(value)


@each("dtype", DTYPES)
def test_cumulative_sums_of_narrow_integers_are_numpys(dtype: str) -> None:
    host = drawn(dtype, (5_000, 3))
    for axis in (0, 1):
        got = np.asarray(fe.cumulative_sum(fe.asarray(host), axis=axis))
        wanted = np.cumsum(host, axis=axis)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)
        np.testing.assert_array_equal(
            np.asarray(fe.cumulative_sum(fe.asarray(host), axis=axis, dtype="int16")),
            np.cumsum(host, axis=axis, dtype="int16"),
        )
        np.testing.assert_array_equal(
            np.asarray(fe.cumulative_prod(fe.asarray(host), axis=axis)), np.cumprod(host, axis=axis)
        )


@each("dtype", DTYPES)
def test_means_of_narrow_integers_are_those_of_float64(dtype: str) -> None:
    host = drawn(dtype, (300, 4_000))
    for axis in (None, 0, 1):
        wanted = host.astype("float64").mean(axis).astype("float32")
        np.testing.assert_allclose(np.asarray(fe.mean(fe.asarray(host), axis=axis)), wanted, rtol=2.0**-22)
    np.testing.assert_array_equal(np.asarray(fe.mean(fe.asarray(host[:3]), axis=())), host[:3].astype("float32"))
    assert np.isnan(fe.mean(fe.asarray(host[:0])).item())


def test_sums_of_narrow_integers_take_no_memory_of_their_size(run_python: Any) -> None:
    """In a process of its own, because the peak of earlier tests stays."""
    run_python("""
import numpy as np, ferrule as fe
CASES = {
    "bool": [fe.sum, fe.mean, lambda x: fe.sum(x, dtype="int32"), lambda x: fe.count_nonzero(x, axis=0)],
    "int8": [lambda x: fe.sum(x, dtype="float32"), lambda x: x.sum(dtype="float64")],
    "uint8": [fe.sum, fe.mean, lambda x: fe.sum(x[:, ::2], axis=0)],
    "int16": [lambda x: fe.sum(x, axis=1), fe.prod],
    "int32": [fe.mean],
}
for dtype, functions in CASES.items():
    host = np.ones((1024, 4096), dtype)
    host.flags.writeable = False
    x = fe.asarray(host, device="cpu")
    for number, function in enumerate(functions):
        for f in (function, fe.graph(function)):
            fe.eval(f(x))
            peak = fe.memory_stats(x.device).peak
            assert peak < x.size // 4, (dtype, number, peak)
host = np.ones(1 << 22, "bool")
host.flags.writeable = False
fe.eval(fe.cumulative_sum(fe.asarray(host, device="cpu")))
assert fe.memory_stats("cpu").peak < 8 * host.size + host.size // 4
""")


def test_narrow_and_half_weights_do_not_leave_their_range() -> None:
    weights = fe.asarray([200, 100, 5], dtype="uint8")
    assert fe.bincount(fe.asarray([0, 0, 1]), weights).tolist() == [300, 5]
    assert fe.bincount(fe.asarray([0, 0, 0]), fe.asarray([True, True, False])).tolist() == [2]
    half = fe.full((2000,), 100, dtype="float16")
    assert fe.histogram(half, bins=2, range=(99, 101), weights=half, density=True).hist.tolist() == [0, 1]
    left, right = (fe.asarray(x, dtype="float16") for x in ([300, 300, 1], [299, 300, 1]))
    assert fe.linalg.cross(left, right).tolist() == [0, -1, 300]

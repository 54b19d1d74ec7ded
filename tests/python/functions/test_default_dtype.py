"""The default dtype: of Python floats, of new arrays, and of results from integers that are no integers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

INTEGERS = np.array([[1, 2, 4], [8, 3, 5]])


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    fe.set_default_dtype("float64")
    yield
    fe.set_default_dtype(None)


MADE: dict[str, Callable[[Any], Any]] = {
    "a number": lambda xp: xp.asarray(0.1),
    "a list": lambda xp: xp.asarray([0.1, 2]),
    "a complex list": lambda xp: xp.asarray([0.1j, 2]),
    "zeros": lambda xp: xp.zeros(3),
    "ones": lambda xp: xp.ones(3),
    "full": lambda xp: xp.full(3, 0.1),
    "full of complex": lambda xp: xp.full(3, 0.1j),
    "arange": lambda xp: xp.arange(0.0, 1.0, 0.1),
    "long arange": lambda xp: xp.arange(0.0, 1e5, 0.7),
    "linspace": lambda xp: xp.linspace(0, 1, 7),
    "complex linspace": lambda xp: xp.linspace(0, 1j, 7),
    "eye": lambda xp: xp.eye(2),
    "fftfreq": lambda xp: xp.fft.fftfreq(5),
    "integers and numbers": lambda xp: xp.asarray(INTEGERS) * 0.1,
    "integers and complex numbers": lambda xp: xp.asarray(INTEGERS) * 0.1j,
    "maximum of integers and a number": lambda xp: xp.maximum(xp.asarray(INTEGERS), 2.7),
    "where of two numbers": lambda xp: xp.where(xp.asarray(INTEGERS) > 2, 0.1, 0.2),
    "clip of integers": lambda xp: xp.clip(xp.asarray(INTEGERS), 1.1, 3.3),
    "quotient": lambda xp: xp.asarray(INTEGERS) / 3,
    "quotient of bools": lambda xp: xp.asarray(INTEGERS > 2) / 3,
    "mean": lambda xp: xp.mean(xp.asarray(INTEGERS)),
    "mean of int8": lambda xp: xp.mean(xp.asarray(INTEGERS.astype("int8"))),
    "var": lambda xp: xp.var(xp.asarray(INTEGERS)),
    "std": lambda xp: xp.std(xp.asarray(INTEGERS)),
    "median": lambda xp: xp.median(xp.asarray(INTEGERS)),
    "quantile": lambda xp: xp.quantile(xp.asarray(INTEGERS), 0.3),
    "average": lambda xp: xp.average(xp.asarray(INTEGERS)),
    "gradient": lambda xp: xp.gradient(xp.asarray(INTEGERS[0])),
    "interp": lambda xp: xp.interp(xp.asarray([1, 2]), xp.asarray([0, 3]), xp.asarray([4, 5])),
    "norm": lambda xp: xp.linalg.vector_norm(xp.asarray(INTEGERS)),
    "inv": lambda xp: xp.linalg.inv(xp.asarray(INTEGERS[:, :2])),
    "fft": lambda xp: xp.fft.fft(xp.asarray(INTEGERS)),
    "rfft": lambda xp: xp.fft.rfft(xp.asarray(INTEGERS)),
    "result_type": lambda xp: xp.zeros(1, dtype=xp.result_type(xp.int8, 1.0)),
}


@each("name", MADE)
def test_results_are_those_of_numpy(name: str) -> None:
    got, wanted = np.asarray(MADE[name](fe)), np.asarray(MADE[name](np))
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-14)


def test_arrays_keep_their_dtype() -> None:
    single = fe.asarray(np.ones(2, "float32"))
    assert [(single * 0.1).dtype, (single + 0.1j).dtype, fe.mean(single).dtype] == ["float32", "complex64", "float32"]
    assert fe.asarray([np.float32(1)]).dtype == "float32"
    assert (fe.asarray([1j], dtype="complex64") * 2.5).dtype == "complex64"
    assert fe.fft.fft(fe.ones(3, dtype="float16")).dtype == "complex64"


def test_other_functions_that_make_arrays_honour_it() -> None:
    assert fe.host_empty(2).dtype == "float64"
    assert fe.empty(2).dtype == "float64"
    for draw in (fe.random.uniform, fe.random.normal, fe.random.exponential):
        assert draw(fe.random.key(0), 2).dtype == "float64"
    graph = fe.Graph("cpu")
    assert graph.input(2).dtype == "float64"
    assert fe.default_dtype() == "float64"
    assert fe.__array_namespace_info__().default_dtypes() == {
        "real floating": fe.float64,
        "complex floating": fe.complex128,
        "integral": fe.int64,
        "indexing": fe.int64,
    }


def test_traced_functions_have_a_graph_for_each_default() -> None:
    traced = fe.graph(lambda x: x * 0.1)
    by_number = fe.graph(lambda x, factor: x * factor)
    x = fe.asarray(INTEGERS)
    for _ in range(2):
        for name in ("float64", "float32"):
            fe.set_default_dtype(name)
            assert traced(x).dtype == by_number(x, 0.1).dtype == name
            np.testing.assert_array_equal(np.asarray(by_number(x, 0.1)), np.asarray(x * 0.1))
    assert traced.cache_info().misses == 2


def test_a_thread_has_its_own_default() -> None:
    fe.set_default_dtype("float32")
    found = []

    def run() -> None:
        found.append(fe.zeros(1).dtype)
        fe.set_default_dtype("float64", thread=True)
        found.append((fe.asarray([1]) / 3).dtype)
        fe.set_default_dtype(None, thread=True)
        found.append(fe.zeros(1).dtype)

    thread = threading.Thread(target=run)
    fe.set_default_dtype("float64", thread=True)
    try:
        thread.start()
        thread.join()
        assert fe.zeros(1).dtype == "float64"
    finally:
        fe.set_default_dtype(None, thread=True)
    assert found == ["float32", "float64", "float32"]
    assert fe.zeros(1).dtype == "float32"


@each("dtype", ["float16", "int64", "complex64", "q8_0", "bfloat16"])
def test_other_dtypes_are_refused(dtype: str) -> None:
    with pytest.raises(fe.DTypeError, match=f"set_default_dtype: takes float32 or float64, not {dtype}"):
        fe.set_default_dtype(dtype)

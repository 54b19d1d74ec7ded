"""dask.array with chunks that are arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(8, 6))
B = RANDOM.normal(size=(8, 6))
C = RANDOM.normal(size=(6, 4))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(values: Any) -> Any:
    return da.from_array(values, chunks=(4, 3), asarray=False)


def assigned(x: Any, key: Any) -> Any:
    x[key] = 1.0
    return x


CALLS: dict[str, Callable[..., Any]] = {
    "arithmetic with numbers": lambda x, y, z: 2 * x - 1,
    "exp": lambda x, y, z: da.exp(x),
    "where": lambda x, y, z: da.where(x > 0, x, y),
    "average": lambda x, y, z: da.average(x, axis=0),
    "cumsum": lambda x, y, z: x.cumsum(axis=0),
    "median": lambda x, y, z: da.median(x, axis=1),
    "matmul": lambda x, y, z: x @ z,
    "einsum": lambda x, y, z: da.einsum("ij,jk->ik", x, z),
    "svd": lambda x, y, z: da.linalg.svd(x.rechunk((4, 6)))[1],
    "fft": lambda x, y, z: da.fft.fft(x.rechunk((8, 3)), axis=0),
    "rows": lambda x, y, z: x[[0, 5, 2]],
    "mask": lambda x, y, z: x[x > 0],
    "assign by a mask": lambda x, y, z: assigned(x, x > 0),
    "concatenate": lambda x, y, z: da.concatenate([x, y]),
    "map_overlap": lambda x, y, z: x.map_overlap(lambda values: values * 2, depth=1),
    "pad": lambda x, y, z: da.pad(x, 1),
}


@each("name", CALLS)
def test_dask_gives_arrays_with_the_values_of_numpy_arrays(name: str) -> None:
    wanted = CALLS[name](*map(chunked, (A, B, C))).compute()
    got = CALLS[name](*(chunked(fe.asarray(x, device="cpu")) for x in (A, B, C))).compute()
    assert type(got) is fe.Array
    assert got.device == fe.device("cpu")
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-7, atol=1e-12)


def test_chunks_are_arrays_in_threads_too() -> None:
    x = chunked(fe.asarray(A, device="cpu"))
    assert type(x._meta) is fe.Array
    with dask.config.set(scheduler="threads"):
        total = (x * 2 + 1).sum(axis=1).compute()
    assert type(total) is fe.Array
    np.testing.assert_allclose(np.asarray(total), (A * 2 + 1).sum(axis=1))


def test_equal_arrays_have_equal_names() -> None:
    first, second, other = (chunked(fe.asarray(x, device="cpu")) for x in (A, A.copy(), B))
    assert first.name == second.name
    assert first.name != other.name

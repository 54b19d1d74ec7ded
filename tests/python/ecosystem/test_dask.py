"""dask.array with chunks that are arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ferrule as fe
import numpy as np
import pytest

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


REDUCTIONS = ["all", "any", "max", "mean", "min", "prod", "std", "sum", "var"]
CALLS: dict[str, Callable[..., Any]] = {
    "values": lambda x, y, z: x,
    "add": lambda x, y, z: x + y,
    "arithmetic with numbers": lambda x, y, z: 2 * x - 1,
    "compare": lambda x, y, z: x > y,
    "exp": lambda x, y, z: da.exp(x),
    "numpy.sin": lambda x, y, z: np.sin(x),
    "sqrt": lambda x, y, z: da.sqrt(abs(x)),
    "where": lambda x, y, z: da.where(x > 0, x, y),
    "clip": lambda x, y, z: da.clip(x, 0, 1),
    "maximum": lambda x, y, z: da.maximum(x, y),
    "astype": lambda x, y, z: x.astype("float32"),
    "round": lambda x, y, z: x.round(1),
    **{name: lambda x, y, z, name=name: getattr(x, name)() for name in REDUCTIONS},
    **{f"{name} of an axis": lambda x, y, z, name=name: getattr(x, name)(axis=0) for name in REDUCTIONS},
    "average": lambda x, y, z: da.average(x, axis=0),
    "cumprod": lambda x, y, z: x.cumprod(axis=0),
    "cumsum": lambda x, y, z: x.cumsum(axis=0),
    "median": lambda x, y, z: da.median(x, axis=1),
    "nanmean": lambda x, y, z: da.nanmean(da.where(x > 1, np.nan, x), axis=0),
    "nansum": lambda x, y, z: da.nansum(x),
    "norm": lambda x, y, z: da.linalg.norm(x),
    "cov": lambda x, y, z: da.cov(x),
    "matmul": lambda x, y, z: x @ z,
    "dot": lambda x, y, z: da.dot(x, z),
    "tensordot": lambda x, y, z: da.tensordot(x, z, axes=1),
    "einsum": lambda x, y, z: da.einsum("ij,jk->ik", x, z),
    "outer": lambda x, y, z: da.outer(x[0], y[1]),
    "vdot": lambda x, y, z: da.vdot(x, y),
    "qr": lambda x, y, z: abs(da.linalg.qr(x.rechunk((4, 6)))[1]),
    "svd": lambda x, y, z: da.linalg.svd(x.rechunk((4, 6)))[1],
    "fft": lambda x, y, z: da.fft.fft(x.rechunk((8, 3)), axis=0),
    "transpose": lambda x, y, z: x.T,
    "ravel": lambda x, y, z: x.ravel(),
    "slice": lambda x, y, z: x[1:5, ::2],
    "row": lambda x, y, z: x[3],
    "rows": lambda x, y, z: x[[0, 5, 2]],
    "mask": lambda x, y, z: x[x > 0],
    "assign": lambda x, y, z: assigned(x, 0),
    "assign by a mask": lambda x, y, z: assigned(x, x > 0),
    "concatenate": lambda x, y, z: da.concatenate([x, y]),
    "stack": lambda x, y, z: da.stack([x, y]),
    "rechunk": lambda x, y, z: x.rechunk((2, 6)),
    "map_blocks": lambda x, y, z: x.map_blocks(lambda values: values * 2),
    "map_overlap": lambda x, y, z: x.map_overlap(lambda values: values * 2, depth=1),
    "apply_gufunc": lambda x, y, z: da.apply_gufunc(lambda v: v.mean(axis=-1), "(i)->()", x.rechunk((4, 6))),
    "broadcast_to": lambda x, y, z: da.broadcast_to(x, (2, 8, 6)),
    "diff": lambda x, y, z: da.diff(x, axis=0),
    "flip": lambda x, y, z: da.flip(x, 0),
    "pad": lambda x, y, z: da.pad(x, 1),
    "repeat": lambda x, y, z: da.repeat(x, 2, axis=0),
    "roll": lambda x, y, z: da.roll(x, 1, axis=0),
    "take": lambda x, y, z: da.take(x, [0, 2], axis=1),
    "tile": lambda x, y, z: da.tile(x, (2, 1)),
}


@pytest.mark.parametrize("name", CALLS)
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


# docs/use/ecosystem.md names these limits. A test that fails here says that dask has lifted one.
@pytest.mark.parametrize(
    "call",
    [lambda x: x.argmax(axis=0), lambda x: da.ones_like(x), lambda x: da.histogram(x, bins=4, range=(-2, 2))[0]],
    ids=["argmax", "ones_like", "histogram"],
)
def test_limits_results_that_are_numpy_arrays(call: Callable[[Any], Any]) -> None:
    got = call(chunked(fe.asarray(A, device="cpu"))).compute()
    assert type(got) is np.ndarray
    np.testing.assert_array_equal(got, call(chunked(A)).compute())

"""array_api_compat and array_api_extra."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

compat = pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")
xpx = pytest.importorskip("array_api_extra", reason="array-api-extra is not installed")

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(3, 4))
B = RANDOM.normal(size=(2, 3))
INTEGERS = RANDOM.integers(0, 5, size=20)
Call = Callable[..., Any]


def test_the_namespace_is_ferrule() -> None:
    x = fe.asarray(A, device="cpu")
    assert compat.array_namespace(x) is fe
    assert compat.array_namespace(x, 1.0, None, api_version="2024.12") is fe
    assert compat.is_array_api_obj(x)
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(x, A)


def test_device_and_size() -> None:
    x = fe.asarray(A, device="cpu")
    assert compat.device(x) == fe.device("cpu")
    assert compat.to_device(x, compat.device(x)).device == fe.device("cpu")
    assert compat.size(x) == 12
    assert compat.is_writeable_array(x)
    assert not compat.is_lazy_array(x)
    assert not compat.is_numpy_array(x)


def test_arrays_move_between_devices(null_device: Any) -> None:
    x = compat.to_device(fe.asarray(A, device="cpu"), null_device)
    assert compat.device(x) == null_device


CALLS: dict[str, tuple[Call, tuple[Any, ...]]] = {
    "angle": (lambda x: xpx.angle(x), (A + 1j * A[::-1],)),
    "apply_where": (lambda x, y: xpx.apply_where(x > 0, (x, y), lambda p, q: p * q, lambda p, q: p - q), (A, A[::-1])),
    "argpartition": (lambda x: xpx.argpartition(x, 2), (A,)),
    "at add": (lambda x: xpx.at(x)[1].add(1.5, copy=True), (A,)),
    "at add in place": (lambda x: xpx.at(x)[1].add(1.5), (A,)),
    "at max": (lambda x: xpx.at(x)[:, 0].max(0.5, copy=True), (A,)),
    "at multiply": (lambda x: xpx.at(x)[x > 0].multiply(0.5, copy=True), (A,)),
    "at set": (lambda x: xpx.at(x, (slice(None), 0)).set(1.5), (A,)),
    "atleast_nd": (lambda x: xpx.atleast_nd(x, ndim=3), (A,)),
    "cov": (lambda x: xpx.cov(x), (A,)),
    "create_diagonal": (lambda x: xpx.create_diagonal(x), (A[0],)),
    "isclose": (lambda x, y: xpx.isclose(x, y), (A, A + 1e-9)),
    "isin": (lambda x, y: xpx.isin(x, y), (INTEGERS, np.array([1, 2]))),
    "kron": (lambda x, y: xpx.kron(x, y), (A, B)),
    "lazy_apply": (lambda x: xpx.lazy_apply(np.sort, x, shape=x.shape, dtype=x.dtype, as_numpy=True), (A,)),
    "nan_to_num": (lambda x: xpx.nan_to_num(x), (np.where(A > 0, np.nan, A),)),
    "nunique": (lambda x: xpx.nunique(x), (INTEGERS,)),
    "pad": (lambda x: xpx.pad(x, ((1, 2), (0, 3)), constant_values=2.0), (A,)),
    "partition": (lambda x: xpx.partition(x, 2), (A,)),
    "searchsorted": (lambda x, y: xpx.searchsorted(x, y), (np.sort(A[0]), A[1])),
    "setdiff1d": (lambda x, y: xpx.setdiff1d(x, y), (INTEGERS, np.array([1, 2]))),
    "sinc": (lambda x: xpx.sinc(x), (A,)),
    "union1d": (lambda x, y: xpx.union1d(x, y), (INTEGERS, np.array([1, 9]))),
}
# NumPy's selection leaves the other elements in another order.
PARTITIONS = ("argpartition", "partition")


@pytest.mark.parametrize("name", [name for name in CALLS if name not in PARTITIONS])
def test_array_api_extra(name: str, agree: Callable[..., None]) -> None:
    call, arguments = CALLS[name]
    agree(call, *arguments)


@pytest.mark.parametrize("name", PARTITIONS)
def test_partitions_have_the_least_elements_first(name: str) -> None:
    call, [given] = CALLS[name]
    got = call(fe.asarray(given, device="cpu"))
    assert type(got) is fe.Array
    values = np.take_along_axis(given, np.asarray(got), -1) if name == "argpartition" else np.asarray(got)
    assert (values[:, :2].max(-1) <= values[:, 2]).all()
    assert (values[:, 3:].min(-1) >= values[:, 2]).all()
    np.testing.assert_array_equal(np.sort(values), np.sort(given))


def test_one_hot_has_the_default_dtype(agree: Callable[..., None]) -> None:
    agree(lambda x: xpx.one_hot(x, 5), INTEGERS, dtype=np.float32)
    assert xpx.default_dtype(fe, "real floating") == np.float32


def test_data_dependent_shapes_are_refused_in_traced_functions() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(fe.TracingError):
            fe.graph(lambda x: xpx.setdiff1d(x, fe.asarray([1])))(fe.asarray(INTEGERS))

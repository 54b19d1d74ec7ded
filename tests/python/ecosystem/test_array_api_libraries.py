"""array_api_compat and array_api_extra."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

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
    "apply_where": (lambda x, y: xpx.apply_where(x > 0, (x, y), lambda p, q: p * q, lambda p, q: p - q), (A, A[::-1])),
    "at add": (lambda x: xpx.at(x)[1].add(1.5, copy=True), (A,)),
    "at set": (lambda x: xpx.at(x, (slice(None), 0)).set(1.5), (A,)),
    "cov": (lambda x: xpx.cov(x), (A,)),
    "isin": (lambda x, y: xpx.isin(x, y), (INTEGERS, np.array([1, 2]))),
    "lazy_apply": (lambda x: xpx.lazy_apply(np.sort, x, shape=x.shape, dtype=x.dtype, as_numpy=True), (A,)),
    "pad": (lambda x: xpx.pad(x, ((1, 2), (0, 3)), constant_values=2.0), (A,)),
    "searchsorted": (lambda x, y: xpx.searchsorted(x, y), (np.sort(A[0]), A[1])),
}


@each("name", CALLS)
def test_array_api_extra(name: str, agree: Callable[..., None]) -> None:
    call, arguments = CALLS[name]
    agree(call, *arguments)


def test_data_dependent_shapes_are_refused_in_traced_functions() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(fe.TracingError):
            fe.graph(lambda x: xpx.setdiff1d(x, fe.asarray([1])))(fe.asarray(INTEGERS))

"""Features of a backend, and functions that it offers by name for ctypes."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest


def test_features_list_the_variant_and_its_cpu_features() -> None:
    backend = fe.device("cpu").backend
    features = backend.features
    assert features.pop("variant") == backend.variant
    assert set(features.values()) == {"1"}
    assert "sse42" in features


def test_device_says_what_its_variant_needs() -> None:
    """A variant is named after a processor, which may be another maker's than this one."""
    device = fe.device("cpu")
    assert re.fullmatch(rf"variant {device.backend.variant} \([\w ,.-]+\)", device.info["detail"])


def test_backend_function_is_callable_by_its_address() -> None:
    backend = fe.device("cpu").backend
    address = backend.proc("features_text")
    assert address is not None
    text = ctypes.CFUNCTYPE(ctypes.c_char_p)(address)().decode()
    assert dict(entry.split(" = ") for entry in text.split(" | ")) == backend.features


def test_unknown_function_is_none() -> None:
    assert fe.device("cpu").backend.proc("no such function") is None


def test_backend_without_features_has_none(null_device: fe.Device) -> None:
    assert null_device.backend.features == {}
    assert null_device.backend.proc("features") is None


def test_thread_limit_changes_no_result() -> None:
    x = fe.asarray(np.random.default_rng(0).random((300, 400), dtype=np.float32))
    before = np.asarray(fe.softmax(x @ x.T, axis=-1))
    backend = fe.device("cpu").backend
    set_n_threads = ctypes.CFUNCTYPE(None, ctypes.c_uint32)(backend.proc("set_n_threads"))
    try:
        set_n_threads(1)
        assert np.array_equal(np.asarray(fe.softmax(x @ x.T, axis=-1)), before)
    finally:
        set_n_threads(0)


def test_thread_limit_is_kept(run_python: Callable[..., Any]) -> None:
    """A single-threaded loop starts no pool threads; the first loop that may use more starts them all."""
    run_python(
        """
import ctypes, os
import ferrule as fe
backend = fe.device("cpu").backend
set_n_threads = ctypes.CFUNCTYPE(None, ctypes.c_uint32)(backend.proc("set_n_threads"))
x = fe.full((256, 320), 1.5)
fe.eval(x)
fe.set_thread_count(4)
before = set(os.listdir("/proc/self/task"))
count_new = lambda: len(set(os.listdir("/proc/self/task")) - before)
set_n_threads(1)
fe.eval(fe.softmax(x, axis=-1))
assert count_new() == 0, count_new()
set_n_threads(0)
fe.eval(fe.softmax(x, axis=-1))
assert count_new() == 3, count_new()
""",
        FERRULE_THREADS="1",
    )


def test_function_keeps_its_backend_and_is_an_error_after_unloading(
    run_python: Callable[..., Any], null_module: Path
) -> None:
    run_python(
        """
import ctypes, ferrule as fe
holds, other = fe.device("cpu").backend, fe.device("cpu").backend
text = ctypes.CFUNCTYPE(ctypes.c_char_p)(holds.proc("features_text"))
try:
    fe.unload("cpu")
    raise SystemExit("it was unloaded")
except fe.InvalidArgumentError as error:
    assert "holds a function" in str(error), error
assert text()
del holds
fe.unload("cpu")
for ask in (lambda: other.features, lambda: other.proc("features_text")):
    try:
        ask()
        raise SystemExit("it answered")
    except fe.NotFoundError:
        pass
"""
    )


def test_name_of_a_function_is_text() -> None:
    with pytest.raises(TypeError):
        fe.device("cpu").backend.proc(None)  # type: ignore[arg-type]

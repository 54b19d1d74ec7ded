"""Recording and evaluating."""

from __future__ import annotations

import gc
import hashlib
import io
import threading
from functools import partial
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each


def test_nothing_is_computed_before_a_value_is_needed() -> None:
    a = np.ones(4, "float32")
    a.flags.writeable = False
    before = fe.stats()["executions"]
    x = fe.asarray(a) + 1
    y = fe.exp(x) * 2
    assert fe.stats()["executions"] == before
    np.asarray(y)
    assert fe.stats()["executions"] > before


@each("use", [np.asarray, lambda x: x.tolist(), repr, fe.eval, lambda x: float(x[0])])
def test_reading_a_value_computes_it(use: Any) -> None:
    x = fe.zeros((3,)) + 1
    use(x)
    assert x.tolist() == [1, 1, 1]


@each("read", [lambda x: hashlib.sha256(x).hexdigest(), lambda x: b"".join([x]), lambda x: np.frombuffer(x).tolist()])
def test_reading_the_memory_as_a_buffer_computes_it(read: Any) -> None:
    x = fe.zeros((4,)) + 1
    assert not x.is_ready
    assert read(x) == read(np.ones(4, "float32"))
    assert x.is_ready


def test_a_buffer_is_read_only_computed_or_not() -> None:
    lazy, computed = fe.zeros((3,)) + 1, fe.eval(fe.zeros((3,)) + 1)
    file = io.BytesIO(bytes(12))
    for x in (lazy, computed):
        with pytest.raises((ValueError, TypeError), match=r"read-only|read-write"):
            file.readinto(x)
    assert not lazy.is_ready


def test_a_memoryview_of_an_uncomputed_array_says_what_to_do() -> None:
    x = fe.zeros((3,)) + 1  # NumPy asks in the same way and drops errors, so nothing is computed
    with pytest.raises(BufferError, match=r"the array is not computed: call ferrule.eval\(x\)"):
        memoryview(x)  # type: ignore[arg-type]
    fe.eval(x)
    assert memoryview(x).tolist() == [1, 1, 1]  # type: ignore[arg-type]


def test_eval_takes_many_and_nested() -> None:
    x, y, z = fe.zeros(3) + 1, fe.zeros(3) + 2, fe.zeros(3) + 3
    fe.eval(x, [y, {"z": z}])
    assert all(array.is_ready for array in (x, y, z))
    with pytest.raises(fe.InvalidArgumentError):
        fe.eval(5)  # type: ignore[arg-type]


def test_a_hundred_thousand_ops_in_a_row_are_computed_and_freed() -> None:
    x = fe.zeros((4,))
    for _ in range(100_000):
        x = x + 1
    assert x.tolist() == [100_000] * 4
    del x
    gc.collect()


def test_uncomputed_long_chain_is_freed_without_recursion() -> None:
    x = fe.zeros((4,))
    for _ in range(9_000):
        x = x + 1
    del x
    gc.collect()


def test_shared_parts_are_computed_once() -> None:
    x = fe.asarray(np.random.default_rng(0).normal(size=(64, 64)).astype("float32"))
    for _ in range(100):
        x = (x + x) * 0.5  # 2 ** 100 computations if shared operands were computed once per use
    assert np.isfinite(np.asarray(x)).all()


def test_two_threads_may_evaluate_one_array() -> None:
    a = np.random.default_rng(0).normal(size=(128, 128)).astype("float32")
    for _ in range(20):
        x = fe.matmul(fe.asarray(a), fe.asarray(a)) + 1
        results: list[Any] = []
        work = partial(_append_value, results, x)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 4
        assert all((result == results[0]).all() for result in results)


def _append_value(results: list[Any], x: fe.Array) -> None:
    results.append(np.asarray(x))


def test_an_index_out_of_bounds_that_only_the_values_show_is_an_error() -> None:
    with pytest.raises(fe.Error):
        np.asarray(fe.take(fe.arange(3), fe.asarray([0, 7])))


def test_inputs_on_two_devices_are_an_error(null_device: fe.Device) -> None:
    with pytest.raises(fe.InvalidArgumentError, match="device"):
        fe.ones(3, device="cpu") + fe.ones(3, device=null_device)


def test_to_device_moves_the_array(null_device: fe.Device) -> None:
    x = fe.asarray(np.arange(4, dtype="float32"), device="cpu")
    there = x.to_device(null_device)
    assert str(there.device) == "null:0"
    assert there.to_device("cpu").tolist() == [0, 1, 2, 3]
    assert x.to_device("cpu") is x


@pytest.mark.parametrize(
    "viewed", [lambda x: x, lambda x: fe.reshape(x, (-1,)), lambda x: fe.reshape(x.T, (512, 512)).T]
)
def test_common_operand_of_two_arrays_is_computed_once(viewed: Any) -> None:
    def live() -> int:
        return fe.memory_stats("cpu").live

    size = 512 * 512 * 4
    x = fe.asarray(np.ones((512, 512), "float32"), copy=True)
    before = live()
    shared = viewed(x + x)
    a, b = shared + 1, shared * 2
    del shared
    fe.eval(a)
    assert live() >= before + 2 * size
    kept = live()
    fe.eval(b)
    assert live() <= kept  # b replaces the arrays that it was computed from
    assert a.tolist()[0] in (3, [3] * 512)
    assert b.tolist()[0] in (4, [4] * 512)


def test_outputs_read_by_one_evaluation_are_not_kept() -> None:
    x = fe.asarray(np.ones((256, 1024), "float32"), copy=True)
    before = fe.memory_stats("cpu").live
    mantissa, exponent = fe.frexp(x)
    y = mantissa + exponent
    del mantissa, exponent
    fe.eval(y)
    assert fe.memory_stats("cpu").live == before + 256 * 1024 * 4


def test_eval_takes_a_list_that_contains_itself() -> None:
    x = fe.zeros(2) + 1
    both: list[object] = [x]
    both.append({"again": both})
    fe.eval(both)
    assert x.is_ready

"""Lack of memory and memory limits on asynchronous devices."""

from __future__ import annotations

import functools
import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each
from tests.python.late_devices import (
    PACES,
    REQUESTED_FAILURE,
    at_each_pace,
    error_of,
    held_device,
    in_own_process,
    open_devices,
)


# ---- lack of memory
def thirty_ops(device: fe.Device) -> tuple[fe.Array, ...]:
    x = fe.asarray(np.linspace(0, 1, 1200, dtype=np.float32).reshape(30, 40), device=device)
    kept, y = [], x
    for number in range(10):
        y = fe.softmax(y) + x
        y = y @ fe.matrix_transpose(y) @ x
        if number % 3 == 0:
            kept.append(y.sum(axis=0))
    return (*kept, y)


def values_of_thirty_ops(device: fe.Device, together: bool) -> list[np.ndarray[Any, Any]]:
    arrays = thirty_ops(device)
    if together:
        fe.eval(arrays, wait=False)
    return list(map(np.asarray, arrays))


@pytest.mark.parametrize("together", [True, False])
@at_each_pace
def test_out_of_memory_at_any_allocation_is_an_error_without_leaks(pace: str, together: bool) -> None:
    device, _ = open_devices(pace)
    expected = values_of_thirty_ops(device, together)
    failures = []
    for number in range(1, 16):
        device, _ = open_devices(pace, out_of_memory_at=number)
        compute = functools.partial(values_of_thirty_ops, device, together)
        errors = [error for error in (error_of(compute) for _ in range(3)) if error is not None]
        assert len(errors) <= 1
        failures += errors
        for error in errors:
            assert type(error) is fe.OutOfMemoryError
            assert f"null: allocation {number} {REQUESTED_FAILURE}" in str(error)
        assert all(map(np.array_equal, compute(), expected))
        gc.collect()
        device.trim()
        assert fe.memory_stats(device)[:2] == (0, 0), number
    assert failures  # other failures are absorbed by releasing cached memory
    assert not errors


@pytest.mark.parametrize("together", [True, False])
@at_each_pace
def test_any_memory_limit_gives_an_error_or_right_values(pace: str, together: bool) -> None:
    device, _ = open_devices(pace)
    good = fe.asarray(np.arange(64, dtype=np.float32), device=device) + 1
    fe.eval(good, wait=False)
    compute = functools.partial(values_of_thirty_ops, device, together)
    expected = compute()
    peak = fe.memory_stats(device).peak
    outcomes = []
    for limit in range(1024, peak + 4096, 1024 * 3):
        device.trim()
        device.set_memory_limit(limit)
        error = error_of(compute)
        outcomes.append(error is None)
        assert error is None or (
            type(error) is fe.OutOfMemoryError and f"the limit that was set is {limit}" in str(error)
        )
        assert fe.memory_stats(device).live <= max(limit, 1024)
        if not error:
            assert all(map(np.array_equal, compute(), expected))
        assert np.array_equal(np.asarray(good), np.arange(64) + 1)
    assert outcomes.count(False) >= 5
    assert outcomes[-1]
    assert outcomes == sorted(outcomes)
    device.set_memory_limit(None)
    assert all(map(np.array_equal, compute(), expected))
    del good
    gc.collect()
    device.trim()
    assert fe.memory_stats(device)[:2] == (0, 0)


@at_each_pace
def test_arrays_stay_valid_when_other_allocations_fail(pace: str) -> None:
    device, _ = open_devices(pace, memory=10 << 12)
    x = fe.asarray(np.arange(1024, dtype=np.float32), device=device)
    kept = [x + number for number in range(5)]
    fe.eval(kept, wait=False)
    many = [x * number for number in range(5)]
    error = error_of(lambda: fe.eval(many, wait=False))
    assert type(error) is fe.OutOfMemoryError
    assert "null:0 has no 4096 bytes" in str(error)
    for number, array in enumerate(kept):
        assert np.array_equal(np.asarray(array), np.arange(1024) + number)
    del kept, array
    fe.eval(many, wait=False)
    for number, array in enumerate(many):
        assert np.array_equal(np.asarray(array), np.arange(1024) * number)


# ---- limits
MIB = 1 << 20
ONES = np.ones(MIB // 4, np.float32)  # 1 MiB


def check_limit(device: fe.Device) -> None:
    device.set_memory_limit(2 * MIB)
    x = fe.asarray(ONES, device=device, copy=True)
    y, z = x + 1, x + 2
    fe.eval(y, wait=False)
    message = f"{device} has no {MIB} bytes: {2 * MIB} are live, and the limit that was set is {2 * MIB}"
    for wait in (True, False):
        error = error_of(lambda wait=wait: fe.eval(z, wait=wait))
        assert type(error) is fe.OutOfMemoryError
        assert isinstance(error, MemoryError)
        assert str(error) == message
    assert type(error_of(lambda: fe.asarray(ONES, device=device, copy=True))) is fe.OutOfMemoryError
    assert not z.is_ready
    assert np.asarray(y)[7] == 2
    del y
    assert np.asarray(z)[7] == 3  # memory is available again
    more = x + 3
    assert type(error_of(lambda: fe.eval(more))) is fe.OutOfMemoryError
    device.set_memory_limit(None)
    assert np.asarray(more)[7] == 4
    device.set_memory_limit(1)  # below current use: no new allocations, existing arrays stay valid
    assert type(error_of(lambda: np.asarray(x + 5))) is fe.OutOfMemoryError
    assert [np.asarray(array)[7] for array in (x, z, more)] == [1, 3, 4]
    assert fe.memory_stats(device).live == 3 * MIB
    device.set_memory_limit(2**64 - 1)
    assert np.asarray(x + 5)[7] == 6
    device.set_memory_limit(None)


def check_that_cached_memory_gives_way(device: fe.Device) -> None:
    x = fe.asarray(ONES, device=device, copy=True)
    fe.eval(x + 1, wait=False)
    assert fe.memory_stats(device)[:2] == (MIB, MIB)
    device.set_memory_limit(2 * MIB)
    half = x[: MIB // 8] + 1  # of another size, which the cache cannot serve
    assert np.asarray(half)[7] == 2
    assert fe.memory_stats(device)[:2] == (MIB + MIB // 2, 0)
    device.set_memory_limit(None)
    del x, half
    gc.collect()
    device.trim()
    assert fe.memory_stats(device)[:2] == (0, 0)


@pytest.mark.parametrize("pace", ["cpu", *PACES])
@in_own_process
def test_memory_limit_applies_until_it_is_removed(pace: str) -> None:
    device = fe.device("cpu") if pace == "cpu" else open_devices(pace)[0]
    check_limit(device)
    gc.collect()
    device.trim()
    assert fe.memory_stats(device)[:2] == (0, 0)
    check_that_cached_memory_gives_way(device)


@each("size", [0, -1, -(2**70), 2**64, 2**200, True, False, 1.5, 1e9, "1", b"1", [], np.float32(8)])
def test_a_limit_is_a_number_of_bytes_or_none(size: Any) -> None:
    with pytest.raises(fe.InvalidArgumentError, match="takes a number of bytes from 1 to 2"):
        fe.device("cpu").set_memory_limit(size)


@each("size", [2**64 - 1, 2**63, np.int64(2**62), np.uint64(2**63), None])
def test_memory_limit_may_be_arbitrarily_large(size: Any) -> None:
    try:
        fe.device("cpu").set_memory_limit(size)
        assert np.asarray(fe.ones(3, device="cpu") + 1)[0] == 2
    finally:
        fe.device("cpu").set_memory_limit(None)


@in_own_process
def test_memory_freed_during_an_evaluation_is_available_to_it() -> None:
    with held_device() as (device, release):
        x, y = (fe.asarray(ONES, device=device) for _ in range(2))
        fe.synchronize()
        device.set_memory_limit(2 * MIB + 4096)
        fe.eval(x[:4] + 1, wait=False)
        held = [y]
        del y

        def free() -> None:
            time.sleep(0.05)  # the evaluation waits by then, or does not need to
            held.clear()
            release()

        thread = threading.Thread(target=free)
        thread.start()
        assert np.asarray(x * 2)[7] == 2
        thread.join()


@in_own_process
def test_cached_executables_release_memory_that_others_need() -> None:
    device, _ = open_devices()
    for size in range(500, 530):
        y = fe.asarray(np.ones((size, 300), np.float32), device=device)
        for _ in range(4):
            y = fe.softmax(y @ fe.matrix_transpose(y)) @ y
        fe.eval(y)
        del y
    gc.collect()
    device.trim()
    device.set_memory_limit(16 * MIB)
    assert np.asarray(fe.ones(1000, device=device) + 1)[7] == 2


@pytest.mark.parametrize("what", ["memory", "limit"])
@in_own_process
def test_threads_using_half_of_the_memory_never_run_out(what: str) -> None:
    """Memory that one thread releases may be taken or cached by a second one while a third asks for it."""
    room = 8 << 20
    device, _ = open_devices("threaded", **({"memory": room} if what == "memory" else {}))
    if what == "limit":
        device.set_memory_limit(room)
    errors: list[fe.Error] = []

    def work(number: int) -> None:
        sizes = np.random.default_rng(number).integers(1, 1 << 20, 400)
        try:
            for size in sizes:
                fe.asarray(np.empty(size, np.uint8), device=device)
        except fe.Error as error:
            errors.append(error.with_traceback(None))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


@in_own_process
def test_trim_does_not_block_other_users_of_the_device() -> None:
    with held_device() as (device, release):
        borrowed = fe.host_empty(1000, device=device)
        x = fe.asarray(np.ones(1000, np.float32), device=device) + 1
        fe.eval(x, wait=False)
        trimming = threading.Thread(target=fe.trim)
        trimming.start()
        for _ in range(20):  # in some of them at the latest, the other thread is in trim
            fe.memory_stats(device)
            time.sleep(0.002)
        del borrowed
        gc.collect()
        assert trimming.is_alive()
        release()
        trimming.join()


@in_own_process
def test_lost_device_does_not_prevent_trimming_other_devices() -> None:
    device, other = open_devices("late", device_lost_at=1)
    kept = fe.asarray(np.ones(1000, np.float32), device=other)
    del kept
    fe.synchronize(other)
    assert fe.memory_stats(other).cached > 0
    assert type(error_of(lambda: np.asarray(fe.ones(3, device=device) + 1))) is fe.DeviceLostError
    assert type(error_of(fe.trim)) is fe.DeviceLostError
    assert fe.memory_stats(other).cached == 0


# ---- staged copies
@at_each_pace
def test_large_arrays_of_any_strides_and_bools_of_any_bytes_are_copied_in_pieces(pace: str) -> None:
    """The staging memory of copies is a few pieces of 4 MiB, not as large as the copies."""
    device, _ = open_devices(pace)
    base = np.random.default_rng(1).integers(0, 255, (1, 3, 700, 1, 4100), np.uint8)
    cases = [base[..., ::2], base[:, ::-1, :, :, ::-1], base.transpose(4, 1, 2, 3, 0), base.view(bool), base[:, 2:, 5:]]
    cases += [
        np.broadcast_to(base[:, :1], base.shape),
        np.asfortranarray(base.reshape(-1, 7)).view("u1").astype("i8").T,
    ]
    for case in cases:
        with fe.profile() as profile:
            x = fe.asarray(case, device=device, copy=True)
            # NumPy's own copy of such bools keeps bytes other than 0 and 1, too.
            expected = case.view(np.uint8) != 0 if case.dtype == bool else case
            assert np.array_equal(np.asarray(x), expected)
        uploads = [event.bytes_written for event in profile.events if event.queue >= 0 and "to device" in event.name]
        assert sum(uploads) == case.nbytes
        assert max(uploads) <= 4 << 20


@at_each_pace
def test_large_array_is_complete_when_read_on_the_cpu(pace: str) -> None:
    """The copy arrives in pieces; any thread that finds a piece moves it to its place."""
    device, _ = open_devices(pace, slow_ms=2 if pace == "threaded" else 0)
    expected = np.random.default_rng(2).standard_normal(3 * 2**20 + 5, dtype=np.float32)
    x = fe.asarray(expected, device=device)
    for _ in range(4):
        x, expected = -x, -expected
        there = x.to_device("cpu")
        with ThreadPoolExecutor(3) as pool:
            results = pool.map(np.asarray, [there] * 3)
        assert all(np.array_equal(result, expected) for result in results)


@in_own_process
def test_download_to_the_cpu_is_asynchronous() -> None:
    with held_device() as (device, release):
        there = (fe.asarray(np.ones(3 * 2**20, np.float32), device=device) + 1).to_device("cpu")
        assert not there.is_ready
        release()
        assert np.array_equal(np.asarray(there), np.full(3 * 2**20, 2, np.float32))


@at_each_pace
def test_device_waits_for_host_work_after_a_download(pace: str) -> None:
    """One of two devices of a backend provides host memory; the other does not and reads the CPU's instead."""
    one, other = open_devices(pace, other={"host_memory": False})
    expected = np.random.default_rng(4).standard_normal(2**20, dtype=np.float32)
    for _ in range(5):
        there = (fe.asarray(expected, device=one) + 1).to_device("cpu")
        assert np.array_equal(np.asarray(there.to_device(other) * 2), (expected + 1) * 2)


@at_each_pace
def test_memory_of_unread_downloads_is_released(pace: str) -> None:
    device, _ = open_devices(pace, slow_ms=5 if pace == "threaded" else 0)
    x = fe.asarray(np.ones(2**18, np.float32), device=device)
    fe.eval(x)
    fe.trim()
    fe.device("cpu").set_memory_limit(fe.memory_stats("cpu").live + 3 * 2**20)
    for number in range(20):
        there = (x + number).to_device("cpu")
    assert np.array_equal(np.asarray(there), np.full(2**18, 20, np.float32))

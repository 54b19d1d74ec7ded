"""When arrays are computed and which calls wait: `fe.eval(wait=)`, `is_ready`, `await`, `synchronize`, graphs,
copies."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each
from tests.python.late_devices import at_each_pace, error_of, held_device, in_own_process, open_devices

BASE = np.arange(12, dtype=np.float32)


async def value_of(array: fe.Array) -> np.ndarray[Any, Any]:
    return np.asarray(await array)


# ---- on the CPU, which is synchronous
def test_the_cpu_has_computed_when_eval_returns() -> None:
    x = fe.asarray(BASE, device="cpu", copy=True)
    y = x + 1
    assert x.is_ready
    assert not y.is_ready
    assert fe.eval(y, wait=False) is None
    assert y.is_ready
    assert np.array_equal(np.asarray(y), BASE + 1)


def test_eval_without_wait_takes_what_eval_takes() -> None:
    x = fe.asarray(BASE, device="cpu", copy=True)
    a, b, c, d = (x + number for number in range(4))
    fe.eval(a, [b, (c,)], {"d": d}, wait=False)
    assert all(array.is_ready for array in (a, b, c, d))
    fe.eval(wait=False)
    for wait in (False, True):
        with pytest.raises(fe.InvalidArgumentError, match="eval: takes arrays, not ndarray"):
            fe.eval(x, BASE, wait=wait)  # type: ignore[arg-type]


def test_await_computes_and_gives_the_array() -> None:
    async def main() -> None:
        x = fe.asarray(BASE, device="cpu", copy=True)
        y = x * 2
        assert await y is y
        assert y.is_ready
        assert await y is y
        values = await asyncio.gather(*(value_of(x + number) for number in range(5)))
        assert all(np.array_equal(value, BASE + number) for number, value in enumerate(values))

    asyncio.run(main())


def test_a_traced_array_is_never_ready_and_cannot_be_waited_for() -> None:
    @fe.graph
    def traced(x: fe.Array, how: str) -> fe.Array:
        assert not x.is_ready
        if how == "await":
            x.__await__().send(None)
        elif how == "eval":
            fe.eval(x, wait=False)
        return x + 1

    x = fe.asarray(BASE, device="cpu", copy=True)
    assert np.array_equal(np.asarray(traced(x, "neither")), BASE + 1)
    with pytest.raises(fe.TracingError, match="await"):
        traced(x, "await")
    with pytest.raises(fe.TracingError, match="eval"):
        traced(x, "eval")


@pytest.mark.parametrize("device", ["cpu", "cpu:0", fe.device("cpu"), None])
def test_synchronize_of_a_device_that_computes_at_once_returns(device: Any) -> None:
    assert fe.synchronize(device) is None
    assert fe.device("cpu").synchronize() is None


def test_synchronize_loads_no_backend(run_python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    run_python("import ferrule as fe; fe.synchronize(); assert fe.backends() == []")


@pytest.mark.parametrize("device", ["cpu:99", "nothing:0"])
def test_synchronize_of_an_unknown_device_lists_the_devices(device: str) -> None:
    with pytest.raises(fe.NotFoundError, match=rf"there is no device '{device}'.*cpu:0"):
        fe.synchronize(device)


@each("device", [0, 1.5, True, b"cpu", [], BASE])
def test_synchronize_takes_devices_and_their_names_only(device: Any) -> None:
    with pytest.raises(fe.InvalidArgumentError, match="takes a Device or a name"):
        fe.synchronize(device)


# ---- on devices with queues
@in_own_process
def test_eval_without_wait_returns_before_the_work_is_done() -> None:
    with held_device() as (device, release):
        y = fe.asarray(BASE, device=device) + 1
        view = y[::2]
        fe.eval(y, wait=False)
        assert not y.is_ready
        release()
        assert np.array_equal(np.asarray(y), BASE + 1)
        assert y.is_ready
        assert np.array_equal(np.asarray(view), BASE[::2] + 1)


@in_own_process
def test_eval_returns_when_the_work_is_done() -> None:
    y = fe.asarray(BASE, device=open_devices("threaded", slow_ms=500)[0]) + 1
    fe.eval(y)
    assert y.is_ready


@in_own_process
def test_an_array_becomes_ready_without_being_waited_for() -> None:
    with held_device() as (device, release):
        y = fe.asarray(BASE, device=device) + 1
        fe.eval(y, wait=False)
        assert not y.is_ready
        release()
        while not y.is_ready:
            time.sleep(0.001)


@at_each_pace
def test_reads_wait_for_pending_work(pace: str) -> None:
    device, other = open_devices(pace, seed=3)
    for turn in range(20):
        x = fe.asarray(BASE + turn, device=device)
        y = x
        for _ in range(100):  # more work than a queue accepts before it blocks
            y = y + 1
            fe.eval(y, wait=False)
        moved = (y.to_device(other) * 2).to_device("cpu")
        expected = BASE + turn + 100
        assert np.array_equal(np.asarray(moved - 1), 2 * expected - 1)  # computed on the CPU
        for cut in (slice(None), slice(1, None, 3)):
            there = y.to_device("cpu")[cut].to_device(other)  # upload and download overlap
            assert np.array_equal(np.asarray(there + 1), expected[cut] + 1)
        assert np.array_equal(np.asarray(y[::3]), expected[::3])
        assert y[2].item() == expected[2]
        assert y.tolist() == expected.tolist()
        assert np.array_equal(np.from_dlpack(y, device="cpu"), expected)
        assert f"{expected[5]:.0f}" in repr(y)


@at_each_pace
def test_device_reads_the_memory_contents_at_submission(pace: str) -> None:
    """Memory that its owner may write is copied, or waited for, before the call that reads it returns."""
    device, _ = open_devices(pace)
    for _ in range(20):
        memory = BASE.copy()
        borrowed = fe.asarray(memory, device="cpu")
        copies = [fe.asarray(memory, device=device), borrowed.to_device(device), borrowed.to_device(device) + 0]
        later = fe.graph(lambda x: x * 2)(copies[0])
        memory[:] = -1
        for copy in copies:
            assert np.array_equal(np.asarray(copy), BASE)
        assert np.array_equal(np.asarray(later), 2 * BASE)


@at_each_pace
def test_assignment_does_not_change_earlier_results(pace: str) -> None:
    device, _ = open_devices(pace)
    expected = np.zeros(100, np.float32)
    x = fe.zeros(100, device=device)
    seen = []
    for place in range(100):
        if place % 10 == 5:
            seen.append((x * 2, 2 * expected))
            fe.eval(seen[-1][0], wait=False)
        if place % 10 == 8:
            seen.append((x[::2].copy(), expected[::2].copy()))
        x[place] = place
        expected[place] = place
    assert np.array_equal(np.asarray(x), expected)
    for array, values in seen:
        assert np.array_equal(np.asarray(array), values)


@at_each_pace
def test_an_update_in_place_waits_for_copies_of_the_array(pace: str) -> None:
    device, other = open_devices(pace)
    for _ in range(20):
        x = fe.asarray(np.zeros(100, np.float32), device=device)
        copies = [x.to_device("cpu"), x.to_device(other)] if pace == "threaded" else [x.to_device("cpu")]
        x[3] = 5
        fe.eval(x)
        assert x[3].item() == 5
        for copy in copies:
            assert np.array_equal(np.asarray(copy), np.zeros(100))


@pytest.mark.parametrize("hidden", [True, False])
@at_each_pace
def test_freed_memory_is_not_reused_too_early(hidden: bool, pace: str) -> None:
    """The memory of a dropped array is reused by the host, other queues and kernels only after pending work has read
    it."""
    device, other = open_devices(pace, seed=7, hidden=hidden)
    for _ in range(10):
        expected, results = [], []
        for number in range(20):
            x = fe.asarray(np.full(1000, number, np.float32), device=device)
            y = x + 1
            fe.eval(y, wait=False)
            results.append(y.to_device(other) if number % 3 == 0 else y * 2)
            expected.append((number + 1) * (1 if number % 3 == 0 else 2))
            fe.eval(results[-1], wait=False)
            del x, y
        for result, value in reversed([*zip(results, expected, strict=True)]):  # the others may be done by then
            assert np.array_equal(np.asarray(result), np.full(1000, value, np.float32))
    assert fe.memory_stats(device).peak < 50 * 4096


@at_each_pace
def test_borrowed_memory_may_be_freed_during_a_copy(pace: str) -> None:
    device, _ = open_devices(pace)
    for number in range(20):
        memory = np.full(1000, number, np.float32)
        memory.flags.writeable = False
        owner = weakref.ref(memory)
        borrowed = fe.asarray(memory, device="cpu")
        assert borrowed.placement == "borrowed"
        x = borrowed.to_device(device)
        y = x + 1
        fe.eval(y, wait=False)
        del memory, borrowed
        others = [np.full(1000, -1, np.float32) for _ in range(3)]  # possibly in the same memory
        assert np.array_equal(np.asarray(x), np.full(1000, number))
        assert np.array_equal(np.asarray(y), np.full(1000, number + 1))
        del x, y, others
        fe.memory_stats("cpu")  # runs releases that were deferred because the GIL was not held
        assert owner() is None


@in_own_process
def test_a_graph_is_traced_and_called_while_its_argument_is_computed() -> None:
    with held_device() as (device, release):
        x = fe.asarray(BASE, device=device)
        double, increment = fe.graph(lambda a: a * 2), fe.graph(lambda a: a + 1)
        y = x
        for _ in range(3):
            y = double(y)
        y = increment(y)
        z = fe.graph(lambda a: a + y)(x)  # with a constant that is still being computed
        assert not z.is_ready
        release()
        assert np.array_equal(np.asarray(z), 9 * BASE + 1)


# ---- await
@in_own_process
def test_await_does_not_block_other_coroutines() -> None:
    async def main() -> None:
        with held_device() as (device, release):

            async def others() -> None:
                for _ in range(5):
                    await asyncio.sleep(0.001)
                assert not y.is_ready
                release()

            y = fe.asarray(BASE, device=device) + 1
            task = asyncio.create_task(others())
            assert await y is y
            assert y.is_ready
            assert np.array_equal(np.asarray(y), BASE + 1)
            await task

    asyncio.run(main())


@at_each_pace
def test_many_tasks_await_arrays(pace: str) -> None:
    device, other = open_devices(pace)
    x = fe.asarray(BASE, device=device)
    moved = x.to_device(other)

    async def main() -> None:
        arrays = [(moved if number % 2 else x) * number for number in range(20)]
        values = await asyncio.gather(*map(value_of, arrays), *map(value_of, arrays))
        for number, value in enumerate(values):
            assert np.array_equal(value, BASE * (number % 20))
        # gather() needs hashable arguments unless they are coroutines.
        pending = [x + number for number in range(5)]
        assert await asyncio.gather(*map(asyncio.ensure_future, pending)) == pending
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(value_of(x - number)) for number in range(5)]
        assert all(np.array_equal(task.result(), BASE - number) for number, task in enumerate(tasks))

    asyncio.run(main())


@in_own_process
def test_cancelled_await_ends_at_once_and_the_array_stays_valid() -> None:
    async def main() -> None:
        with held_device() as (device, release):
            x = fe.asarray(BASE, device=device)
            y, z = x + 1, x + 2
            task = asyncio.ensure_future(y)
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(z, 0.01)
            assert not y.is_ready
            assert not z.is_ready
            release()
            assert np.array_equal(await value_of(y), BASE + 1)
            assert np.array_equal(await value_of(z), BASE + 2)

    asyncio.run(main())


@at_each_pace
def test_await_raises_if_the_work_fails(pace: str) -> None:
    device, _ = open_devices(pace, execution_fails_at=2)
    x = fe.asarray(BASE, device=device)

    async def main() -> None:
        good, bad = x + 1, x * 2
        fe.eval(good)
        # Arrays that are awaited at the same time are computed in any order: only one may be the second execution.
        results = await asyncio.gather(value_of(bad), value_of(good), return_exceptions=True)
        assert isinstance(results[0], fe.InternalError)
        assert "in multiply on null:0" in str(results[0])
        assert np.array_equal(results[1], BASE + 1)  # type: ignore[arg-type]
        assert np.array_equal(await value_of(x - 3), BASE - 3)

    asyncio.run(main())


# ---- synchronize
@at_each_pace
def test_synchronize_waits_for_all_submitted_work(pace: str) -> None:
    device, other = open_devices(pace)
    for wait in (device.synchronize, lambda: fe.synchronize(device), lambda: fe.synchronize("null:0"), fe.synchronize):
        arrays = [fe.asarray(BASE, device=device) + number for number in range(10)]
        for array in arrays:
            fe.eval(array, wait=False)
        elsewhere = fe.asarray(BASE, device=other) + 1
        fe.eval(elsewhere, wait=False)
        wait()
        assert all(array.is_ready for array in arrays)
        assert wait is not fe.synchronize or elsewhere.is_ready


@in_own_process
def test_synchronize_waits_for_its_device_only() -> None:
    with held_device() as (device, release):
        x = fe.asarray(BASE, device=device)
        y, z = x + 1, x + 2
        for array in (y, z):
            fe.eval(array, wait=False)
        fe.synchronize(fe.device("null:1"))
        fe.synchronize("cpu")
        assert not y.is_ready
        release()


@in_own_process
def test_synchronize_waits_for_all_work() -> None:
    x = fe.asarray(BASE, device=open_devices("threaded", slow_ms=100)[0])
    arrays = [x + number for number in range(6)]
    for array in arrays:
        fe.eval(array, wait=False)
    fe.synchronize()
    assert arrays[-1].is_ready


# ---- interrupted waits
@pytest.mark.skipif(sys.platform == "win32", reason="raises a signal, which does not interrupt Python there")
@in_own_process
def test_ctrl_c_ends_a_wait_without_stopping_the_work() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with held_device() as (device, release):
        x = fe.asarray(BASE, device=device)
        waits = (np.asarray, fe.eval, *(lambda y, f=f: f(y.device) for f in (fe.synchronize, fe.trim, fe.Device.reset)))
        for wait in waits:
            y = x + 1
            fe.eval(y, wait=False)
            with pytest.raises(KeyboardInterrupt):  # noqa: PT012 (the signal may come before the wait)
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
                wait(y)
            assert not y.is_ready
        release()
        assert np.array_equal(np.asarray(y), BASE + 1)


@in_own_process
def test_process_exit_and_unload_are_safe_with_pending_work() -> None:
    for _ in range(2):
        device, _ = open_devices("threaded", slow_ms=100)
        y = fe.asarray(BASE, device=device) + 1
        fe.eval(y, wait=False)
        error = error_of(lambda: fe.unload("null"))
        assert "there still is array float32(12,)" in str(error)
        del y, device
        fe.unload("null")
    y = fe.asarray(BASE, device=open_devices("threaded", slow_ms=100)[0]) + 1
    fe.eval(y, wait=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@at_each_pace
def test_forked_child_may_not_use_pending_arrays_of_its_parent(pace: str) -> None:
    device, _ = open_devices(pace)
    x = fe.asarray(BASE, device=device)
    y = x + 1
    there = y.to_device("cpu")
    fe.eval(y, wait=False)
    child = os.fork()
    if child == 0:
        calls = [lambda: np.asarray(y), lambda: fe.synchronize(device), lambda: fe.eval(x * 2)]
        calls += [lambda: np.asarray(there), lambda: np.asarray(there + 1)] if pace == "late" else []
        os._exit(sum(type(error_of(call)) is not fe.UnsupportedError for call in calls))
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(np.asarray(y), BASE + 1)
    assert np.array_equal(np.asarray(there), BASE + 1)


# ---- copy=False
def test_asarray_without_a_copy_shares_the_memory_of_the_cpu() -> None:
    memory = BASE.copy()
    borrowed = fe.asarray(memory, device="cpu")
    for function in (np.asarray, np.array):
        assert np.shares_memory(function(borrowed, copy=False), memory)
    computed = fe.asarray(BASE, device="cpu", copy=True) + 1
    assert np.shares_memory(np.asarray(computed, copy=False), np.asarray(computed))
    assert np.array_equal(np.asarray(computed, dtype="float32", copy=False), BASE + 1)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.asarray(computed, dtype="float64", copy=False)


@at_each_pace
def test_asarray_without_a_copy_is_refused_for_device_memory(pace: str) -> None:
    device, _ = open_devices(pace)
    x = fe.asarray(BASE, device=device)
    for array in (x, x + 1):
        for function in (np.asarray, np.array):
            with pytest.raises(ValueError, match=r"numpy\.asarray: an array on null:0 needs a copy, which copy=False"):
                function(array, copy=False)
        assert np.array_equal(np.asarray(array, copy=None), np.array(array, copy=True))
    with pytest.raises(BufferError, match="a copy is needed"):
        np.from_dlpack(x, device="cpu", copy=False)

"""Several threads evaluate, read, move and drop arrays of asynchronous devices."""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import threading
import time
from collections.abc import Callable

import ferrule as fe
import numpy as np
import pytest

from tests.python.late_devices import PACES, at_each_pace, in_own_process, open_devices

BASE = np.arange(64, dtype=np.float32)
SECONDS = 0.5


def run_threads(count: int, work: Callable[[random.Random, int], None], times: int = 1_000_000) -> list[BaseException]:
    """Calls work(random, call number) on each thread until the time is over. Errors keep no arrays in their frames."""
    sys.setswitchinterval(1e-5)
    errors: list[BaseException] = []
    end = time.monotonic() + SECONDS

    def run(number: int) -> None:
        chance = random.Random(number)
        for call in range(times):
            if time.monotonic() > end:
                return
            try:
                work(chance, call)
            except fe.Error as error:
                errors.append(error.with_traceback(None))
            except BaseException as error:
                errors.append(error)
                return

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def assert_nothing_is_left(*devices: fe.Device) -> None:
    gc.collect()
    fe.synchronize()
    for device in devices:
        device.trim()
        assert fe.memory_stats(device)[:2] == (0, 0)


@at_each_pace
def test_threads_evaluate_read_move_and_drop_arrays(pace: str) -> None:
    devices = open_devices(pace, seed=5)
    shared = [fe.asarray(BASE, device=devices[0])]
    ways = 9

    def work(chance: random.Random, call: int) -> None:
        device, factor = chance.choice(devices), chance.randrange(1, 100)
        x = shared[0] if chance.random() < 0.7 else fe.asarray(BASE, device=device)
        y = x * factor + x
        expected = BASE * factor + BASE
        part, product = y[::2] - factor, y.reshape(8, 8) @ y.reshape(8, 8)
        if chance.random() < 0.5:
            fe.eval(y, product, wait=chance.random() < 0.5)
        del x
        way = chance.randrange(ways)
        if way == 0:
            assert np.array_equal(np.asarray(y), expected)
        elif way == 1:
            assert np.array_equal(np.asarray(part), expected[::2] - factor)
        elif way == 2:
            square = expected.reshape(8, 8).astype(np.float64)
            assert np.allclose(np.asarray(product), square @ square, rtol=1e-5)
        elif way == 3:
            fe.synchronize(chance.choice((None, *devices)))
        elif way == 4:
            device.trim()
        elif way == 5:
            shared[0] = fe.asarray(BASE, device=devices[0])
        elif way == 6:
            moved = y.to_device(device)
            del y
            fe.eval(moved, wait=False)
            assert np.array_equal(np.asarray(moved.to_device("cpu") + 1), expected + 1)
        elif way == 7:
            fe.eval(y, wait=False)
            y[3:5] = 7
            expected[3:5] = 7
            assert np.array_equal(np.asarray(y), expected)
        else:
            while not y.is_ready:
                fe.eval(y, wait=False)
            assert y[1].item() == expected[1]

    errors = run_threads(6, work)
    assert not errors, errors
    shared.clear()
    assert_nothing_is_left(*devices)


@pytest.mark.parametrize("fault", ["execution_fails_at", "submit_fails_at", "record_fails_at", "copy_fails_at"])
@in_own_process
def test_failure_is_raised_only_in_the_threads_whose_work_failed(fault: str) -> None:
    for pace in PACES:
        for number in (5, 60):
            devices = open_devices(pace, seed=3, **{fault: number})

            def work(chance: random.Random, call: int, devices: tuple[fe.Device, ...] = devices) -> None:
                y = fe.asarray(BASE, device=chance.choice(devices)) * 3 + call
                z = fe.exp(y * 0) + y
                if chance.random() < 0.5:
                    fe.eval(y, wait=False)
                if chance.random() < 0.3:
                    z = z.to_device(chance.choice((*devices, "cpu")))
                assert np.array_equal(np.asarray(z), BASE * 3 + call + 1)

            errors = run_threads(4, work, times=40)
            assert 1 <= len(errors) <= 2, (pace, number, errors)  # each device fails once
            assert all(type(error) is fe.InternalError for error in errors), errors
            assert_nothing_is_left(*devices)


@at_each_pace
def test_memory_limit_applies_to_threads(pace: str) -> None:
    device, _ = open_devices(pace)
    limit = 8 << 18
    device.set_memory_limit(limit)
    ones = np.ones(1 << 16, np.float32)  # an eighth of the limit

    def work(chance: random.Random, call: int) -> None:
        x = fe.asarray(ones, device=device)
        y = x + call
        z = y * 2
        fe.eval(y, z, wait=False)
        assert np.asarray(z)[5] == 2 * (1 + call)

    errors = run_threads(4, work, times=100)
    assert all(type(error) is fe.OutOfMemoryError for error in errors), errors
    assert fe.memory_stats(device).peak <= limit
    errors.clear()
    assert_nothing_is_left(device)


@at_each_pace
def test_event_loops_of_several_threads_await_arrays(pace: str) -> None:
    device, other = open_devices(pace)
    shared = fe.asarray(BASE, device=device) + 1  # pending

    def work(chance: random.Random, call: int) -> None:
        async def add(number: int) -> None:
            x = await (shared + number)
            y = await (x.to_device(other) * 2)
            assert np.array_equal(np.asarray(y), 2 * (BASE + 1 + number))

        async def main() -> None:
            await asyncio.gather(*map(add, range(8)))

        asyncio.run(main())

    assert run_threads(4, work, times=10) == []

"""Asynchronous failures: results of failed work raise its error on each use, so do results computed from them, and
other arrays are unaffected."""

from __future__ import annotations

import asyncio
import functools
import pickle
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.late_devices import PACES, REQUESTED_FAILURE, at_each_pace, error_of, in_own_process, open_devices

BASE = np.arange(12, dtype=np.float32)

READS: dict[str, Callable[[fe.Array], object]] = {
    "asarray": np.asarray,
    "item": lambda x: x[0].item(),
    "tolist": lambda x: x.tolist(),
    "bool": lambda x: bool(x[1]),
    "repr": repr,
    "format": lambda x: f"{x[2]:.2f}",
    "DLPack": lambda x: np.from_dlpack(x, device="cpu"),
    "pickle": pickle.dumps,
    "in": lambda x: 3 in x,
    "the CPU": lambda x: np.asarray(x.to_device("cpu")),
    "another device": lambda x: np.asarray(x.to_device("null:1") + 1),
    "strides": lambda x: np.asarray(x[::-2]),
    "an argument": lambda x: np.asarray(fe.graph(lambda a: a + 1)(x)),
    "a constant": lambda x: np.asarray(fe.graph(lambda a: a + x)(fe.zeros(12, device=x.device))),
    "an update": lambda x: np.asarray(fe.update_slice(x, x[:2], (1,))),
    "eval of more": lambda x: fe.eval(fe.exp(x) + 1),
}


def assert_good(x: fe.Array) -> None:
    """New uploads, computations and copies are correct, and `x` is unchanged."""
    assert np.array_equal(np.asarray(x), BASE)
    assert np.array_equal(np.asarray(x * 2 - 1), BASE * 2 - 1)
    y = fe.asarray(BASE + 1, device=x.device)
    assert np.array_equal(np.asarray(y.to_device("cpu") + 1), BASE + 2)


# ---- results of failed work
def check_reads_of_failed_work(pace: str, seed: int) -> None:
    device, _ = open_devices(pace, execution_fails_at=3, seed=seed)
    x = fe.asarray(BASE, device=device)
    before, also, after = x + 1, x - 1, fe.cos(x)
    bad = fe.sin(before)
    for array in (before, also, bad, after):
        fe.eval(array, wait=False)
    pending = bad * 2
    for _ in range(2):
        for what, read in READS.items():
            for array in (bad, pending):
                error = error_of(functools.partial(read, array))
                assert type(error) is fe.InternalError, what
                assert str(error) == f"null: execution 3 {REQUESTED_FAILURE} (in sin on null:0)", what
    assert np.array_equal(np.asarray(before), BASE + 1)
    assert np.array_equal(np.asarray(also), BASE - 1)
    assert np.allclose(np.asarray(after), np.cos(BASE))
    device.synchronize()  # reports no error
    assert bad.is_ready
    assert_good(x)
    bad[:] = 5  # another value
    assert np.array_equal(np.asarray(bad), np.full(12, 5))


@at_each_pace
def test_every_read_of_a_failed_array_raises_the_error_with_the_op_name(pace: str) -> None:
    for seed in (0, 1, 5):
        check_reads_of_failed_work(pace, seed)


def check_work_after_a_failure(pace: str, seed: int) -> None:
    device, other = open_devices(pace, execution_fails_at=2, seed=seed)
    x = fe.asarray(BASE, device=device)
    chain = [x]
    for _ in range(10):
        chain.append(chain[-1] + 1)
        if error_of(lambda: fe.eval(chain[-1], wait=False)):
            break  # the failure is known by now
    message = f"null: execution 2 {REQUESTED_FAILURE} (in add on null:0)"
    assert str(error_of(lambda: np.asarray(chain[-1].to_device(other) + 1))) == message
    assert np.array_equal(np.asarray(chain[1]), BASE + 1)
    for array in chain[2:]:
        assert str(error_of(functools.partial(np.asarray, array))) == message
    assert_good(x)


@at_each_pace
def test_work_submitted_before_the_failure_is_known_fails_too(pace: str) -> None:
    for seed in (0, 1, 5):
        check_work_after_a_failure(pace, seed)


@at_each_pace
def test_eval_and_await_raise_a_known_failure(pace: str) -> None:
    device, _ = open_devices(pace, execution_fails_at=1)
    bad = fe.asarray(BASE, device=device) * 2
    fe.eval(bad, wait=False)
    device.synchronize()

    async def wait() -> None:
        await bad

    for call in (lambda: fe.eval(bad), lambda: fe.eval([bad]), lambda: asyncio.run(wait())):
        for _ in range(2):
            assert type(error_of(call)) is fe.InternalError


def errors_of_steps(device: fe.Device, turn: int) -> list[fe.Error]:
    """A step that raises is repeated."""
    x, y, values, errors = fe.zeros(1), fe.zeros(1), BASE, []
    for number in range(4):
        for _ in range(2):
            try:
                if number == 0:
                    x = fe.asarray(BASE, device=device)
                elif number == 1:
                    y = x + turn
                elif number == 2:
                    fe.eval(y, wait=False)
                else:
                    values = np.asarray(y)
                break
            except fe.Error as error:
                errors.append(error.with_traceback(None))
    assert np.array_equal(values, BASE + turn)
    return errors


@pytest.mark.parametrize("fault", ["submit_fails_at", "record_fails_at"])
@in_own_process
def test_refused_work_is_an_immediate_error_and_may_be_retried(fault: str) -> None:
    for pace in PACES:
        for number in range(1, 6):
            device, _ = open_devices(pace, **{fault: number})
            errors = [error for turn in range(6) for error in errors_of_steps(device, turn)]
            assert list(map(type, errors)) == [fe.InternalError], (pace, number)
            assert REQUESTED_FAILURE in str(errors[0])


def send_there_and_back(device: fe.Device, other: fe.Device, turn: int) -> None:
    y = fe.asarray(BASE, device=device) + turn
    z = y.to_device(other).to_device("cpu")
    assert np.array_equal(np.asarray(y), BASE + turn)
    assert np.array_equal(np.asarray(z), BASE + turn)


@pytest.mark.parametrize("fault", ["copy_fails_at", "wait_fails_at"])
@in_own_process
def test_failed_copy_or_wait_is_reported_and_other_work_continues(fault: str) -> None:
    for pace in PACES:
        for number in range(1, 7):
            both = open_devices(pace, **{fault: number})
            errors = [error_of(functools.partial(send_there_and_back, *both, turn)) for turn in range(8)]
            raised = [error for error in errors if error is not None]
            assert 1 <= len(raised) <= 2, (pace, number)  # each device fails once
            assert all(type(error) is fe.InternalError and REQUESTED_FAILURE in str(error) for error in raised)
            assert_good(fe.asarray(BASE, device=both[0]))


def round_trip(device: fe.Device, values: np.ndarray[Any, Any]) -> None:
    x = fe.asarray(values, device=device)
    assert np.array_equal(np.asarray(x), values)
    assert np.array_equal(np.asarray(x.to_device("cpu")), values)


@in_own_process
def test_failure_in_one_piece_fails_the_whole_copy() -> None:
    """Large copies are staged through memory of the device, piece by piece."""
    values = np.arange(3 << 20, dtype=np.float32)  # 12 MiB, three pieces
    for pace in PACES:
        for number in range(1, 10):
            device, _ = open_devices(pace, copy_fails_at=number, seed=number)
            errors = [error_of(functools.partial(round_trip, device, values)) for _ in range(3)]
            raised = [error for error in errors if error is not None]
            assert [type(error) for error in raised] == [fe.InternalError], (pace, number)
            assert REQUESTED_FAILURE in str(raised[0])


@at_each_pace
def test_bad_indices_leave_the_old_elements_readable(pace: str) -> None:
    device, _ = open_devices(pace)
    x = fe.asarray(BASE, device=device) * 1
    fe.eval(x)
    for outside in ([1, 77], np.array([1, 77])):  # the host has their values
        assert type(error_of(lambda: x.__setitem__(outside, 0))) is fe.OutOfRangeError  # noqa: B023
        assert type(error_of(lambda: x[outside])) is fe.OutOfRangeError  # noqa: B023
    assert_good(x)
    part, another, twice = x[3:5].copy(), x.copy(), x * 2
    x[fe.asarray(np.array([1, 77]), device=device)] = 0
    after = x + 1
    fe.eval(after, wait=False)
    for array in (x, after, x):
        assert type(error_of(functools.partial(np.asarray, array))) is fe.OutOfRangeError
    assert_good(another)
    assert np.array_equal(np.asarray(part), BASE[3:5])
    assert np.array_equal(np.asarray(twice), BASE * 2)


@at_each_pace
def test_lost_device_fails_all_its_arrays_also_after_a_reset(pace: str) -> None:
    device, other = open_devices(pace, device_lost_at=2)
    x = fe.asarray(BASE, device=device)
    good = fe.asarray(BASE, device=other)
    y = x + 1
    fe.eval(y)
    bad = x * 2
    fe.eval(bad, wait=False)
    reads = (lambda: np.asarray(bad), lambda: np.asarray(x + 3), lambda: np.asarray(y), device.synchronize)
    for read in (*reads, device.reset, *reads):
        assert type(error_of(read)) is fe.DeviceLostError
    assert_good(good)
    fe.refresh()
    assert np.array_equal(np.asarray(fe.asarray(BASE, device="null:0")), BASE)

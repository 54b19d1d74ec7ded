"""A card with a queue that only copies: copies use it, and are right in any order that semaphores allow."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from csrc.backends.vulkan.tests.environments import COMPUTING, COPYING, Drivers

Run = Callable[..., str]

DELAYS = [(0, 0), (10, 0), (0, 10)]  # ms before each execution and before each copy

# Steps of all kinds, with the same steps in NumPy.
PROGRAM = """
generator = np.random.default_rng(3)
def work(generator, turns):
    right = {name: generator.integers(-99, 99, n, np.int32) for name, n in zip("abc", (7, 1000, 1000))}
    there = {name: fe.asarray(x, device="vulkan") for name, x in right.items()}
    for turn in range(turns):
        match generator.integers(5):
            case 0:
                right["b"] = generator.integers(-99, 99, 1000, np.int32)
                there["b"] = fe.asarray(right["b"], device="vulkan")
            case 1:
                right["c"] = right["b"] * 2 + right["c"]
                there["c"] = there["b"] * 2 + there["c"]
            case 2:
                right["a"] = right["c"][3:10] - right["a"]
                there["a"] = there["c"][3:10] - there["a"]
            case 3:
                there["b"] = fe.asarray(there["c"], copy=True)
                right["b"] = right["c"].copy()
            case 4:
                name = "abc"[generator.integers(3)]
                assert np.array_equal(np.asarray(there[name]), right[name]), (turn, name)
    return all(np.array_equal(np.asarray(there[name]), right[name]) for name in "abc")
"""


@pytest.mark.parametrize("delays", DELAYS)
def test_alternating_copies_and_executions_match_numpy(delays: tuple[int, int], run: Run, drivers: Drivers) -> None:
    assert run(PROGRAM + "print(work(generator, 60))", **drivers.card(*delays)) == "True\n"
    assert set(drivers.submissions()) == {COMPUTING, COPYING}


def test_uploads_downloads_and_copies_use_the_transfer_queue(run: Run, drivers: Drivers) -> None:
    program = """
x = fe.asarray(np.arange(5, dtype=np.float32), device="vulkan")
y = fe.asarray(np.arange(5, dtype=np.float32), device="vulkan")
assert np.asarray(x).tolist() == [0, 1, 2, 3, 4]
"""
    run(program, **drivers.card())
    assert drivers.submissions() == [COPYING] * 3
    run(program + "assert np.asarray(x + y).tolist() == [0, 2, 4, 6, 8]", **drivers.card())
    assert drivers.submissions()[3:] == [COPYING] * 3 + [COMPUTING, COPYING]


def test_without_a_transfer_queue_all_work_uses_the_compute_queue(run: Run, drivers: Drivers) -> None:
    assert run(PROGRAM + "print(work(generator, 60))") == "True\n"


def test_arrays_larger_than_staging_memory_are_copied_in_pieces(run: Run, drivers: Drivers) -> None:
    program = """
x = np.random.default_rng(1).integers(0, 1 << 31, 13_000_001, dtype=np.int32)
there = fe.asarray(x, device="vulkan")
assert np.array_equal(np.asarray(there), x)
assert np.array_equal(np.asarray(there + 1), x + 1)
"""
    run(program, **drivers.card(5, 0))
    # 52 MB, which the core transfers in pieces of 4 MiB.
    assert drivers.submissions() == [COPYING] * 13 + [COPYING] * 13 + [COMPUTING] + [COPYING] * 13


@pytest.mark.parametrize("delays", [(0, 0), (3, 0)])
def test_many_threads_at_once(delays: tuple[int, int], run: Run, drivers: Drivers) -> None:
    program = """
from concurrent.futures import ThreadPoolExecutor
fe.load_all()
with ThreadPoolExecutor(4) as pool:
    print(all(pool.map(lambda seed: work(np.random.default_rng(seed), 30), range(8))))
"""
    assert run(PROGRAM + program, **drivers.card(*delays)) == "True\n"


def test_an_index_out_of_bounds_is_an_error_and_the_device_goes_on(run: Run, drivers: Drivers) -> None:
    program = """
x = fe.asarray(np.arange(5, dtype=np.float32), device="vulkan")
for _ in range(3):
    try:
        np.asarray(fe.take(x, fe.asarray(np.array([1, 7]), device="vulkan"), axis=0))
    except fe.Error as error:
        assert "index 7 is out of bounds for axis 0 with size 5" in str(error), error
    else:
        raise AssertionError
    assert np.asarray(x + 1).tolist() == [1, 2, 3, 4, 5]
"""
    run(program, **drivers.card(10, 0))


OUT_OF_DEVICE_MEMORY, DEVICE_LOST = -2, -4

# The submissions are an upload, an execution and a download.
FAILING = """
import json
fe.load_all()
errors = []
def attempt():
    try:
        x = fe.asarray(np.array([1, 2], np.float32), device="vulkan")
        assert np.asarray(x * 2 + x).tolist() == [3, 6]
    except fe.Error as error:
        errors.append([type(error).__name__, str(error)])
        return False
    return True
for _ in range(3):
    attempt()
if errors and errors[0][0] == "DeviceLostError":
    fe.refresh()
assert attempt(), errors
print(json.dumps(errors))
"""


@pytest.mark.parametrize("submission", [1, 2, 3])
@pytest.mark.parametrize(
    ("result", "kind", "times"), [(OUT_OF_DEVICE_MEMORY, "OutOfMemoryError", 1), (DEVICE_LOST, "DeviceLostError", 3)]
)
def test_failed_submission_is_an_error_and_the_next_computation_is_right(
    submission: int, result: int, kind: str, times: int, run: Run, drivers: Drivers
) -> None:
    failing = drivers.failing("vkQueueSubmit", submission, 1, result, of_card=True)
    assert [name for name, _ in json.loads(run(FAILING, **failing))] == [kind] * times


def test_device_lost_between_copies_is_reported_until_a_refresh(run: Run, drivers: Drivers) -> None:
    errors = json.loads(run(FAILING, **drivers.card(5, 0), FERRULE_VULKAN_DEVICE_LOST_AT="2"))
    assert [name for name, _ in errors] == ["DeviceLostError"] * 2


@pytest.mark.parametrize("number", [1, 2])
def test_a_device_without_memory_for_both_semaphores_can_be_opened_later(
    number: int, run: Run, drivers: Drivers
) -> None:
    failing = drivers.failing("vkCreateSemaphore", number, 1, -1, of_card=True)
    [[kind, sentence]] = json.loads(run(FAILING, **failing))
    assert kind == "OutOfMemoryError"
    assert "vkCreateSemaphore came back" in sentence

"""A card's trace: its kernels, its copies, and that they are concurrent."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from csrc.backends.vulkan.tests.environments import Drivers

Run = Callable[..., str]

# Eight batches, each of which is uploaded, multiplied a few times, and downloaded. The times come from the trace, in
# milliseconds; the results are compared with NumPy.
BATCHES = """
import json, tempfile, os, time
fe.load_all()
generator = np.random.default_rng(5)
weights = generator.standard_normal((64, 64), dtype=np.float32) / 8
batches = [generator.standard_normal((64, 64), dtype=np.float32) for _ in range(8)]
w = fe.asarray(weights, device="vulkan")
step = fe.graph(lambda x, w: fe.relu(x @ w) @ w)
np.asarray(step(fe.asarray(batches[0], device="vulkan"), w))  # compiled
before = time.monotonic_ns()
with fe.trace(os.path.join(tempfile.mkdtemp(), "run.json")) as trace:
    results = []
    for batch in batches:
        y = step(fe.asarray(batch, device="vulkan"), w)
        results.append(y.to_device("cpu"))
    results = [np.asarray(y) for y in results]
after = time.monotonic_ns()
for batch, result in zip(batches, results):
    np.testing.assert_allclose(result, np.maximum(batch @ weights, 0) @ weights, rtol=1e-3, atol=1e-3)
assert all(before <= event.begin_ns <= event.end_ns <= after for event in trace.events if event.queue >= 0)
def of(kind, name=""):
    return [((e.begin_ns - before) / 1e6, (e.end_ns - before) / 1e6, e.queue, e.name, e.bytes_written)
            for e in trace.events if e.kind == kind and e.queue >= 0 and name in e.name]
print(json.dumps({"uploads": of("transfer", "to device"), "downloads": of("transfer", "to host"),
                  "segments": of("segment"), "kernels": of("kernel")}))
"""
COMPUTE, UPLOAD, DOWNLOAD = 0, 1, 2
Told = dict[str, list[tuple[float, float, int, str, int]]]


def traced(run: Run, **variables: str) -> Told:
    told: Told = json.loads(run(BATCHES, **variables))
    return told


def queues(told: Told, kind: str) -> set[int]:
    return {event[2] for event in told[kind]}


def check_what_is_there(told: Told) -> None:
    assert len(told["segments"]) == 8
    assert [event[3] for event in told["kernels"]] == ["matmul: relu", "matmul"] * 8
    assert {event[4] for event in told["kernels"]} == {64 * 64 * 4}
    for begin, end, *_ in told["kernels"]:
        assert any(first <= begin < end <= last for first, last, *_ in told["segments"])
    for one, two in zip(told["kernels"], told["kernels"][1:], strict=False):
        assert one[1] <= two[0]  # one after the other


@pytest.mark.parametrize("queue_counts", ["1 2", "2 1"])  # of the computing family and the copying one
def test_the_next_batch_is_uploaded_while_one_is_computed(run: Run, drivers: Drivers, queue_counts: str) -> None:
    told = traced(run, **drivers.card(20, 8), VULKAN_CARD_QUEUES=queue_counts)
    check_what_is_there(told)
    assert [queues(told, kind) for kind in ("uploads", "segments", "downloads")] == [{UPLOAD}, {COMPUTE}, {DOWNLOAD}]
    overlapping = sum(
        any(first < end and begin < last for first, last, *_ in told["segments"])
        for begin, end, *_ in told["uploads"][1:]
    )
    assert overlapping >= 5, told
    # In parallel they take little longer than the computing; in sequence, 8 + 20 + 8 ms for each batch.
    begin = min(event[0] for event in told["uploads"])
    end = max(event[1] for event in told["downloads"])
    assert end - begin < 8 * 28, told


def test_a_card_of_one_queue_for_copies_and_one_for_all_else_downloads_by_the_latter(
    run: Run, drivers: Drivers
) -> None:
    told = traced(run, **drivers.card(5, 5), VULKAN_CARD_QUEUES="1 1")
    check_what_is_there(told)
    assert queues(told, "uploads") == {UPLOAD}
    assert queues(told, "segments") == queues(told, "downloads") == {COMPUTE}


def test_without_queues_for_copies_all_is_told_of_the_one_there_is(run: Run) -> None:
    told = traced(run)
    check_what_is_there(told)
    assert queues(told, "segments") == {COMPUTE}
    assert all(queue == COMPUTE for kind in told for *_, queue, _, _ in told[kind])

"""A card's trace: its kernels, its copies, and that they are concurrent."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from csrc.backends.vulkan.tests.environments import Drivers

Run = Callable[..., str]

# Eight batches, each of which is uploaded, multiplied a few times, and downloaded. A card computes nothing before the
# last batch has been uploaded. The times come from the trace, in milliseconds; the results are compared with NumPy.
BATCHES = """
import json, tempfile, os, time
fe.load_all()
generator = np.random.default_rng(5)
weights = generator.standard_normal((64, 64), dtype=np.float32) / 8
batches = [generator.standard_normal((64, 64), dtype=np.float32) for _ in range(8)]
w = fe.asarray(weights, device="vulkan")
step = fe.graph(lambda x, w: fe.relu(x @ w) @ w)
np.asarray(step(fe.asarray(batches[0], device="vulkan"), w))  # compiled
held = os.environ.get("HELD", os.devnull)
open(held, "w").close()
before = time.monotonic_ns()
with fe.trace(os.path.join(tempfile.mkdtemp(), "run.json")) as trace:
    results = []
    for batch in batches:
        x = fe.asarray(batch, device="vulkan")
        results.append(step(x, w).to_device("cpu"))
    if held != os.devnull:
        fe.eval(x)
        os.remove(held)
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
Events = dict[str, list[tuple[float, float, int, str, int]]]


def traced(run: Run, **variables: str) -> Events:
    events: Events = json.loads(run(BATCHES, **variables))
    return events


def queues(events: Events, kind: str) -> set[int]:
    return {event[2] for event in events[kind]}


def check_what_is_there(events: Events) -> None:
    assert len(events["segments"]) == 8
    assert [event[3] for event in events["kernels"]] == ["matmul: relu", "matmul"] * 8
    assert {event[4] for event in events["kernels"]} == {64 * 64 * 4}
    for begin, end, *_ in events["kernels"]:
        assert any(first <= begin < end <= last for first, last, *_ in events["segments"])
    for one, two in zip(events["kernels"], events["kernels"][1:], strict=False):
        assert one[1] <= two[0]  # one after the other


@pytest.mark.parametrize("queue_counts", ["1 2", "2 1"])  # of the computing family and the copying one
def test_the_next_batch_is_uploaded_while_one_is_computed(run: Run, drivers: Drivers, queue_counts: str) -> None:
    held = str(drivers.folder / "held")
    events = traced(
        run, **drivers.card(), VULKAN_CARD_QUEUES=queue_counts, VULKAN_CARD_HELD=f"{COMPUTE} {held}", HELD=held
    )
    check_what_is_there(events)
    assert [queues(events, kind) for kind in ("uploads", "segments", "downloads")] == [{UPLOAD}, {COMPUTE}, {DOWNLOAD}]
    computed = min(end for _, end, *_ in events["segments"])
    assert all(end < computed for _, end, *_ in events["uploads"]), events


def test_card_with_one_transfer_queue_downloads_on_the_compute_queue(run: Run, drivers: Drivers) -> None:
    events = traced(run, **drivers.card(5, 5), VULKAN_CARD_QUEUES="1 1")
    check_what_is_there(events)
    assert queues(events, "uploads") == {UPLOAD}
    assert queues(events, "segments") == queues(events, "downloads") == {COMPUTE}


def test_without_transfer_queues_all_work_is_traced_on_the_compute_queue(run: Run) -> None:
    events = traced(run)
    check_what_is_there(events)
    assert queues(events, "segments") == {COMPUTE}
    assert all(queue == COMPUTE for kind in events for *_, queue, _, _ in events[kind])

"""fe.trace and fe.profile: recorded events, inactive tracing, and the file format."""

from __future__ import annotations

import json
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from ferrule.profiling.trace import TraceEvent

STEP_NS = 100_000_000  # per execution on a simulated device: the host is ahead on a loaded machine, too
PASSES = [
    "check",
    "remove_dead",
    "remove_duplicates",
    "fold_constants",
    "read_blocks",
    "place",
    "fuse",
    "lower_views",
    "satisfy_layouts",
    "write_in_place",
    "split_into_segments",
    "compile kernels",
]


@pytest.fixture
def simulated(null_module: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[fe.Device]]]:
    """Opens two devices with their own memory whose queues run work late, by the host's clock."""
    name = "traced"

    def open_two(**options: Any) -> list[fe.Device]:
        kernels = str(fe.device("cpu").backend.path)
        monkeypatch.setenv("FERRULE_NULL_FAULT", "two_devices")
        fe.load(null_module, as_name=name)
        monkeypatch.delenv("FERRULE_NULL_FAULT")
        options = {"late": True, "hidden": True, "real_time": True, "execution_ns": STEP_NS, **options}
        return [fe.device(f"{name}:{i}").open(computes_with=kernels, **options) for i in range(2)]

    yield open_two
    if name in [backend.name for backend in fe.backends()]:
        fe.unload(name)


def floats(*shape: int) -> fe.Array:
    values = np.random.default_rng(1).random(shape, dtype=np.float32)
    values.flags.writeable = False  # otherwise reads are computed when they are recorded
    return fe.asarray(values)


def traced(folder: Path, work: Callable[[], object]) -> tuple[list[TraceEvent], list[dict[str, Any]]]:
    """The events as tuples, and in the file's form."""
    path = folder / "run.json"
    with fe.trace(path) as trace:
        work()
    assert trace.dropped == 0
    return trace.events, json.loads(path.read_text())["traceEvents"]


def of(events: list[TraceEvent], *kinds: str) -> list[TraceEvent]:
    return [event for event in events if event.kind in kinds]


def assert_nested(written: list[dict[str, Any]]) -> None:
    """Events on one track are nested or disjoint."""
    tracks = defaultdict(list)
    for event in written:
        if event["ph"] == "X":
            begin = round(event["ts"] * 1e3)
            tracks[event["pid"], event["tid"]].append((begin, -(begin + round(event["dur"] * 1e3)), event["name"]))
    assert tracks
    for events in tracks.values():
        around: list[tuple[int, str]] = []
        for begin, negative_end, name in sorted(events):
            while around and around[-1][0] <= begin:
                around.pop()
            assert not around or -negative_end <= around[-1][0], f"{name} ends after {around[-1][1]}, in which it began"
            around.append((-negative_end, name))


def layer(x: fe.Array, w: fe.Array) -> fe.Array:
    return fe.softmax(fe.matmul(x, w), axis=-1)


def test_the_file_is_in_the_trace_event_format(tmp_path: Path) -> None:
    x, w = floats(64, 32), floats(32, 16)
    events, written = traced(tmp_path, lambda: fe.eval(layer(x, w)))
    complete = [event for event in written if event["ph"] == "X"]
    assert len(complete) == len(events)
    assert {event["ph"] for event in written} == {"X", "M"}
    for event in complete:
        assert isinstance(event["name"], str)
        assert event["ts"] >= 0
        assert event["dur"] >= 0
    names = {
        (event["pid"], event["tid"], event["name"]): event["args"]["name"] for event in written if event["ph"] == "M"
    }
    for event in complete:
        assert (event["pid"], event["tid"], "thread_name") in names
    assert names[1, 0, "process_name"] == "host"
    assert names[1, threading.get_native_id(), "thread_name"] == threading.current_thread().name
    assert_nested(written)


def test_each_op_of_a_graph_appears_with_the_bytes_of_its_operands(tmp_path: Path) -> None:
    x, w = floats(64, 32), floats(32, 16)
    graph = fe.graph(layer)
    graph(x, w)
    events, _ = traced(tmp_path, lambda: np.asarray(graph(x, w)))
    kernels = {event.name: event for event in of(events, "kernel")}
    product = kernels["matmul"]
    assert product.bytes_read == x.nbytes + w.nbytes
    assert product.bytes_written == 64 * 16 * 4
    assert product.detail == "float32(64, 32), float32(32, 16) -> float32(64, 16)"
    assert product.device == "cpu:0"
    assert kernels["softmax"].bytes_read == kernels["softmax"].bytes_written == 64 * 16 * 4
    (segment,) = of(events, "segment")
    assert segment.bytes_read == sum(event.bytes_read for event in kernels.values())
    assert all(segment.begin_ns <= event.begin_ns <= event.end_ns <= segment.end_ns for event in kernels.values())
    assert [event.name for event in of(events, "evaluate")] == ["call"]
    assert not of(events, "compile", "pass", "record"), "the graph was compiled before"
    assert not of(events, "transfer"), "NumPy looks at the memory itself"


def test_recording_and_every_pass_of_the_compiler_appear(tmp_path: Path) -> None:
    x = floats(7, 11)
    events, _ = traced(tmp_path, lambda: fe.eval(fe.exp(x * 2.0) + 1.0))
    assert [event.name for event in of(events, "record")] == ["multiply", "exp", "add"]
    assert [event.name for event in of(events, "pass")] == PASSES
    (whole,) = of(events, "compile")
    assert all(whole.begin_ns <= event.begin_ns and event.end_ns <= whole.end_ns for event in of(events, "pass"))
    (kernel,) = of(events, "kernel")
    assert kernel.name == "fused: multiply, exp, add"
    assert (kernel.bytes_read - x.nbytes, kernel.bytes_written) == (8, x.nbytes), "and two numbers"


def test_broadcast_operands_count_once(tmp_path: Path) -> None:
    x, row = floats(100, 50), floats(50)
    events, _ = traced(tmp_path, lambda: fe.eval(fe.maximum(x, row)))
    (kernel,) = of(events, "kernel")
    assert kernel.bytes_read == x.nbytes + row.nbytes


def test_nothing_is_recorded_outside_of_the_block(tmp_path: Path) -> None:
    x = floats(8)
    before = fe.trace(tmp_path / "before.json")
    fe.eval(x + 1.0)
    with before:
        pass
    fe.eval(x + 2.0)
    assert before.events == []


def test_a_path_that_cannot_be_written_is_an_error_before_the_block(tmp_path: Path) -> None:
    has_run = False
    for path, why in [(tmp_path / "missing" / "run.json", "No such file"), (tmp_path, "Is a directory")]:
        with pytest.raises(fe.IoError, match=why) as caught, fe.trace(path):
            has_run = True
        assert str(path) in str(caught.value)
    assert not has_run
    with fe.trace(tmp_path / "next.json") as trace:
        fe.eval(floats(3) + 1.0)
    assert trace.events


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_an_error_that_names_the_file() -> None:
    with (
        pytest.raises(fe.IoError, match="'/dev/full' cannot be written: No space left"),
        fe.trace("/dev/full") as trace,
    ):
        fe.eval(floats(3) + 1.0)
    assert of(trace.events, "kernel")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: fe.trace(3), "trace: path is a file name, not int"),
        (lambda path: fe.trace(path, max_events=0), "trace: max_events is a number of events, at least 1, not 0"),
        (lambda path: fe.trace(path, max_events=2**63), "trace: max_events is a number of events"),
        (lambda path: fe.trace(path, max_events="many"), "trace: max_events is a number of events"),
        (lambda path: fe.profile(bandwidth=0), "profile: bandwidth is bytes per second above 0"),
        (lambda path: fe.profile(bandwidth="fast"), "profile: bandwidth is bytes per second above 0"),
        (lambda path: fe.profile(max_events=True), "profile: max_events is a number of events"),
    ],
)
def test_wrong_arguments_are_named(make: Callable[[Path], object], message: str, tmp_path: Path) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=message):
        make(tmp_path / "run.json")


def test_a_trace_is_used_once(tmp_path: Path) -> None:
    trace = fe.trace(tmp_path / "run.json")
    with trace:
        with pytest.raises(fe.InvalidArgumentError, match="used already"), trace:
            pass
        fe.eval(floats(3) * 3.0)
    with pytest.raises(fe.InvalidArgumentError, match="used already"), trace:
        pass
    assert json.loads((tmp_path / "run.json").read_text())["traceEvents"]


def test_trace_block_that_raises_still_writes_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"

    def fail() -> None:
        fe.eval(floats(5) + 1.0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), fe.trace(path):
        fail()
    written = json.loads(path.read_text())["traceEvents"]
    assert "kernel" in {event.get("cat") for event in written}


def test_dropped_events_are_counted_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "run.json"

    def compute_much() -> None:
        x = floats(4)
        for _ in range(10):
            x = x + 1.0
        fe.eval(x)

    with (
        pytest.warns(RuntimeWarning, match=r"trace: \d+ events were dropped: it has room for 5"),
        fe.trace(path, max_events=5) as trace,
    ):
        compute_much()
    assert len(trace.events) == 5
    assert trace.dropped > 5
    assert json.loads(path.read_text())["otherData"]["dropped_events"] == trace.dropped


def test_traces_and_profiles_that_overlap_have_all_events_of_their_own_blocks(tmp_path: Path) -> None:
    x = floats(9)
    with fe.trace(tmp_path / "outer.json") as outer:
        fe.eval(fe.sin(x))
        with fe.profile() as inner:
            fe.eval(fe.cos(x))
        fe.eval(fe.tan(x))
    assert [event.name for event in of(outer.events, "kernel")] == ["sin", "cos", "tan"]
    assert [event.name for event in of(inner.events, "kernel")] == ["cos"]


def test_each_of_many_threads_has_a_track_of_its_own(tmp_path: Path) -> None:
    count = 6
    all_here = threading.Barrier(count)

    def work(number: int) -> None:
        all_here.wait()
        for step in range(20):
            fe.eval(fe.exp(floats(16, 16)) + float(number * 100 + step))
        all_here.wait()

    def run() -> None:
        threads = [threading.Thread(target=work, args=(i,), name=f"worker {i}") for i in range(count)]
        for thread in threads:
            thread.start()
        names.update({thread.native_id: thread.name for thread in threads})
        for thread in threads:
            thread.join()

    names: dict[int | None, str] = {}
    events, written = traced(tmp_path, run)
    assert_nested(written)
    by_thread = defaultdict(list)
    for event in of(events, "kernel"):
        by_thread[event.thread].append(event)
    assert {thread: len(found) for thread, found in by_thread.items()} == dict.fromkeys(names, 20)


def test_traces_start_and_stop_while_threads_compute(tmp_path: Path) -> None:
    is_done = threading.Event()
    wrong: list[float] = []

    def work(number: int) -> None:
        x = fe.asarray(np.full(64, number, dtype=np.float32))
        while not is_done.is_set():
            total = float(np.asarray(fe.sum(x * 2.0 + 1.0)))
            if total != 64 * (2 * number + 1):
                wrong.append(total)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    try:
        seen = 0
        for i in range(30):
            path = tmp_path / f"{i}.json"
            with fe.trace(path) as trace, fe.profile():
                fe.eval(floats(16) + float(i))
            assert_nested(json.loads(path.read_text())["traceEvents"])
            seen += len(trace.events)
    finally:
        is_done.set()
        for thread in threads:
            thread.join()
    assert not wrong
    assert seen > 30


def test_queues_of_devices_show_when_each_piece_of_work_was_done(
    simulated: Callable[..., list[fe.Device]], tmp_path: Path
) -> None:
    steps = 4
    devices = simulated()
    inputs = [fe.asarray(np.full((64, 64), 0.5, np.float32), device=device) for device in devices]
    step = [fe.graph(fe.tanh) for _ in devices]
    for graph, x in zip(step, inputs, strict=True):
        np.asarray(graph(x))  # compiled

    def run() -> None:
        results = list(inputs)
        for _ in range(steps):
            results = [graph(x) for graph, x in zip(step, results, strict=True)]
        for result in results:
            np.asarray(result)

    events, written = traced(tmp_path, run)
    assert_nested(written)
    spans = []
    for device in devices:
        segments = [event for event in of(events, "segment") if event.device == device.name and event.queue == 0]
        assert len(segments) == steps
        for one, next_one in pairwise(segments):
            assert one.end_ns <= next_one.begin_ns
        kernels = [event for event in of(events, "kernel") if event.device == device.name]
        assert [event.name for event in kernels] == ["tanh"] * steps
        for segment, kernel in zip(segments, kernels, strict=True):
            assert kernel.queue == 0
            assert kernel.end_ns - kernel.begin_ns == STEP_NS
            assert segment.begin_ns <= kernel.begin_ns < kernel.end_ns <= segment.end_ns
        (download,) = [event for event in of(events, "transfer") if event.device == device.name and event.queue == 2]
        assert download.bytes_read == 64 * 64 * 4
        assert download.begin_ns >= segments[-1].end_ns
        spans.append((segments[0].begin_ns, segments[-1].end_ns))
    overlap = min(end for _, end in spans) - max(begin for begin, _ in spans)
    assert overlap > 0
    submits = of(events, "submit")
    assert all(event.thread == threading.get_native_id() for event in submits)
    assert max(event.end_ns for event in submits[: 2 * steps]) < spans[0][1], "the host was ahead of the devices"
    assert sum(event.end_ns - event.begin_ns for event in of(events, "wait")) > STEP_NS
    queues = {event["args"]["name"] for event in written if event["name"] == "thread_name"}
    assert {"compute queue", "download queue"} <= queues


def test_a_device_with_a_clock_of_its_own_is_shown_by_the_hosts(
    simulated: Callable[..., list[fe.Device]], tmp_path: Path
) -> None:
    device = simulated(real_time=False)[0]
    x = fe.asarray(np.ones(16, np.float32), device=device)
    events, written = traced(tmp_path, lambda: np.asarray(fe.sqrt(fe.exp(x))))
    assert_nested(written)
    on_queues = [event for event in events if event.queue >= 0]
    assert {event.kind for event in on_queues} >= {"segment", "transfer"}
    first, last = events[0].begin_ns, max(event.end_ns for event in events if event.queue < 0)
    assert all(first <= event.begin_ns <= event.end_ns <= last for event in on_queues)


def test_work_that_fails_is_in_the_file(simulated: Callable[..., list[fe.Device]], tmp_path: Path) -> None:
    device = simulated(execution_fails_at=1)[0]
    x = fe.asarray(np.ones(16, np.float32), device=device)
    path = tmp_path / "run.json"
    with pytest.raises(fe.InternalError, match="execution 1 failed"), fe.trace(path) as trace:
        np.asarray(fe.exp(x))
    assert [event.name for event in of(trace.events, "segment")] == ["exp"]
    assert json.loads(path.read_text())["traceEvents"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_child_of_a_fork_does_not_write_the_file_of_its_parent(run_python: Callable[..., Any]) -> None:
    code = """
import json, os, ferrule as fe
x = fe.zeros(8) + 1.0
fe.eval(x)
with fe.trace("run.json") as trace:
    child = os.fork()
    fe.eval(x + 2.0)
if child == 0:
    os._exit(len(trace.events))
assert os.waitpid(child, 0)[1] == 0
events = json.load(open("run.json"))["traceEvents"]
assert [event["name"] for event in events if event.get("cat") == "segment"] == ["add"], events
"""
    run_python(code)


def test_profile_shows_time_and_bytes_by_op_and_device() -> None:
    x, w = floats(256, 128), floats(128, 64)
    profile = fe.profile(bandwidth={"cpu:0": 1e9})
    assert "not begun" in str(profile)
    with profile:
        assert "not ended" in str(profile)
        for i in range(3):
            fe.eval(fe.softmax(x @ (w + float(i)), axis=-1))
    product = next(row for row in profile.ops if row.op == "matmul")
    assert (product.device, product.calls) == ("cpu:0", 3)
    assert product.bytes == 3 * (x.nbytes + w.nbytes + 256 * 64 * 4)
    assert product.seconds > 0
    assert product.bytes_per_second == pytest.approx(product.bytes / product.seconds)
    assert product.bandwidth_share == pytest.approx(product.bytes_per_second / 1e9)
    assert [row.seconds for row in profile.ops] == sorted((row.seconds for row in profile.ops), reverse=True)
    (device,) = profile.devices
    assert device.device == "cpu:0"
    assert sum(row.seconds for row in profile.ops) <= device.seconds <= profile.seconds
    assert device.bytes == sum(row.bytes for row in profile.ops)
    assert profile.host["compiling"] > 0
    assert profile.host["recording"] > 0
    text = str(profile)
    assert "matmul" in text
    assert "of bandwidth" in text
    assert len({len(line) for line in text.split("\n\n")[1].splitlines()}) == 1, "columns are aligned"
    assert "<td>matmul</td>" in profile._repr_html_()


def test_a_profile_without_bandwidth_shows_rates_alone() -> None:
    with fe.profile() as profile:
        fe.eval(floats(100) - 1.0)
    assert "of bandwidth" not in str(profile)
    assert all(row.bandwidth_share is None for row in profile.ops)


def test_a_profile_can_measure_the_bandwidth() -> None:
    with fe.profile(bandwidth="measure") as profile:
        fe.eval(floats(1 << 20) - 1.0)
    (row,) = profile.ops
    assert row.bandwidth_share is not None
    assert 0 < row.bandwidth_share < 50


def test_a_device_that_works_on_two_queues_at_once_is_busy_once(simulated: Callable[..., list[fe.Device]]) -> None:
    device = simulated()[0]
    x = fe.asarray(np.ones(16, np.float32), device=device)
    with fe.profile() as profile:
        for _ in range(3):
            fe.eval(fe.exp(x), wait=False)
    row = next(row for row in profile.devices if row.device == device.name)
    assert 3 * STEP_NS / 1e9 <= row.seconds <= profile.seconds

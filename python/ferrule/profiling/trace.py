"""`ferrule.trace`: recordings of what ferrule does, as a file for Perfetto and Chrome's tracing page."""

from __future__ import annotations

import functools
import json
import os
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.errors import Error, InvalidArgumentError, IoError
from ferrule.loading.device_lookup import open_devices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import TextIOWrapper
    from types import TracebackType
    from typing import Self

MAX_EVENTS = 500_000  # each takes up to 600 bytes
QUEUES = ("compute", "upload", "download")
HOST = 1  # the process number of the host's threads; devices have the next ones


class TraceEvent(NamedTuple):
    """An event. Times are nanoseconds of the host's monotonic clock (`time.monotonic_ns` on Linux)."""

    kind: str  # record, compile, pass, evaluate, submit, segment, kernel, transfer, wait
    name: str  # of the op, the pass, ...
    detail: str  # dtypes and shapes
    kernel: str  # its name in the device's module
    device: str  # "" for work of the host
    queue: int  # 0, 1, 2: the device's compute, upload or download queue; -1: a host thread
    thread: int  # that thread, as threading.get_native_id() returns it
    begin_ns: int
    end_ns: int
    bytes_read: int  # of the operands
    bytes_written: int


class Recording:
    """Records events while its `with` block runs; the base class of trace and profile."""

    _what = "recording"

    def __init__(self, max_events: int = MAX_EVENTS) -> None:
        if not isinstance(max_events, (int, np.integer)) or isinstance(max_events, bool) or not 1 <= max_events < 2**63:
            raise InvalidArgumentError(
                f"{self._what}: max_events is a number of events, at least 1, not {max_events!r}"
            )
        self._max_events = int(max_events)
        self._handle: _ferrule.Trace | None = None
        self._is_used = False
        self._process = 0
        self._thread_names: dict[int, str] = {}
        self.events: list[TraceEvent] = []
        """The recorded events, in the order in which they began; empty until the block has ended."""
        self.dropped = 0
        """Events that are not in `events`, because there were more than `max_events`."""
        self.begin_ns = 0
        self.end_ns = 0

    def __enter__(self) -> Self:
        if self._is_used:
            raise InvalidArgumentError(f"{self._what}: it was used already; make another one")
        self._begin()
        self._process = os.getpid()
        self._note_threads()
        self._handle = _ferrule.Trace(self._max_events)
        self._is_used = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if os.getpid() == self._process:
                self._stop()
            else:  # a forked child: the recording and the file belong to its parent
                self._handle = None
        finally:
            self._end()

    def _stop(self) -> None:
        handle = self._handle
        assert handle is not None
        try:
            for device in open_devices():  # unfinished work belongs to the recording
                try:
                    device.synchronize()
                except Error:  # the device is lost or closed: reading its results raises the error
                    continue
        finally:
            handle.end()
            self.begin_ns, self.end_ns, self.dropped = handle.info()
            self.events = [TraceEvent(*event) for event in handle.events()]
            self._handle = None
            self._note_threads()
            self._finish()
        if self.dropped:
            warnings.warn(
                f"{self._what}: {self.dropped} events were dropped: it has room for {self._max_events}, "
                "set by max_events=",
                RuntimeWarning,
                stacklevel=3,
            )

    def _note_threads(self) -> None:
        self._thread_names.update((thread.native_id or 0, thread.name) for thread in threading.enumerate())

    def _begin(self) -> None:
        """Called before recording begins; may raise."""

    def _finish(self) -> None:
        """Called when the events are available."""

    def _end(self) -> None:
        """Called at the end of the block in any case."""


class trace(Recording):  # noqa: N801, called like a function
    """Write what ferrule does in a `with` block to a file for https://ui.perfetto.dev and chrome://tracing.

    The file has a track for each host thread and for each queue of each device, with recording, compile passes,
    evaluations, segments, kernels, transfers and waits; see docs/use/tracing.md.

    Parameters
    ----------
    path : str or os.PathLike
        The file, in the trace event format (JSON). It is overwritten if it exists.
    max_events : int
        The maximum number of events; further ones are dropped, and a `RuntimeWarning` says how many.

    Attributes
    ----------
    events : list of TraceEvent
        The events, in the order in which they began; empty until the block has ended.
    dropped : int
        The number of dropped events.

    Raises
    ------
    InvalidArgumentError
        An argument is invalid.
    IoError
        The file cannot be written. Raised before the block runs, or after it, for example if the disk is full.

    Notes
    -----
    All threads of the process are recorded. Traces and profiles may be nested or overlap; each has the events that
    begin in its own block. At the end of the block, the devices in use are waited for. The file is also written if the
    block raises an error.

    Examples
    --------
    >>> import os, tempfile
    >>> x = fe.ones((8, 8), device="cpu")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with fe.trace(os.path.join(folder, "run.json")) as trace:
    ...         y = np.asarray(fe.exp(x) @ x)
    >>> any(event.kind == "kernel" for event in trace.events)
    True
    """

    _what = "trace"

    def __init__(self, path: str | os.PathLike[str], *, max_events: int = MAX_EVENTS) -> None:
        super().__init__(max_events)
        try:
            self.path = os.fspath(path)
        except TypeError:
            meant = "; ferrule.linalg.trace(x) sums a diagonal" if isinstance(path, (Array, np.ndarray)) else ""
            raise InvalidArgumentError(f"trace: path is a file name, not {type(path).__name__}{meant}") from None
        self._file: TextIOWrapper | None = None

    def _begin(self) -> None:
        with self._naming_the_file():
            self._file = open(self.path, "w", encoding="utf-8")  # noqa: SIM115, closed by _end

    def _finish(self) -> None:
        assert self._file is not None
        with self._naming_the_file():
            for text in chrome_json(self.events, self.begin_ns, self._thread_names, self.dropped):
                self._file.write(text)
            self._file.flush()

    def _end(self) -> None:
        if self._file is not None:
            with self._naming_the_file():
                self._file.close()

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise IoError(f"trace: {self.path!r} cannot be written: {why}") from error


def chrome_json(
    events: Iterable[TraceEvent], begin_ns: int, thread_names: dict[int, str], dropped: int = 0
) -> Iterator[str]:
    """Yield the parts of the trace event format. Times are microseconds since `begin_ns`."""
    other = {"ferrule": _ferrule.version(), "dropped_events": dropped}
    yield f'{{"displayTimeUnit": "ms", "otherData": {json.dumps(other)}, "traceEvents": [\n'
    yield json.dumps(_metadata("process_name", HOST, 0, {"name": "host"}))
    quoted = functools.cache(json.dumps)
    processes: dict[str, int] = {}
    tracks: set[tuple[int, int]] = set()
    for event in events:
        if event.queue < 0:
            process, lane = HOST, event.thread
            name = thread_names.get(lane) or f"thread {lane}"
        else:
            process, lane = processes.setdefault(event.device, HOST + 1 + len(processes)), event.queue
            name = f"{QUEUES[lane]} queue"
            if (process, lane) not in tracks:
                yield ",\n" + json.dumps(_metadata("process_name", process, lane, {"name": event.device}))
        if (process, lane) not in tracks:
            tracks.add((process, lane))
            yield ",\n" + json.dumps(_metadata("thread_name", process, lane, {"name": name}))
        yield ",\n" + _complete(event, process, lane, begin_ns, quoted)
    yield "\n]}\n"


def _metadata(what: str, process: int, lane: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": lane, "args": arguments}


def _complete(event: TraceEvent, process: int, lane: int, begin_ns: int, quoted: Callable[[str], str]) -> str:
    duration = event.end_ns - event.begin_ns
    arguments = [
        f'"{key}": {quoted(text)}'
        for key, text in (("detail", event.detail), ("kernel", event.kernel), ("device", event.device))
        if text
    ]
    if moved := event.bytes_read + event.bytes_written:
        arguments.append(f'"bytes_read": {event.bytes_read}, "bytes_written": {event.bytes_written}')
        if duration:
            arguments.append(f'"bytes_per_second": {round(moved / duration * 1e9)}')
    return (
        f'{{"ph": "X", "name": {quoted(event.name)}, "cat": {quoted(event.kind)}, "pid": {process}, "tid": {lane}, '
        f'"ts": {(event.begin_ns - begin_ns) / 1e3:.3f}, "dur": {duration / 1e3:.3f}, '
        f'"args": {{{", ".join(arguments)}}}}}'
    )

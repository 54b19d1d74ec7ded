"""`ferrule.profile`: the time of a piece of code by op, by device and on the host."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ferrule.array import evaluation
from ferrule.errors import InvalidArgumentError
from ferrule.functions.creation import zeros
from ferrule.profiling.trace import MAX_EVENTS, Recording, TraceEvent
from ferrule.text.html_templates import render

HOST_KINDS = {"record": "recording", "compile": "compiling", "submit": "submitting", "wait": "waiting for devices"}
MEASURED_BYTES = 1 << 26  # bytes of the array that bandwidth="measure" reads, and of the one that it writes


class OpTime(NamedTuple):
    """The time of an op, or of copies, on a device."""

    op: str
    device: str
    calls: int
    seconds: float
    bytes: int  # of the operands, read and written
    bandwidth_share: float | None  # of the device's memory bandwidth; None if that is not known

    @property
    def bytes_per_second(self) -> float:
        return _rate(self.bytes, self.seconds)


class DeviceTime(NamedTuple):
    """The busy time of a device."""

    device: str
    seconds: float  # that it spent executing or copying
    bytes: int
    bandwidth_share: float | None

    @property
    def bytes_per_second(self) -> float:
        return _rate(self.bytes, self.seconds)


class profile(Recording):  # noqa: N801, called like a function
    """Measure where the time goes in a `with` block; `print` shows tables, as does a notebook.

    Parameters
    ----------
    bandwidth : float, mapping of str to float, "measure" or None
        The memory bandwidth in bytes per second, of all devices or by the device's name: the tables then show the share
        of it that each op achieved. "measure" measures each device that was used at the end of the block, by adding a
        number to an array of 64 MiB a few times. None shows bytes per second only.
    max_events : int
        The maximum number of events; further ones are dropped, and a `RuntimeWarning` says how many.

    Attributes
    ----------
    ops : list of OpTime
        Time in seconds, calls and bytes by op and device, the longest first. A fused node is one op. If a device's
        module does not report single ops, the ops that it executed together are one.
    devices : list of DeviceTime
        The busy time and the bytes by device.
    host : dict of str to float
        Seconds that host threads took for recording, compiling, submitting, and waiting for devices.
    seconds : float
        The duration of the block.

    Raises
    ------
    InvalidArgumentError
        An argument is invalid.

    Notes
    -----
    Bytes are those of the operands, each counted once for each op. Repeated reads, hits in a cache, and elements that
    an in-place update leaves unchanged are not known.

    Examples
    --------
    >>> x = fe.ones((8, 8), device="cpu")
    >>> with fe.profile() as profile:
    ...     fe.eval(fe.softmax(x @ x))
    >>> print(profile.devices[0].device, [row.op for row in profile.ops if row.op == "matmul"])
    cpu:0 ['matmul']
    """

    _what = "profile"

    def __init__(
        self, *, bandwidth: float | Mapping[str, float] | str | None = None, max_events: int = MAX_EVENTS
    ) -> None:
        super().__init__(max_events)
        is_number = isinstance(bandwidth, (int, float)) and not isinstance(bandwidth, bool) and bandwidth > 0
        if not (is_number or bandwidth in (None, "measure") or isinstance(bandwidth, Mapping)):
            raise InvalidArgumentError(
                'profile: bandwidth is bytes per second above 0, a mapping from device names to such, "measure" or '
                f"None, not {bandwidth!r}"
            )
        self._bandwidth = bandwidth
        self.ops: list[OpTime] = []
        self.devices: list[DeviceTime] = []
        self.host: dict[str, float] = {}
        self.seconds = 0.0

    def _finish(self) -> None:
        self.seconds = (self.end_ns - self.begin_ns) / 1e9
        work = _work(self.events)
        peaks = self._peaks({event.device for event in work})
        self.ops = _by_op(work, peaks)
        self.devices = _by_device(self.events, work, peaks)
        self.host = {name: _taken(self.events, kind) for kind, name in HOST_KINDS.items()}

    def _peaks(self, names: Iterable[str]) -> Mapping[str, float]:
        if self._bandwidth is None:
            return {}
        if isinstance(self._bandwidth, Mapping):
            return self._bandwidth
        if isinstance(self._bandwidth, str):
            return {name: _measured_bandwidth(name) for name in names}
        return dict.fromkeys(names, self._bandwidth)

    def __str__(self) -> str:
        if not self.end_ns:
            return "profile: its block has not ended" if self._is_used else "profile: not begun; use it in a with block"
        return "\n\n".join([self._headline(), *(_as_text(head, rows) for head, rows in self._tables())])

    def _repr_html_(self) -> str:
        headline, tables = (self._headline(), self._tables()) if self.end_ns else (str(self), [])
        return render("profile.html.j2", {"headline": headline, "tables": tables})

    def _headline(self) -> str:
        parts = [f"{name} {_milliseconds(seconds)}" for name, seconds in self.host.items() if seconds > 0]
        text = ", ".join([f"{_milliseconds(self.seconds)} in all", *parts])
        return f"{text}; {self.dropped} events were dropped" if self.dropped else text

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        has_share = any(row.bandwidth_share is not None for row in self.ops)
        share_head = ["of bandwidth"] if has_share else []
        total = sum(row.seconds for row in self.ops) or 1.0
        ops = [
            [row.op, row.device, str(row.calls), _milliseconds(row.seconds), f"{row.seconds / total:.1%}",
             _bytes(row.bytes), f"{_bytes(row.bytes_per_second)}/s", *_share(row.bandwidth_share, has_share)]
            for row in self.ops
        ]  # fmt: skip
        devices = [
            [row.device, _milliseconds(row.seconds), f"{_rate(row.seconds, self.seconds):.1%}", _bytes(row.bytes),
             f"{_bytes(row.bytes_per_second)}/s", *_share(row.bandwidth_share, has_share)]
            for row in self.devices
        ]  # fmt: skip
        return [
            (["op", "device", "calls", "time", "of all ops", "bytes", "rate", *share_head], ops),
            (["device", "busy", "of the time", "bytes", "rate", *share_head], devices),
        ]


def _work(events: list[TraceEvent]) -> list[TraceEvent]:
    """Return kernels and transfers, and segments of devices whose module does not report kernels."""
    telling = {event.device for event in events if event.kind == "kernel"}
    return [
        event
        for event in events
        if event.kind in ("kernel", "transfer") or (event.kind == "segment" and event.device not in telling)
    ]


def _by_op(work: list[TraceEvent], peaks: Mapping[str, float]) -> list[OpTime]:
    groups: defaultdict[tuple[str, str], list[TraceEvent]] = defaultdict(list)
    for event in work:
        groups[event.name, event.device].append(event)
    rows = []
    for (op, device), events in groups.items():
        seconds = sum(event.end_ns - event.begin_ns for event in events) / 1e9
        moved = sum(event.bytes_read + event.bytes_written for event in events)
        rows.append(OpTime(op, device, len(events), seconds, moved, _share_of(device, moved, seconds, peaks)))
    return sorted(rows, key=lambda row: -row.seconds)


def _by_device(events: list[TraceEvent], work: list[TraceEvent], peaks: Mapping[str, float]) -> list[DeviceTime]:
    spans: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    moved: defaultdict[str, int] = defaultdict(int)
    for event in events:
        if event.kind in ("segment", "transfer"):
            spans[event.device].append((event.begin_ns, event.end_ns))
    for event in work:
        moved[event.device] += event.bytes_read + event.bytes_written
    rows = []
    for device, of_device in spans.items():
        seconds = _union(of_device) / 1e9
        share = _share_of(device, moved[device], seconds, peaks)
        rows.append(DeviceTime(device, seconds, moved[device], share))
    return sorted(rows, key=lambda row: -row.seconds)


def _taken(events: list[TraceEvent], kind: str) -> float:
    """Return the seconds of all threads; nested events of the same kind count once."""
    spans: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for event in events:
        if event.kind == kind:
            spans[event.thread].append((event.begin_ns, event.end_ns))
    return sum(_union(of_thread) for of_thread in spans.values()) / 1e9


def _union(spans: list[tuple[int, int]]) -> int:
    covered, until = 0, 0
    for begin, end in sorted(spans):
        covered += max(0, end - max(begin, until))
        until = max(until, end)
    return covered


def _measured_bandwidth(name: str) -> float:
    """Return the bytes per second that a device reads and writes when it adds a number to a long array."""
    x = zeros(MEASURED_BYTES // 4, dtype="float32", device=name)
    evaluation.eval(x)
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        evaluation.eval(x + 1.0)
        best = min(best, time.perf_counter() - begin)
    return 2 * MEASURED_BYTES / best


def _share_of(device: str, moved: int, seconds: float, peaks: Mapping[str, float]) -> float | None:
    peak = peaks.get(device)
    return None if not peak else _rate(moved, seconds) / peak


def _rate(amount: float, seconds: float) -> float:
    return amount / seconds if seconds > 0 else 0.0


def _share(share: float | None, is_shown: bool) -> list[str]:
    if not is_shown:
        return []
    return ["" if share is None else f"{share:.0%}"]


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1e3
    return f"{count:.3g} TB"


def _as_text(head: list[str], rows: list[list[str]]) -> str:
    """Return the table as text; all columns except for names are right-aligned."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    is_name = [name in ("op", "device") for name in head]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, is_name, strict=True)
        ).rstrip()
        for row in [head, *rows]
    )

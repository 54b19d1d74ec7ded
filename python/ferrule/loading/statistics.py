"""What ferrule knows of its own work."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError
from ferrule.loading.device_lookup import handle_of
from ferrule.loading.devices import Device


class MemoryStats(NamedTuple):
    """Bytes of a device: in arrays, kept for later, packed by kernels, lent by others, and the most there ever was."""

    live: int
    cached: int
    prepared: int
    borrowed: int
    peak: int


def memory_stats(device: Device | str | None = None) -> MemoryStats:
    """The device's memory as ferrule uses it."""
    data = json.loads(handle_of(device).memory_stats())
    return MemoryStats(*(int(data[name]) for name in MemoryStats._fields))


def stats() -> dict[str, Any]:
    """Counts since the process began: compiles, executions, ..."""
    data: dict[str, Any] = json.loads(_ferrule.stats())
    return data


def set_thread_count(count: int) -> None:
    """How many threads kernels on the host share; 1 computes on the caller's thread alone, 0 brings the default back:
    FERRULE_THREADS, else the CPUs that this process may run on."""
    if not isinstance(count, (int, np.integer)) or count < 0:
        raise InvalidArgumentError(f"set_thread_count: takes a number of threads, or 0 for the default, not {count!r}")
    _ferrule.set_thread_count(count)


def thread_count() -> int:
    """How many threads kernels on the host share."""
    return _ferrule.thread_count()

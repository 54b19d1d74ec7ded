"""Statistics of memory, counters of work, and the number of threads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError
from ferrule.loading.device_lookup import handle_of
from ferrule.loading.devices import Device


class MemoryStats(NamedTuple):
    """The memory of a device as ferrule uses it, in bytes.

    Attributes
    ----------
    live : int
        Memory of arrays.
    cached : int
        Free memory kept for later arrays.
    prepared : int
        Constants in the layouts of kernels.
    borrowed : int
        Memory borrowed from other owners.
    peak : int
        The greatest amount so far.

    Examples
    --------
    >>> fe.MemoryStats(live=8, cached=0, prepared=0, borrowed=0, peak=8).live
    8
    """

    live: int
    cached: int
    prepared: int
    borrowed: int
    peak: int


def memory_stats(device: Device | str | None = None) -> MemoryStats:
    """Return the memory of a device as ferrule uses it.

    Parameters
    ----------
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    MemoryStats
        The amounts in bytes.

    Raises
    ------
    NotFoundError
        There is no such device, or no device at all.

    Examples
    --------
    >>> x = fe.ones(1000, device="cpu") + 1
    >>> fe.eval(x)
    >>> fe.memory_stats("cpu").live >= x.nbytes
    True
    """
    return MemoryStats(*handle_of(device).memory_stats())


def stats() -> dict[str, Any]:
    """Return counters of the work since the process began: compilations, executions and others.

    Returns
    -------
    dict of str to int
        The counters.

    Examples
    --------
    >>> before = fe.stats()["executions"]
    >>> fe.eval(fe.ones(3) + 1)
    >>> fe.stats()["executions"] - before
    1
    """
    return _ferrule.stats()


def set_thread_count(count: int) -> None:
    """Set the number of threads that kernels on the host share.

    Parameters
    ----------
    count : int
        1 computes on the calling thread only. 0 restores the default: FERRULE_THREADS, otherwise the number of CPUs
        that the process may run on.

    Raises
    ------
    InvalidArgumentError
        `count` is not an integer from 0 on.

    Examples
    --------
    >>> fe.set_thread_count(2)
    >>> fe.thread_count()
    2
    >>> fe.set_thread_count(0)
    """
    if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or not 0 <= count < 2**31:
        raise InvalidArgumentError(f"set_thread_count: takes a number of threads, or 0 for the default, not {count!r}")
    _ferrule.set_thread_count(int(count))


def thread_count() -> int:
    """Return the number of threads that kernels on the host share.

    Returns
    -------
    int
        The number of threads.

    Examples
    --------
    >>> fe.thread_count() >= 1
    True
    """
    return _ferrule.thread_count()

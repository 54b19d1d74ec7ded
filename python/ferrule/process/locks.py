"""Locks that are free in a forked child: the other threads, which may hold them at the fork, are gone there."""

from __future__ import annotations

import os
import threading
import weakref


class LockHolder:
    """An object with a re-entrant `_lock`. The thread that forks holds in the child what it held before."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _holders.add(self)

    def _renew_lock(self) -> None:
        """Called in a child when a thread that is gone held the lock."""
        self._lock = threading.RLock()


_holders: weakref.WeakSet[LockHolder] = weakref.WeakSet()


def _renew_locks() -> None:
    for holder in list(_holders):
        if holder._lock.acquire(blocking=False):  # it is free, or this thread's
            holder._lock.release()
        else:
            holder._renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)

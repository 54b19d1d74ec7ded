"""Locks that are free in a forked child, where the other threads that may have held them do not exist."""

from __future__ import annotations

import os
import threading
import weakref


class LockHolder:
    """An object with a re-entrant `_lock`. In a forked child, the forking thread still holds the locks that it held."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _holders.add(self)

    def _renew_lock(self) -> None:
        """Called in a child if a thread that does not exist there held the lock."""
        self._lock = threading.RLock()


_holders: weakref.WeakSet[LockHolder] = weakref.WeakSet()


def _renew_locks() -> None:
    for holder in list(_holders):
        if holder._lock.acquire(blocking=False):  # it is free, or held by this thread
            holder._lock.release()
        else:
            holder._renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)

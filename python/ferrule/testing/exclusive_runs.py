"""Exclusive runs: a check that looks for races runs while the other processes of the pytest run wait.

A race needs threads that run at the same time. Beside another worker of pytest-xdist, the threads often share one core
and so run one after the other.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: no process waits
    fcntl = None  # type: ignore[assignment]


class Turns:
    """A reader-writer lock of the processes of one pytest run, in a folder that they share. Without a folder no process
    waits."""

    def __init__(self, folder: str | None) -> None:
        self._folder = None if folder is None or fcntl is None else Path(folder)

    @property
    def are_taken(self) -> bool:
        """Whether processes wait for each other."""
        return self._folder is not None

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock exclusively: no other process of the run is in `alone` or `beside_others`."""
        with self._enter(exclusive=True):
            yield

    @contextlib.contextmanager
    def beside_others(self) -> Iterator[None]:
        with self._enter(exclusive=False):
            yield

    @contextlib.contextmanager
    def _enter(self, exclusive: bool) -> Iterator[None]:
        if self._folder is None:
            yield
            return
        # A process holds "door" while it waits for "room", so that later ones queue behind it and cannot starve it.
        with _open(self._folder / "room") as inside:
            with _open(self._folder / "door") as waiting:
                fcntl.flock(waiting, fcntl.LOCK_EX)
                fcntl.flock(inside, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield


@contextlib.contextmanager
def _open(path: Path) -> Iterator[int]:
    """Open a lock file. Closing it releases its locks."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield file
    finally:
        os.close(file)

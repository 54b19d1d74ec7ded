"""Who runs beside whom: what looks for races runs while the other processes of the run rest.

A race needs threads at the same time. Beside another worker of pytest-xdist they often have one core among them, and
take turns where they were to meet.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nobody waits
    fcntl = None  # type: ignore[assignment]


class Turns:
    """Of the processes of one run of pytest, which have a folder in common. Without one nobody waits."""

    def __init__(self, folder: str | None) -> None:
        self._folder = None if folder is None or fcntl is None else Path(folder)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Nothing else of the run is at work."""
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
        # Who waits for the room holds the door: those who come later queue behind it, else it would wait for ever.
        with _opened(self._folder / "room") as inside:
            with _opened(self._folder / "door") as waiting:
                fcntl.flock(waiting, fcntl.LOCK_EX)
                fcntl.flock(inside, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Closing it gives up what was locked."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield file
    finally:
        os.close(file)

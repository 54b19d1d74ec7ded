"""The child process in which the modules under test run."""

from __future__ import annotations

from typing import Any

from ferrule.testing.running.target import Target
from ferrule.tools import child


class Child(child.Child):
    """A child process that opens the target whenever it starts, including after a crash."""

    def __init__(self, target: Target | None, limit: float = 60.0) -> None:
        super().__init__("ferrule.testing.worker", limit)
        self._target = target
        self.devices: list[dict[str, Any]] = []

    def _start(self) -> None:
        super()._start()
        if self._target is not None:
            self.devices = self._exchange({"do": "open", "target": self._target.data})["devices"]

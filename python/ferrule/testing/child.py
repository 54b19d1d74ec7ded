"""The parent's side of a worker: asks, waits no longer than a limit, and says how it ended if it did."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any

from ferrule.testing.target import Target

OUTPUT_SHOWN = 2_000  # characters of what the child printed


class ChildEnded(Exception):  # noqa: N818 - what became of it
    """The child crashed, or hung and was killed. `at` is what it was doing."""

    def __init__(self, state: str, how: str, at: str, output: str) -> None:
        super().__init__(f"{how} at {at or 'its start'}" + (f"\n{output}" if output else ""))
        self.state, self.how, self.at, self.output = state, how, at, output


class ChildError(Exception):
    """The child lives and reports an error of its own."""


class Child:
    """A worker with a target open, started when it is first asked and again after it ended."""

    def __init__(self, target: Target | None, limit: float = 60.0) -> None:
        self._target, self._limit = target, limit
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._output: IO[bytes] | None = None
        self.devices: list[dict[str, Any]] = []

    def ask(self, **request: Any) -> dict[str, Any]:
        """Raises ChildEnded, ChildError."""
        self.start()
        return self._exchange(request)

    def start(self) -> None:
        """The same errors, when the target cannot be opened."""
        if self._process is None:
            self._start()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._reap()

    def _start(self) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._lines = queue.Queue()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ferrule.testing.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            text=True,
            encoding="utf-8",
        )
        assert self._process.stdout is not None
        threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
        if self._target is not None:
            self.devices = self._exchange({"do": "open", "target": self._target.data})["devices"]

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._ended("") from None
        at = ""
        while True:
            try:
                line = self._lines.get(timeout=self._limit)
            except queue.Empty:
                self._process.kill()
                raise self._ended(at, f"no answer for {self._limit:g} s: killed") from None
            if line is None:
                raise self._ended(at)
            message = json.loads(line)
            if "at" in message:
                at = message["at"]
            elif "error" in message:
                raise ChildError(message["error"])
            else:
                reply: dict[str, Any] = message["reply"]
                return reply

    def _ended(self, at: str, hung: str = "") -> ChildEnded:
        code, output = self._reap()
        return ChildEnded("hung" if hung else "crashed", hung or how_it_ended(code), at, output)

    def _reap(self) -> tuple[int, str]:
        assert self._process is not None
        assert self._output is not None
        code = self._process.wait()
        self._output.seek(0)
        output = self._output.read().decode(errors="replace").strip()
        for stream in (self._process.stdin, self._process.stdout, self._output):
            if stream is not None:
                stream.close()
        self._process = None
        return code, output[-OUTPUT_SHOWN:]


def _read(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    try:
        for line in stream:
            lines.put(line)
    except (OSError, ValueError):
        pass  # closed under us: the end, too
    lines.put(None)


def how_it_ended(code: int) -> str:
    """ "killed by SIGSEGV (Segmentation fault)", "exited with 3"."""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"killed by {name} ({signal.strsignal(-code) or 'unknown'})"
    return f"exited with {code}" if code < 1 << 16 else f"ended with the exception {code:#x}"

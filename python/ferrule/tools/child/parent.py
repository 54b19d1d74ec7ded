"""The parent's side: sends requests, waits up to a time limit, and reports how the child ended."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import IO, Any

OUTPUT_SHOWN = 2_000  # characters of the child's output that are kept; the rest is read and dropped
GRACE = 2.0  # seconds to wait for the pipes of a child that ended: a process that it started may hold them open


class ChildEnded(Exception):  # noqa: N818 - what became of it
    """The child crashed, or hung and was killed. `at` is the step that it was in."""

    def __init__(self, state: str, how: str, at: str, output: str) -> None:
        super().__init__(f"{how} at {at or 'its start'}" + (f"\n{output}" if output else ""))
        self.state, self.how, self.at, self.output = state, how, at, output


class ChildError(Exception):
    """The child is alive and reports an error."""


class Child:
    """A process that answers requests, `python -m <worker>`; started on the first request, and again after it ended."""

    def __init__(self, worker: str, limit: float = 60.0, variables: Mapping[str, str] | None = None) -> None:
        self._worker, self.limit, self._variables = worker, limit, dict(variables or {})
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._printed: _Tail | None = None

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and return the reply. Raises ChildEnded or ChildError."""
        self.start()
        return self._exchange(request)

    def start(self) -> None:
        """Start the process if it is not running."""
        if self._process is None:
            self._start()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._reap()

    def _start(self) -> None:
        self._lines = queue.Queue()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", self._worker],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, **self._variables},
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
        self._printed = _Tail(self._process.stderr)

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
                line = self._lines.get(timeout=self.limit)
            except queue.Empty:
                self._process.kill()
                raise self._ended(at, "hung", f"no answer for {self.limit:g} s: killed") from None
            if line is None:
                raise self._ended(at)
            message = _message(line)
            if "at" in message:
                at = message["at"]
            elif "error" in message:
                raise ChildError(message["error"])
            elif "reply" in message:
                reply: dict[str, Any] = message["reply"]
                return reply
            else:
                self._process.kill()
                raise self._ended(at, "crashed", "something in it wrote into its answers: killed")

    def _ended(self, at: str, state: str = "crashed", how: str = "") -> ChildEnded:
        code, output = self._reap()
        return ChildEnded(state, how or how_it_ended(code), at, output)

    def _reap(self) -> tuple[int, str]:
        assert self._process is not None
        assert self._printed is not None
        code = self._process.wait()
        output = self._printed.text()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None
        return code, output


class _Tail:
    """The last part of the text written to a stream of any length. The stream is closed at its end."""

    def __init__(self, stream: IO[str]) -> None:
        self._kept = b""
        self._thread = threading.Thread(target=self._keep, args=(stream,), daemon=True)
        self._thread.start()

    def _keep(self, stream: IO[str]) -> None:
        with stream:
            while part := os.read(stream.fileno(), 1 << 16):
                self._kept = (self._kept + part)[-4 * OUTPUT_SHOWN :]

    def text(self) -> str:
        self._thread.join(GRACE)
        return self._kept.decode(errors="replace").strip()[-OUTPUT_SHOWN:]


def _read(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def _message(line: str) -> dict[str, Any]:
    """Parse a line; {} if it is not a message, as a module can write to any open file of its process."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def how_it_ended(code: int) -> str:
    """Describe an exit status: "killed by SIGSEGV (Segmentation fault)", "exited with 3"."""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"killed by {name} ({signal.strsignal(-code) or 'unknown'})"
    return f"exited with {code}" if code < 1 << 16 else f"ended with the exception {code:#x}"

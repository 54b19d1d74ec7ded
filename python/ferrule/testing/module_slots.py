"""Tests a module's slots against the binary interface: each check runs in a child process, `ferrule-conformance`.

A crash or a hang of the child is a result like any other, with the command that repeats it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Literal

TIME_LIMIT = 60.0
OUTPUT_LIMIT = 64 << 10  # bytes of a child's output that are read

Outcome = Literal["passed", "failed", "crashed", "hung", "not applicable"]


@dataclass(frozen=True)
class Check:
    """One check, as `ferrule-conformance --list` names it."""

    name: str
    proves: str


@dataclass(frozen=True)
class Result:
    """The result of one check of a module."""

    check: str
    outcome: Outcome
    sentences: list[str]
    command: str  # the shell command that repeats it

    def __str__(self) -> str:
        return "\n".join([f"{self.check}: {self.outcome}", *self.sentences, f"repeat with: {self.command}"])


def program() -> Path:
    """The `ferrule-conformance` of the installed package."""
    spec = find_spec("ferrule")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("ferrule is not installed")
    return Path(spec.origin).parent / "bin" / "ferrule-conformance"


@cache
def checks() -> list[Check]:
    """All checks."""
    listed = subprocess.run([program(), "--list"], check=True, capture_output=True, text=True, timeout=TIME_LIMIT)
    lines = [json.loads(line) for line in listed.stdout.splitlines()]
    return [Check(line["check"], line["proves"]) for line in lines]


def run(
    module: Path,
    check: str,
    *,
    device: int = 0,
    op: str | None = None,
    seed: int | None = None,
    time_limit: float = TIME_LIMIT,
) -> Result:
    """Run one check of the module in its own process."""
    command = [str(program()), str(module), check]
    if device:
        command += ["--device", str(device)]
    if op is not None:
        command += ["--op", op]
    if seed is not None:
        command += ["--seed", str(seed)]
    line = shlex.join(command)
    # Files rather than pipes: a module that prints without end must not block on a full pipe.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
        )
        try:
            status = child.wait(time_limit)
        except subprocess.TimeoutExpired:
            return Result(check, "hung", [f"it was not done after {time_limit:g} s", *_last(errors)], line)
        finally:
            _end(child)
        return _result(check, status, output, errors, line)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child's process group; Windows has none."""
    if os.name == "nt":
        child.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _result(check: str, status: int, output: IO[bytes], errors: IO[bytes], command: str) -> Result:
    if status < 0:
        name = signal.Signals(-status).name
        return Result(check, "crashed", [f"it ended with {name}", *_last(errors)], command)
    said = _objects(output)
    problems = [line["problem"] for line in said if "problem" in line]
    reasons = [line["not_applicable"] for line in said if "not_applicable" in line]
    if status == 0 and any("passed" in line for line in said):
        return Result(check, "passed", [], command)
    if status == 3 and reasons:
        return Result(check, "not applicable", reasons, command)
    if status == 1 and problems:
        return Result(check, "failed", problems, command)
    if status == 2 and not said:
        raise ValueError(f"{command}: {' '.join(_tail(errors))}")
    # Only the module can end the child with another status.
    return Result(check, "crashed", [f"it ended the process with exit status {status}", *_last(errors)], command)


def _objects(stream: IO[bytes]) -> list[dict[str, str]]:
    """The JSON objects that ferrule-conformance printed; other output of the module is ignored."""
    stream.seek(0)
    found = []
    for line in stream.read(OUTPUT_LIMIT).decode(errors="replace").splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _tail(stream: IO[bytes]) -> list[str]:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - OUTPUT_LIMIT))
    return stream.read(OUTPUT_LIMIT).decode(errors="replace").splitlines()


def _last(errors: IO[bytes]) -> list[str]:
    """The last call that the child announced, and its output after that."""
    lines = _tail(errors)
    tried = [i for i, line in enumerate(lines) if line.startswith("now: ")]
    if not tried:
        return lines[-5:]
    return [f"it was trying {lines[tried[-1]].removeprefix('now: ')}", *lines[tried[-1] + 1 :][-5:]]

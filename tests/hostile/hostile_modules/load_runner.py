"""Starts a new process that loads a folder of modules, and checks what it leaves behind."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
PROBE_TIMEOUT = 60  # seconds; a probe takes some milliseconds
LIMIT = 300  # seconds per load


@dataclass(frozen=True)
class LoadResult:
    """The answer of a process after its load, and its leftovers."""

    reported: dict[str, Any]
    left: list[str]  # processes
    printed: str  # on standard output and error

    def row(self, file: str) -> dict[str, Any]:
        found = [row for row in self.reported["report"]["candidates"] if re.split(r"[/\\]", row["path"])[-1] == file]
        assert len(found) == 1, (
            f"one row about {file}: {[row['path'] for row in self.reported['report']['candidates']]}"
        )
        row: dict[str, Any] = found[0]
        return row


@dataclass(frozen=True)
class LoadRunner:
    """One user, with a verdict cache, a working folder, and a log of the steps that modules ran."""

    home: Path

    @property
    def cache(self) -> Path:
        return self.home / "cache"

    @property
    def marks_file(self) -> Path:
        return self.home / "marks"

    @property
    def answer_file(self) -> Path:
        return self.home / "answer.json"

    @property
    def output_file(self) -> Path:
        return self.home / "output"

    def marks(self) -> list[tuple[int, str]]:
        """The steps that modules have run so far: (process, step)."""
        if not self.marks_file.exists():
            return []
        lines = (line.split() for line in self.marks_file.read_text().splitlines())
        return [(int(process), step) for process, step in lines]

    def load(
        self,
        *dirs: Path,
        environment: Mapping[str, str] | None = None,
        user: int | None = None,
        add_on: str | None = None,
        **options: object,
    ) -> LoadResult:
        """`add_on` names a device that computes a sum after the load; `options` are those of load_all."""
        request = request_for(dirs, options=options, user=user, add_on=add_on)
        status = wait_for(self.start(request, environment or {}))
        return self.finish(status, end_orphans())

    def start(self, request: dict[str, Any], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("FERRULE_", "HOSTILE_"))}
        variables |= {
            "FERRULE_CACHE_DIR": str(self.cache),
            "FERRULE_PROBE_TIMEOUT": str(PROBE_TIMEOUT),
            "HOSTILE_MARKS": str(self.marks_file),
            "LANG": "C",
            "LC_ALL": "C",
            **environment,
        }
        os.makedirs(self.home / "here", exist_ok=True)
        self.answer_file.unlink(missing_ok=True)
        adopt_orphans()
        # The process gets its own session, and files instead of pipes, so that leftover processes cannot block us.
        with open(self.output_file, "wb") as sink:
            return subprocess.Popen(
                [
                    sys.executable,
                    str(Path(__file__).with_name("load_and_report.py")),
                    json.dumps(request),
                    str(self.answer_file),
                ],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                cwd=self.home / "here",
                env=variables,
                start_new_session=True,
            )

    def finish(self, status: int | None, left: list[str]) -> LoadResult:
        printed = self.output_file.read_bytes()[:100_000].decode(errors="replace")
        assert status is not None, f"the load did not end within {LIMIT} s; left: {left}; it printed: {printed}"
        assert status == 0, f"the process ended with {status}; left: {left}; it printed: {printed}"
        reported = json.loads(self.answer_file.read_text())
        reported["descriptors"] = sorted(self.anonymous(name) for name in reported["descriptors"])
        return LoadResult(reported, left, printed)

    def anonymous(self, name: str) -> str:
        """The target of a descriptor, without parts that differ between folders."""
        return re.sub(r"\d+", "N", name.replace(str(self.home), "home"))


def request_for(
    dirs: Sequence[Path],
    options: Mapping[str, object] | None = None,
    user: int | None = None,
    add_on: str | None = None,
) -> dict[str, Any]:
    """The request for load_and_report.py."""
    folders = [os.fsencode(folder).hex() for folder in dirs]
    return {"dirs": folders, "options": options or {}, "user": user, "add_on": add_on}


def wait_for(child: subprocess.Popen[bytes]) -> int | None:
    """The exit status; None if the process had to be killed."""
    try:
        return child.wait(LIMIT)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return None


def load_together(runners: Sequence[LoadRunner], folder: Path, environment: Mapping[str, str]) -> list[LoadResult]:
    """Runs all processes at once."""
    children = [runner.start(request_for([folder]), environment) for runner in runners]
    ended = [wait_for(child) for child in children]
    left = end_orphans()
    return [runner.finish(status, left) for runner, status in zip(runners, ended, strict=True)]


def adopt_orphans() -> None:
    """Makes this process the parent of orphaned descendants, in whatever session they are."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def end_orphans() -> list[str]:
    """Kills the processes that are still running a moment later; returns each as 'pid command state'."""
    deadline = time.monotonic() + 5
    while (left := orphans()) and time.monotonic() < deadline:
        time.sleep(0.01)
    found = list(left.values())
    for _ in range(1000):  # a process that keeps forking can evade us for a while
        for process in left:
            os.kill(process, signal.SIGKILL)
        if not (left := orphans()):
            break
        time.sleep(0.002)
    return found


def orphans() -> dict[int, str]:
    """Children of this process that were not waited for. Those that have ended are reaped."""
    found = {}
    for process in children():
        try:
            ended, _ = os.waitpid(process, os.WNOHANG)
            if ended == 0:
                found[process] = description(process)
        except (ChildProcessError, FileNotFoundError):
            continue
    return found


def children() -> Sequence[int]:
    tasks = os.listdir("/proc/self/task")
    listed = [Path(f"/proc/self/task/{task}/children") for task in tasks]
    if listed and listed[0].exists():
        return [int(word) for path in listed for word in path.read_text().split()]
    own = str(os.getpid())
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and parent_of(name) == own]


def parent_of(process: str) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]
    except OSError:
        return ""


def description(process: int) -> str:
    command = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    state = re.search(r"^State:\s*(.*)$", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    return f"{process} {command.strip()} {state.group(1) if state else ''}"

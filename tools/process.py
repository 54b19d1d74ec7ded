"""Runs programs, shows what runs, and stops at a deadline."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
Word = str | Path


class CommandError(Exception):
    """A program ended with another status than 0."""

    def __init__(self, command: str, status: int) -> None:
        super().__init__(f"failed with status {status}: {command[:300]}{' ...' if len(command) > 300 else ''}")
        self.status = status if status > 0 else 1


class OutOfTimeError(Exception):
    """The deadline came before a program had ended."""


deadline: float | None = None  # of time.monotonic(); only `verify --one` sets it


def say(text: str) -> None:
    print(f"-- {text}", file=sys.stderr, flush=True)


def run(*command: Word, folder: Path = ROOT, env: Mapping[str, str] | None = None, log: Path | None = None) -> None:
    """Run a program to its end. Its output goes to the terminal or into the file `log`."""
    words = [str(word) for word in command]
    with open(log or os.devnull, "w") as file:
        output = file if log else None
        with subprocess.Popen(
            words,
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdout=output,
            stderr=output,
            start_new_session=deadline is not None,  # a group of its own, which is stopped as a whole
        ) as process:
            try:
                status = process.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise OutOfTimeError(shlex.join(words)) from None
    if status != 0:
        raise CommandError(shlex.join(words), status)


def output_of(*command: Word) -> str:
    """Return the output of a program, without the last newline."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise CommandError(shlex.join(words), done.returncode)
    return done.stdout.rstrip("\n")

"""Interleaving: all contenders of a case take short turns, so that slow phases of the machine affect all alike."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar

from benchmarks.contenders import NotOfferedError
from benchmarks.timing import Timing
from benchmarks.worker import serve

# OpenBLAS's idle threads spin for 2^26 cycles before they sleep; this must not slow down the next contender.
SETTLE_SECONDS = 0.03


@dataclass(frozen=True)
class Pace:
    """The measuring time: `rounds` turns of at least `turn_seconds` each."""

    rounds: int
    turn_seconds: float


class Named(Protocol):
    """A case: what it contains is known to its workers."""

    @property
    def name(self) -> str: ...


C = TypeVar("C", bound=Named)


@dataclass
class Heat(Generic[C]):
    """One case with one number of threads: timings and errors of correct contenders, reasons of the others."""

    case: C
    threads: int
    timings: dict[str, Timing] = field(default_factory=dict)
    greatest_errors: dict[str, float] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


class ContenderError(Exception):
    """A contender raised, gave a wrong result, or died."""


class Remote:
    """The parent's end of a worker, which `make` makes in a process of its own."""

    def __init__(self, name: str, make: Callable[[], object]) -> None:
        self.name = name
        context = multiprocessing.get_context("spawn")  # a forked child would inherit the thread pools of others
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, make), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, method: str, *arguments: object) -> Any:
        try:
            self.connection.send((method, *arguments))
            state, value = self.connection.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError) as error:
            self.process.join(timeout=5)
            raise ContenderError(f"its process ended with exit code {self.process.exitcode}") from error
        if state == "not offered":
            raise NotOfferedError(value)
        if state == "failed":
            raise ContenderError(value)
        return value

    def close(self) -> None:
        self.connection.close()
        self.process.join(timeout=5)
        if self.process.is_alive():
            self.process.kill()


def run_heat(case: C, threads: int, remotes: Sequence[Remote], pace: Pace, advance: Callable[[], None]) -> Heat[C]:
    """Prepares and checks all, then times them in turns; `advance` is called after each round."""
    heat = Heat(case, threads)
    running: list[Remote] = []
    for remote in remotes:
        try:
            heat.greatest_errors[remote.name] = remote.ask("prepare", case)["greatest_error"]
            running.append(remote)
        except NotOfferedError as reason:
            heat.absent[remote.name] = str(reason)
        except ContenderError as reason:
            heat.failures[remote.name] = str(reason)
    samples: dict[str, list[float]] = {remote.name: [] for remote in running}
    for number in range(pace.rounds):
        first = number % len(running) if running else 0
        for remote in running[first:] + running[:first]:  # rotates, so that no contender always follows the same one
            if remote.name not in heat.failures:
                _take_turn(heat, remote, pace, samples[remote.name])
        advance()
    for remote in running:
        if remote.name not in heat.failures:
            try:
                remote.ask("finish")
            except ContenderError as reason:  # the device was lost, or the process died, after the last turn
                heat.failures[remote.name] = str(reason)
                continue
            heat.timings[remote.name] = Timing(samples[remote.name])
    return heat


def _take_turn(heat: Heat[C], remote: Remote, pace: Pace, samples: list[float]) -> None:
    if heat.threads > 1:
        time.sleep(SETTLE_SECONDS)
    try:
        samples.extend(remote.ask("turn", pace.turn_seconds))
    except ContenderError as reason:
        heat.failures[remote.name] = str(reason)

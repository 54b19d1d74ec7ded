"""The process of one contender: waits for a request, answers, and waits again without using the processor."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.cases import Case, greatest_error, make_inputs
from benchmarks.contenders import MODULES, Contender, NotOfferedError

# Seconds. Calls are grouped until a sample takes this long, because reading the clock would distort a call of 1 us.
SHORTEST_SAMPLE = 1e-3


def serve(connection: Connection, make: Callable[[], object]) -> None:
    """Calls methods of what `make` makes at the first request.

    Requests are (method, arguments); every answer is ("ok", value), ("not offered", why) or ("failed", why).
    """
    worker: object | None = None
    while True:
        try:
            method, *arguments = connection.recv()
        except EOFError:
            return
        try:
            worker = worker or make()
            connection.send(("ok", getattr(worker, method)(*arguments)))
        except NotOfferedError as reason:
            connection.send(("not offered", str(reason)))
        except Exception as error:  # a failing contender must not end the run of the others
            last_line = traceback.format_exception_only(error)[-1].strip()
            connection.send(("failed", last_line))


class Worker:
    """Prepares a case, checks it, and times turns."""

    def __init__(self, name: str, threads: int) -> None:
        self.contender: Contender = import_module(MODULES[name]).Contender(threads)
        self.call: Callable[[], object] = lambda: None
        self.calls_a_sample = 1

    def describe(self) -> dict[str, str]:
        return self.contender.describe()

    def prepare(self, case: Case) -> dict[str, Any]:
        """Compiles, computes once, returns the greatest error against float64; ValueError if it is too great."""
        inputs = make_inputs(case)
        prepared = self.contender.prepare(case, inputs)
        prepared.call()
        judged = case if prepared.absolute is None else replace(case, absolute=prepared.absolute)
        error, within = greatest_error(judged, inputs, prepared.output())
        if not within:
            raise ValueError(f"{case.name}: wrong by {error:.1e}")
        self.call = prepared.call
        seconds = min(self._sample(1) for _ in range(3))
        self.calls_a_sample = math.ceil(SHORTEST_SAMPLE / max(seconds, 1e-7))
        return {"greatest_error": error}

    def turn(self, seconds: float) -> list[float]:
        """Seconds per call of at least one sample, after a warm-up: the caches hold another contender's data."""
        self._sample(self.calls_a_sample)
        end = time.perf_counter() + seconds
        samples = [self._sample(self.calls_a_sample)]
        while time.perf_counter() < end:
            samples.append(self._sample(self.calls_a_sample))
        return samples

    def finish(self) -> None:
        """Releases the arrays of the case."""
        self.call = lambda: None

    def _sample(self, calls: int) -> float:
        call = self.call
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - start) / calls

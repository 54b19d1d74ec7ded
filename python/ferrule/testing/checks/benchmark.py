"""The time of a call, and of NumPy in the same dtype."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ferrule.testing.running.check_attempt import Attempt

ROUNDS, LEAST_SECONDS = 7, 0.005


def check(attempt: Attempt) -> None:
    case = attempt.case
    problem = (*case.family.large, case.family.plain[-1])[0]
    inputs = attempt.inputs(problem)
    execution = attempt.prepare(problem, inputs)
    attempt.judge(problem, inputs, attempt.compute(execution))
    graph, given = execution.graph, execution.given

    def peer() -> object:
        with np.errstate(all="ignore"):
            return case.oracle(*inputs, **problem.attributes)

    attempt.measured = {
        "nanoseconds": _nanoseconds(lambda: graph.compute(*given)),
        "peer_nanoseconds": _nanoseconds(peer),
    }


def _nanoseconds(function: Callable[[], object]) -> float:
    """The least time per call of several rounds: other load on the machine can only add to it."""
    count, best = 1, float("inf")
    for _ in range(ROUNDS):
        while True:
            start = time.perf_counter_ns()
            for _ in range(count):
                function()
            spent = time.perf_counter_ns() - start
            if spent >= LEAST_SECONDS * 1e9 / ROUNDS or count >= 1 << 16:
                break
            count *= 2
        best = min(best, spent / count)
    return best

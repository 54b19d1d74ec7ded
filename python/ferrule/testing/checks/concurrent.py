"""Several threads execute one executable at the same time, each with its own inputs: each gets the bits of a lone run.

Executions that share memory by mistake give another thread's numbers. This shows when a thread is interrupted during
its work, so each thread runs for several time slices of the scheduler, and the kit runs nothing else meanwhile.
Executions that take that long by themselves, as on an emulated device, overlap in fewer threads, too.
"""

from __future__ import annotations

import threading
import time

import numpy as np

import ferrule as fe
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import Values
from ferrule.testing.model.problem import Problem
from ferrule.testing.running.check_attempt import Attempt
from ferrule.testing.running.execution import Execution

ALONE = True
BY_ITEM_SIZE = True
THREADS = 8
FEWER_THREADS = 3
LONG = 0.02  # seconds of an execution: more than a time slice


def applies(case: Case) -> bool:
    return bool(case.dtypes) and bool(case.family.large)  # without inputs all threads would write the same


def check(attempt: Attempt) -> None:
    fe.set_thread_count(THREADS)  # of each execution, whatever the machine has
    try:
        _check(attempt)
    finally:
        fe.set_thread_count(0)


def _check(attempt: Attempt) -> None:
    family = attempt.case.family
    for problem in family.large[: attempt.pick(quick=1 if family.pointwise else 3, full=10)]:
        if attempt.case.ordinary_only:
            inputs = [attempt.inputs(problem, number) for number in range(THREADS)]
        else:  # which takes less time than drawing
            first = attempt.inputs(problem)
            inputs = [[np.roll(x, 7 * number) for x in first] for number in range(THREADS)]
        execution = attempt.try_prepare(problem, inputs[0], f"{THREADS} threads")
        if execution is None:
            continue
        alone: list[Values] = []
        for given in inputs:
            begin = time.perf_counter()
            alone.append(attempt.compute_with(execution, given).copy())
            if len(alone) == FEWER_THREADS and time.perf_counter() - begin > LONG:
                break
        _at_once(attempt, problem, execution, inputs[: len(alone)], alone)


def _at_once(
    attempt: Attempt, problem: Problem, execution: Execution, inputs: list[list[Values]], alone: list[Values]
) -> None:
    count = len(inputs)
    start = threading.Barrier(count)
    seconds = attempt.pick(quick=12, full=100, edge=500) / 1e3
    wrong: dict[int, Values] = {}
    errors: list[Exception] = []
    runs = [0] * count
    end = time.perf_counter() + seconds

    def work(number: int) -> None:
        wanted = alone[number].tobytes()
        start.wait()
        try:
            while not wrong and not errors and (time.perf_counter() < end or runs[number] < 2):
                got = execution.compute_with(inputs[number])
                runs[number] += 1
                if got.tobytes() != wanted:
                    wrong[number] = got.copy()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    attempt.runs += sum(runs)
    if errors:
        raise attempt.fail(problem, f"one of {count} threads that execute it at once: {errors[0]}") from errors[0]
    for number, got in wrong.items():
        what = f"beside {count - 1} other threads that execute it, and alone"
        attempt.equal_bits(problem, got, alone[number], what)

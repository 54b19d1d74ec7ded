"""Runs one of the steps below tens of thousands of times with different data and prints the memory growth.

`GROWTH="DEVICE STEP COUNT" python growth.py` prints the resident bytes per step over COUNT steps, after as many steps
that fill the caches.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import os
from collections.abc import Callable
from pathlib import Path

import ferrule as fe
import numpy as np

PAGE = 4096
logging.disable(logging.CRITICAL)


def shape_of(number: int) -> tuple[int, int, int]:
    """One of 40^3 shapes of at most 64,000 elements."""
    return number % 40 + 1, number // 40 % 40 + 1, number // 1600 % 40 + 1


def resident() -> int:
    """Memory of the process without what it could release: device memory is cached by size. Linux only."""
    gc.collect()
    for device in fe.devices():
        device.trim()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


class Steps:
    def __init__(self, device: str) -> None:
        self.device = device
        self.one = fe.asarray(np.ones(1, "int8"), device=device)
        self.traced = fe.graph(lambda x: x + x * 2)
        self.with_statics = fe.graph(lambda x, word: x + len(word))
        self.kept = [fe.asarray(np.ones(1, "int8"), device=device, copy=True)]

    def ones(self, number: int) -> fe.Array:
        return fe.broadcast_to(self.one, shape_of(number))

    def lazy(self, number: int) -> None:
        """Executables of pending arrays."""
        fe.eval(self.ones(number) + self.one)

    def recorded(self, number: int) -> None:
        """Named arrays that are not computed."""
        self.kept.append(self.kept[-1] + self.kept[0])

    def calls(self, number: int) -> None:
        """Executables of a traced function."""
        self.traced(fe.asarray(np.ones(shape_of(number), "int8"), device=self.device))

    def structures(self, number: int) -> None:
        """Calls that differ in a static argument."""
        self.with_statics(self.one, f"word {number}")

    def graphs(self, number: int) -> None:
        """Graphs that are compiled, run and dropped."""
        graph = fe.Graph(device=self.device)
        x = graph.input(shape_of(number), "int8")
        graph.output(x + 1)
        graph.compute(fe.asarray(np.ones(shape_of(number), "int8"), device=self.device))

    def constants(self, number: int) -> None:
        """Constants that kernels pack."""
        graph = fe.Graph(device=self.device)
        x = graph.input((2, number % 37 + 3), "float32")
        graph.output(x @ graph.constant(np.full((number % 37 + 3, number % 5 + 7), number, "float32")))
        graph.compile()

    def errors(self, number: int) -> None:
        """Messages of errors at recording time."""
        try:
            fe.reshape(self.ones(number), (number + 70000,))
        except fe.InvalidArgumentError:
            return
        raise AssertionError("a reshape to another size")

    def failures(self, number: int) -> None:
        """Failing executions, each with its own message."""
        try:
            np.asarray(fe.take(self.one, fe.asarray(np.array([number + 1]), device=self.device)))
        except fe.InvalidArgumentError:
            return
        assert self.device == "null"

    def dtypes(self, number: int) -> None:
        """NumPy arrays of dtypes that ferrule does not support."""
        try:
            fe.asarray(np.zeros(1, [(f"field{number}", "int8")]), device=self.device)
        except fe.DTypeError:
            return
        raise AssertionError("an array of records")

    def borrowed(self, number: int) -> None:
        """Arrays that borrow NumPy's memory, and views of them."""
        x = fe.asarray(np.ones(shape_of(number), "int8"))
        np.asarray(x[0])


def growth(step: Callable[[int], None], count: int) -> float:
    for number in range(63_900, 64_000):  # the largest shapes: device memory becomes resident when it is first used
        step(number)
    for number in range(count):
        step(number)
    before = resident()
    for number in range(count, 2 * count):
        step(number)
    return (resident() - before) / count


if __name__ == "__main__":
    device, name, count = os.environ["GROWTH"].split()
    if device == "null":
        fe.load(next((Path(fe.__file__).parent / "testing").glob("libferrule-null.[!j]*")))
    print(growth(getattr(Steps(device), name), int(count)))

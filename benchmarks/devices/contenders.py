"""The contenders: ferrule, and the libraries that are installed and see the same device."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from numpy.typing import NDArray

from benchmarks.devices.cases import DeviceCase
from benchmarks.devices.inputs import Inputs

MODULES = {
    "ferrule": "benchmarks.devices.with_ferrule",
    "ferrule+cuBLASLt": "benchmarks.devices.with_cublaslt",
    "torch": "benchmarks.devices.with_torch",
    "cupy": "benchmarks.devices.with_cupy",
}


@dataclass(frozen=True)
class Prepared:
    """`run(i)` starts call number i, with the operands i, modulo their number. `output` is of call 0: the first
    `checked_rows` of its first result, as float32.
    """

    run: Callable[[int], object]
    output: Callable[[], NDArray[Any]]


class DeviceContender(Protocol):
    """A contender in a process of its own."""

    def __init__(self, device: str, uuid: str) -> None:
        """Raises NotOfferedError if it is not installed, or does not see the device of this UUID."""

    def describe(self) -> dict[str, str]:
        """The version, and whatever else affects its speed."""

    def prepare(self, case: DeviceCase, inputs: Inputs) -> Prepared:
        """Does everything that a user does once and not for each call; raises NotOfferedError."""

    def wait(self) -> None:
        """Returns when the device has done all calls."""

    def release(self) -> None:
        """Gives memory that no array uses back to the device, because all contenders share it."""

    def event_times(self, run: Callable[[int], object], calls: int) -> list[float]:
        """Seconds of the device for each of so many calls, which are queued one after the other."""


def times_between_marks(
    run: Callable[[int], object],
    calls: int,
    mark: Callable[[], Any],
    wait: Callable[[], None],
    milliseconds: Callable[[Any, Any], float],
) -> list[float]:
    """`event_times` of a library: `mark` makes an event with `record()`, `milliseconds` tells the time between two."""
    marks = [(mark(), mark()) for _ in range(calls)]
    run(0)
    for number, (begin, end) in enumerate(marks):
        begin.record()
        run(number)
        end.record()
    wait()
    return [milliseconds(begin, end) / 1e3 for begin, end in marks]


def open_contender(name: str, device: str, uuid: str) -> DeviceContender:
    contender: DeviceContender = import_module(MODULES[name]).Contender(device, uuid)
    return contender


def queued_time(contender: DeviceContender, run: Callable[[int], object], calls: int) -> float:
    """Seconds per call of a queue that holds many: the host's clock from an idle device to an idle device."""
    contender.wait()
    start = time.perf_counter()
    for number in range(calls):
        run(number)
    contender.wait()
    return (time.perf_counter() - start) / calls


def clock_times(contender: DeviceContender, run: Callable[[int], object], calls: int) -> list[float]:
    """Seconds from each call to the end of its work, by the host's clock."""
    return [queued_time(contender, run, 1) for _ in range(calls)]

"""The contenders. Each module has a class `Contender`; it is imported only in the process that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from benchmarks.cases import Case, Inputs

MODULES = {
    "ferrule": "benchmarks.contenders.with_ferrule",
    "numpy": "benchmarks.contenders.with_numpy",
    "onnxruntime": "benchmarks.contenders.with_onnxruntime",
    "ggml": "benchmarks.contenders.with_ggml",
}


class NotOfferedError(Exception):
    """The contender does not have this case; the table shows a dash."""


@dataclass(frozen=True)
class Prepared:
    """`call` is timed: it computes into existing memory. `output` returns the result, without a copy if possible.

    `absolute` bounds its errors instead of the bound of the case, where the contender rounds more than was asked for.
    """

    call: Callable[[], object]
    output: Callable[[], NDArray[Any]]
    absolute: float | None = None


class Contender(Protocol):
    """A contender runs in one process with one number of threads."""

    def __init__(self, threads: int) -> None: ...

    def describe(self) -> dict[str, str]:
        """The version, and whatever else affects its speed."""

    def prepare(self, case: Case, inputs: Inputs) -> Prepared:
        """Does everything that a user does once and not for each call; raises NotOfferedError."""

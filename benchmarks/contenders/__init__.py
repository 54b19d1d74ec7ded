"""Who takes part. Each module has a class `Contender`; it is imported only in the process that runs it."""

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
}


class NotOfferedError(Exception):
    """This contender has no such thing; the table shows a dash."""


@dataclass(frozen=True)
class Prepared:
    """`call` is what is timed: it computes into memory that was there before. `output` copies nothing it need not."""

    call: Callable[[], object]
    output: Callable[[], NDArray[Any]]


class Contender(Protocol):
    """Lives in one process with one number of threads."""

    def __init__(self, threads: int) -> None: ...

    def describe(self) -> dict[str, str]:
        """Version, and whatever else decides how fast it is."""

    def prepare(self, case: Case, inputs: Inputs) -> Prepared:
        """Everything that a user would do once and not for each call; raises NotOfferedError."""

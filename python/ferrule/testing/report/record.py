"""A record: the outcome of one check of one case on one target. The whole report is derived from records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

OUTCOMES = ("passed", "failed", "crashed", "hung", "refused", "unsupported")
FAILURES = ("failed", "crashed", "hung")
MODULE_CHECK = "module:"  # the prefix of the checks of a module's file and slots, whose records have no op


class ReportError(ValueError):
    """The input is no valid report."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """The outcome of one check of one case on one target."""

    target: str  # "cpu:0"
    check: str  # "values", "edges", "guards", ...; "module:..." for a module
    state: str  # one of OUTCOMES
    module: str = ""  # the name of the file
    variant: str = ""  # "zen4"
    op: str = ""
    case: str = ""  # "softmax-float32"
    dtypes: tuple[str, ...] = ()  # the inputs'
    result: str = ""
    runs: int = 0  # the number of executions
    ulp: float | None = None  # the distance of the worst element
    allowed: float | None = None
    exact: bool = False  # every result was equal to the truth or the nearest number
    where: str = ""  # "element (3, 2) of ((5, 7), axis=-1)"
    message: str = ""  # the text of a failure, several lines
    reason: str = ""  # why it is unsupported or was refused; the reason of the tolerance if it passed
    kernels: tuple[str, ...] = ()
    seed: int = 0
    repeat: str = ""  # the shell command that repeats the check
    seconds: float = 0.0
    nanoseconds: float | None = None  # the time of a call
    peer_nanoseconds: float | None = None  # the time of NumPy

    def __post_init__(self) -> None:
        if self.state not in OUTCOMES:
            raise ReportError(f"state: got {self.state!r}, needs one of {', '.join(OUTCOMES)}")

    @property
    def failing(self) -> bool:
        return self.state in FAILURES

    @property
    def of_module(self) -> bool:
        return self.check.startswith(MODULE_CHECK)

    @property
    def dtype(self) -> str:
        """The column of the matrix: the dtype of the first input, or of the result if the op has no inputs."""
        return self.dtypes[0] if self.dtypes else self.result

    @property
    def name(self) -> str:
        """The case and check, such as `softmax-float32 values`."""
        return f"{self.case} {self.check}" if self.case else self.check

    def to_json(self) -> dict[str, Any]:
        """The fields as strict JSON; fields with their default value are left out."""
        written = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in REQUIRED or value != field.default:
                written[field.name] = plain(value)
        return written

    @classmethod
    def from_json(cls, given: object) -> Self:
        if not isinstance(given, Mapping):
            raise ReportError(f"got {type(given).__name__}, needs an object")
        types = {field.name: str(field.type) for field in fields(cls)}
        for name in REQUIRED:
            if name not in given:
                raise ReportError(f"{name} is missing")
        for name in given:
            if name not in types:
                raise ReportError(f"{name!r} is not a field of a record")
        return cls(**{name: _check(name, value, types[name]) for name, value in given.items()})


REQUIRED = ("target", "check", "state")
KINDS: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "bool": (bool,), "float": (int, float)}
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return list(value) if isinstance(value, tuple) else value


def _check(name: str, value: Any, kind: str) -> Any:
    """Convert a JSON value to the type of a field. Raises ReportError."""
    if kind.startswith("tuple"):
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise ReportError(f"{name}: got {value!r}, needs a list of strings")
        return tuple(value)
    base = kind.removesuffix(" | None")
    if value is None and base != kind:
        return None
    if base == "float" and isinstance(value, str) and value in NOT_FINITE:
        return NOT_FINITE[value]
    if not isinstance(value, KINDS[base]) or (isinstance(value, bool) and base != "bool"):
        raise ReportError(f"{name}: got {value!r}, needs {kind}")
    return float(str(value)) if base == "float" else value

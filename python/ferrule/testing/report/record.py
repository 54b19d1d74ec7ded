"""A record: what one check of one case on one target came to. Everything the report shows is made of these."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

OUTCOMES = ("passed", "failed", "crashed", "hung", "refused", "unsupported")
FAILURES = ("failed", "crashed", "hung")
MODULE_CHECK = "module:"  # begins the names of the checks of a module's ABI, whose records have no op


class ReportError(ValueError):
    """What was read is no report."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One (target, case, check)."""

    target: str  # "cpu:0"
    check: str  # "values", "edges", "guards", ...; "module:..." of a module
    state: str  # one of OUTCOMES
    module: str = ""  # the file's name
    variant: str = ""  # "zen4"
    op: str = ""
    case: str = ""  # "softmax-float32"
    dtypes: tuple[str, ...] = ()  # of the inputs
    result: str = ""
    runs: int = 0  # executions
    ulp: float | None = None  # of the worst element
    allowed: float | None = None
    exact: bool = False  # every result was equal, or the nearest number
    where: str = ""  # "element (3, 2) of ((5, 7), axis=-1)"
    message: str = ""  # of a failure, many lines
    reason: str = ""  # why it is not supported or was refused; the tolerance's when it passed
    kernels: tuple[str, ...] = ()
    seed: int = 0
    repeat: str = ""  # a shell command
    seconds: float = 0.0
    nanoseconds: float | None = None  # of a call
    peer_nanoseconds: float | None = None  # of NumPy's

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
        """The column of the matrix: the first input's, or the result's where there is no input."""
        return self.dtypes[0] if self.dtypes else self.result

    @property
    def name(self) -> str:
        """`softmax-float32 values`."""
        return f"{self.case} {self.check}" if self.case else self.check

    def to_json(self) -> dict[str, Any]:
        """As strict JSON has it; what is as by default is left out."""
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
                raise ReportError(f"{name!r} is no field of a record")
        return cls(**{name: _checked(name, value, types[name]) for name, value in given.items()})


REQUIRED = ("target", "check", "state")
KINDS: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "bool": (bool,), "float": (int, float)}
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return list(value) if isinstance(value, tuple) else value


def _checked(name: str, value: Any, kind: str) -> Any:
    """A field's value as the dataclass has it, or an error that says what it must be."""
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

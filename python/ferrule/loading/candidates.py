"""The rows of a load report. Loading itself does not need them, so they are a module of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Candidate:
    """A module file that was found, and its state."""

    path: Path
    root: str
    name: str
    variant: str
    state: str  # loaded, outranked, disabled, incompatible, unsafe, not_probed, probe_failed, no_device, error
    reason: str
    rank: int | None
    score: int | None
    devices: tuple[str, ...]
    milliseconds: float
    version: str = ""
    probed: str = "no"  # yes, cached, no
    notes: tuple[str, ...] = ()
    output: str = ""  # the text that it printed in its probe
    files: tuple[Path, ...] = ()  # the files that opening it mapped, its own first
    times: dict[str, float] = field(default_factory=dict)  # milliseconds of read, hash, probe, open, init


@dataclass(frozen=True)
class Root:
    """A folder, or a list of files, that was searched."""

    path: Path
    data: dict[str, Any]


def candidate_of(row: dict[str, Any]) -> Candidate:
    return Candidate(
        path=Path(row["path"]),
        root=str(row.get("root") or ""),
        name=str(row.get("name") or ""),
        variant=str(row.get("variant") or ""),
        state=str(row["state"]),
        reason=str(row.get("reason") or ""),
        rank=row.get("rank"),
        score=row.get("score"),
        devices=tuple(row.get("devices") or ()),
        milliseconds=float(row.get("milliseconds") or 0.0),
        version=str(row.get("version") or ""),
        probed=str(row.get("probed") or "no"),
        notes=tuple(row.get("notes") or ()),
        output=str(row.get("output") or ""),
        files=tuple(Path(file) for file in row.get("files") or ()),
        times=dict(row.get("times") or {}),
    )


def root_of(root: dict[str, Any]) -> Root:
    return Root(Path(root["path"]), root)

"""The drivers that manifests declare, and what this machine has of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ferrule.tools.inspection.manifest import read_manifest

LONGEST_LINE = 1024  # characters of a file that are read


@dataclass(frozen=True)
class Driver:
    """An entry of `driver` in a manifest, see docs/develop/loading_internals.md."""

    backend: str
    variables: tuple[str, ...]
    hiding_variables: tuple[str, ...]
    file_variables: tuple[str, ...]
    state_files: tuple[str, ...]


def drivers_of(rows: Iterable[dict[str, Any]]) -> list[Driver]:
    """Return the drivers of the modules in a load report, without duplicates."""
    found = []
    for row in rows:
        manifest = read_manifest(Path(row["path"]))[0] if row["path"] else None
        entries = (manifest or {}).get("driver")
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict):
                keys = ("variables", "hiding_variables", "file_variables", "state_files")
                found.append(Driver(row["name"], *(_texts(entry.get(key)) for key in keys)))
    return list(dict.fromkeys(found))


def variables_of(drivers: Iterable[Driver]) -> dict[str, str]:
    """Return the environment variables that are declared by full names. Pattern matches ("NVIDIA_*") may be secrets."""
    names = [
        name
        for driver in drivers
        for name in (*driver.variables, *driver.hiding_variables, *driver.file_variables)
        if not name.endswith("*")
    ]
    return {name: os.environ[name] for name in dict.fromkeys(names) if name in os.environ}


def versions_of(drivers: Iterable[Driver]) -> dict[str, str]:
    """Return the first line of each existing state file, by the name of its folder: "nvidia", "amdgpu"."""
    found: dict[str, str] = {}
    for path in (Path(file) for driver in drivers for file in driver.state_files):
        line = _first_line(path)
        if line:
            found.setdefault(path.parent.name, line.partition(":")[2].strip() or line)
    return found


def advice_on(drivers: Iterable[Driver], variables: dict[str, str]) -> Iterator[str]:
    for driver in drivers:
        for name in driver.hiding_variables:
            if name in variables and variables[name].strip() in ("", "-1", "none", "void"):
                yield f"{name} is {variables[name]!r}, which hides every device from the driver."
        for name in driver.file_variables:
            missing = [path for path in variables.get(name, "").split(os.pathsep) if path and not os.path.exists(path)]
            if missing:
                absent = ", ".join(missing)
                yield f"{name} names {absent}, which does not exist: {driver.backend} finds no driver through it."


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def _first_line(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline(LONGEST_LINE).strip()
    except OSError:
        return ""

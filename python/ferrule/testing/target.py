"""What is under test: a module's file, a device by name, or a variant of the CPU module."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import ferrule as fe

Kind = Literal["backend", "device", "variant"]


@dataclass(frozen=True)
class Target:
    """`value` is a path, a device's name, or a variant; `level` is that of its checks."""

    kind: Kind
    value: str
    level: str = "quick"

    @property
    def option(self) -> str:
        """The option of the command line that names it."""
        return f"--ferrule-{self.kind}={self.value}"

    @property
    def label(self) -> str:
        """Short, for the names of tests; the device's number comes after it."""
        if self.kind == "backend":
            return Path(self.value).name.removeprefix("lib").removeprefix("ferrule-").split(".")[0]
        return self.value if self.kind == "device" else f"cpu-{self.value}"

    @property
    def data(self) -> dict[str, Any]:
        return asdict(self)


def open_target(target: Target) -> list[fe.Device]:
    """Load what is named, and nothing else where that can be helped; its devices. For a process of its own."""
    if target.kind != "device":
        # Nothing but the module under test is there to fall back on.
        os.environ["FERRULE_AUTOLOAD"] = "0"
    if target.kind == "device":
        return [fe.device(target.value)]
    path = Path(target.value) if target.kind == "backend" else variant_path(target.value)
    # This process is the one that may end: a probe would hide what the checks are to find.
    backend = fe.load(path, probe="never")
    return [device for device in fe.devices(unified=False) if device.backend == backend]


def variant_path(variant: str) -> Path:
    """The file of a variant of the CPU module that came with ferrule, found without loading any."""
    found = {path.stem.split("-", 2)[2]: path for path in _folder().glob("*ferrule-cpu-*") if path.suffix != ".json"}
    if variant not in found:
        raise ValueError(f"there is no variant {variant!r} of the CPU module; there are {', '.join(sorted(found))}")
    return found[variant]


def runnable_variants() -> list[str]:
    """Those of the CPU module that this processor can run, the widest first. Loads that one."""
    rows = [row for row in fe.load_all(dirs=[_folder()]) if row.name == "cpu" and row.state in ("loaded", "outranked")]
    return [row.variant for row in sorted(rows, key=lambda row: -(row.rank or 0))]


def _folder() -> Path:
    return Path(fe._ferrule.__file__ or "").parent / "backends"

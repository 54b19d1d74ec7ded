"""The target of a run: a module's file, a device by name, or a variant of the CPU module."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import ferrule as fe

Kind = Literal["backend", "device", "variant"]


@dataclass(frozen=True)
class Target:
    """The subject of a run: `value` is a path, a device's name or a variant, and `level` the level of the checks."""

    kind: Kind
    value: str
    level: str = "quick"

    @property
    def option(self) -> str:
        """The command-line option that selects this target."""
        return f"--ferrule-{self.kind}={self.value}"

    @property
    def label(self) -> str:
        """A short name for test ids."""
        if self.kind == "backend":
            return Path(self.value).name.removeprefix("lib").removeprefix("ferrule-").split(".")[0]
        return self.value if self.kind == "device" else f"cpu-{self.value}"

    @property
    def data(self) -> dict[str, Any]:
        return asdict(self)


def open_target(target: Target) -> list[fe.Device]:
    """Load the target and return its devices. It must run in its own process: it turns autoloading off."""
    if target.kind != "device":
        # Only the module under test is loaded, so that no op can fall back to another.
        os.environ["FERRULE_AUTOLOAD"] = "0"
    if target.kind == "device":
        return [fe.device(target.value)]
    path = Path(target.value) if target.kind == "backend" else variant_path(target.value)
    # This process may crash, and a probe would hide what the checks look for.
    backend = fe.load(path, probe="never")
    return [device for device in fe.devices(unified=False) if device.backend == backend]


def variant_path(variant: str) -> Path:
    """The file of a variant of the CPU module in the installed package, found without loading any."""
    found = {path.stem.split("-", 2)[2]: path for path in _folder().glob("*ferrule-cpu-*") if path.suffix != ".json"}
    if variant not in found:
        raise ValueError(f"there is no variant {variant!r} of the CPU module; there are {', '.join(sorted(found))}")
    return found[variant]


def runnable_variants() -> list[str]:
    """The variants of the CPU module that this processor can run, widest first. Loads the widest."""
    rows = [row for row in fe.load_all(dirs=[_folder()]) if row.name == "cpu" and row.state in ("loaded", "outranked")]
    return [row.variant for row in sorted(rows, key=lambda row: -(row.rank or 0))]


def _folder() -> Path:
    return Path(fe._ferrule.__file__ or "").parent / "backends"

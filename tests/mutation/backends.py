"""The backends that get faults. The file tests/mutation.toml of each says how its module is built."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Backend:
    """The entries of one mutation.toml. Texts may contain {variant}, the variant of the host's module that is built.

    faults: each with what must catch it (planted_faults.py).
    is_host: its module computes on the host. The tests of the core use it, and the faults of faults.py are in it.
    target, product, options: of CMake; the product is relative to the backend's folder in the build.
    further_targets: what the backend's tests load beside the module.
    folders: further parts of the tree that its build needs.
    """

    name: str
    target: str
    product: str
    faults: tuple[dict[str, str], ...] = ()
    folders: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    further_targets: tuple[str, ...] = ()
    is_host: bool = False

    @property
    def folder(self) -> str:
        """Relative to the root, with slashes."""
        return f"csrc/backends/{self.name}"

    @property
    def kernels(self) -> str:
        return f"{self.folder}/kernels"


def _read(path: Path) -> Backend:
    entries: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    lists = {key: tuple(value) for key, value in entries.items() if isinstance(value, list)}
    return Backend(path.parents[1].name, **{**entries, **lists})


BACKENDS = {backend.name: backend for backend in map(_read, sorted(ROOT.glob("csrc/backends/*/tests/mutation.toml")))}
[HOST] = [backend for backend in BACKENDS.values() if backend.is_host]

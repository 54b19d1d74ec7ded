"""Where the installed package lies: the tests of this folder look at files, not at sources."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def package() -> Path:
    spec = importlib.util.find_spec("ferrule")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    assert ROOT / "python" not in folder.parents, "the sources shadow the installed package"
    return folder


def modules() -> list[Path]:
    """Every backend module of the installation, those for tests included."""
    return sorted(package().rglob("libferrule-*.so"))


def output_of(*command: str | Path) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout

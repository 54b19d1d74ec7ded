"""Paths of the installed package: the tests in this folder check installed files, not sources."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
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
    """Every installed backend module, including those for tests."""
    return sorted(package().rglob("libferrule-*.so"))


def output_of(*command: str | Path) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def build(source: Path, folder: Path, *options: str) -> Path:
    """Third-party code, built against the installed wheel."""
    cmake_dir = output_of(sys.executable, "-m", "ferrule", "--cmake-dir").strip()
    settings = [f"-Dferrule_DIR={cmake_dir}", "-DCMAKE_BUILD_TYPE=Release", *options]
    output_of("cmake", "-S", source, "-B", folder, *settings)
    output_of("cmake", "--build", folder)
    return folder

"""The wheels of backends, and new environments to install them in.

Tests that need a wheel which is not in dist/ are skipped; FERRULE_REQUIRE_WHEELS=1 makes them fail.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import pytest
from packaging.requirements import Requirement

DIST = Path(__file__).resolve().parents[3] / "dist"


def _is_for_this_system(backend: str) -> bool:
    """Whether the markers of ferrule's extra let it be installed here."""
    extras = tomllib.loads((DIST.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    markers = [Requirement(line).marker for line in extras[backend]]
    return all(marker is None or marker.evaluate() for marker in markers)


# The backends that have wheels of their own on this system.
BACKENDS = sorted(
    project.parent.name
    for project in (DIST.parent / "wheels").glob("*/pyproject.toml")
    if _is_for_this_system(project.parent.name)
)


def wheel_of(name: str) -> Path:
    """The wheel of a distribution, as "ferrule_cuda" or "ferrule"."""
    wheels = sorted(DIST.glob(f"{name}-*-manylinux_*_{platform.machine()}.whl"))
    if not wheels:
        skipped(f"{DIST} has no wheel of {name}: run ./dev wheels")
    assert len(wheels) == 1, f"{DIST} must hold one wheel of {name}, and holds {len(wheels)}"
    return wheels[0]


def skipped(reason: str) -> NoReturn:
    if os.environ.get("FERRULE_REQUIRE_WHEELS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def need_wheels(*arguments: str | Path) -> None:
    """Skip the test if dist/ lacks a wheel of a backend that these arguments of `pip install` name."""
    for word in arguments:
        if isinstance(word, Path) or word.startswith("-"):
            continue
        given = Requirement(word)
        if given.name.removeprefix("ferrule-") in BACKENDS:
            wheel_of(given.name.replace("-", "_"))
        for needed in map(Requirement, importlib.metadata.requires(given.name) or [] if given.extras else []):
            marker, needed.marker = needed.marker, None
            if marker and any(marker.evaluate({"extra": extra}) for extra in given.extras):
                need_wheels(str(needed))


def hashes_in(site: Path) -> dict[str, str]:
    """Hashes of all files of the environment's packages, except those that Python writes on import."""
    return {
        str(path.relative_to(site)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in site.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def files_of(distribution: str) -> set[Path]:
    """The installed folders and files of a distribution."""
    files = importlib.metadata.files(distribution) or []
    return {
        Path(str(file.locate())).parents[len(file.parts) - 1] / file.parts[0] for file in files if file.parts[0] != ".."
    }


def needed_by(distribution: str) -> set[Path]:
    """The installed folders and files of all distributions that a distribution needs."""
    found = set()
    for requirement in importlib.metadata.requires(distribution) or []:
        marker = Requirement(requirement).marker
        if marker is None or marker.evaluate({"extra": ""}):
            name = Requirement(requirement).name
            found |= files_of(name) | needed_by(name)
    return found


def without_settings() -> dict[str, str]:
    """This process's environment variables but those of ferrule and Python."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("FERRULE_", "PYTHON"))}


def make_environment(folder: Path, packages: Iterable[Path]) -> tuple[Path, Path]:
    """Make an environment with links to packages; return its Python and its folder of packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    [site] = folder.glob("lib/python*/site-packages")
    for path in packages:
        (site / path.name).symlink_to(path)
    return folder / "bin" / "python", site


class Environment:
    """A new environment with ferrule. Its dependencies come from the tests' environment, without downloads."""

    def __init__(self, folder: Path, *, packages: tuple[str, ...] = ()) -> None:
        """Make it in a new folder, with other packages of the tests' environment."""
        links = needed_by("ferrule").union(*(files_of(name) | needed_by(name) for name in packages))
        self.python, self.site = make_environment(folder, links)
        self.pip("install", "ferrule")

    def pip(self, *arguments: str) -> None:
        if arguments[0] == "install":
            need_wheels(*arguments[1:])
        command = [sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check"]
        source = ["--no-index", "--find-links", str(DIST)] if arguments[0] == "install" else ["--yes"]
        done = subprocess.run([*command, *arguments, *source], capture_output=True, text=True, cwd=self.site)
        assert done.returncode == 0, done.stdout + done.stderr

    def run(self, program: str, **variables: str) -> str:
        settings = {"FERRULE_CACHE_DIR": str(self.site.parent / "cache"), **variables}
        command = [str(self.python), "-B", "-c", program]
        done = subprocess.run(command, env=without_settings() | settings, capture_output=True, text=True, cwd=self.site)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

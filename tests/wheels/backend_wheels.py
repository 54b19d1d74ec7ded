"""The wheels of backends, and new environments to install them in. `./dev wheels` builds the wheels."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement

from tools import backends
from tools.wheels import DIST, THIS_PLATFORM

# The backends that have wheels of their own on this system.
BACKENDS = [name for name in backends.names() if THIS_PLATFORM in backends.settings(name).platforms]


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
        command = [sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check"]
        source = ["--no-index", "--find-links", str(DIST)] if arguments[0] == "install" else ["--yes"]
        # Without PYTHONPATH, in which pip would find the ferrule of these tests.
        done = subprocess.run(
            [*command, *arguments, *source], env=without_settings(), capture_output=True, text=True, cwd=self.site
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def run(self, program: str, **variables: str) -> str:
        settings = {"FERRULE_CACHE_DIR": str(self.site.parent / "cache"), **variables}
        command = [str(self.python), "-B", "-c", program]
        done = subprocess.run(command, env=without_settings() | settings, capture_output=True, text=True, cwd=self.site)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

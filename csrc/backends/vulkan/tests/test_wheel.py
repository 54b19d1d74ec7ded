"""`pip install ferrule[vulkan]` adds one folder and changes no file; uninstalling removes all of it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

DIST = Path(__file__).resolve().parents[4] / "dist"
LARGEST_WHEEL = 6 << 20

LOADED = """
import ferrule as fe
[row] = [row for row in fe.load_all().candidates if row.name == "vulkan"]
print(row.state, "|", row.reason, "|", row.path)
print((fe.ones(3, device="vulkan") + 1).sum().item())
"""


def wheel_of(distribution: str) -> Path:
    wheels = sorted(DIST.glob(f"{distribution}-*.whl"))
    assert len(wheels) == 1, f"{DIST} must hold one wheel of {distribution}, and holds {len(wheels)}: run ./dev wheels"
    return wheels[0]


def hashes_in(site: Path) -> dict[str, str]:
    """Hashes of all files of the environment's packages, except those that Python writes on import."""
    return {
        str(path.relative_to(site)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in site.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def needed_by(distribution: str) -> set[Path]:
    """The installed folders and files of all distributions that a distribution needs."""
    found = set()
    for requirement in importlib.metadata.requires(distribution) or []:
        if ";" in requirement:
            continue  # of an extra, or of another system
        [name] = re.findall(r"^[\w.-]+", requirement)
        files = importlib.metadata.files(name) or []
        found |= {
            Path(str(file.locate())).parents[len(file.parts) - 1] / file.parts[0]
            for file in files
            if file.parts[0] != ".."
        }
        found |= needed_by(name)
    return found


class Environment:
    """A new environment with ferrule. Its dependencies come from the tests' environment, without downloads."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        self.python = folder / "bin" / "python"
        [self.site] = folder.glob("lib/python*/site-packages")
        for path in needed_by("ferrule"):
            (self.site / path.name).symlink_to(path)
        self.pip("install", "ferrule")

    def pip(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check"]
        source = ["--no-index", "--find-links", str(DIST)] if arguments[0] == "install" else ["--yes"]
        done = subprocess.run([*command, *arguments, *source], capture_output=True, text=True, cwd=self.site)
        assert done.returncode == 0, done.stdout + done.stderr

    def run(self, program: str, **variables: str) -> str:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("FERRULE_", "PYTHON"))}
        settings = {"FERRULE_CACHE_DIR": str(self.site.parent / "cache"), **variables}
        command = [str(self.python), "-B", "-c", program]
        done = subprocess.run(command, env={**inherited, **settings}, capture_output=True, text=True, cwd=self.site)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    wheel_of("ferrule")
    wheel_of("ferrule_vulkan")
    return Environment(tmp_path / "environment")


def test_the_wheel_is_small_and_holds_one_folder() -> None:
    wheel = wheel_of("ferrule_vulkan")
    assert wheel.stat().st_size <= LARGEST_WHEEL
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
        folders = {"/".join(name.split("/")[:2]) for name in archive.namelist() if name.startswith("ferrule_backends/")}
    [information] = tops - {"ferrule_backends"}
    assert information.endswith(".dist-info")
    assert folders == {"ferrule_backends/vulkan"}


def test_the_wheel_has_its_licences() -> None:
    with zipfile.ZipFile(wheel_of("ferrule_vulkan")) as archive:
        licenses = {
            name.split(".dist-info/licenses/")[1]: archive.read(name)
            for name in archive.namelist()
            if ".dist-info/licenses/" in name
        }
    assert licenses["LICENSE"] == (DIST.parent / "LICENSE").read_bytes()
    assert b"The Khronos Group" in licenses["licenses/vulkan-headers.txt"]


# Probed in its own process, because it was not installed with ferrule.
def test_installing_adds_one_folder_changes_nothing_and_can_be_undone(environment: Environment) -> None:
    before = hashes_in(environment.site)
    assert any(name.startswith("ferrule/libferrule") for name in before)
    environment.pip("install", "ferrule[vulkan]")
    after = hashes_in(environment.site)
    assert {name: after.get(name) for name in before} == before
    added = sorted(after.keys() - before.keys())
    tops = {
        "/".join(name.split("/")[:2]) if name.startswith("ferrule_backends") else name.split("/")[0] for name in added
    }
    [information] = tops - {"ferrule_backends/vulkan"}
    assert information.startswith("ferrule_vulkan-")
    assert information.endswith(".dist-info")

    row, total = environment.run(LOADED).splitlines()
    folder = environment.site / "ferrule_backends" / "vulkan"
    assert row == f"loaded |  | {folder / 'libferrule-vulkan.so'}"
    assert total == "6.0"
    assert hashes_in(environment.site) == after, "using it writes nothing there"

    environment.pip("uninstall", "ferrule-vulkan")
    assert hashes_in(environment.site) == before
    assert not folder.exists()
    # Without the package, loading works and does not list the backend.
    assert "vulkan" not in environment.run("import ferrule as fe; fe.load_all(); print(fe.backends())")

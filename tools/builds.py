"""The build trees, one for each preset of CMakePresets.json, and the installation in .venv."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from tools import environment
from tools.process import CORES, ROOT, CommandError, run, say

DEV = ROOT / "build" / "dev"


def compile(preset: str, *targets: str) -> Path:
    """Configure and build a preset, wholly or some targets; returns its folder."""
    folder = ROOT / "build" / preset
    configure(preset)
    wanted = ("--target", *targets) if targets else ()
    run("cmake", "--build", folder, "--parallel", str(CORES), *wanted)
    return folder


def configure(preset: str) -> Path:
    """Configure a preset; what CMake says is shown only if it fails."""
    folder = ROOT / "build" / preset
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "configure.log"
    try:
        # CMake finds the compilers as cc and c++: ccache would take g++ for another one.
        run("cmake", "--preset", preset, log=log)
    except CommandError:
        print(log.read_text())
        raise
    return folder


INSTALLED = environment.VENV / ".ferrule"  # what is installed in .venv; the file is missing where nothing is


def install(*, with_tests: bool = False) -> None:
    """Build the preset `dev`, with the C++ tests or without them, and install it in .venv if anything changed."""
    environment.system()
    environment.require("build")
    say(f"building ferrule in build/dev{' with the C++ tests' if with_tests else ''}")
    compile("dev", *(() if with_tests else ("ferrule_package",)))
    if INSTALLED.exists() and INSTALLED.read_text() == _state_of_package():
        return
    say("installing ferrule in .venv")
    INSTALLED.unlink(missing_ok=True)
    # scikit-build-core takes what build/dev has, rather than building a tree of its own.
    settings = [f"build-dir={DEV}", "cmake.args=--preset=dev", "build.targets=ferrule_package"]
    settings += ["cmake.define.FERRULE_BUILD_TESTS=ON"]
    options = ("--no-build-isolation", "--no-deps", "--force-reinstall", *(f"-C{setting}" for setting in settings))
    environment.pip("install", *options, ROOT)
    INSTALLED.write_text(_state_of_package())


def _state_of_package() -> str:
    """Changes with each file that is installed."""
    state = hashlib.sha256()
    for path in _installed_files():
        status = path.stat()
        state.update(f"{path} {status.st_mtime_ns} {status.st_size}\n".encode())
    return state.hexdigest()


def _installed_files() -> Iterator[Path]:
    yield ROOT / "pyproject.toml"
    yield from sorted(path for path in (ROOT / "python").rglob("*") if path.is_file() and path.suffix != ".pyc")
    for pattern in ("lib*.*", "_ferrule*", "ferrule-*", "csrc/backends/*/lib*.*", "csrc/backends/*/testing/lib*.*"):
        yield from sorted(DEV.glob(pattern))
    yield from sorted(path for path in (DEV / "generated").rglob("*") if path.is_file())
    yield from sorted((ROOT / "csrc" / "sdk").rglob("*.h*"))

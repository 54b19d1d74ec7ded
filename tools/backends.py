"""The backends with wheels of their own: csrc/backends/<name>/dev.toml has the settings of each.

A module for the tests is built in build/backends by this system's compiler. Where a backend needs a GPU, it is the
module over an emulator.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from tools import builds, environment, testing
from tools.environment import PYTHON
from tools.process import ROOT, run, say

FOLDER = ROOT / "csrc" / "backends"


@dataclass(frozen=True)
class Settings:
    shows: str  # what its stage of `./dev verify` shows
    sources: str  # a pattern of the paths whose change speaks for that stage
    test_targets: list[str]  # programs of C++ tests in build/backends
    ctest: str  # a pattern of the names of those tests
    module: str  # of the tests: a path in the backend's folder of build/backends
    packages: list[str] = field(default_factory=list)  # Debian's, to build and run it
    platforms: list[str] = field(default_factory=list)  # of its wheels
    kit_environment: dict[str, str] = field(default_factory=dict)
    kit_options: list[str] = field(default_factory=list)
    thread_tests: str = ""  # pytest's -k, under the thread sanitizer
    sanitizer_ops: list[str] = field(default_factory=list)  # of the kit, with sanitizers; all if empty
    sanitizer_kit: list[str] = field(default_factory=list)  # further options of the kit then
    wheel_build_tests: str = ""  # a file of its tests that reads what its wheel was built from
    windows_tests: str = ""  # a file of its tests that runs in wine


def names() -> list[str]:
    return sorted(path.parent.name for path in FOLDER.glob("*/dev.toml"))


def settings(name: str) -> Settings:
    path = FOLDER / name / "dev.toml"
    if not path.exists():
        raise SystemExit(f"there is no backend {name!r} with a wheel of its own; there are {', '.join(names())}")
    return Settings(**tomllib.loads(path.read_text()))


def target(name: str) -> str:
    """CMake's name of the module."""
    return Path(settings(name).module).stem.removeprefix("lib")


def module_in(preset: str, name: str) -> Path:
    return ROOT / "build" / preset / "csrc" / "backends" / name / settings(name).module


def prepare() -> None:
    """Install what build/backends needs: it has every backend."""
    packages = [package for name in names() for package in settings(name).packages]
    environment.system([*environment.BUILD, *environment.TESTS, *packages])


def module(name: str) -> Path:
    """Build the module of the tests, and return its path."""
    path = module_in("backends", name)
    prepare()
    say(f"building the module of {name} in build/backends")
    builds.compile("backends", target(name))
    return path


def backend(*arguments: str) -> None:
    """`backend <name>`: its tests and the kit; further arguments go to the kit alone."""
    if not arguments:
        raise SystemExit(f"./dev backend takes one of these: {', '.join(names())}")
    name, *kit_arguments = arguments
    testing.prepare()
    built = module(name)
    if not kit_arguments:
        tests(name, built)
    kit(name, built, *kit_arguments)


def tests(name: str, built: Path, *arguments: str | Path) -> None:
    files = arguments or (FOLDER / name / "tests",)
    testing.pytest(*files, env={"FERRULE_BACKEND_PATH": str(built)})


def kit(name: str, built: Path, *arguments: str | Path) -> None:
    """The kit at `quick`: each kernel in each dtype, and each way through memory once for each size of elements."""
    own = settings(name)
    words = ("--ferrule-backend", built, "--ferrule-sample", *own.kit_options, *arguments)
    testing.run_kit(*words, report=f"kit-{name}", env=own.kit_environment)


def demo(name: str, built: Path) -> None:
    words = ("examples/search_docs.py", "--device", f"{name}:0", "--check", "--limit", "2")
    run(PYTHON, *words, env={"FERRULE_BACKEND_PATH": str(built)})

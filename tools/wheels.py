"""The wheels of ferrule and of its backends, which zig compiles for each platform, in dist/."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tools import backends, builds, environment, testing
from tools.environment import PYTHON, VENV
from tools.process import ROOT, output_of, run, say

DIST = ROOT / "dist"
SITE = ROOT / "build" / "wheel-site"  # ferrule as its wheel has it
PYTHON_VERSION = "3.11"  # the release workflow builds the later ones
# zig's name of each platform, and the end of the name of CPython's extensions. The tag of a wheel for linux_* is the
# oldest manylinux that auditwheel finds possible.
PLATFORMS = {
    "linux_x86_64": ("x86_64-linux-gnu.2.28", ".cpython-311-x86_64-linux-gnu.so"),
    "linux_aarch64": ("aarch64-linux-gnu.2.28", ".cpython-311-aarch64-linux-gnu.so"),
    "musllinux_1_2_x86_64": ("x86_64-linux-musl", ".cpython-311-x86_64-linux-musl.so"),
    "musllinux_1_2_aarch64": ("aarch64-linux-musl", ".cpython-311-aarch64-linux-musl.so"),
    "win_amd64": ("x86_64-windows-gnu", ".cp311-win_amd64.pyd"),
    "win_arm64": ("aarch64-windows-gnu", ".cp311-win_arm64.pyd"),
    "macosx_11_0_arm64": ("aarch64-macos.11.0", ".cpython-311-darwin.so"),
    "macosx_10_15_x86_64": ("x86_64-macos.10.15", ".cpython-311-darwin.so"),
}
THIS_PLATFORM = f"linux_{os.uname().machine}" if hasattr(os, "uname") else "win_amd64"


def wheels(*, platforms: list[str]) -> None:
    """Build the wheels of platforms, by default of this one, with those of the backends that have any there."""
    prepare()
    for platform in list(PLATFORMS) if platforms == ["all"] else platforms or [THIS_PLATFORM]:
        core(platform)
        for name in backends.names():
            if platform in backends.settings(name).platforms:
                of_backend(name, platform)
    check()


def prepare() -> None:
    testing.prepare()
    environment.require("wheels")


def unpack() -> None:
    """Install ferrule's wheel of this platform in a folder of its own."""
    shutil.rmtree(SITE, ignore_errors=True)
    environment.pip("install", "--no-deps", "--target", SITE, *find("ferrule", THIS_PLATFORM))


def tests(*arguments: str) -> None:
    """The tests of the wheels, and of the files in that folder."""
    testing.pytest("wheels", *arguments, env={"PYTHONPATH": str(SITE)})


def kit() -> None:
    """The conformance kit on every variant of the CPU module in ferrule's wheel that this machine can run."""
    words = ("--ferrule-variant", "all", "--ferrule-sample")
    testing.run_kit(*words, report="kit-wheel", env={"PYTHONPATH": str(SITE)})


def clean() -> None:
    for folder in (ROOT / "build", DIST, VENV):
        shutil.rmtree(folder, ignore_errors=True)


def core(platform: str) -> None:
    """ferrule's own wheel. The programs that run in its build are those of build/dev."""
    settings = [*zig_settings(platform), f"FERRULE_HOST_TOOLS={builds.DEV}"]
    if platform != THIS_PLATFORM:
        numpy = ROOT / "build" / "numpy" / platform  # its headers tell the sizes of types
        if not numpy.exists():
            install_for(platform, numpy, _pinned("numpy"))
        settings.append(f"FERRULE_EXTENSION_SUFFIX={PLATFORMS[platform][1]}")
        settings.append(f"FERRULE_NUMPY_HEADERS={numpy}/numpy/_core/include")
    _build(platform, ROOT, ROOT / "build" / f"wheel-{platform}", settings)


def of_backend(name: str, platform: str) -> None:
    """The wheel of a backend, built against the installed ferrule as anybody else's."""
    environment.system([*environment.BUILD, *backends.settings(name).packages])
    requirements = backends.FOLDER / name / "dev-requirements.txt"
    if requirements.exists():
        environment.require(requirements)
    cmake = output_of(PYTHON, "-m", "ferrule", "--cmake-dir")
    folder = ROOT / "build" / f"wheel-{name}-{platform}"
    _build(platform, ROOT / "wheels" / name, folder, [*zig_settings(platform), f"ferrule_DIR={cmake}"])


def zig_settings(platform: str) -> list[str]:
    """CMake's definitions for a build by zig."""
    if platform not in PLATFORMS:
        raise SystemExit(f"there are no wheels for {platform!r}; there are {', '.join(PLATFORMS)}, and all")
    toolchain = ROOT / "cmake" / "toolchains" / "zig.cmake"
    target = f"FERRULE_TARGET={PLATFORMS[platform][0]}"
    return [f"CMAKE_TOOLCHAIN_FILE={toolchain}", target, f"FERRULE_ZIG={zig()}"]


def zig() -> Path:
    """The program, in one folder for all clones: zig keeps the libc++ that it compiles by that folder's path."""
    package = environment.site_packages() / "ziglang"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    copy = cache / "ferrule-build" / f"zig-{output_of(package / 'zig', 'version')}"
    if not copy.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=copy.parent))
        shutil.copytree(package, unfinished, dirs_exist_ok=True)
        unfinished.rename(copy)
    return copy / "zig"


def _build(platform: str, source: Path, folder: Path, settings: Iterable[str]) -> None:
    say(f"the wheel of {source.name if source != ROOT else 'ferrule'} for {platform}")
    os.environ["SOURCE_DATE_EPOCH"] = (
        "315532800"  # the first time that a zip file can hold: equal sources, equal wheels
    )
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
        made = Path(name)
        definitions = (f"-Ccmake.define.{setting}" for setting in settings)
        environment.pip(
            "wheel", "--no-build-isolation", "--no-deps", "-w", made, f"-Cbuild-dir={folder}", *definitions, source
        )
        run(VENV / "bin/wheel", "unpack", "-d", made / "unpacked", *made.glob("*.whl"), log=made / "log")
        run(PYTHON, "-m", "wheels.sbom", *(made / "unpacked").iterdir(), folder)
        for wheel in made.glob("*.whl"):
            wheel.unlink()
        run(VENV / "bin/wheel", "pack", "-d", made, *(made / "unpacked").iterdir(), log=made / "log")
        if platform.startswith("linux"):  # a plain tag first: auditwheel looks only at wheels of Linux
            _tag(made, platform)
            platform_tag = _manylinux(_only_wheel(made))
        else:
            platform_tag = platform
        _tag(made, platform_tag)
        wheel = _only_wheel(made)
        DIST.mkdir(exist_ok=True)
        for old in find(wheel.name.partition("-")[0], platform):
            old.unlink()
        shutil.move(wheel, DIST)


def _only_wheel(folder: Path) -> Path:
    [wheel] = folder.glob("*.whl")
    return wheel


def _tag(folder: Path, platform: str) -> None:
    wheel = _only_wheel(folder)
    run(VENV / "bin/wheel", "tags", "--remove", "--platform-tag", platform, wheel, log=folder / "log")


def _manylinux(wheel: Path) -> str:
    """The oldest platform that auditwheel finds possible, without changing the files."""
    words = output_of(VENV / "bin/auditwheel", "show", wheel).replace('"', " ").split()
    return next(word for word in words if word.startswith("manylinux_"))


def find(distribution: str, platform: str) -> list[Path]:
    """The wheels of a distribution for a platform in dist/."""
    end = f"manylinux_*_{platform.removeprefix('linux_')}" if platform.startswith("linux_") else platform
    return sorted(DIST.glob(f"{distribution}-*-{end}.whl"))


def install_for(platform: str, folder: Path, *arguments: str | Path) -> None:
    """Install packages for another platform in a folder."""
    tags = [platform]
    if platform.startswith("linux_"):
        tags += [f"{old}_{platform.removeprefix('linux_')}" for old in ("manylinux_2_28", "manylinux_2_17")]
    words = [word for tag in tags for word in ("--platform", tag)]
    words += ["--no-deps", "--upgrade", "--only-binary=:all:", "--python-version", PYTHON_VERSION]
    environment.pip("install", "--target", folder, *words, *arguments)


def _pinned(package: str) -> str:
    lines = (environment.REQUIREMENTS / "build.txt").read_text().splitlines()
    return next(line for line in lines if line.startswith(f"{package}=="))


def check() -> None:
    """Run the tools of PyPI on each wheel; each pyproject.toml says what check-wheel-contents ignores."""
    for wheel in sorted(DIST.glob("*.whl")):
        name = wheel.name.partition("-")[0].removeprefix("ferrule").removeprefix("_")
        project = ROOT / "wheels" / name / "pyproject.toml" if name else ROOT / "pyproject.toml"
        run(VENV / "bin/check-wheel-contents", "--config", project, wheel)
    run(VENV / "bin/twine", "check", "--strict", *sorted(DIST.glob("*.whl")))

"""Installs the packages of the system and of PyPI that the commands need and that are missing."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.process import ROOT, CommandError, run, say

VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
REQUIREMENTS = ROOT / "tools" / "requirements"

# Debian's packages. The first list builds and installs ferrule; tests compile modules, link files for other systems and
# emulate processors.
BUILD = [
    *("g++", "cmake", "ninja-build", "ccache", "python3", "python3-dev", "python3-venv"),
    *("libfmt-dev", "nlohmann-json3-dev", "libhwy-dev", "libgtest-dev"),
]
TESTS = ["clang", "lld", "qemu-user", "pkg-config"]
# The same on a Mac and in MSYS2's UCRT64 shell, for the C++ tests. Neither was tried.
BREW = ["cmake", "ninja", "ccache", "fmt", "nlohmann-json", "highway", "googletest"]
PACMAN = [*("clang", "cmake", "ninja", "ccache", "fmt", "nlohmann-json", "highway", "gtest"), "python", "python-pip"]


def missing(packages: Iterable[str]) -> list[str]:
    """Return those of Debian's packages that are not installed."""
    query = ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *packages]
    lines = subprocess.run(query, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    return sorted(set(packages) - {line.split()[0] for line in lines if line.endswith(" installed")})


def system(packages: Iterable[str] = BUILD) -> None:
    """Install packages of the system: on Debian as root; for other users print the command."""
    if shutil.which("brew"):
        run("brew", "install", "-q", *BREW)
    elif shutil.which("pacman") and os.environ.get("MINGW_PACKAGE_PREFIX"):
        prefix = os.environ["MINGW_PACKAGE_PREFIX"]
        run("pacman", "-S", "--needed", "--noconfirm", *(f"{prefix}-{package}" for package in PACMAN))
    if not shutil.which("dpkg-query"):
        return
    if not (wanted := missing(packages)):
        return
    command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *wanted]
    if os.geteuid() != 0:
        raise SystemExit(f"Packages are missing. Please run: sudo {' '.join(command)}")
    say(" ".join(command))
    log = ROOT / "build" / "packages.log"
    log.parent.mkdir(exist_ok=True)
    try:
        run("apt-get", "update", "-q", log=log)
        run(*command, env={"DEBIAN_FRONTEND": "noninteractive"}, log=log)
    except CommandError:
        print(log.read_text(), file=sys.stderr)
        raise


def require(*files: Path | str) -> None:
    """Install requirement files in .venv, each once for each content. A str names a file of tools/requirements."""
    if not PYTHON.exists():
        say("creating .venv")
        run(sys.executable, "-m", "venv", VENV)
    for name in files:
        path = REQUIREMENTS / f"{name}.txt" if isinstance(name, str) else name
        mark = VENV / f".{path.parent.name}-{path.stem}.{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
        if not mark.exists():
            say(f"pip install -r {path.relative_to(ROOT)}")
            pip("install", "-r", path)
            mark.touch()


def pip(verb: str, *arguments: str | Path) -> None:
    run(PYTHON, "-m", "pip", verb, "-q", "--disable-pip-version-check", *arguments)


def site_packages() -> Path:
    """The folder of .venv that packages are installed in."""
    return next(VENV.glob("lib/python3*/site-packages"), VENV / "Lib" / "site-packages")

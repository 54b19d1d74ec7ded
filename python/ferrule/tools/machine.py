"""The properties of this machine and this Python, for reports."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import ferrule

# The processor features that kernels are chosen by.
FEATURES = (
    *("sse4_2", "avx", "f16c", "fma", "avx2", "avx_vnni", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16"),
    *("avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2"),
)
VARIABLES = (
    *("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_BIND_NOW", "DYLD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"),
    *("OMP_NUM_THREADS", "PYTHONPATH", "PYTHONHOME"),
)


def version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def about() -> dict[str, str]:
    """Return versions and properties of the machine, one line each."""
    libc = " ".join(part for part in platform.libc_ver() if part)
    return {
        "ferrule": ferrule.__version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "numpy": version_of("numpy"),
        "system": system(),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        **({"libc": libc} if libc else {}),
        "processor": f"{processor()}, {os.cpu_count()} threads",
        "features": " ".join(features()) or "unknown",
    }


def system() -> str:
    """Return the system's product name."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        mac = platform.mac_ver()[0]
        return f"macOS {mac}" if mac else f"{platform.system()} {platform.version()}"


def processor() -> str:
    """Return the processor's product name, if the system knows it."""
    names = (line.partition(":")[2].strip() for line in _cpuinfo() if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


def features() -> list[str]:
    """Return those of FEATURES that the system reports for the processor."""
    lines = (line.partition(":")[2].split() for line in _cpuinfo() if line.startswith(("flags", "Features")))
    found = set(next(lines, []))
    return [name for name in FEATURES if name in found]


def variables() -> dict[str, str]:
    """Return the environment variables that affect loading, except for those that drivers declare."""
    names = [name for name in os.environ if name.startswith("FERRULE_")]
    return {name: os.environ[name] for name in [*sorted(names), *VARIABLES] if name in os.environ}


def _cpuinfo() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []

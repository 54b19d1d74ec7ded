"""Libraries that are named as NVIDIA's driver and are none, for processes that find them by LD_LIBRARY_PATH."""

from __future__ import annotations

import subprocess
from pathlib import Path

HAS_DRIVER = Path("/proc/driver/nvidia/version").exists()
SOURCE = Path(__file__).resolve().parent / "drivers" / "fake_cuda.c"
# By name: the macros of the library's source, and what the CUDA module says of it, with the library's path.
BROKEN_DRIVERS: dict[str, tuple[tuple[str, ...], str]] = {
    "stub": (
        ("INIT=34", "STUB"),
        "{} is not the NVIDIA driver, but the stub that a CUDA toolkit has for linking (cuInit returned 34); take its "
        "folder out of LD_LIBRARY_PATH",
    ),
    "another library": (
        ("NO_INIT",),
        "{} is not the NVIDIA driver, or is damaged: it has no function cuInit; install it again",
    ),
    "no version": (
        ("INIT=0",),
        "{} is not the NVIDIA driver, or is damaged: it has no function cuDriverGetVersion that works; install it "
        "again",
    ),
    "failing": (
        ("INIT=304",),
        "the NVIDIA driver does not start: cuInit of {} returned 304, cudaErrorOperatingSystem: OS call failed or "
        "operation not supported on this OS",
    ),
    "old": (
        ("INIT=0", "VERSION=11000"),
        "the NVIDIA driver is for CUDA 11.0, and this module needs one for CUDA 13.0 or later",
    ),
}


def fake_driver(folder: Path, *definitions: str) -> Path:
    """Compiles a libcuda.so.1 into a new folder, and returns its path."""
    folder.mkdir()
    library = folder / "libcuda.so.1"
    flags = ["-std=gnu11", "-shared", "-fPIC", *(f"-D{definition}" for definition in definitions)]
    subprocess.run(["cc", *flags, SOURCE, "-o", library], check=True)
    return library

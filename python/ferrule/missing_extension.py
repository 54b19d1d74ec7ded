"""The sentence of the error if ferrule's extension cannot be imported."""

from __future__ import annotations

import importlib.machinery
import os
import sys


def explanation(package: str, error: ImportError | OSError) -> str:
    """Say why the package in this folder has no extension for this Python, and what to do.

    Parameters
    ----------
    package : str
        The folder of ferrule; for a package inside a zip file, its path and a path within it.
    error : ImportError or OSError
        What Python said.

    Returns
    -------
    str
        One sentence or two.
    """
    if not os.path.isdir(package):
        return (
            f"ferrule cannot be imported from {package!r}, which is no folder: the system opens libraries as files. "
            "Install ferrule into a folder, as `pip install --target FOLDER ferrule` does"
        )
    try:
        names = sorted(os.listdir(package))
    except OSError:
        return f"ferrule's extension in {package!r} cannot be opened: {error}"
    found = [name for name in names if name.startswith("_ferrule.") and not name.endswith(".pyi")]
    if not found:
        return (
            f"{package!r} has no extension _ferrule: it is ferrule's source tree, or an incomplete copy of an "
            "installation. Start Python in another folder, or install ferrule again"
        )
    suitable = {f"_ferrule{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES}
    if suitable.isdisjoint(found):
        return (
            f"ferrule in {package!r} is for another Python or another system: it has {', '.join(found)}, and this is "
            f"{sys.implementation.name} {sys.version.split()[0]} on {sys.platform}, which opens names that end in "
            f"{importlib.machinery.EXTENSION_SUFFIXES[0]}. Install ferrule with the pip of this Python"
        )
    chosen = next(name for name in map("_ferrule{}".format, importlib.machinery.EXTENSION_SUFFIXES) if name in found)
    reason = _reason(os.path.join(package, chosen)) or _other_library(package)
    return f"ferrule's extension in {package!r} cannot be opened: {f'{reason} ({error})' if reason else error}"


def _reason(extension: str) -> str:
    """Say what the extension that Python chose is for; "" if it is for this Python and machine."""
    again = "Install ferrule with the pip of this Python"
    if sys.platform != "linux":
        return ""
    try:
        with open(extension, "rb") as file, open(sys.executable or os.devnull, "rb") as own:
            data, own_head = file.read(), own.read(20)
    except OSError:
        return ""
    # The class, the byte order and the machine, in the header of an ELF file.
    if own_head[:4] == data[:4] == b"\x7fELF" and (data[4:6], data[18:20]) != (own_head[4:6], own_head[18:20]):
        return f"it is for another machine, and this is {os.uname().machine}. {again}"
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]  # has the platform: .cpython-311-x86_64-linux-gnu.so
    libraries = {"gnu": ("musl", b"\0libc.so\0", b"\0libc.so.6\0"), "musl": ("gnu", b"\0libc.so.6\0", b"\0libc.so\0")}
    for own_library, (other, name_of_other, name_of_own) in libraries.items():
        if f"-{own_library}" in suffix and name_of_other in data and name_of_own not in data:
            return f"it is for Linux with the C library {other}, and this Python uses {own_library}. {again}"
    return ""


def _other_library(package: str) -> str:
    """Name another libferrule that this process has open or finds first; "" if there is none."""
    found = [os.path.join(folder, "libferrule.so") for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    try:
        with open("/proc/self/maps") as maps:
            found[:0] = [line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "/libferrule.so" in line]
    except OSError:  # another system than Linux
        pass
    own = os.path.realpath(os.path.join(package, "libferrule.so"))
    others = [path for path in found if os.path.isfile(path) and os.path.realpath(path) != own]
    return (
        f"it needs the libferrule beside it, and finds {others[0]}, which another program installed" if others else ""
    )

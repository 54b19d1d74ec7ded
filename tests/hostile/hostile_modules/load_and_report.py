"""Runs in its own process: loads modules as requested, computes on the CPU, and reports the state of the process.

argv[1] is a JSON request (see load_runner.py). argv[2] is the file for the answer. It is opened first, so that the
answer is written even if a module prints, closes descriptors or restricts the process.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import ferrule as fe
import jinja2
import numpy as np
import numpy.random

if sys.platform != "win32":
    C = ctypes.CDLL(None, use_errno=True)
    C.setlocale.restype = C.getenv.restype = ctypes.c_char_p
LC_ALL = 6
PR_SET_DUMPABLE = 4


def descriptors() -> list[str]:
    """The open descriptors; Windows has no list of them."""
    if sys.platform == "win32":
        return []
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:  # the descriptor of the listing itself
            continue
    return sorted(found)


def threads() -> list[str]:
    if sys.platform == "win32":
        return []
    return sorted(Path(f"/proc/self/task/{task}/comm").read_text().strip() for task in os.listdir("/proc/self/task"))


def process() -> dict[str, object]:
    """Process-wide state that no module may change."""
    smallest = np.array([1e-45, 1e-40], np.float32)
    third = np.array([1.0], np.float32) / np.array([3.0], np.float32)
    state: dict[str, object] = {
        "directory": os.getcwd(),
        "denormals": (smallest * np.float32(1)).tobytes().hex(),
        "third": third.tobytes().hex(),
    }
    if sys.platform == "win32":
        return state
    status = dict(re.findall(r"^(Umask|Sig\w+):\s*(\S+)$", Path("/proc/self/status").read_text(), re.MULTILINE))
    return {
        **state,
        "locale": C.setlocale(LC_ALL, None).decode(),
        "rounding": C.fegetround(),
        "LANG": str(C.getenv(b"LANG")),
        **{key: value for key, value in status.items() if key not in ("SigQ", "SigPnd")},
    }


def cpu_faults() -> list[str]:
    """The wrong results of the CPU backend; every comparison is bit for bit."""
    random = np.random.default_rng(5)
    faults = []

    def compare(name: str, got: object, expected: np.ndarray[Any, Any]) -> None:
        if np.asarray(got).tobytes() != expected.tobytes():
            faults.append(f"{name}: {np.asarray(got)!r} instead of {expected!r}")

    a, b = (random.standard_normal((64, 65)).astype(np.float32) for _ in range(2))
    x, y = (fe.asarray(value, device="cpu") for value in (a, b))
    compare("add", x + y, a + b)
    compare("multiply", x * y, a * b)
    compare("divide", x / y, a / b)
    tiny = np.array([1e-45, -3e-40, 1e-38, 0.0], np.float32)
    compare("denormals", fe.asarray(tiny, device="cpu") * np.float32(0.5), tiny * np.float32(0.5))
    m, n = (random.integers(-8, 9, (96, 96)).astype(np.float32) for _ in range(2))
    compare("matmul", fe.asarray(m, device="cpu") @ fe.asarray(n, device="cpu"), m @ n)
    compare("sum", fe.asarray(m, device="cpu").sum(), m.sum())
    return faults


def become(user: int) -> None:
    """Gives up the rights of the starting user. /proc/self stays readable."""
    if sys.platform == "win32":
        return
    # Imports all Python modules that are needed later, because their folder may become unreadable.
    packages = ("array", "dtypes", "functions", "io", "loading", "process", "text")
    own = (
        f"ferrule.{package}.{path.stem}"
        for package in packages
        for path in (Path(fe.__file__).parent / package).glob("*.py")
        if not path.stem.startswith("__")
    )
    for name in ("html", "site", *own):
        importlib.import_module(name)
    jinja2.Template("{{ 'text' }}").render()  # imports what compiling a template needs
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    C.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


def added_on(device: str) -> list[float]:
    """A sum computed on the hostile module's device."""
    x = fe.asarray(np.array([1, 2, 3], np.float32), device=device)
    return [float(value) for value in np.asarray(x + x)]


def main() -> None:
    request = json.loads(sys.argv[1])
    with open(sys.argv[2], "w", encoding="utf-8") as answer:
        if request["user"] is not None:
            become(request["user"])
        process()  # opens now whatever NumPy keeps open
        before = process()
        dirs = [os.fsdecode(bytes.fromhex(folder)) for folder in request["dirs"]]
        report = fe.load_all(dirs=[*dirs, fe.default_roots], **request["options"])
        after = process()
        reported = {
            "report": report.to_dict(),
            "text": str(report),
            "html": report._repr_html_(),
            "pid": os.getpid(),
            "cpu_faults": cpu_faults(),
            "changed": {key: [before[key], after[key]] for key in before if before[key] != after[key]},
            "sum": added_on(request["add_on"]) if request["add_on"] else None,
            "descriptors": descriptors(),
            "threads": threads(),
        }
        json.dump(reported, answer)


main()

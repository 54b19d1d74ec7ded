"""The Vulkan backend for Windows, in wine, which hands its calls to this system's lavapipe and needs a display for it.

`./dev verify wine` puts CPython with ferrule's wheel in $FERRULE_WINDOWS_PYTHON and unpacks the backend's in
$FERRULE_WINDOWS_BACKEND.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ports.programs import run_in_wine, windows_path

PYTHON = Path(os.environ.get("FERRULE_WINDOWS_PYTHON", ".")) / "python.exe"
MODULE = Path(os.environ.get("FERRULE_WINDOWS_BACKEND", ".")) / "ferrule_backends" / "vulkan" / "libferrule-vulkan.dll"


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """The name of a display that shows nothing."""
    reader, writer = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-nolisten", "tcp"], pass_fds=[writer])
    os.close(writer)
    with os.fdopen(reader) as number:
        yield f":{number.readline().strip()}"
    server.terminate()
    server.wait()


def run(display: str, *arguments: str) -> str:
    """Return the output of Python, which gets `arguments`."""
    # wine opens the display once for all its processes, and one that runs already has none.
    subprocess.run(["wineserver", "-k"], check=False)
    ended = run_in_wine(PYTHON, *arguments, DISPLAY=display, FERRULE_BACKEND_PATH=windows_path(MODULE))
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-2000:]
    return ended.stdout


def test_device_is_found_and_computes(display: str) -> None:
    code = """
import ferrule as fe, numpy as np
[row] = [row for row in fe.load_all() if row.name == "vulkan"]
print(row.state, row.probed)
x = np.arange(12, dtype="float32").reshape(3, 4)
y = fe.asarray(x, device="vulkan:0")
print(np.array_equal(np.asarray(y @ y.T), x @ x.T), (y @ y.T).device)
"""
    lines = [line.split() for line in run(display, "-c", code).splitlines()]
    assert lines[0][0] == "loaded"
    assert lines[0][1] in ("yes", "cached")
    assert lines[1] == ["True", "vulkan:0"]


def test_kit_at_brief(display: str) -> None:
    kit = ("-m", "pytest", "--pyargs", "ferrule.testing", "-p", "no:cacheprovider", "-q")
    shown = run(display, *kit, "--ferrule-device", "vulkan:0", "--ferrule-level", "brief", "--ferrule-timeout", "300")
    assert " passed" in shown.splitlines()[-1]

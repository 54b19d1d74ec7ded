"""Keeps wine running while the tests of programs for Windows run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def running_wine() -> Iterator[None]:
    """Keeps wine's services running, which take seconds to start: Debian's wine ends them with its last program.

    Their output goes nowhere: otherwise they would keep the pipe of the program that started them open.
    """
    if not any(name.startswith("FERRULE_WINDOWS") for name in os.environ) or shutil.which("wine") is None:
        yield
        return
    variables = os.environ | {"WINEDEBUG": "-all"}
    # It waits for input that does not come.
    command = subprocess.Popen(
        ["wine", "cmd"], env=variables, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    subprocess.run(
        ["wine", "cmd", "/c", "exit"],
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    yield
    command.communicate(b"exit\r\n")

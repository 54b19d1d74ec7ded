"""The kit's opponents: modules built against the installed package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODULES = Path(__file__).parent / "modules"


@pytest.fixture(scope="session")
def opponents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with libferrule-faulty.so."""
    folder = tmp_path_factory.mktemp("opponents")
    command = [sys.executable, "-m", "ferrule", "--cmake-dir"]
    where = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    for step in (["-S", MODULES, "-B", folder, f"-Dferrule_DIR={where}"], ["--build", folder]):
        subprocess.run(["cmake", *step], check=True, capture_output=True)
    return folder

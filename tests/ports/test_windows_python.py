"""The wheel for Windows, in wine. `./dev verify wine` puts CPython with it in $FERRULE_WINDOWS_PYTHON."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path

import lief
import pytest
from ports.programs import PORTABLE, portable_output, run_in_wine

FOLDER = Path(os.environ.get("FERRULE_WINDOWS_PYTHON", "."))
ROOT = Path(__file__).resolve().parents[2]
# The parts of tests/python that run there. The others name files of Linux, or start programs.
TESTS = ["python/dtypes", "python/functions", "python/array", "python/graphs", "python/io"]
# The package safetensors needs python3.dll, which this Python lacks.
LEFT_OUT = "--ignore=python/io/test_save_safetensors.py"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run_in_wine(FOLDER / "python.exe", *arguments)


def test_program_prints_what_it_prints_here() -> None:
    there = run(PORTABLE)
    assert there.returncode == 0, there.stdout + there.stderr
    assert there.stdout == portable_output()


@pytest.mark.parametrize("name", TESTS)
def test_package(name: str) -> None:
    ended = run("-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=short", LEFT_OUT, name)
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-2000:]


def test_kit_at_brief() -> None:
    """The kit compares with NumPy's complex functions, and wine has none: those of wine_complex.cpp are inaccurate for
    subnormal numbers."""
    kit = ("-m", "pytest", "--pyargs", "ferrule.testing", "-p", "no:cacheprovider", "-q")
    ended = run(*kit, "--ferrule-level", "brief", "-k", "not (complex and special_cases)")
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-2000:]


def test_probe_finds_libferrule_in_the_wheel() -> None:
    package = FOLDER / "Lib" / "site-packages" / "ferrule"
    module = str(package / "backends" / "libferrule-cpu-x64.dll").replace("/", "\\")
    ended = run_in_wine(package / "ferrule-probe.exe", f"Z:{module}")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["verdict"] == "passed"


def test_extension_needs_its_python_and_exports_its_start(tmp_path: Path) -> None:
    [wheel] = (ROOT / "dist").glob("ferrule-*-win_amd64.whl")
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".pyd")]
        extension = lief.PE.parse(archive.extract(name, tmp_path))
    assert extension is not None
    needed = {str(each.name).lower() for each in extension.imports}
    assert {name for name in needed if not name.startswith("api-ms-win-crt-")} == {
        "libferrule.dll",
        "kernel32.dll",
        "python311.dll",
    }
    assert "PyInit__ferrule" in {str(entry.name) for entry in extension.exported_functions}

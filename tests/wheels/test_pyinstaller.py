"""Applications that PyInstaller makes: ferrule's hook packs what they need, in one file and in a folder."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from backend_wheels import Environment, without_settings

APPLICATION = """
import sys
import ferrule as fe, numpy as np
report = fe.load_all()
x = fe.asarray(np.arange(6, dtype="float32"))
print(float(fe.sum(x * 2)), x.astype("bfloat16").device)
for row in report.candidates:
    print(row.name, row.state, str(row.path).removeprefix(sys._MEIPASS), row.probed)
assert "<table" in report._repr_html_()
print(str(fe.explain("cpu"))[:4])
"""
# One analysis for both: it takes most of the time.
SPEC = """
found = Analysis(["application.py"])
archive = PYZ(found.pure)
EXE(archive, found.scripts, found.binaries, found.datas, name="one_file")
program = EXE(archive, found.scripts, exclude_binaries=True, name="program")
COLLECT(program, found.binaries, found.datas, name="one_folder")
"""


@pytest.fixture(scope="module")
def applications(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both."""
    folder = tmp_path_factory.mktemp("pyinstaller")
    environment = Environment(folder / "environment", packages=("pyinstaller",))
    environment.pip("install", "ferrule-vulkan")
    (folder / "application.py").write_text(APPLICATION)
    (folder / "application.spec").write_text(SPEC)
    command = [str(environment.python), "-m", "PyInstaller", "--log-level", "WARN", "application.spec"]
    variables = {"PYINSTALLER_CONFIG_DIR": str(folder / "config")}
    done = subprocess.run(command, cwd=folder, env=without_settings() | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.rmtree(folder / "environment")  # the programs have all that they need
    return folder / "dist"


@pytest.mark.parametrize("program", ["one_file", "one_folder/program"])
def test_application(applications: Path, program: str, tmp_path: Path) -> None:
    # One file is unpacked into another folder each time, from which the module may get other libraries.
    for probed in ("yes", "yes" if program == "one_file" else "cached"):
        ended = subprocess.run(
            [applications / program],
            env=without_settings() | {"FERRULE_CACHE_DIR": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, ended.stderr
        assert ended.stderr == ""
        first, *rows, last = ended.stdout.splitlines()
        assert (first, last) == ("30.0 cpu:0", "cpu:")
        assert [row.split()[1] for row in rows if row.startswith("cpu ")].count("loaded") == 1
        assert [row.split()[2:] for row in rows if row.startswith("vulkan ")] == [
            ["/ferrule_backends/vulkan/libferrule-vulkan.so", probed]
        ]


def test_licences_of_backends_are_packed(applications: Path) -> None:
    [package] = (applications / "one_folder" / "_internal").glob("ferrule_vulkan-*.dist-info")
    assert list(package.glob("licenses/*"))


def test_the_kit_and_the_headers_are_left_out(applications: Path) -> None:
    folder = applications / "one_folder" / "_internal" / "ferrule"
    assert (folder / "bin" / "ferrule-probe").stat().st_mode & 0o111
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {"backends", "bin", "templates"}

"""The source distribution builds and runs in a fresh environment, as `pip install ferrule-*.tar.gz` does it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
PROGRAM = """
import ferrule as fe, numpy as np
x = fe.asarray(np.arange(6, dtype="float32").reshape(2, 3))
assert np.asarray(fe.softmax(x @ x.mT, axis=-1)).sum() == 2
assert fe.graph(lambda a: a * 2 + 1)(x).tolist() == [[1, 3, 5], [7, 9, 11]]
assert [row.name for row in fe.backends()] == ["cpu"]
print(fe.__file__)
"""


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=ROOT, check=True, capture_output=True)
    [path] = folder.glob("ferrule-*.tar.gz")
    return path


def test_it_installs_and_computes_in_a_fresh_environment(sdist: Path, tmp_path: Path) -> None:
    """pip builds it in an environment of its own, with what build-system.requires names."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FERRULE_"))}
    install: list[str | Path] = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", sdist]
    install.append("-Ccmake.define.FERRULE_VARIANTS=x64;armv8")  # one of them, which is enough to compute
    ended = subprocess.run(install, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-6000:]
    ran = subprocess.run(
        [python, "-c", PROGRAM], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert Path(ran.stdout.strip()).is_relative_to(tmp_path)


def test_it_has_sources_licences_and_what_an_editable_build_uses_and_no_build_products(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "CHANGELOG.md", "csrc/sdk/ferrule/ferrule.h", "licenses/fmt.txt"} <= names
    assert {"pyproject.toml", "CMakeLists.txt", "cmake/FerrulePython.cmake", "cmake/python/pyconfig.h"} <= names
    assert {"csrc/bindings/module.cpp", "licenses/pybind11.txt", "python/ferrule/_ferrule.pyi"} <= names
    assert {"python/ferrule/templates/backend/tests/test_backend_name.py"} <= names, "which is no test of ferrule's"
    folders = r"(build|dist|\.venv|\.github|tests|benchmarks|wheels)/|csrc/.*/(tests|emulated)/"
    foreign = re.compile(rf"{folders}|.*(__pycache__|\.so$|\.o$)")
    assert [name for name in names if foreign.match(name)] == []

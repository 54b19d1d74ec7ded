"""The wheel of this system as published: required files, extras, licences, the version."""

from __future__ import annotations

import importlib.metadata
import re
import zipfile
from pathlib import Path

import ferrule as fe
import pytest
from installed import ROOT

from tools.wheels import THIS_PLATFORM, find

LICENSES = [ROOT / "LICENSE", *sorted((ROOT / "licenses").glob("*.txt"))]
# Folders of headers that are not the system's, and the licence of each.
HEADERS = {
    "fmt": "licenses/fmt.txt",
    "hwy": "licenses/highway.txt",
    "nlohmann": "licenses/nlohmann-json.txt",
    "pybind11": "licenses/pybind11.txt",
    "numpy": "licenses/numpy.txt",
    "vulkan": "wheels/vulkan/licenses/vulkan-headers.txt",
}
SYSTEM_HEADERS = {"ferrule", "linux", "mach", "mach-o", "sys"}


@pytest.fixture(scope="module")
def wheel() -> Path:
    [path] = find("ferrule", THIS_PLATFORM)
    return path


@pytest.mark.parametrize(
    "path",
    [
        "ferrule/libferrule.so",
        "ferrule/py.typed",
        "ferrule/functions/ops.py",
        "ferrule/functions/ops.pyi",
        "ferrule/templates/html/load_report.html.j2",
        "ferrule/templates/html/load_report.css",
        "ferrule/templates/html/kit/page.html.j2",
        "ferrule/templates/html/kit/page.js",
        "ferrule/backends/libferrule-cpu-x64.so",
        "ferrule/testing/libferrule-null.so",
        "ferrule/include/ferrule/ferrule.h",
        "ferrule/include/ferrule/backend.hpp",
        "ferrule/include/ferrule/ops.h",
        "ferrule/lib/cmake/ferrule/ferruleConfig.cmake",
        "ferrule/lib/cmake/ferrule/FerruleModule.cmake",
        "ferrule/lib/cmake/ferrule/FerruleKernelTable.cmake",
        "ferrule/lib/cmake/ferrule/kernel_table.cpp.in",
        "ferrule/lib/pkgconfig/ferrule.pc",
        "ferrule/bin/ferrule-manifest",
        "ferrule/templates/backend/CMakeLists.txt",
        "ferrule/templates/backend/gitignore",
        "ferrule/templates/backend/backend_name.cpp",
    ],
)
def test_wheel_contains_the_expected_files(wheel: Path, path: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert path in archive.namelist()


def test_test_modules_are_outside_every_default_root(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        backends = [name for name in archive.namelist() if name.startswith("ferrule/backends/")]
    assert {name for name in backends if "null" in name or "cpu2" in name} == set()


def test_cpu_extra_is_empty(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        _, lines = metadata_of(archive)
    with_own_wheels = sorted(project.parent.name for project in (ROOT / "wheels").glob("*/pyproject.toml"))
    extras = [line.removeprefix("Provides-Extra: ") for line in lines if line.startswith("Provides-Extra:")]
    assert sorted(extras) == sorted({"all", "cpu", "einsum", "inspect", "testing", *with_own_wheels})
    needed = [line for line in lines if line.startswith("Requires-Dist:") and "extra ==" in line]
    assert needed
    assert not [line for line in needed if line.endswith(("'cpu'", '"cpu"'))]


def metadata_of(archive: zipfile.ZipFile) -> tuple[str, list[str]]:
    """The folder of the wheel's metadata, and the lines of METADATA."""
    [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    return name.removesuffix("/METADATA"), archive.read(name).decode().splitlines()


def test_wheel_has_the_licences_of_ferrule_and_its_compiled_dependencies(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        folder, lines = metadata_of(archive)
        assert "License-Expression: MIT" in lines
        names = [str(path.relative_to(ROOT)) for path in LICENSES]
        assert [line.removeprefix("License-File: ") for line in lines if line.startswith("License-File: ")] == names
        for path, name in zip(LICENSES, names, strict=True):
            assert archive.read(f"{folder}/licenses/{name}") == path.read_bytes(), name


def test_the_licence_of_each_foreign_header_is_in_the_tree() -> None:
    include = re.compile(r"^#include <([\w-]+)/", re.MULTILINE)
    files = [path for path in (ROOT / "csrc").rglob("*") if path.suffix in (".c", ".cpp", ".h", ".hpp")]
    sources = [path for path in files if "tests" not in path.parts]
    folders = {folder for path in sources for folder in include.findall(path.read_text(encoding="utf-8"))}
    assert folders - SYSTEM_HEADERS == set(HEADERS)
    for path in HEADERS.values():
        assert (ROOT / path).stat().st_size > 1000, path


def test_the_version_is_that_of_the_wheel(wheel: Path) -> None:
    assert fe.__version__ == importlib.metadata.version("ferrule") == wheel.name.split("-")[1]

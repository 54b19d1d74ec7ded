"""The wheel as published: manifests, size, tag, and required files."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import ferrule as fe
import pytest
from installed import ROOT

LIMIT = 12_000_000  # bytes
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
    [path] = (ROOT / "dist").glob(f"ferrule-*-cp311-manylinux_*_{platform.machine()}.whl")
    return path


def test_every_module_in_the_wheel_has_a_manifest_with_its_hash(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        modules = [name for name in archive.namelist() if "/libferrule-" in name and name.endswith(".so")]
        assert modules
        for name in modules:
            content = archive.read(name)
            manifest = json.loads(archive.read(name.removesuffix(".so") + ".json"))
            assert manifest["sha256"] == hashlib.sha256(content).hexdigest(), name
            assert manifest["size"] == len(content), name


def test_the_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size <= LIMIT


def test_no_file_names_a_folder_of_the_machine_that_built_it(wheel: Path) -> None:
    folders = [f"{ROOT}/".encode(), f"{Path.home()}/.".encode()]
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert {name for name, content in contents.items() if any(folder in content for folder in folders)} == set()


def test_platform_tag_matches_auditwheel(wheel: Path) -> None:
    audit = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    shown = " ".join(subprocess.run(audit, check=True, capture_output=True, text=True).stdout.split())
    tag = wheel.stem.split("-")[-1]
    assert tag.startswith("manylinux_")
    assert f'is consistent with the following platform tag: "{tag}"' in shown


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


def test_source_distribution_has_sources_and_licences_and_no_build_products(tmp_path: Path) -> None:
    program = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    [path] = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "CHANGELOG.md", "CMakeLists.txt", "csrc/sdk/ferrule/ferrule.h", "licenses/fmt.txt"} <= names
    assert {"python/ferrule/templates/backend/tests/test_backend_name.py"} <= names, "which is no test of ferrule's"
    foreign = re.compile(r"(build|dist|\.venv|tests|benchmarks|wheels)/|.*(__pycache__|\.so$|\.o$)")
    assert [name for name in names if foreign.match(name)] == []

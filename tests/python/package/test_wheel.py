"""The wheel as published: manifests, size, tag, and required files."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from installed import ROOT

LIMIT = 12_000_000  # bytes


@pytest.fixture(scope="module")
def wheel() -> Path:
    [path] = (ROOT / "dist").glob("ferrule-*.whl")
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


def test_the_tag_is_the_one_that_auditwheel_confirms(wheel: Path) -> None:
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
        "ferrule/_ops.py",
        "ferrule/_ops.pyi",
        "ferrule/_report.css",
        "ferrule/doctor/page.css",
        "ferrule/backends/libferrule-cpu-x64.so",
        "ferrule/testing/libferrule-null.so",
        "ferrule/include/ferrule/ferrule.h",
        "ferrule/include/ferrule/backend.hpp",
        "ferrule/include/ferrule/ops.h",
        "ferrule/lib/cmake/ferrule/ferruleConfig.cmake",
        "ferrule/lib/cmake/ferrule/FerruleModule.cmake",
        "ferrule/lib/pkgconfig/ferrule.pc",
        "ferrule/bin/ferrule-manifest",
        "ferrule/templates/backend/CMakeLists.txt",
        "ferrule/templates/backend/gitignore",
        "ferrule/templates/backend/backend_name.cpp",
    ],
)
def test_the_wheel_contains(wheel: Path, path: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert path in archive.namelist()


def test_test_modules_lie_outside_every_default_root(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        backends = [name for name in archive.namelist() if name.startswith("ferrule/backends/")]
    assert {name for name in backends if "null" in name or "cpu2" in name} == set()


def test_the_extra_for_the_cpu_is_empty(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        lines = archive.read(name).decode().splitlines()
    assert [line for line in lines if line.startswith("Provides-Extra:")] == [
        "Provides-Extra: cpu",
        "Provides-Extra: vulkan",
        "Provides-Extra: inspect",
        "Provides-Extra: testing",
    ]
    extras = [line for line in lines if line.startswith("Requires-Dist:") and "extra ==" in line]
    assert extras
    assert not [line for line in extras if line.endswith(("'cpu'", '"cpu"'))]

"""The wheel for macOS, which `./dev wheels macosx_11_0_arm64` builds. test_files.py reads it, too."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import lief
import pytest
from installed import ROOT

from tools.wheels import find

FOLDER = "ferrule_backends/metal"
KERNELS = ROOT / "csrc" / "backends" / "metal" / "kernels"


@pytest.fixture
def wheel() -> zipfile.ZipFile:
    [path] = find("ferrule_metal", "macosx_11_0_arm64")
    return zipfile.ZipFile(path)


def test_the_manifest_asks_for_no_file_of_a_driver(wheel: zipfile.ZipFile) -> None:
    """Metal's framework is in the cache of dyld, and no file of macOS 11 and later."""
    manifest = json.loads(wheel.read(f"{FOLDER}/libferrule-metal.json"))
    assert manifest["driver"] == []
    assert manifest["device_kinds"] == ["gpu", "integrated_gpu"]
    assert manifest["variant"] == ""


def test_metal_is_opened_when_the_module_runs(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Linked frameworks would be opened, and run code, before the probe can tell anything about them."""
    module = Path(wheel.extract(f"{FOLDER}/libferrule-metal.so", tmp_path))
    binary = lief.parse(str(module))
    assert isinstance(binary, lief.MachO.Binary)
    assert {str(each.name) for each in binary.libraries} == {"@rpath/ferrule-metal", "/usr/lib/libSystem.B.dylib"}
    imported = {str(each.name) for each in binary.imported_symbols}
    assert {"_dlopen", "_dlsym"} <= imported
    assert not [name for name in imported if name.startswith(("_objc_", "_sel_", "_MTL", "_OBJC_"))]
    content = module.read_bytes()
    for path in ("/System/Library/Frameworks/Metal.framework/Metal", "/usr/lib/libobjc.A.dylib"):
        assert path.encode() in content
    assert b"simulated" not in content


def test_the_kernels_are_in_the_module(wheel: zipfile.ZipFile) -> None:
    content = wheel.read(f"{FOLDER}/libferrule-metal.so")
    files = sorted(KERNELS.rglob("*.metal"))
    assert files
    for file in files:
        assert file.read_bytes() in content, file.name

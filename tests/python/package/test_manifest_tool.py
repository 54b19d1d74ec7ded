"""ferrule-manifest on modules for other systems, as a build for these runs it."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import ferrule as fe
import lief
import pytest
from installed import package

AARCH64, PE_DLL = 183, 0x2000


def manifest_of(module: Path) -> dict[str, object]:
    subprocess.run([package() / "bin/ferrule-manifest", module, "--device-kind", "cpu"], check=True)
    content = json.loads(module.with_suffix(".json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def elf_for(machine: int) -> bytes:
    content = bytearray((package() / "testing/libferrule-null.so").read_bytes())
    struct.pack_into("<H", content, 18, machine)
    return bytes(content)


def interface() -> bytes:
    """The interface that our own module tells."""
    module = lief.ELF.parse(str(package() / "testing/libferrule-null.so"))
    assert module is not None
    [symbol] = [each for each in module.dynamic_symbols if each.name == "ferrule_backend_abi"]
    return bytes(module.get_content_from_virtual_address(symbol.value, symbol.size))


def dll() -> bytes:
    """A DLL for 64-bit Arm that tells our interface: one section with its data and its table of exports."""
    start, section_at, address = 64, 0x200, 0x1000
    exports = [b"ferrule_backend_abi\0", b"ferrule_backend_init\0"]  # sorted
    data = interface().ljust(512, b"\0")  # both names stand for it
    table = address + len(data)
    functions, names, ordinals, texts = (table + offset for offset in (40, 48, 56, 60))
    data += struct.pack("<IIHHIIIIIII", 0, 0, 0, 0, 0, 1, 2, 2, functions, names, ordinals)
    data += struct.pack("<4I2H", address, address, texts, texts + len(exports[0]), 0, 1) + b"".join(exports)
    tables = struct.pack("<I2I", 16, table, len(data) - 512).ljust(132, b"\0")
    optional = struct.pack("<H", 0x20B).ljust(108, b"\0") + tables
    coff = struct.pack("<HHIIIHH", 0xAA64, 1, 0, 0, 0, len(optional), PE_DLL)
    section = b".rdata\0\0" + struct.pack("<IIIIIIHHI", len(data), address, len(data), section_at, 0, 0, 0, 0, 0)
    headers = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", start) + b"PE\0\0" + coff + optional + section
    assert len(headers) <= section_at
    return headers.ljust(section_at, b"\0") + data


def dylib() -> bytes:
    """A Mach-O library without load commands."""
    return struct.pack("<8I", 0xFEEDFACF, 0x0100000C, 0, 6, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("libferrule-other.so", elf_for(AARCH64)),
        ("libferrule-other-fast.dll", dll()),
        ("libferrule-other.dylib", dylib()),
    ],
)
def test_manifests_are_written_for_modules_of_other_systems(tmp_path: Path, name: str, content: bytes) -> None:
    module = tmp_path / name
    module.write_bytes(content)
    written = manifest_of(module)
    own = json.loads((package() / "testing/libferrule-null.json").read_text(encoding="utf-8"))
    assert written["abi"] == own["abi"]
    assert written["size"] == len(content)
    assert written["name"] == "other"


def test_a_module_for_another_machine_is_refused_by_name(tmp_path: Path) -> None:
    module = tmp_path / "libferrule-other.so"
    module.write_bytes(elf_for(AARCH64))
    manifest_of(module)
    with pytest.raises(fe.Error, match="it is a module for aarch64, this machine is x86-64"):
        fe.load(module)


def test_a_file_of_no_known_format_gets_no_manifest(tmp_path: Path) -> None:
    module = tmp_path / "libferrule-other.so"
    module.write_text("hello")
    ended = subprocess.run([package() / "bin/ferrule-manifest", module], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "it is a text file that begins with 'hello'" in ended.stderr
    assert not module.with_suffix(".json").exists()

"""Modules for other systems, linked by LLVM, which can write files of every system."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

SOURCE = """
#include <ferrule/abi.h>
FE_MODULE_EXPORT extern const fe_abi ferrule_backend_abi;
FE_MODULE_EXPORT const fe_abi ferrule_backend_abi = FE_ABI_INITIALIZER;
FE_MODULE_EXPORT int ferrule_backend_score(void) { return 1; }
FE_MODULE_EXPORT void *ferrule_backend_init(const void *host, void *out) { return (void)host, (void)out, (void *)0; }
"""
MACHINES = {"x86_64": 0x01000007, "arm64": 0x0100000C}  # CPU types in a universal file
PAGE = 1 << 14


def build_dll(folder: Path, include: Path, *definitions: str) -> Path:
    """A PE file for Windows on x86-64."""
    source, code, module = folder / "module.c", folder / "module.obj", folder / "libferrule-elsewhere.dll"
    source.write_text(SOURCE)
    flags = [f"-I{include}", *(f"-D{definition}" for definition in definitions)]
    _run("clang", "-target", "x86_64-pc-windows-msvc", "-ffreestanding", *flags, "-c", source, "-o", code)
    _run("lld-link", "/dll", "/noentry", "/nodefaultlib", code, f"/out:{module}")
    return module


def build_dylib(folder: Path, include: Path, machine: str) -> Path:
    """A Mach-O file for macOS."""
    source, code = folder / "module.c", folder / f"module-{machine}.o"
    module = folder / f"libferrule-elsewhere-{machine}.dylib"
    source.write_text(SOURCE)
    _run("clang", "-target", f"{machine}-apple-macos11", "-ffreestanding", f"-I{include}", "-c", source, "-o", code)
    platform = ["-platform_version", "macos", "11.0", "11.0"]
    names = ["-install_name", "@rpath/libferrule-elsewhere.dylib", "-rpath", "@loader_path/lib"]
    _run("ld64.lld", "-dylib", "-arch", machine, *platform, *names, code, "-o", module)
    return module


def build_universal(folder: Path, include: Path) -> Path:
    """Both in one universal file: a table of big-endian numbers; each part starts at a page boundary."""
    parts = {machine: build_dylib(folder, include, machine).read_bytes() for machine in MACHINES}
    table, body = struct.pack(">II", 0xCAFEBABE, len(parts)), b""
    for machine, part in parts.items():
        start = PAGE + len(body)
        table += struct.pack(">IIIII", MACHINES[machine], 0, start, len(part), PAGE.bit_length() - 1)
        body += part + b"\0" * (-len(part) % PAGE)
    module = folder / "libferrule-elsewhere.dylib"
    module.write_bytes(table.ljust(PAGE, b"\0") + body)
    return module


def _run(tool: str, *arguments: object) -> None:
    subprocess.run([_installed(tool), *map(str, arguments)], check=True, capture_output=True)


def _installed(tool: str) -> str:
    """Debian installs some of LLVM's linkers only under versioned names."""
    found = [path for folder in ("/usr/bin", "/usr/local/bin") for path in Path(folder).glob(f"{tool}*")]
    named = sorted((path for path in found if path.name.removeprefix(tool).lstrip("-").isdigit()), key=lambda p: p.name)
    plain = [path for path in found if path.name == tool]
    assert plain or named, f"{tool} is missing: apt-get install clang lld"
    return str((plain or named[-1:])[0])

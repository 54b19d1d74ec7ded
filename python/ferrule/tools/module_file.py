"""Checks of a module's file that do not run it.

Each `check_*` takes the path of the file and returns a sentence for each problem; an empty list means that it passes.
NotChecked means that the check is not possible here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ferrule.later import later
from ferrule.tools.inspection import abi_version
from ferrule.tools.inspection.abi import core_abi
from ferrule.tools.inspection.abi_version import AbiVersion

if TYPE_CHECKING:
    from ferrule.tools.inspection import formats
    from ferrule.tools.inspection.formats import ElfFile
else:
    formats = later("ferrule.tools.inspection.formats")  # it imports lief

REQUIRED = {"ferrule_backend_abi", "ferrule_backend_init"}
OPTIONAL = {"ferrule_backend_score"}
ENDING = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
ENDINGS = "dylib|so" if sys.platform == "darwin" else ENDING  # csrc/module_file/module_name.h
FILE_NAME = re.compile(rf"(?:lib)?ferrule-(?P<name>[a-z0-9_]+)(?:-(?P<variant>.+))?\.({ENDINGS})")
# Symbols that the toolchain's start files refer to, and that need not be defined.
DEFINED_BY_NOBODY = {"__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__cxa_finalize"}


class NotChecked(Exception):  # noqa: N818 - an outcome, not an error
    """The check cannot judge this file, for the reason given."""


def _open(path: Path) -> ElfFile:
    try:
        return formats.ElfFile(path)
    except formats.NotElfError as error:
        raise NotChecked(f"{path.name} is not an ELF file") from error


def check_exports(path: Path) -> list[str]:
    """The file exports the three symbols of a module (the score is optional) and nothing else."""
    found = _open(path).exported()
    problems = [f"it does not export {name}" for name in sorted(REQUIRED - found)]
    return problems + [f"it exports {name}, and must hide it" for name in sorted(found - REQUIRED - OPTIONAL)]


# ---- needed libraries


@cache
def _library_cache() -> dict[str, list[Path]]:
    """Return the paths of libraries by file name, from ldconfig's cache in glibc's format."""
    found: dict[str, list[Path]] = {}
    try:
        data = Path("/etc/ld.so.cache").read_bytes()
    except OSError:
        return found
    magic = b"glibc-ld.so.cache1.1"
    start = data.find(magic)
    if start < 0:
        return found
    count = int.from_bytes(data[start + 20 : start + 24], "little")
    for i in range(count):
        entry = start + 48 + 24 * i
        _, key, value = struct.unpack_from("<iII", data, entry)
        name = data[start + key : data.index(b"\0", start + key)].decode()
        where = data[start + value : data.index(b"\0", start + value)].decode()
        found.setdefault(name, []).append(Path(where))
    return found


def _folders(elf: ElfFile, origin: Path) -> Iterator[Path]:
    """Yield the folders in which the loader looks for needed libraries, apart from the cache."""
    for folder in elf.run_paths():
        yield Path(folder.replace("${ORIGIN}", str(origin)).replace("$ORIGIN", str(origin)))
    yield from (Path(folder) for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder)
    triplet = {"X86_64": "x86_64-linux-gnu", "AARCH64": "aarch64-linux-gnu"}.get(elf.machine, "")
    for folder in ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"):
        yield Path(folder, triplet)
        yield Path(folder)


def _find_library(name: str, elf: ElfFile, origin: Path) -> ElfFile | None:
    candidates = [folder / name for folder in _folders(elf, origin)]
    for candidate in candidates + _library_cache().get(name, []):
        try:
            found = formats.ElfFile(candidate)
        except (OSError, ValueError):
            continue
        if (found.machine, found.bits) == (elf.machine, elf.bits):
            return found
    return None


def _needed_libraries(elf: ElfFile) -> tuple[list[ElfFile], list[str]]:
    """Return all libraries that opening the file loads, and sentences about missing ones."""
    found: dict[str, ElfFile] = {}
    missing = []
    queue = [elf]
    for file in queue:
        path = file.path.resolve()
        for name in file.needed():
            if name in found:
                continue
            library = _find_library(name, file, path.parent)
            if library is None:
                missing.append(f"{path.name} needs {name}, which is not on this machine")
                continue
            found[name] = library
            queue.append(library)
    return list(found.values()), missing


def check_undefined_symbols(path: Path) -> list[str]:
    """Each undefined symbol is defined in a library that the file needs directly or indirectly."""
    elf = _open(path)
    undefined = {s.name for s in elf.symbols() if not s.is_defined and not s.is_weak}
    libraries, problems = _needed_libraries(elf)
    undefined -= DEFINED_BY_NOBODY
    for library in libraries:
        undefined -= library.exported()
    return problems + [f"{name} is undefined, and no library that it needs has it" for name in sorted(undefined)]


# ---- what runs when it is opened


def check_static_initialisers(path: Path) -> list[str]:
    """Opening the file runs none of its code: its initialisers hold only the toolchain's frame_dummy."""
    elf = _open(path)
    if not elf.has_sections:
        raise NotChecked("the file has no section headers")
    pointers = [pointer for pointer in elf.pointers_in(".init_array") if pointer]
    own = [pointer for pointer in pointers if not _is_frame_dummy(elf, pointer, pointers)]
    problems = [f"{pointer:#x} in .init_array is a static initialiser" for pointer in own]
    problems += [f"it has initialisers in {name}" for name in (".ctors", ".preinit_array") if elf.pointers_in(name)]
    return problems + _own_code_in_init(elf)


def _is_frame_dummy(elf: ElfFile, pointer: int, pointers: list[int]) -> bool:
    """Whether it is crtbegin's function, which only jumps to register_tm_clones. Not on x86-64: the first one."""
    if elf.machine != "X86_64":
        return pointer == pointers[0]
    return elf.bytes_at(pointer, 5).removeprefix(b"\xf3\x0f\x1e\xfa")[:1] == b"\xe9"


def _own_code_in_init(elf: ElfFile) -> list[str]:
    """Find code in DT_INIT besides that of crti.o and crtn.o, a call of __gmon_start__ of some 30 bytes."""
    start = elf.init_function()
    if start is None:
        return []
    address, size = elf.section_range(".init") or (None, 0)
    if address != start:
        return [f"DT_INIT is a function of its own, at {start:#x}"]
    return [f".init holds {size} bytes, more than the toolchain's own"] if size > 32 else []


# ---- the constant that a loader reads


def abi_of(path: Path) -> AbiVersion | None:
    """Return the version in the file's `ferrule_backend_abi`; None if it cannot be read."""
    try:
        return _read_abi(_open(path))
    except ValueError:
        return None


def _read_abi(elf: ElfFile) -> AbiVersion:
    data = elf.abi_data()
    if data is None:
        raise ValueError("is not there")
    if not data:
        raise ValueError("is not constant data that can be read from the file")
    return abi_version.parse(data)


def check_abi(path: Path) -> list[str]:
    """`ferrule_backend_abi` can be read from the file and is compatible with this core."""
    elf = _open(path)
    try:
        found = _read_abi(elf)
    except ValueError as error:
        return [f"ferrule_backend_abi {error}"]
    complaint = abi_version.complaint(found, core_abi())
    return [complaint] if complaint else []


# ---- the manifest


def manifest_of(path: Path) -> dict[str, object]:
    """Return the manifest beside the file."""
    beside = path.with_suffix(".json")
    try:
        text = beside.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotChecked(f"there is no manifest {beside.name} beside it") from None
    manifest: object = json.loads(text)
    if not isinstance(manifest, dict):
        raise TypeError(f"{beside.name} is not a JSON object")
    return manifest


def check_manifest(path: Path) -> list[str]:
    """The manifest beside the file, if it exists, agrees with the file."""
    try:
        manifest = manifest_of(path)
    except (ValueError, TypeError) as error:
        return [f"its manifest cannot be read: {error}"]
    data = path.read_bytes()
    name = FILE_NAME.fullmatch(path.name)
    wanted: dict[str, object] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    if name:
        wanted |= {"name": name["name"], "variant": name["variant"] or ""}
    abi = abi_of(path)
    if abi:
        hashes = [f"{layout_hash:#018x}" for layout_hash in abi.layout_hashes]
        wanted["abi"] = {"major": abi.major, "minor": abi.minor, "layout_hashes": hashes}
    return [
        f"its manifest says that {key} is {manifest.get(key)!r}, but it is {value!r}"
        for key, value in wanted.items()
        if manifest.get(key) != value
    ]


def check_file_name(path: Path) -> list[str]:
    """The loader finds the file by its name."""
    if FILE_NAME.fullmatch(path.name):
        return []
    return [f"{path.name} is not of the form libferrule-<name>[-<variant>].{ENDING}, so no load finds it in a folder"]


CHECKS: dict[str, Callable[[Path], list[str]]] = {
    "file.name": check_file_name,
    "file.exports": check_exports,
    "file.undefined_symbols": check_undefined_symbols,
    "file.static_initialisers": check_static_initialisers,
    "file.abi": check_abi,
    "file.manifest": check_manifest,
}

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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from ferrule.tools import abi_version
from ferrule.tools.abi_version import AbiVersion
from ferrule.tools.inspection.abi import core_abi

REQUIRED = {"ferrule_backend_abi", "ferrule_backend_init"}
OPTIONAL = {"ferrule_backend_score"}
TEXT_TAGS = {"DT_NEEDED": "needed", "DT_RUNPATH": "runpath", "DT_RPATH": "rpath"}  # and pyelftools' names of them
FILE_NAME = re.compile(r"(?:lib)?ferrule-(?P<name>[a-z0-9_]+)(?:-(?P<variant>.+))?\.so")
# Symbols that the toolchain's start files refer to, and that need not be defined.
DEFINED_BY_NOBODY = {"__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__cxa_finalize"}


class NotChecked(Exception):  # noqa: N818 - an outcome, not an error
    """The check cannot judge this file, for the reason given."""


@dataclass(frozen=True)
class Symbol:
    """A symbol of the dynamic symbol table."""

    name: str
    is_defined: bool
    is_local: bool
    is_weak: bool
    is_hidden: bool
    address: int
    size: int


class Elf:
    """The parts of an ELF file that the checks need."""

    def __init__(self, path: Path) -> None:
        try:
            self._stream = path.open("rb")
            self.file = ELFFile(self._stream)
        except ELFError as error:
            with path.open("rb") as stream:
                if stream.read(4) == b"\x7fELF":
                    raise
            raise NotChecked(f"{path.name} is no ELF file") from error

    def __enter__(self) -> Elf:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def dynamic(self) -> Iterator[tuple[str, str]]:
        """Yield the tag and text of each dynamic entry that names a library or a path."""
        for section in self.file.iter_sections():
            if isinstance(section, DynamicSection):
                for tag in section.iter_tags():
                    if tag.entry.d_tag in TEXT_TAGS:
                        yield tag.entry.d_tag, getattr(tag, TEXT_TAGS[tag.entry.d_tag])

    def needed(self) -> list[str]:
        return [text for kind, text in self.dynamic() if kind == "DT_NEEDED"]

    def symbols(self) -> Iterator[Symbol]:
        table = self.file.get_section_by_name(".dynsym")
        if not isinstance(table, SymbolTableSection):
            return
        for symbol in table.iter_symbols():
            if not symbol.name:
                continue
            bind = symbol.entry.st_info.bind
            yield Symbol(
                symbol.name,
                symbol.entry.st_shndx != "SHN_UNDEF",
                bind == "STB_LOCAL",
                bind == "STB_WEAK",
                symbol.entry.st_other.visibility in ("STV_HIDDEN", "STV_INTERNAL"),
                symbol.entry.st_value,
                symbol.entry.st_size,
            )

    def bytes_at(self, address: int, size: int) -> bytes:
        """Return the bytes of the file that are loaded at an address; none if it has none there, or is truncated."""
        for segment in self.file.iter_segments("PT_LOAD"):
            start = segment["p_vaddr"]
            if start <= address and address + size <= start + segment["p_filesz"]:
                self._stream.seek(segment["p_offset"] + address - start)
                return self._stream.read(size)
        return b""

    def pointers_in(self, name: str) -> list[int] | None:
        """Return the pointers of a section after relocation; None without the section."""
        section = self.file.get_section_by_name(name)
        if section is None:
            return None
        start, size = section["sh_addr"], section["sh_size"]
        word = self.file.elfclass // 8
        data = section.data()
        values = [int.from_bytes(data[at : at + word], "little") for at in range(0, size, word)]
        for table in self.file.iter_sections():
            if isinstance(table, RelocationSection) and table.is_RELA():
                for relocation in table.iter_relocations():
                    at = relocation["r_offset"] - start
                    if 0 <= at < size:
                        values[at // word] = relocation["r_addend"]
        return values


def exported(path: Path) -> set[str]:
    """Return the names that other files can link against."""
    with Elf(path) as elf:
        return {s.name for s in elf.symbols() if s.is_defined and not s.is_local and not s.is_hidden}


def check_exports(path: Path) -> list[str]:
    """The file exports the three symbols of a module (the score is optional) and nothing else."""
    found = exported(path)
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


def _folders(elf: Elf, origin: Path) -> Iterator[Path]:
    """Yield the folders in which the loader looks for needed libraries, apart from the cache."""
    for kind, text in elf.dynamic():
        if kind in ("DT_RUNPATH", "DT_RPATH"):
            for folder in text.split(":"):
                yield Path(folder.replace("${ORIGIN}", str(origin)).replace("$ORIGIN", str(origin)))
    yield from (Path(folder) for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder)
    machine = elf.file.get_machine_arch()
    triplet = {"x64": "x86_64-linux-gnu", "AArch64": "aarch64-linux-gnu"}.get(machine, "")
    for folder in ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"):
        yield Path(folder, triplet)
        yield Path(folder)


def _find_library(name: str, elf: Elf, origin: Path) -> Path | None:
    candidates = [folder / name for folder in _folders(elf, origin)]
    machine = elf.file["e_machine"]
    for candidate in candidates + _library_cache().get(name, []):
        try:
            with Elf(candidate) as found:
                if found.file["e_machine"] == machine and found.file.elfclass == elf.file.elfclass:
                    return candidate
        except (OSError, NotChecked, ELFError):
            continue
    return None


def _needed_libraries(path: Path) -> tuple[list[Path], list[str]]:
    """Return all libraries that opening the file loads, and sentences about missing ones."""
    found: dict[str, Path] = {}
    missing = []
    queue = [path.resolve()]
    for file in queue:
        with Elf(file) as elf:
            for name in elf.needed():
                if name in found:
                    continue
                library = _find_library(name, elf, file.parent)
                if library is None:
                    missing.append(f"{file.name} needs {name}, which is not on this machine")
                    continue
                found[name] = library
                queue.append(library.resolve())
    return list(found.values()), missing


def check_undefined_symbols(path: Path) -> list[str]:
    """Each undefined symbol is defined in a library that the file needs directly or indirectly."""
    with Elf(path) as elf:
        undefined = {s.name for s in elf.symbols() if not s.is_defined and not s.is_weak}
    libraries, problems = _needed_libraries(path)
    undefined -= DEFINED_BY_NOBODY
    for library in libraries:
        undefined -= exported(library)
    return problems + [f"{name} is undefined, and no library that it needs has it" for name in sorted(undefined)]


# ---- what runs when it is opened


def check_static_initialisers(path: Path) -> list[str]:
    """Opening the file runs none of its code: its initialisers hold only the toolchain's frame_dummy."""
    with Elf(path) as elf:
        if elf.file.num_sections() == 0:
            raise NotChecked("the file has no section headers")
        pointers = [pointer for pointer in elf.pointers_in(".init_array") or [] if pointer]
        own = [pointer for pointer in pointers if not _is_frame_dummy(elf, pointer, pointers)]
        problems = [f"{pointer:#x} in .init_array is a static initialiser" for pointer in own]
        problems += [f"it has initialisers in {name}" for name in (".ctors", ".preinit_array") if elf.pointers_in(name)]
        return problems + _own_code_in_init(elf)


def _is_frame_dummy(elf: Elf, pointer: int, pointers: list[int]) -> bool:
    """Whether it is crtbegin's function, which only jumps to register_tm_clones. Not on x86-64: the first one."""
    if elf.file.get_machine_arch() != "x64":
        return pointer == pointers[0]
    return elf.bytes_at(pointer, 5).removeprefix(b"\xf3\x0f\x1e\xfa")[:1] == b"\xe9"


def _own_code_in_init(elf: Elf) -> list[str]:
    """Find code in DT_INIT besides that of crti.o and crtn.o, a call of __gmon_start__ of some 30 bytes."""
    tags = [tag for s in elf.file.iter_sections() if isinstance(s, DynamicSection) for tag in s.iter_tags()]
    start = next((tag.entry.d_ptr for tag in tags if tag.entry.d_tag == "DT_INIT"), None)
    if start is None:
        return []
    section = elf.file.get_section_by_name(".init")
    if section is None or section["sh_addr"] != start:
        return [f"DT_INIT is a function of its own, at {start:#x}"]
    size = section["sh_size"]
    return [f".init holds {size} bytes, more than the toolchain's own"] if size > 32 else []


# ---- the constant that a loader reads


def abi_of(path: Path) -> AbiVersion | None:
    """Return the version in the file's `ferrule_backend_abi`; None if it cannot be read."""
    try:
        return _read_abi(path)
    except ValueError:
        return None


def _read_abi(path: Path) -> AbiVersion:
    with Elf(path) as elf:
        for symbol in elf.symbols():
            if symbol.name == "ferrule_backend_abi" and symbol.is_defined:
                data = elf.bytes_at(symbol.address, min(symbol.size, abi_version.LARGEST))
                if not data:
                    raise ValueError("is not constant data that can be read from the file")
                return abi_version.parse(data)
    raise ValueError("is not there")


def check_abi(path: Path) -> list[str]:
    """`ferrule_backend_abi` can be read from the file and is compatible with this core."""
    try:
        found = _read_abi(path)
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
        raise TypeError(f"{beside.name} is no JSON object")
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
        f"its manifest says that {key} is {manifest.get(key)!r}, and it is {value!r}"
        for key, value in wanted.items()
        if manifest.get(key) != value
    ]


def check_file_name(path: Path) -> list[str]:
    """The loader finds the file by its name."""
    if FILE_NAME.fullmatch(path.name):
        return []
    return [f"{path.name} is not of the form libferrule-<name>[-<variant>].so, so no load finds it in a folder"]


CHECKS: dict[str, Callable[[Path], list[str]]] = {
    "file.name": check_file_name,
    "file.exports": check_exports,
    "file.undefined_symbols": check_undefined_symbols,
    "file.static_initialisers": check_static_initialisers,
    "file.abi": check_abi,
    "file.manifest": check_manifest,
}

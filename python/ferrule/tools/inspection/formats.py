"""Reading ELF, PE and Mach-O files with lief: into one form, and ELF files in detail. No other module imports lief."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

try:
    import lief
except ImportError as error:
    raise ImportError(f"module files are read with lief; pip install 'ferrule[inspect]': {error}") from error

from ferrule.tools.inspection.abi import ABI_SYMBOL
from ferrule.tools.inspection.abi_version import LARGEST
from ferrule.tools.inspection.image import Image, Segment

ELF_SYSTEMS = {lief.ELF.Header.OS_ABI.SYSTEMV: "Linux", lief.ELF.Header.OS_ABI.LINUX: "Linux"}
SHORTEST_HEADER = 52  # bytes of the header of a 32-bit ELF file; lief 1.0 takes files that end within it
lief.logging.disable()


def images_of(path: Path) -> list[Image]:
    """Return the program images of a file. Raises ValueError, with a sentence, for other or damaged files."""
    size = path.stat().st_size
    if lief.is_elf(path):
        return [_elf(path, size)]
    if lief.is_pe(path):
        return [_pe(path, size)]
    if lief.is_macho(path):
        return _mach_o(path, size)
    raise ValueError(f"it is not a shared library: {_beginning(path)}")


def _beginning(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(12)
    if not data:
        return "the file is empty"
    return f"it begins with {data.decode('ascii')!r}" if data.isascii() else f"it begins with the bytes {data.hex(' ')}"


def _word(value: object) -> str:
    """Return the name of an enumeration's member, such as "AMD64"; a number without a member as it is."""
    return str(value).rpartition(".")[2]


# ---- ELF


class NotElfError(ValueError):
    """The file is not an ELF file."""


@dataclass(frozen=True)
class Symbol:
    """A symbol of the dynamic symbol table."""

    name: str
    is_defined: bool
    is_local: bool
    is_weak: bool
    is_hidden: bool
    address: int
    size: int  # bytes

    @property
    def is_exported(self) -> bool:
        """Whether other files can link against it."""
        return self.is_defined and not self.is_local and not self.is_hidden


class ElfFile:
    """The parts of an ELF file. Raises NotElfError, or ValueError for a damaged file; OSError if it cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb"):  # lief does not tell a missing file from one of another format
            pass
        if not lief.is_elf(path):
            raise NotElfError(f"{path} is not an ELF file")
        binary = None if path.stat().st_size < SHORTEST_HEADER else lief.ELF.parse(path)
        if binary is None:
            raise ValueError("it begins as an ELF file, and its headers are damaged")
        self.binary = binary
        self.header = binary.header
        self.machine = _word(binary.header.machine_type)  # "X86_64", "AARCH64"
        self.bits = 64 if binary.header.identity_class == lief.ELF.Header.CLASS.ELF64 else 32

    def needed(self) -> list[str]:
        """Return the names of the libraries that the file needs."""
        return [str(name) for name in self.binary.libraries]

    def run_paths(self) -> list[str]:
        """Return the folders of DT_RUNPATH and DT_RPATH."""
        return [
            str(folder)
            for entry in self.binary.dynamic_entries
            if isinstance(entry, (lief.ELF.DynamicEntryRunPath, lief.ELF.DynamicEntryRpath))
            for folder in entry.paths
        ]

    def symbols(self) -> Iterator[Symbol]:
        """Yield the symbols of the dynamic symbol table that have a name."""
        kinds = lief.ELF.Symbol
        for symbol in self.binary.dynamic_symbols:
            if symbol.name:
                yield Symbol(
                    str(symbol.name),
                    symbol.shndx != 0,
                    symbol.binding == kinds.BINDING.LOCAL,
                    symbol.binding == kinds.BINDING.WEAK,
                    symbol.visibility in (kinds.VISIBILITY.HIDDEN, kinds.VISIBILITY.INTERNAL),
                    symbol.value,
                    symbol.size,
                )

    def exported(self) -> set[str]:
        """Return the names that other files can link against."""
        return {symbol.name for symbol in self.symbols() if symbol.is_exported}

    def abi_data(self) -> bytes | None:
        """Return the bytes of `ferrule_backend_abi`, b"" if the file does not hold them; None if it is not exported."""
        for symbol in self.symbols():
            if symbol.name == ABI_SYMBOL and symbol.is_exported:
                return self.bytes_at(symbol.address, min(symbol.size or LARGEST, LARGEST))
        return None

    def bytes_at(self, address: int, size: int) -> bytes:
        """Return the bytes of the file that are loaded at an address; fewer, or none, if it has fewer there."""
        return bytes(self.binary.get_content_from_virtual_address(address, size))

    @property
    def has_sections(self) -> bool:
        return len(self.binary.sections) > 0

    def section_range(self, name: str) -> tuple[int, int] | None:
        """Return the address of a section and its size in bytes; None without the section."""
        section = self.binary.get_section(name) if self.binary.has_section(name) else None
        return None if section is None else (section.virtual_address, section.size)

    def pointers_in(self, name: str) -> list[int]:
        """Return the pointers of a section after relocation; none without the section."""
        section = self.binary.get_section(name) if self.binary.has_section(name) else None
        if section is None:
            return []
        start, word = section.virtual_address, self.bits // 8
        data = bytes(section.content)
        values = [int.from_bytes(data[at : at + word], "little") for at in range(0, len(data), word)]
        for relocation in self.binary.relocations:
            at = relocation.address - start
            if relocation.is_rela and 0 <= at < len(data):
                values[at // word] = relocation.addend
        return values

    def init_function(self) -> int | None:
        """Return the address of the function that DT_INIT names; None without one."""
        tag = lief.ELF.DynamicEntry.TAG.INIT
        return next((entry.value for entry in self.binary.dynamic_entries if entry.tag == tag), None)


def _elf(path: Path, size: int) -> Image:
    elf = ElfFile(path)
    header = elf.header
    image = Image(
        "ELF", ELF_SYSTEMS.get(header.identity_os_abi, _word(header.identity_os_abi)), _word(header.machine_type)
    )
    if header.file_type != lief.ELF.Header.FILE_TYPE.DYN:
        image.problems.append(f"it is an ELF file, but no shared library: its type is {_word(header.file_type)}")
    image.exports = sorted(elf.exported())
    image.needed = elf.needed()
    image.run_paths = elf.run_paths()
    image.segments = [
        Segment(_word(segment.type), segment.file_offset, segment.physical_size)
        for segment in elf.binary.segments
        if segment.type == lief.ELF.Segment.TYPE.LOAD
    ]
    image.check_segments(0, size)
    if not image.segments:
        image.problems.append("nothing of it would be mapped: it has no loadable segment")
    data = elf.abi_data()
    if data is not None:
        image.read_abi(data)
    return image


# ---- PE


def _pe(path: Path, size: int) -> Image:
    binary = lief.PE.parse(path)
    if binary is None:
        raise ValueError("it begins as a Windows program, and its headers are damaged")
    image = Image("PE", "Windows", _word(binary.header.machine))
    if not binary.header.has_characteristic(lief.PE.Header.CHARACTERISTICS.DLL):
        image.problems.append("it is a Windows program, but no DLL")
    table = binary.get_export()
    entries = list(table.entries) if table is not None else []
    image.exports = sorted(str(entry.name) or f"number {entry.ordinal}" for entry in entries)
    image.needed = [str(library.name) for library in binary.imports]
    image.needed += [f"{library.name!s} (when first used)" for library in binary.delay_imports]
    image.segments = [
        Segment(str(section.name), section.pointerto_raw_data, section.sizeof_raw_data) for section in binary.sections
    ]
    image.check_segments(0, size)
    if binary.header.numberof_sections != len(image.segments):
        image.problems.append(
            f"its header speaks of {binary.header.numberof_sections} sections, and {len(image.segments)} can be read"
        )
    for entry in entries:
        if entry.name == ABI_SYMBOL and not entry.is_forwarded:
            content = binary.get_content_from_virtual_address(entry.address, LARGEST, lief.Binary.VA_TYPES.RVA)
            image.read_abi(bytes(content))
    return image


# ---- Mach-O

UNIVERSAL = (0xCAFEBABE, 0xCAFEBABF)
MACH_O_LIBRARIES = (lief.MachO.Header.FILE_TYPE.DYLIB, lief.MachO.Header.FILE_TYPE.BUNDLE)


def _mach_o(path: Path, size: int) -> list[Image]:
    universal = lief.MachO.parse(path)
    if universal is None or universal.size == 0:
        raise ValueError("it begins as a Mach-O file, and its headers are damaged")
    starts = sorted(binary.fat_offset for binary in universal)
    ends = dict(zip(starts, [*starts[1:], size], strict=True))
    images = [_mach_o_image(binary, binary.fat_offset, ends[binary.fat_offset]) for binary in universal]
    with path.open("rb") as file:
        magic, count = struct.unpack(">II", file.read(8))
    if magic in UNIVERSAL and count != len(images):
        images[0].problems.append(
            f"its table lists {count} architectures, but only {len(images)} can be read: it is truncated or damaged"
        )
    return images


def _mach_o_image(binary: lief.MachO.Binary, start: int, end: int) -> Image:
    header, system = binary.header, _word(binary.platform)
    image = Image("Mach-O", "macOS" if system in ("MACOS", "UNKNOWN") else system, _word(header.cpu_type))
    if header.file_type not in MACH_O_LIBRARIES:
        image.problems.append(f"it is a Mach-O file, but no library or bundle: its type is {_word(header.file_type)}")
    # In Mach-O, C names have a leading underscore, which dlsym adds.
    symbols = {str(symbol.name).removeprefix("_"): symbol for symbol in binary.exported_symbols}
    image.exports = sorted(symbols)
    own_name = lief.MachO.LoadCommand.TYPE.ID_DYLIB
    image.needed = [str(library.name) for library in binary.libraries if library.command != own_name]
    image.run_paths = [str(command.path) for command in binary.rpaths]
    image.segments = [Segment(str(segment.name), segment.file_offset, segment.file_size) for segment in binary.segments]
    image.check_segments(start, end)
    if header.nb_cmds != len(binary.commands):
        image.problems.append(
            f"its header speaks of {header.nb_cmds} load commands, and {len(binary.commands)} can be read"
        )
    if ABI_SYMBOL in symbols:
        image.read_abi(bytes(binary.get_content_from_virtual_address(symbols[ABI_SYMBOL].value, LARGEST)))
    return image

"""Reading ELF, PE and Mach-O files with lief into one form."""

from __future__ import annotations

import struct
from pathlib import Path

import lief

from ferrule.tools.abi_version import LARGEST
from ferrule.tools.inspection.abi import ABI_SYMBOL
from ferrule.tools.inspection.image import Image, Segment

ELF_SYSTEMS = {lief.ELF.Header.OS_ABI.SYSTEMV: "Linux", lief.ELF.Header.OS_ABI.LINUX: "Linux"}


def images_of(path: Path) -> list[Image]:
    """Return the program images of a file. Raises ValueError, with a sentence, for other or damaged files."""
    lief.logging.disable()
    size = path.stat().st_size
    if lief.is_elf(path):
        return [_elf(path, size)]
    if lief.is_pe(path):
        return [_pe(path, size)]
    if lief.is_macho(path):
        return _mach_o(path, size)
    raise ValueError(f"it is no shared library: {_beginning(path)}")


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


def _elf(path: Path, size: int) -> Image:
    binary = lief.ELF.parse(path)
    if binary is None:
        raise ValueError("it begins as an ELF file, and its headers are damaged")
    header = binary.header
    image = Image(
        "ELF", ELF_SYSTEMS.get(header.identity_os_abi, _word(header.identity_os_abi)), _word(header.machine_type)
    )
    if header.file_type != lief.ELF.Header.FILE_TYPE.DYN:
        image.problems.append(f"it is an ELF file, but no shared library: its type is {_word(header.file_type)}")
    image.exports = sorted({str(symbol.name) for symbol in binary.exported_symbols})
    image.needed = [str(name) for name in binary.libraries]
    for entry in binary.dynamic_entries:
        if isinstance(entry, (lief.ELF.DynamicEntryRunPath, lief.ELF.DynamicEntryRpath)):
            image.run_paths += [str(folder) for folder in entry.paths]
    image.segments = [
        Segment(_word(segment.type), segment.file_offset, segment.physical_size)
        for segment in binary.segments
        if segment.type == lief.ELF.Segment.TYPE.LOAD
    ]
    image.check_segments(0, size)
    if not image.segments:
        image.problems.append("nothing of it would be mapped: it has no loadable segment")
    symbol = binary.get_dynamic_symbol(ABI_SYMBOL) if binary.has_dynamic_symbol(ABI_SYMBOL) else None
    if symbol is not None and symbol.exported:
        size_of_it = min(symbol.size or LARGEST, LARGEST)
        image.read_abi(bytes(binary.get_content_from_virtual_address(symbol.value, size_of_it)))
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
            f"its table speaks of {count} architectures, and {len(images)} can be read: it is truncated or damaged"
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

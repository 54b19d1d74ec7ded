"""The header of a GGUF file: metadata, and the type, shape and place of each tensor. All is checked before it is used.

See https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from __future__ import annotations

import math
import reprlib
import struct
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from ferrule import _ferrule
from ferrule.array.host_memory import MAX_DIMENSIONS
from ferrule.errors import InvalidArgumentError
from ferrule.io.gguf_types import TensorType, type_of
from ferrule.io.regular_files import read_into

MAGIC = b"GGUF"
VERSIONS = (2, 3)
ALIGNMENT = 32  # of the tensors' data, unless `general.alignment` says otherwise
DEEPEST = 8  # arrays within arrays
FIRST_READ = 1 << 20
LONGEST_NAME = 65535  # bytes of a key or the name of a tensor

STRING, ARRAY = 8, 9
# The code of a type of metadata: its name here, and the format of struct.
SCALARS = {
    0: ("uint8", "<B"),
    1: ("int8", "<b"),
    2: ("uint16", "<H"),
    3: ("int16", "<h"),
    4: ("uint32", "<I"),
    5: ("int32", "<i"),
    6: ("float32", "<f"),
    7: ("bool", "<?"),
    10: ("uint64", "<Q"),
    11: ("int64", "<q"),
    12: ("float64", "<d"),
}


class Tensor(NamedTuple):
    """An entry of the header. The shape is in row-major order: the file has it reversed. `begin` and `end` are offsets
    from the start of the file; `end` is -1 for a type of unknown size."""

    type: TensorType
    shape: tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    version: int
    tensors: dict[str, Tensor]
    metadata: dict[str, Any]
    types: dict[str, int]  # the code of each value of the metadata; of arrays, that of their elements
    alignment: int


def read_header(file: BinaryIO, path: Path, size: int) -> Header:
    """Read the header of an open file of `size` bytes.

    Raises
    ------
    InvalidArgumentError
        The file violates the format. The message has the file, what was read, and the offset.
    """
    reader = _Reader(file, path, size)
    magic = reader.bytes(4, "the magic")
    if magic != MAGIC:
        reader.refuse(f"it begins with {magic!r}, not {MAGIC!r}", 0)
    version = reader.number("<I", "the version")
    if version not in VERSIONS:
        if int.from_bytes(version.to_bytes(4, "little"), "big") in VERSIONS:
            reader.refuse("its byte order is big-endian; gguf-convert-endian of the package gguf converts it", 4)
        reader.refuse(f"it has version {version}; ferrule reads versions 2 and 3", 4)
    tensor_count = reader.count("tensors", 8 + 4 + 4 + 8)
    pair_count = reader.count("metadata", 8 + 4 + 1)
    metadata: dict[str, Any] = {}
    types: dict[str, int] = {}
    for number in range(pair_count):
        place = reader.place
        key = reader.name(f"key {number + 1} of {pair_count} of the metadata")
        if key in metadata:
            reader.refuse(f"the metadata has {key!r} twice", place)
        types[key] = reader.number("<I", f"the type of {key!r}")
        metadata[key], types[key] = reader.value(types[key], key)
    alignment = metadata.get("general.alignment", ALIGNMENT)
    if type(alignment) is not int or alignment <= 0 or alignment & (alignment - 1):
        reader.refuse(f"general.alignment is {reprlib.repr(alignment)}, which is no power of two")
    entries = _read_entries(reader, tensor_count)
    data = -(-reader.place // alignment) * alignment
    tensors = {name: _placed(reader, name, entry, data, alignment) for name, entry in entries.items()}
    _check_layout(reader, tensors)
    return Header(version, tensors, metadata, types, alignment)


class _Entry(NamedTuple):
    type: TensorType
    shape: tuple[int, ...]
    offset: int
    place: int  # of the entry in the file, for messages


def _read_entries(reader: _Reader, count: int) -> dict[str, _Entry]:
    entries: dict[str, _Entry] = {}
    for number in range(count):
        place = reader.place
        name = reader.name(f"the name of tensor {number + 1} of {count}")
        if name in entries:
            reader.refuse(f"there are two tensors {name!r}", place)
        rank = reader.count(f"axes of tensor {name!r}", 8, form="<I")
        if rank > MAX_DIMENSIONS:
            reader.refuse(f"tensor {name!r} has {rank} axes; an array has at most {MAX_DIMENSIONS}", place)
        sizes = struct.unpack(f"<{rank}Q", reader.bytes(8 * rank, f"the shape of tensor {name!r}"))
        code = reader.number("<I", f"the type of tensor {name!r}")
        offset = reader.number("<Q", f"the offset of tensor {name!r}")
        entries[name] = _Entry(type_of(code), sizes[::-1], offset, place)
    return entries


def _placed(reader: _Reader, name: str, entry: _Entry, data: int, alignment: int) -> Tensor:
    """The tensor with offsets from the start of the file."""
    kind, shape = entry.type, entry.shape
    if entry.offset % alignment:
        reader.refuse(f"tensor {name!r} is at {entry.offset}, which is no multiple of {alignment}", entry.place)
    if math.prod(size or 1 for size in shape) >= 1 << 63:
        reader.refuse(f"tensor {name!r} has shape {shape}, which is larger than memory can be", entry.place)
    begin = data + entry.offset
    if not kind.block_bytes:  # of unknown size; reading it raises an error
        if begin > reader.size:
            reader.refuse(f"tensor {name!r} begins {begin - reader.size} bytes behind the end", entry.place)
        return Tensor(kind, shape, begin, -1)
    row = shape[-1] if shape else 1
    if row % kind.block_elements:
        reader.refuse(
            f"tensor {name!r} is {kind.name}{shape}, and its rows are no whole blocks of {kind.block_elements}",
            entry.place,
        )
    end = begin + math.prod(shape) // kind.block_elements * kind.block_bytes
    if end > reader.size:
        reader.refuse(
            f"tensor {name!r}, {kind.name}{shape}, ends {end - reader.size} bytes behind the end of the file: "
            "is it truncated?",
            entry.place,
        )
    return Tensor(kind, shape, begin, end)


def _check_layout(reader: _Reader, tensors: dict[str, Tensor]) -> None:
    end, before = 0, ""
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].begin, item[1].end)):
        if tensor.begin < end and tensor.begin != tensor.end:
            reader.refuse(f"tensor {name!r} overlaps tensor {before!r} by {end - tensor.begin} bytes", tensor.begin)
        if tensor.end > end:
            end, before = tensor.end, name


class _Reader:
    """Reads one value after the other. `place` is the offset of the next one."""

    def __init__(self, file: BinaryIO, path: Path, size: int) -> None:
        self._file, self._path, self.size = file, path, size
        self._data = bytearray()
        self.place = 0

    def refuse(self, problem: str, place: int | None = None) -> NoReturn:
        where = self.place if place is None else place
        raise InvalidArgumentError(f"{self._path} is not a valid GGUF file: {problem} (at byte {where})")

    def bytes(self, count: int, what: str) -> bytes:
        self._require(count, what)
        begin = self.place
        self.place += count
        return bytes(self._data[begin : self.place])

    def _require(self, count: int, what: str) -> None:
        """Read until `count` bytes from `place` on are there."""
        wanted = self.place + count
        if wanted <= len(self._data):
            return
        if wanted > self.size:
            self.refuse(f"{what} has {count} bytes, and {self.size - self.place} are left")
        begin = len(self._data)
        try:
            self._data.extend(bytes(min(max(wanted, 2 * begin, FIRST_READ), self.size) - begin))
        except MemoryError:
            self.refuse(f"{what} has {count} bytes, for which there is no memory")
        read_into(self._file, self._path, begin, memoryview(self._data)[begin:])

    def number(self, form: str, what: str) -> Any:
        return struct.unpack(form, self.bytes(struct.calcsize(form), what))[0]

    def count(self, what: str, least: int, form: str = "<Q") -> int:
        """A number of things that take at least `least` bytes each, which is held against what is left of the file."""
        place = self.place
        found: int = self.number(form, f"the number of {what}")
        if found * least > self.size - self.place:
            self.refuse(f"{found} {what} cannot be in {self.size - self.place} bytes", place)
        return found

    def name(self, what: str) -> str:
        place = self.place
        found = self.text(what, LONGEST_NAME)
        if not found:
            self.refuse(f"{what} is empty", place)
        return found

    def text(self, what: str, longest: int | None = None) -> str:
        place = self.place
        length = self.number("<Q", f"the length of {what}")
        if longest is not None and length > longest:
            self.refuse(f"{what} has {length} bytes; {longest} are allowed", place)
        raw = self.bytes(length, what)
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            self.refuse(f"{what} is not UTF-8: {error}", place)

    def value(self, code: int, key: str, depth: int = 0) -> tuple[Any, int]:
        """A value of the metadata, and the code of its type, or of the type of its elements."""
        if code == STRING:
            return self.text(f"the value of {key!r}"), code
        if code in SCALARS:
            return self._scalars(code, 1, key)[0], code
        if code != ARRAY:
            self.refuse(f"the type of {key!r} is {code}, which does not exist", self.place - 4)
        if depth == DEEPEST:
            self.refuse(f"{key!r} has arrays in more than {DEEPEST} arrays")
        inner = self.number("<I", f"the type of the elements of {key!r}")
        if inner not in SCALARS and inner not in (STRING, ARRAY):
            self.refuse(f"the type of the elements of {key!r} is {inner}, which does not exist", self.place - 4)
        if inner in SCALARS:
            size = struct.calcsize(SCALARS[inner][1])
            return self._scalars(inner, self.count(f"elements of {key!r}", size), key), inner
        count = self.count(f"elements of {key!r}", 8)
        if inner == STRING:
            return self._texts(count, key), inner
        return [self.value(inner, key, depth + 1)[0] for _ in range(count)], inner

    def _scalars(self, code: int, count: int, key: str) -> list[Any]:
        form = SCALARS[code][1]
        place = self.place
        raw = self.bytes(count * struct.calcsize(form), f"the value of {key!r}")
        if form == "<?" and not set(raw) <= {0, 1}:
            self.refuse(f"{key!r} has a bool that is neither 0 nor 1", place)
        return [*struct.unpack(f"<{count}{form[1]}", raw)]

    def _texts(self, count: int, key: str) -> list[str]:
        """Many strings, such as a vocabulary: as `text`, with less work for each."""
        found: list[str] = []
        while True:
            self.place = _ferrule.read_texts(self._data, self.place, count - len(found), found)
            if len(found) == count:
                return found
            found.append(self.text(f"string {len(found) + 1} of {key!r}"))  # reads more of the file, or refuses it

"""The header of a safetensors file: its length in 8 bytes, then JSON. All parts are checked before they are used.

See https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError
from ferrule.io.regular_files import read_into

MOST_AXES = 64  # as NumPy has; the product of very many would take long
LONGEST_HEADER = 100_000_000  # bytes, as in the reference implementation
# Bits per element, and the dtype here. "" is an unsupported dtype: the file opens, but such a tensor cannot be read.
DTYPES = {
    **dict.fromkeys(("F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), (8, "")),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), (6, "")),
    "F4": (4, ""),
    **{row.safetensors: (8 * row.block_bytes, name) for name, row in _ferrule.DTYPES.items() if row.safetensors},
}


class Tensor(NamedTuple):
    """An entry of the header. `begin` and `end` are offsets from the start of the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    tensors: dict[str, Tensor]
    metadata: dict[str, str]


def read_header(file: BinaryIO, path: Path, size: int) -> Header:
    """Read the header of an open file of `size` bytes."""
    if size < 8:
        _refuse(path, f"it has {size} bytes, fewer than the 8 that tell the header's length")
    start = bytearray(8)
    read_into(file, path, 0, memoryview(start))
    if start.startswith(b"GGUF"):
        _refuse(path, "it is a GGUF file, which io.open_gguf opens")
    length = int.from_bytes(start, "little")
    if length > min(size - 8, LONGEST_HEADER):
        _refuse(path, f"its header would have {length} bytes, of {size - 8} after the length")
    text = bytearray(length)
    read_into(file, path, 8, memoryview(text))
    if not text.startswith(b"{"):
        _refuse(path, "its header does not begin with {")
    try:
        header = json_object(bytes(text))
    except UnicodeDecodeError as error:
        _refuse(path, f"its header is not UTF-8: {error}")
    except (ValueError, RecursionError) as error:
        _refuse(path, f"its header is not valid JSON: {error}")
    metadata = header.pop("__metadata__", None)
    if metadata is None:  # also null, as written by some programs
        metadata = {}
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        _refuse(path, "__metadata__ is not a list of names and texts")
    tensors = {name: _tensor(path, name, entry, 8 + length) for name, entry in header.items()}
    _check_layout(path, tensors, 8 + length, size)
    return Header(tensors, metadata)


def json_object(text: bytes) -> Any:
    """Parse JSON; raise ValueError if a name is twice in one object."""
    return json.loads(text.decode("utf-8"), object_pairs_hook=_without_duplicates)


def _refuse(path: Path, problem: str) -> NoReturn:
    raise InvalidArgumentError(f"{path} is not a safetensors file: {problem}")


def _tensor(path: Path, name: str, entry: Any, data: int) -> Tensor:
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        _refuse(path, f"tensor {name!r} is not described by dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        _refuse(path, f"tensor {name!r} has dtype {dtype!r}")
    if not _are_sizes(shape):
        _refuse(path, f"tensor {name!r} has shape {shape!r}")
    if not _are_sizes(offsets) or len(offsets) != 2:
        _refuse(path, f"tensor {name!r} has data_offsets {offsets!r}")
    if len(shape) > MOST_AXES:
        _refuse(path, f"tensor {name!r} has {len(shape)} axes")
    elements = most = 1
    for size in shape:
        elements *= size
        most = max(most, elements)
    needed = -(-elements * DTYPES[dtype][0] // 8)  # elements below 8 bits are packed, and the last byte is filled up
    begin, end = offsets
    if end - begin != needed:
        _refuse(path, f"tensor {name!r}: {dtype}{tuple(shape)} has {needed} bytes, but data_offsets {end - begin}")
    if most >= 1 << 64:  # the reference multiplies in 64 bits, from the left
        _refuse(path, f"tensor {name!r}: the product of its shape {tuple(shape)} exceeds 64 bits")
    return Tensor(dtype, tuple(shape), data + begin, data + end)


def _check_layout(path: Path, tensors: dict[str, Tensor], begin: int, end: int) -> None:
    place = begin
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].begin, item[1].end)):
        if tensor.end > end:
            _refuse(path, f"tensor {name!r} ends {tensor.end - end} bytes behind the end of the file: is it truncated?")
        if tensor.begin < place:
            _refuse(path, f"tensor {name!r} overlaps the one before it by {place - tensor.begin} bytes")
        if tensor.begin > place:
            _refuse(path, f"there is a hole of {tensor.begin - place} bytes before tensor {name!r}")
        place = tensor.end
    if place != end:
        _refuse(path, f"{end - place} bytes at the end belong to no tensor")


def _are_sizes(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 1 << 63 for value in values)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} is there twice")
        found[name] = value
    return found

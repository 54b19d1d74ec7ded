"""The safetensors format: 8 bytes with the length of a header, the header in JSON, then the tensors without gaps.

The whole file is one read-only mmap, which the device borrows once; arrays are views of it. A device with memory of
its own copies each array when it is first looked up. All parts of the header are checked before use: see
https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ferrule.array.array import Array
from ferrule.array.host_memory import from_host
from ferrule.dtypes.classification import as_dtype
from ferrule.errors import InvalidArgumentError, UnsupportedError
from ferrule.io.host_buffers import map_file
from ferrule.loading.device_lookup import handle_of
from ferrule.loading.devices import Device
from ferrule.text.near_names import did_you_mean

LONGEST_HEADER = 100_000_000  # bytes, as in the reference implementation
# Bytes per element, and the dtype here. "" is an unsupported dtype: the file opens, but such a tensor cannot be read.
DTYPES = {
    "BOOL": (1, "bool"),
    "U8": (1, "uint8"),
    "I8": (1, "int8"),
    "F8_E5M2": (1, "float8_e5m2"),
    "F8_E4M3": (1, "float8_e4m3fn"),
    "F8_E8M0": (1, ""),
    "I16": (2, "int16"),
    "U16": (2, "uint16"),
    "F16": (2, "float16"),
    "BF16": (2, "bfloat16"),
    "I32": (4, "int32"),
    "U32": (4, "uint32"),
    "F32": (4, "float32"),
    "F64": (8, "float64"),
    "I64": (8, "int64"),
    "U64": (8, "uint64"),
    "C64": (8, "complex64"),
}


class Tensor(NamedTuple):
    """An entry of the header. `begin` and `end` are offsets from the start of the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class SafeTensors(Mapping[str, Array]):
    """The arrays of a safetensors file, a mapping from names to arrays; made by `open_safetensors`.

    Attributes
    ----------
    path : pathlib.Path
        The file.
    tensors : dict of str to Tensor
        The dtype, shape and offsets of each array.
    metadata : dict of str to str
        The metadata of the header.
    nbytes : int
        The size of the file in bytes.

    Examples
    --------
    >>> import json, os, tempfile
    >>> header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     with open(path, "wb") as file:
    ...         _ = file.write(len(header).to_bytes(8, "little") + header + np.float32([1, 2]).tobytes())
    ...     arrays = fe.io.open_safetensors(path)
    ...     list(arrays), len(arrays), arrays["w"].shape
    (['w'], 1, (2,))
    """

    def __init__(self, path: str | os.PathLike[str], device: Device | str | None = None) -> None:
        self.path = Path(path)
        self._device = handle_of(device)
        with self.path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < 8:
                self._refuse(f"it has {size} bytes, fewer than the 8 that tell the header's length")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.tensors, self.metadata = self._read_header(mapped)
        self._region, self._raw = map_file(mapped, device)
        self._copies: dict[str, Array] = {}
        self.nbytes = size

    def __getitem__(self, name: str) -> Array:
        tensor = self.tensors.get(name)
        if tensor is None:
            meant = did_you_mean(name, self.tensors)
            raise KeyError(f"{self.path} has no tensor {name!r}{meant or f'; it has {len(self)}: iterate over it'}")
        size, dtype = DTYPES[tensor.dtype]
        if not dtype:
            raise UnsupportedError(f"{self.path}: tensor {name!r} is {tensor.dtype}, which ferrule does not have yet")
        is_aligned = tensor.begin % size == 0
        if self._region is not None and is_aligned:
            return Array._of(self._region.cut(tensor.begin, dtype, tensor.shape))
        if name in self._copies:
            return self._copies[name]._another("open_safetensors")
        raw = self._raw[tensor.begin : tensor.end]
        host = (raw if is_aligned else raw.copy()).view(as_dtype(dtype)).reshape(tensor.shape)
        made = Array._of(from_host(host, self._device, None, "open_safetensors", owned=not is_aligned))
        if self._region is not None:
            return made
        return self._copies.setdefault(name, made)._another("open_safetensors")

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def __repr__(self) -> str:
        return f"SafeTensors({str(self.path)!r}, {len(self)} tensors, {self.nbytes} bytes)"

    def _refuse(self, problem: str) -> NoReturn:
        raise InvalidArgumentError(f"{self.path} is not a safetensors file: {problem}")

    def _read_header(self, mapped: mmap.mmap) -> tuple[dict[str, Tensor], dict[str, str]]:
        length = int.from_bytes(mapped[:8], "little")
        if length > min(len(mapped) - 8, LONGEST_HEADER):
            self._refuse(f"its header would have {length} bytes, of {len(mapped) - 8} after the length")
        text = mapped[8 : 8 + length]
        if not text.startswith(b"{"):
            self._refuse("its header does not begin with {")
        try:
            header = json.loads(text.decode("utf-8"), object_pairs_hook=_without_duplicates)
        except UnicodeDecodeError as error:
            self._refuse(f"its header is not UTF-8: {error}")
        except (ValueError, RecursionError) as error:
            self._refuse(f"its header is not valid JSON: {error}")
        metadata = header.pop("__metadata__", {})
        if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
            self._refuse("__metadata__ is not a list of names and texts")
        tensors = {name: self._tensor(name, entry, 8 + length) for name, entry in header.items()}
        self._check_layout(tensors, 8 + length, len(mapped))
        return tensors, metadata

    def _tensor(self, name: str, entry: Any, data: int) -> Tensor:
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            self._refuse(f"tensor {name!r} is not described by dtype, shape and data_offsets")
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(dtype, str) or dtype not in DTYPES:
            self._refuse(f"tensor {name!r} has dtype {dtype!r}")
        if not _are_sizes(shape):
            self._refuse(f"tensor {name!r} has shape {shape!r}")
        if not _are_sizes(offsets) or len(offsets) != 2:
            self._refuse(f"tensor {name!r} has data_offsets {offsets!r}")
        needed = DTYPES[dtype][0]
        for size in shape:
            needed *= size
        begin, end = offsets
        if end - begin != needed:
            self._refuse(f"tensor {name!r}: {dtype}{tuple(shape)} has {needed} bytes, but data_offsets {end - begin}")
        return Tensor(dtype, tuple(shape), data + begin, data + end)

    def _check_layout(self, tensors: dict[str, Tensor], begin: int, end: int) -> None:
        place = begin
        for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].begin, item[1].end)):
            if tensor.end > end:
                self._refuse(
                    f"tensor {name!r} ends {tensor.end - end} bytes behind the end of the file: is it truncated?"
                )
            if tensor.begin < place:
                self._refuse(f"tensor {name!r} overlaps the one before it by {place - tensor.begin} bytes")
            if tensor.begin > place:
                self._refuse(f"there is a hole of {tensor.begin - place} bytes before tensor {name!r}")
            place = tensor.end
        if place != end:
            self._refuse(f"{end - place} bytes at the end belong to no tensor")


def open_safetensors(path: str | os.PathLike[str], device: Device | str | None = None) -> SafeTensors:
    """Open a safetensors file as a mapping from names to arrays.

    The device borrows the mapped file if its memory is the host's; the file must not be truncated as long as an array
    of it exists. A device with memory of its own, such as a discrete GPU, copies an array when it is first looked up;
    the mapping keeps the copy, and later lookups share it.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    SafeTensors
        A mapping. Each lookup returns a new array: `f["w"][0] = 1` does not change later lookups.

    Raises
    ------
    InvalidArgumentError
        The file violates the format.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import json, os, tempfile
    >>> header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     with open(path, "wb") as file:
    ...         _ = file.write(len(header).to_bytes(8, "little") + header + np.float32([1, 2]).tobytes())
    ...     fe.io.open_safetensors(path)["w"].tolist()
    [1.0, 2.0]
    """
    return SafeTensors(path, device)


def _are_sizes(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 1 << 63 for value in values)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} is there twice")
        found[name] = value
    return found

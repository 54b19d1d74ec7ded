"""safetensors files as mappings from names to arrays.

The whole file is one read-only mapping, which the device borrows once; arrays are views of it. A device with memory of
its own copies each array when it is first looked up. Where the file system maps no files, arrays are read.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from ferrule.array.array import Array
from ferrule.array.host_memory import check_ndim, from_host
from ferrule.array.mapped_files import map_read_only
from ferrule.dtypes.classification import as_dtype
from ferrule.errors import InvalidArgumentError, IoError, UnsupportedError
from ferrule.io.host_buffers import map_file
from ferrule.io.regular_files import open_regular, read_into
from ferrule.io.safetensors_header import DTYPES, Tensor, read_header
from ferrule.io.safetensors_index import read_index
from ferrule.loading.device_lookup import handle_of
from ferrule.loading.devices import Device
from ferrule.text.near_names import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ferrule import _ferrule


class SafeTensors(Mapping[str, Array]):
    """The arrays of a safetensors file, or of several with an index, by name; made by `open_safetensors`.

    Attributes
    ----------
    path : pathlib.Path
        The file, or the index.
    tensors : dict of str to Tensor
        The dtype, shape and offsets of each array. Offsets are in the file that has the array.
    metadata : dict of str to str
        The metadata of the header; with an index, those of all headers and of the index.
    nbytes : int
        The size of the file in bytes; with an index, of all files that it names.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     fe.io.save_safetensors(path, {"w": np.float32([1, 2])})
    ...     arrays = fe.io.open_safetensors(path)
    ...     list(arrays), len(arrays), arrays["w"].shape
    (['w'], 1, (2,))
    """

    def __init__(self, path: str | os.PathLike[str], device: Device | str | None = None) -> None:
        self.path = Path(path)
        if self.path.suffix == ".json":
            self._read_files_of_index(device)
            return
        file = _File(self.path, device)
        self._files = dict.fromkeys(file.tensors, file)
        self.tensors, self.metadata, self.nbytes = file.tensors, file.metadata, file.size

    def _read_files_of_index(self, device: Device | str | None) -> None:
        index = read_index(self.path)
        opened = {path: _File(path, device) for path in dict.fromkeys(index.files.values())}
        self._files = {name: opened[path] for name, path in index.files.items()}
        for name, file in self._files.items():
            if name not in file.tensors:
                raise InvalidArgumentError(f"{self.path}: tensor {name!r} is said to be in {file.path}, which lacks it")
        self.tensors = {name: file.tensors[name] for name, file in self._files.items()}
        self.metadata = {}
        for file in opened.values():
            self.metadata.update(file.metadata)
        self.metadata.update(index.metadata)
        self.nbytes = sum(file.size for file in opened.values())

    def __getitem__(self, name: str) -> Array:
        file = self._files.get(name)
        if file is None:
            meant = did_you_mean(name, self.tensors)
            raise KeyError(f"{self.path} has no tensor {name!r}{meant or f'; it has {len(self)}: iterate over it'}")
        return file.array(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def __repr__(self) -> str:
        return f"SafeTensors({str(self.path)!r}, {len(self)} tensors, {self.nbytes} bytes)"


class _File:
    """One file. It is closed; only its mapping stays."""

    def __init__(self, path: Path, device: Device | str | None) -> None:
        self.path = path
        self._absolute = Path(os.path.abspath(path))  # the working directory may change
        self._device = handle_of(device)
        self._copies: dict[str, Array] = {}
        self._region: _ferrule.Array | None = None
        self._raw: NDArray[np.uint8] | None = None
        self._why_not_mapped = ""
        with open_regular(path) as file:
            self._identity = _identity(file)
            self.size = os.fstat(file.fileno()).st_size
            self.tensors, self.metadata = read_header(file, path, self.size)
            try:
                mapped = map_read_only(file.fileno(), self.size)
            except OSError as error:
                self._why_not_mapped = f"the file cannot be mapped ({error.strerror or error})"
                return
        self._region, self._raw = map_file(mapped, device)

    def array(self, name: str) -> Array:
        tensor = self.tensors[name]
        bits, dtype = DTYPES[tensor.dtype]
        self._refuse_unreadable(name, tensor, dtype)
        if name in self._copies:
            return self._copies[name]._another("open_safetensors")
        self._refuse_cut(name, tensor)
        is_aligned = tensor.begin % (bits // 8) == 0
        if self._region is not None and is_aligned:
            return Array._of(self._region.cut(tensor.begin, dtype, tensor.shape))
        if self._raw is None:
            raw, is_own = self._read(tensor), True
        else:
            raw, is_own = self._raw[tensor.begin : tensor.end], not is_aligned
            raw = raw.copy() if is_own else raw
        host = raw.view(as_dtype(dtype)).reshape(tensor.shape)
        why = self._why_not_mapped or None
        made = Array._of(from_host(host, self._device, None, "open_safetensors", owned=is_own, copied_because=why))
        if self._region is not None:
            return made
        return self._copies.setdefault(name, made)._another("open_safetensors")

    def _refuse_unreadable(self, name: str, tensor: Tensor, dtype: str) -> None:
        what = f"{self.path}: tensor {name!r}"
        if not dtype:
            raise UnsupportedError(f"{what} is {tensor.dtype}{tensor.shape}, and ferrule has no such dtype yet")
        check_ndim(what, len(tensor.shape))
        if math.prod(size or 1 for size in tensor.shape) * DTYPES[tensor.dtype][0] // 8 >= 1 << 63:
            raise InvalidArgumentError(f"{what} has shape {tensor.shape}, which is larger than memory can be")

    def _refuse_cut(self, name: str, tensor: Tensor) -> None:
        """Raise an error if the file was cut since it was opened: reading the mapping there would end the process."""
        try:
            now = os.stat(self._absolute)
        except OSError:
            return  # the mapping is of the file that had the name
        if (now.st_dev, now.st_ino) == self._identity and now.st_size < tensor.end:
            raise IoError(
                f"{self.path}: tensor {name!r} ends at byte {tensor.end}, but the file was cut from {self.size} to "
                f"{now.st_size} bytes since it was opened"
            )

    def _read(self, tensor: Tensor) -> NDArray[np.uint8]:
        raw = np.empty(tensor.end - tensor.begin, np.uint8)
        with open_regular(self._absolute) as file:
            if _identity(file) != self._identity:
                raise IoError(f"{self.path} was replaced since it was opened")
            read_into(file, self.path, tensor.begin, raw.data)
        return raw


def _identity(file: BinaryIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino


def open_safetensors(path: str | os.PathLike[str], device: Device | str | None = None) -> SafeTensors:
    """Open a safetensors file as a mapping from names to arrays.

    The device borrows the mapped file if its memory is the host's; the file must not be truncated as long as an array
    of it exists. A device with memory of its own, such as a discrete GPU, copies an array when it is first looked up;
    the mapping keeps the copy, and later lookups share it. So is each array read where the file system maps no files;
    `Array.placement` says so.

    Parameters
    ----------
    path : str or os.PathLike
        The file; or the index of a model in several files, such as `model.safetensors.index.json`, whose files are in
        the same folder.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    SafeTensors
        A mapping. Each lookup returns a new array: `f["w"][0] = 1` does not change later lookups. A lookup raises
        `UnsupportedError` for a dtype that ferrule lacks, and `IoError` if the file was cut since it was opened.

    Raises
    ------
    InvalidArgumentError
        The file violates the format.
    OSError
        The file cannot be read, or is no regular file but a FIFO, for example.

    See Also
    --------
    save_safetensors : The inverse.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     fe.io.save_safetensors(path, {"w": np.float32([1, 2])})
    ...     fe.io.open_safetensors(path)["w"].tolist()
    [1.0, 2.0]
    """
    return SafeTensors(path, device)

"""safetensors files as mappings from names to arrays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from ferrule.array.array import Array
from ferrule.errors import InvalidArgumentError, UnsupportedError
from ferrule.io.mapped_tensors import Place, TensorFile, TensorMapping
from ferrule.io.safetensors_header import DTYPES, read_header
from ferrule.io.safetensors_index import read_index
from ferrule.loading.devices import Device

__all__ = ["SafeTensors", "open_safetensors"]


class SafeTensors(TensorMapping):
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
        owners = {name: opened[path] for name, path in index.files.items()}
        for name, file in owners.items():
            if name not in file.tensors:
                raise InvalidArgumentError(f"{self.path}: tensor {name!r} is said to be in {file.path}, which lacks it")
        self._files = owners
        self.tensors = {name: file.tensors[name] for name, file in owners.items()}
        self.metadata = {}
        for file in opened.values():
            self.metadata.update(file.metadata)
        self.metadata.update(index.metadata)
        self.nbytes = sum(file.size for file in opened.values())


class _File(TensorFile):
    def __init__(self, path: Path, device: Device | str | None) -> None:
        super().__init__(path, device, "open_safetensors", self._read_header)

    def _read_header(self, file: BinaryIO, size: int) -> None:
        self.tensors, self.metadata = read_header(file, self.path, size)

    def tensor(self, name: str) -> Array:
        found = self.tensors[name]
        _, dtype = DTYPES[found.dtype]
        if not dtype:
            raise UnsupportedError(
                f"{self.path}: tensor {name!r} is {found.dtype}{found.shape}, and ferrule has no such dtype yet"
            )
        return self.array(name, Place(dtype, found.shape, found.begin, found.end))


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
        `UnsupportedError` for a dtype that ferrule lacks, and `IoError` if the file was written to since it was opened.

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

"""GGUF files, ggml's format for models, as mappings from names to arrays."""

from __future__ import annotations

import os
import re
import reprlib
from pathlib import Path
from typing import Any, BinaryIO

from ferrule.array.array import Array
from ferrule.errors import InvalidArgumentError, UnsupportedError
from ferrule.io.gguf_header import Header, Tensor, read_header
from ferrule.io.mapped_tensors import Place, TensorFile, TensorMapping
from ferrule.loading.devices import Device

__all__ = ["Gguf", "open_gguf"]

_SPLIT = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")


class Gguf(TensorMapping):
    """The arrays of a GGUF file, or of a model in several files, by name; made by `open_gguf`.

    Attributes
    ----------
    path : pathlib.Path
        The file; for a model in several files, the first one.
    metadata : dict of str to object
        The metadata as Python values: str, int, float, bool, and lists of them. A model in several files has the
        metadata of the first file, without the keys that begin with `split.`.
    tensors : dict of str to Tensor
        The type, shape and offsets of each array. Shapes are in row-major order. Offsets are in the file that has the
        array.
    version : int
        The version of the format, 2 or 3.
    nbytes : int
        The size in bytes of the file, or of all files.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.gguf")
    ...     fe.io.save_gguf(path, {"w": np.float32([1, 2])}, {"general.architecture": "mine"})
    ...     file = fe.io.open_gguf(path)
    ...     list(file), file.metadata["general.architecture"], file.version
    (['w'], 'mine', 3)
    """

    def __init__(self, path: str | os.PathLike[str], device: Device | str | None = None) -> None:
        self.path = Path(path)
        first = _File(self.path, device)
        self.version, self.metadata = first.header.version, first.header.metadata
        files = [first, *(_File(part, device) for part in _other_parts(self.path, self.metadata))]
        owners: dict[str, _File] = {}
        self.tensors: dict[str, Tensor] = {}
        for file in files:
            if twice := next((name for name in file.header.tensors if name in owners), None):
                raise InvalidArgumentError(f"{file.path}: tensor {twice!r} is in {owners[twice].path}, too")
            owners.update(dict.fromkeys(file.header.tensors, file))
            self.tensors.update(file.header.tensors)
        _check_parts(files)
        if len(files) > 1:  # the mapping is not split
            self.metadata = {key: value for key, value in self.metadata.items() if not key.startswith("split.")}
        self._files = owners
        self.nbytes = sum(file.size for file in files)


class _File(TensorFile):
    header: Header

    def __init__(self, path: Path, device: Device | str | None) -> None:
        super().__init__(path, device, "open_gguf", self._read_header)

    def _read_header(self, file: BinaryIO, size: int) -> None:
        self.header = read_header(file, self.path, size)

    def tensor(self, name: str) -> Array:
        found = self.header.tensors[name]
        if not found.type.dtype:
            raise UnsupportedError(
                f"{self.path}: tensor {name!r} is {found.type.name}{found.shape}, and ferrule has no such dtype yet"
            )
        return self.array(name, Place(found.type.dtype, found.shape, found.begin, found.end))


def _other_parts(path: Path, metadata: dict[str, Any]) -> list[Path]:
    """The other files of a model whose first file is `path`."""
    count = metadata.get("split.count", 0)
    if type(count) is not int or count <= 1:
        return []
    named = _SPLIT.search(path.name)
    if named is None or int(named[2]) != count:
        raise InvalidArgumentError(
            f"{path} is one of {count} files of a model, which have names such as model-00001-of-{count:05}.gguf"
        )
    if int(named[1]) != 1:
        first = path.name[: named.start()] + f"-00001-of-{count:05}.gguf"
        raise InvalidArgumentError(f"{path} is a later part of a model: open the first, {first}")
    parts = [path.with_name(path.name[: named.start()] + f"-{k:05}-of-{count:05}.gguf") for k in range(2, count + 1)]
    if missing := next((part for part in parts if not part.exists()), None):
        raise InvalidArgumentError(f"{path} is one of {count} files of a model, and {missing} is not there")
    return parts


def _check_parts(files: list[_File]) -> None:
    """Hold the parts of a model against the number of each, and against the number of tensors that the first tells."""
    if len(files) == 1:
        return
    for number, file in enumerate(files):
        part, parts = (file.header.metadata.get(key) for key in ("split.no", "split.count"))
        if (part, parts) != (number, len(files)):
            raise InvalidArgumentError(
                f"{file.path} says that it is part {reprlib.repr(part)}, counted from 0, of {reprlib.repr(parts)}, "
                f"not {number} of {len(files)}"
            )
    found = sum(len(file.header.tensors) for file in files)
    count = files[0].header.metadata.get("split.tensors.count", found)
    if count != found:
        raise InvalidArgumentError(
            f"{files[0].path} and its other parts have {found} tensors, not {reprlib.repr(count)}"
        )


def open_gguf(path: str | os.PathLike[str], device: Device | str | None = None) -> Gguf:
    """Open a GGUF file, ggml's format for models, as a mapping from names to arrays.

    The device borrows the mapped file if its memory is the host's; the file must not be truncated as long as an array
    of it exists. A device with memory of its own, such as a discrete GPU, copies an array when it is first looked up;
    the mapping keeps the copy, and later lookups share it. So is each array read where the file system maps no files.

    Parameters
    ----------
    path : str or os.PathLike
        The file; for a model in several files the first one, such as `model-00001-of-00003.gguf`. The others are beside
        it.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Gguf
        A mapping with `metadata`. Each lookup returns a new array: `f["w"][0] = 1` does not change later lookups. A
        lookup raises `UnsupportedError` for a type that ferrule lacks, and `IoError` if the file was written to since
        it was opened.

    Raises
    ------
    InvalidArgumentError
        The file violates the format, or a part of the model is missing.
    OSError
        The file cannot be read, or is no regular file but a FIFO, for example.

    See Also
    --------
    save_gguf : The inverse.

    Notes
    -----
    The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.gguf")
    ...     fe.io.save_gguf(path, {"w": fe.ones((2, 64)).astype(fe.q8_0)})
    ...     w = fe.io.open_gguf(path)["w"]
    ...     w.shape, w.dtype
    ((2, 64), ferrule.q8_0)
    """
    return Gguf(path, device)

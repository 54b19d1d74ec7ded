"""Tensors in a file: one read-only mapping, which the device borrows once, and arrays that are views of it.

A device with memory of its own copies each array when it is first looked up. Where the file system maps no files,
arrays are read.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, NoReturn

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.array.host_memory import check_ndim, enough_memory, from_host
from ferrule.array.mapped_files import drop_pages, map_read_only
from ferrule.dtypes.blocks import BlockDType
from ferrule.dtypes.classification import as_dtype
from ferrule.errors import InvalidArgumentError, IoError
from ferrule.io.host_buffers import map_file
from ferrule.io.regular_files import open_regular, read_into
from ferrule.loading.device_lookup import handle_of
from ferrule.loading.devices import Device
from ferrule.text.near_names import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ferrule.array.mapped_files import FileMapping


class Place(NamedTuple):
    """A dtype of ferrule, a shape, and offsets in the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class TensorFile(ABC):
    """One file. It is closed; only its mapping stays.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    device : Device or str, optional
        The device; by default the default device.
    caller : str
        The public function, for messages.
    read_header : callable
        `read_header(file, size)` reads and checks the open file before it is mapped.
    """

    def __init__(
        self,
        path: Path,
        device: Device | str | None,
        caller: str,
        read_header: Callable[[BinaryIO, int], None],
    ) -> None:
        self.path = path
        self._caller = caller
        self._absolute = Path(os.path.abspath(path))  # the working directory may change
        self._device = handle_of(device)
        self._copies: dict[str, Array] = {}
        self._mapped: FileMapping | None = None
        self._region: _ferrule.Array | None = None
        self._raw: NDArray[np.uint8] | None = None
        self._why_not_mapped = ""
        with open_regular(path) as file:
            self._identity = _identity(file)
            status = os.fstat(file.fileno())
            self.size, self._changed_at = status.st_size, status.st_mtime_ns
            read_header(file, self.size)
            try:
                self._mapped = map_read_only(file.fileno(), self.size)
            except OSError as error:
                self._why_not_mapped = f"the file cannot be mapped ({error.strerror or error})"
                return
        self._region, self._raw = map_file(self._mapped, Device(self._device))

    @abstractmethod
    def tensor(self, name: str) -> Array:
        """Return the tensor `name` as a new array."""

    def array(self, name: str, place: Place) -> Array:
        """Return the tensor at a place of the file as a new array."""
        dtype = as_dtype(place.dtype)
        self._refuse_unreadable(name, place, dtype)
        if name in self._copies:
            return self._copies[name]._another(self._caller)
        self._refuse_changed(name, place)
        is_aligned = place.begin % (2 if isinstance(dtype, BlockDType) else dtype.itemsize) == 0  # scales are halves
        if self._region is not None and is_aligned:
            return Array._of(self._region.cut(place.begin, place.dtype, place.shape))
        if self._raw is None:
            raw, is_own = self._read(name, place), True
        else:
            raw, is_own = self._raw[place.begin : place.end], not is_aligned
            raw = raw.copy() if is_own else raw
        made = Array._of(self._of_bytes(raw, dtype, place.shape, is_own))
        if self._mapped is not None:
            drop_pages(self._mapped, place.begin, place.end)
        if self._region is not None:
            return made
        return self._copies.setdefault(name, made)._another(self._caller)

    def _of_bytes(
        self, raw: NDArray[np.uint8], dtype: np.dtype[np.generic] | BlockDType, shape: tuple[int, ...], is_own: bool
    ) -> _ferrule.Array:
        why = self._why_not_mapped or None
        if isinstance(dtype, BlockDType):
            packed = raw.reshape(*shape[:-1], dtype.bytes_of(shape[-1]))
            return _ferrule.from_packed(self._device, packed, dtype, False, 2)
        host = raw.view(dtype).reshape(shape)
        return from_host(host, self._device, None, self._caller, owned=is_own, copied_because=why)

    def _refuse_unreadable(self, name: str, place: Place, dtype: np.dtype[np.generic] | BlockDType) -> None:
        what = f"{self.path}: tensor {name!r}"
        check_ndim(what, len(place.shape))
        if isinstance(dtype, BlockDType):
            lengths = (*place.shape[:-1], place.shape[-1] // dtype.block_elements)
            unit = dtype.block_bytes
        else:
            lengths, unit = place.shape, dtype.itemsize
        size = math.prod(length or 1 for length in lengths) * unit
        if size >= 1 << 63:
            raise InvalidArgumentError(f"{what} has shape {place.shape}, which is larger than memory can be")

    def _refuse_changed(self, name: str, place: Place) -> None:
        """Raise an error if the file was changed since it was opened: reading what was cut would end the process."""
        try:
            now = os.stat(self._absolute)
        except OSError:
            return  # the mapping is of the file that had the name
        if (now.st_dev, now.st_ino) != self._identity:
            return
        if now.st_size < place.end:
            raise IoError(
                f"{self.path}: tensor {name!r} ends at byte {place.end}, but the file was cut from {self.size} to "
                f"{now.st_size} bytes since it was opened"
            )
        if now.st_mtime_ns != self._changed_at:
            raise IoError(f"{self.path}: tensor {name!r} is read from a file that was written to since it was opened")

    def _read(self, name: str, place: Place) -> NDArray[np.uint8]:
        with enough_memory(f"{self.path}: tensor {name!r}"):
            raw = np.empty(place.end - place.begin, np.uint8)
        with open_regular(self._absolute) as file:
            if _identity(file) != self._identity:
                raise IoError(f"{self.path} was replaced since it was opened")
            read_into(file, self.path, place.begin, raw.data)
        return raw


class TensorMapping(Mapping[str, Array]):
    """Arrays by name, which are in one or several files. Subclasses set the attributes."""

    path: Path
    tensors: dict[str, Any]
    nbytes: int
    _files: Mapping[str, TensorFile]

    def __getitem__(self, name: str) -> Array:
        file = self._files.get(name)
        if file is None:
            meant = did_you_mean(name, self.tensors)
            raise KeyError(f"{self.path} has no tensor {name!r}{meant or f'; it has {len(self)}: iterate over it'}")
        return file.tensor(name)

    def __contains__(self, name: object) -> bool:
        return name in self.tensors  # no array is made

    def get(self, name: str, default: Any = None) -> Any:
        """Return the array of a name, or `default` if there is none.

        Parameters
        ----------
        name : str
            The name.
        default : object, optional
            Returned for a name that the file lacks.

        Returns
        -------
        Array or object
            A new array, or `default`.

        Raises
        ------
        IoError
            The file was written to, cut or replaced since it was opened.
        UnsupportedError
            The tensor has a type that ferrule lacks.

        Examples
        --------
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "model.gguf")
        ...     fe.io.save_gguf(path, {"w": np.float32([1, 2])})
        ...     file = fe.io.open_gguf(path)
        ...     file.get("w").tolist(), file.get("b") is None
        ([1.0, 2.0], True)
        """
        if name not in self.tensors:
            return default
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__}({str(self.path)!r}) has a mapped file, which cannot be pickled or copied: open the "
            "file where it is needed, or pickle dict(file), which has the arrays"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r}, {len(self)} tensors, {self.nbytes} bytes)"


def _identity(file: BinaryIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino

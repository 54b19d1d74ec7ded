"""Memory in mapped files, and of `host_empty`: what whole pages of it may be borrowed."""

from __future__ import annotations

import mmap
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule import _ferrule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FileMapping = mmap.mmap | _ferrule.MappedFile

_FILE_MAPPINGS = (mmap.mmap,) if sys.platform == "win32" else (mmap.mmap, _ferrule.MappedFile)


def map_read_only(descriptor: int, size: int) -> FileMapping:
    """Map a whole file. The mapping holds no descriptor, of which a process may have few, except on Windows."""
    if sys.platform == "win32":
        return mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
    return _ferrule.map_file(descriptor, size)


def drop_pages(file: FileMapping, begin: int, end: int) -> None:
    """Give back the memory of bytes that were copied. They are read from the file again when they are needed."""
    if sys.platform != "win32" and isinstance(file, _ferrule.MappedFile):
        _ferrule.drop_pages(file, begin, end)


def mapping_of(source: NDArray[Any]) -> tuple[int, int]:
    """Return the address and size of the mapped file, or of the memory of a capsule, that contains the memory.

    They are zeros for other memory. A mapping consists of whole pages; the bytes after the end of the file are zeros.
    `host_empty` makes its arrays of memory of a capsule that has all pages around them.
    """
    root = source
    while isinstance(root.base, np.ndarray):
        root = root.base
    owner: Any = root.base
    if type(owner).__name__ == "PyCapsule" and root.flags.c_contiguous:
        return root.ctypes.data, root.nbytes
    if isinstance(owner, memoryview):
        owner = owner.obj
    if not isinstance(owner, _FILE_MAPPINGS):
        return 0, 0
    whole = np.frombuffer(memoryview(owner), dtype=np.uint8)
    return whole.ctypes.data, whole_pages(whole.nbytes)


def whole_pages(size: int) -> int:
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE

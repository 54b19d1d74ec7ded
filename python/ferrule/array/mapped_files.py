"""Memory in mapped files, and of `host_empty`: what whole pages of it may be borrowed."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    if not isinstance(owner, mmap.mmap):
        return 0, 0
    return np.frombuffer(owner, dtype=np.uint8).ctypes.data, whole_pages(len(owner))


def whole_pages(size: int) -> int:
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE

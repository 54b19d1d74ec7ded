"""Memory in mapped files."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mapping_of(source: NDArray[Any]) -> tuple[int, int]:
    """Return the address and size of the mapped file that contains the memory, or zeros for other memory.

    A mapping consists of whole pages; the bytes after the end of the file are zeros.
    """
    owner: Any = source
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, memoryview):
        owner = owner.obj
    if not isinstance(owner, mmap.mmap):
        return 0, 0
    return np.frombuffer(owner, dtype=np.uint8).ctypes.data, whole_pages(len(owner))


def whole_pages(size: int) -> int:
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE

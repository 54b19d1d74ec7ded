"""Memory next to an inaccessible page: an access one byte beyond it is a segmentation fault."""

from __future__ import annotations

import ctypes
import mmap
import os

import numpy as np

from ferrule.testing.model.dtypes import Values


def fenced(values: Values, at_end: bool = True) -> Values | None:
    """A C-contiguous copy of the values, with the inaccessible page after or before it; None on systems without
    mprotect."""
    if os.name != "posix":
        return None
    page = mmap.PAGESIZE
    length = -(-max(values.nbytes, 1) // page) * page
    region = mmap.mmap(-1, length + 2 * page)
    whole = np.frombuffer(region, np.uint8)
    library = ctypes.CDLL(None, use_errno=True)
    for start in (0, length + page):
        address = ctypes.c_void_p(whole.ctypes.data + start)
        if library.mprotect(address, ctypes.c_size_t(page), ctypes.c_int(0)) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
    first = page + (length - values.nbytes if at_end else 0)
    inside = whole[first : first + values.nbytes].view(values.dtype).reshape(values.shape)
    inside[...] = values
    return inside

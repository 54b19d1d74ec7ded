"""Opens the libferrule of this package before the extension needs one."""

from __future__ import annotations

import ctypes
import os
import sys


def open_library(package: str) -> None:
    """Open the libferrule in the folder of the package; the extension then takes that one.

    Linux would look for it in the folders of LD_LIBRARY_PATH, and then in the run path of the extension, which tools
    such as patchelf change.
    """
    library = os.path.join(package, "libferrule.so")
    if sys.platform == "linux" and os.path.isfile(library):
        ctypes.CDLL(library)

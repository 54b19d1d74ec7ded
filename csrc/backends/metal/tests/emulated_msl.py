"""Runs kernels in MSL on NumPy arrays: tests/emulation/metal/run_library, the emulator as a shared library."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from backend_processes import tested_module
from numpy.typing import NDArray

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
BUFFERS = 31
ERROR_BYTES = 1 << 16


class EmulatedMsl:
    """The emulator. Kernels write into the arrays that are bound."""

    def __init__(self, library: Path) -> None:
        self._run = ctypes.CDLL(str(library)).emulated_msl_run

    def run(
        self,
        text: str,
        function: str,
        buffers: Mapping[int, NDArray[Any]],
        groups: int | tuple[int, int, int],
        threads: int,
    ) -> None:
        """Run a kernel on a grid of threadgroups.

        Parameters
        ----------
        text : str
            The library's text, compiled with fast math disabled. It is compiled once.
        function : str
            The kernel's name.
        buffers : mapping of int to numpy.ndarray
            The contiguous array that is bound as each `[[buffer(index)]]`.
        groups : int or tuple of int
            The number of threadgroups, along x or along x, y and z.
        threads : int
            The number of threads of each threadgroup.

        Raises
        ------
        RuntimeError
            The text cannot be compiled, or the kernel has a fault.
        """
        addresses = (ctypes.c_void_p * BUFFERS)()
        sizes = (ctypes.c_size_t * BUFFERS)()
        for index, array in buffers.items():
            assert array.flags.c_contiguous
            addresses[index], sizes[index] = array.ctypes.data, array.nbytes
        error = ctypes.create_string_buffer(ERROR_BYTES)
        grid = (ctypes.c_uint32 * 3)(*(groups if isinstance(groups, tuple) else (groups, 1, 1)))
        words = (text.encode(), function.encode(), addresses, sizes, grid, threads, error)
        if self._run(*words, ctypes.c_size_t(ERROR_BYTES)) != 0:
            raise RuntimeError(error.value.decode())


@cache
def emulator() -> EmulatedMsl:
    """The emulator that was built with the tested module. The test is skipped if there is none."""
    built = tested_module("libferrule-metal-emulated.so").parents[4]
    library = built / "tests" / "emulation" / "metal" / "run_library" / "libemulated-msl.so"
    if not library.exists():
        pytest.skip("needs the target emulated-msl")
    return EmulatedMsl(library)


def with_includes(text: str, seen: set[str] | None = None) -> str:
    """The text with the files of kernels/ that it includes, each once."""
    included = set() if seen is None else seen

    def file(found: re.Match[str]) -> str:
        if found[1] in included:
            return ""
        included.add(found[1])
        return with_includes((KERNELS / found[1]).read_text().replace("#pragma once\n", ""), included)

    return re.sub(r'#include "(.+)"\n', file, text)

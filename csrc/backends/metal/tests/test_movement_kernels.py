"""Movement at sizes that the kit does not reach."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from csrc.backends.metal.tests.emulated_msl import emulator, with_includes

THREADS = 64
PARAMETERS = 30  # the buffer
LAYOUT = np.dtype({"names": ["rank", "shape", "strides"], "formats": ["u4", "8i8", "8i8"], "offsets": [0, 8, 72]})


def test_threads_are_numbered_along_all_axes_of_a_grid() -> None:
    """The host uses the second axis from 2^31 threads on, and the third one from still more."""
    x = np.random.default_rng(7).integers(0, 1 << 32, (4, 3, 2, THREADS), np.uint32)
    y = np.zeros_like(x)
    p = np.zeros(1, np.dtype([("source", LAYOUT), ("to", LAYOUT), ("count", "i8")], align=True))
    for name in ("source", "to"):
        p[name]["rank"], p[name]["shape"][0, 0], p[name]["strides"][0, 0] = 1, x.size, 1
    p["count"] = x.size
    text = with_includes('#include <metal_stdlib>\ntypedef uint Item;\n#include "movement/copy.metal"\n')
    emulator().run(text, "copy_items", {0: x, 1: y, PARAMETERS: p}, (2, 3, 4), THREADS)
    assert (y == x).all()


def test_elements_may_be_further_apart_than_32_bits_can_tell(run: Callable[..., str]) -> None:
    program = """
import mmap, tempfile
with tempfile.TemporaryFile() as file:  # without blocks on disk but those that are written
    file.truncate(1 << 32)
    x = np.frombuffer(mmap.mmap(file.fileno(), 1 << 32), np.uint8)
x[:: 1 << 30] = 1, 2, 3, 4
y = fe.buffer_from_host_ptr(x, device="metal:0", copy=False)
print(np.asarray(y[:: 1 << 30] + y[0]), np.asarray(fe.astype(y[3 << 30 :: -(1 << 30)], "int32")))
print(np.asarray(fe.sum(fe.reshape(y, (2, 2, 1 << 30))[:, :, 0], axis=0)))
"""
    assert run(program, FERRULE_EMULATION_METAL_MEMORY=str(1 << 34)) == "[2 3 4 5] [4 3 2 1]\n[4 6]\n"

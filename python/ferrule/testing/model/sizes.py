"""Sizes at which loops over vectors and blocks go wrong: around multiples of the vector and block sizes."""

from __future__ import annotations

from collections.abc import Sequence

from ferrule.testing.model.dtypes import numpy_dtype

VECTOR_BYTES = 64  # the widest common vector register; the sizes of narrower ones divide it
# A common block depth of matrix products, and powers of two: sizes of caches and pages, the range of 16 bits.
BLOCKS = (384, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536)
LONGEST = BLOCKS[-1] + 1


def around_vectors(dtypes: Sequence[str]) -> list[int]:
    """All sizes from 1 to two vectors and one element of the narrowest dtype, and those around powers of two to 256."""
    narrowest = min((numpy_dtype(d).itemsize for d in dtypes), default=1)
    most = 2 * VECTOR_BYTES // narrowest + 1
    powers = [size for size in (32, 64, 128, 256) if size > most]
    return [*range(1, most + 1), *(size + by for size in powers for by in (-1, 0, 1) if size + by > most)]


def around_blocks() -> list[int]:
    return [size + by for size in BLOCKS for by in (-1, 0, 1)]


def above_blocks() -> list[int]:
    return [size + 1 for size in BLOCKS]

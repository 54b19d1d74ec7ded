"""The sizes of the cases: full ones for a large GPU, smaller ones for less memory or for a simulated device."""

from __future__ import annotations

from dataclasses import dataclass

HEAD = 128  # of attention


@dataclass(frozen=True)
class Sizes:
    """`memory` is what the cases of this scale need in all contenders together, in bytes."""

    name: str
    memory: int
    elements: int  # of an elementwise array
    rows: tuple[int, int]  # rows and their length
    square: int  # a transposed matrix
    matrices: tuple[int, int]  # products: a usual size, and the one that measures the peak
    weights: tuple[int, int]  # outputs and inputs of a product with few rows
    many: int  # rows of a product with weights in blocks
    heads: int
    queries: tuple[int, int]
    keys: int  # of a decoder's cache
    operands: int  # bytes of the operands that small kernels read in turn, so that no cache holds them
    chained: int  # ops in a row
    copied: int  # bytes of a transfer


SCALES = {
    "full": Sizes(
        name="full",
        memory=24 * 10**9,
        elements=2**28,
        rows=(65536, 4096),
        square=16384,
        matrices=(4096, 8192),
        weights=(4096, 14336),
        many=512,
        heads=32,
        queries=(512, 4096),
        keys=16384,
        operands=2**29,
        chained=200,
        copied=2**30,
    ),
    "medium": Sizes(
        name="medium",
        memory=4 * 10**9,
        elements=2**25,
        rows=(8192, 4096),
        square=6144,
        matrices=(2048, 4096),
        weights=(4096, 14336),
        many=512,
        heads=32,
        queries=(512, 2048),
        keys=4096,
        operands=2**28,
        chained=200,
        copied=2**27,
    ),
    "small": Sizes(
        name="small",
        memory=2 * 10**8,
        elements=2**14,
        rows=(16, 1024),
        square=96,
        matrices=(64, 96),
        weights=(64, 512),
        many=24,
        heads=2,
        queries=(16, 48),
        keys=128,
        operands=2**17,
        chained=20,
        copied=2**16,
    ),
}


def fitting(memory: int, is_simulated: bool) -> Sizes:
    """The largest scale that fits into a device of so many bytes (0: unknown); the smallest one if it is simulated."""
    if is_simulated:
        return SCALES["small"]
    return next((sizes for sizes in SCALES.values() if sizes.memory <= (memory or sizes.memory)), SCALES["small"])

"""Theoretical occupancy of a kernel: the part of a multiprocessor's warps that it can keep resident.

The limits are those of the table of compute capabilities in the CUDA programming guide, the rules those of
cuda_occupancy.h of the toolkit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

WARP = 32  # threads
REGISTERS = 65536  # of a multiprocessor
PARTITIONS = 4  # of a multiprocessor, each with its own warps and registers
REGISTER_UNIT = 256  # registers of a warp are allocated in multiples


@dataclass(frozen=True)
class Limits:
    """Of one multiprocessor."""

    threads: int
    blocks: int
    shared_bytes: int
    shared_unit: int  # shared memory of a block is allocated in multiples
    reserved_bytes: int  # shared memory that the driver takes of each block


LIMITS = {
    "sm_75": Limits(1024, 16, 64 << 10, 256, 0),
    "sm_80": Limits(2048, 32, 164 << 10, 128, 1024),
    "sm_86": Limits(1536, 16, 100 << 10, 128, 1024),
    "sm_89": Limits(1536, 24, 100 << 10, 128, 1024),
    "sm_90a": Limits(2048, 32, 228 << 10, 128, 1024),
    "sm_100": Limits(2048, 32, 228 << 10, 128, 1024),
    "sm_120": Limits(1536, 24, 100 << 10, 128, 1024),
}


def round_up(value: int, unit: int) -> int:
    return math.ceil(value / unit) * unit


def resident_blocks(architecture: str, threads: int, registers: int, shared_bytes: int) -> int:
    """How many blocks of so many threads fit on a multiprocessor at once."""
    limits = LIMITS[architecture]
    warps = math.ceil(threads / WARP)
    blocks = min(limits.blocks, limits.threads // WARP // warps)
    if registers:
        of_warp = round_up(registers * WARP, REGISTER_UNIT)
        if of_warp * round_up(warps, PARTITIONS) > REGISTERS:  # a launch takes the registers of all partitions
            return 0
        blocks = min(blocks, REGISTERS // PARTITIONS // of_warp * PARTITIONS // warps)
    of_block = round_up(shared_bytes + limits.reserved_bytes, limits.shared_unit)
    return min(blocks, limits.shared_bytes // of_block) if of_block else blocks


def occupancy(architecture: str, threads: int, registers: int, shared_bytes: int) -> float:
    """Resident warps as a part of the greatest number, from 0 (it cannot start) to 1."""
    blocks = resident_blocks(architecture, threads, registers, shared_bytes)
    return blocks * math.ceil(threads / WARP) / (LIMITS[architecture].threads // WARP)

"""The version of a module's binary interface: `fe_abi` of ferrule/abi.h, and the rules of docs/develop/abi.md.

The loader has its own implementation in C++; this one is for tools that read files without loading them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

MAGIC = 0x00656C7572726566
MOST_HASHES = 64
_PREFIX = struct.Struct("<QIIII")  # magic, struct_size, major, minor, hash_count
LARGEST = _PREFIX.size + 8 * MOST_HASHES  # bytes; readers do not read more


@dataclass(frozen=True)
class AbiVersion:
    """Major, minor, and a cumulative layout hash for each minor: oldest first, the last is that of `minor`."""

    major: int
    minor: int
    layout_hashes: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    def layout_hash_of(self, minor: int) -> int | None:
        """Return the layout hash of a minor; None if the minor is newer, or so old that its hash is not kept."""
        age = self.minor - minor
        return self.layout_hashes[-1 - age] if 0 <= age < len(self.layout_hashes) else None


def parse(data: bytes) -> AbiVersion:
    """Parse the bytes of a `ferrule_backend_abi`.

    Raises ValueError with the reason, worded as a part of a sentence about it.
    """
    if len(data) < _PREFIX.size:
        raise ValueError(f"ends after {len(data)} bytes, and has at least {_PREFIX.size}")
    magic, struct_size, major, minor, count = _PREFIX.unpack_from(data)
    if magic != MAGIC:
        raise ValueError(f"begins with {magic:#x}, not with the magic {MAGIC:#x}")
    if not 1 <= count <= min(MOST_HASHES, minor + 1):
        raise ValueError(f"lists {count} layout hashes, and must list 1 to {min(MOST_HASHES, minor + 1)}")
    needed = _PREFIX.size + 8 * count
    if struct_size < needed:
        raise ValueError(f"has a struct_size of {struct_size}, and with {count} layout hashes it takes {needed} bytes")
    if len(data) < needed:
        raise ValueError(f"ends after {len(data)} bytes, and with {count} layout hashes it takes {needed}")
    return AbiVersion(major, minor, struct.unpack_from(f"<{count}Q", data, _PREFIX.size))


def complaint(module: AbiVersion, core: AbiVersion) -> str:
    """Return why a core of that version refuses the module, worded as a part of a sentence; "" if it accepts it."""
    if module.major != core.major:
        return f"its ABI is {module}, this core's is {core}"
    if core.major == 0:  # no compatibility is promised before 1.0
        if module.layout_hashes[-1] == core.layout_hashes[-1]:
            return ""
        return f"its layout hash is {module.layout_hashes[-1]:#018x}, this core's is {core.layout_hashes[-1]:#018x}"
    common = min(module.minor, core.minor)
    theirs, ours = module.layout_hash_of(common), core.layout_hash_of(common)
    if theirs is None or ours is None:
        return f"its ABI is {module}, this core's is {core}, and one of them no longer supports {core.major}.{common}"
    if theirs != ours:
        return f"its layout hash of {core.major}.{common} is {theirs:#018x}, this core's is {ours:#018x}"
    return ""

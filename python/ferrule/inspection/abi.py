"""`ferrule_backend_abi`, the constant by which a loader knows a module, as its bytes stand in a file."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ABI_SYMBOL = "ferrule_backend_abi"
REQUIRED = ("ferrule_backend_abi", "ferrule_backend_init")
OPTIONAL = ("ferrule_backend_score",)
LAYOUT = struct.Struct("<QIIIIQ")  # fe_abi: magic, struct_size, major, minor, reserved, layout_hash


@dataclass(frozen=True)
class Abi:
    """`fe_abi`."""

    magic: int
    struct_size: int
    major: int
    minor: int
    layout_hash: int

    @property
    def text(self) -> str:
        return f"{self.major}.{self.minor}, layout hash {self.layout_hash:#018x}"


def abi_from(data: bytes) -> Abi | None:
    """None when there are too few bytes for one."""
    if len(data) < LAYOUT.size:
        return None
    magic, struct_size, major, minor, _, layout_hash = LAYOUT.unpack_from(data)
    return Abi(magic, struct_size, major, minor, layout_hash)


def problems_of(abi: Abi) -> list[str]:
    """What no module of any version has."""
    if abi.magic != core_abi().magic:
        return [f"{ABI_SYMBOL} begins with {abi.magic:#018x}, and not with the magic {core_abi().magic:#018x}"]
    if abi.struct_size < LAYOUT.size:
        return [f"{ABI_SYMBOL} says that it has {abi.struct_size} bytes, and the smallest has {LAYOUT.size}"]
    return []


@cache
def core_abi() -> Abi:
    """This core's, as the headers that came with it say."""
    from ferrule import _ferrule

    folder = Path(_ferrule.__file__ or "").parent / "include" / "ferrule"

    def constant(header: str, name: str) -> int:
        text = (folder / header).read_text(encoding="utf-8")
        match = re.search(rf"#define {name} (?:UINT64_C\()?(0x[0-9a-f]+|\d+)", text)
        if match is None:
            raise LookupError(f"{folder / header} does not define {name}")
        return int(match.group(1), 0)

    return Abi(
        constant("abi.h", "FE_ABI_MAGIC"),
        LAYOUT.size,
        constant("abi.h", "FE_ABI_MAJOR"),
        constant("abi.h", "FE_ABI_MINOR"),
        constant("layout_hash.h", "FE_LAYOUT_HASH"),
    )

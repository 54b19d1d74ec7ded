"""The hand-kept part of docs/kernels.md: for each file of kernels its work, and the instructions that prove it."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

TABLE = Path(__file__).with_name("kernel_families.toml")

# What a kernel can be required to have: a name, and the machine instructions that are it. LD and ST, without G, are
# accesses to memory of which the compiler does not know that it is global.
PATHS = {
    "16-byte loads": re.compile(r"(LDG?|LDGSTS)\.(\w+\.)*(128|256)\b|UBLKCP|UTMALDG"),
    "16-byte stores": re.compile(r"STG?\.(\w+\.)*(128|256)\b|UTMASTG"),
    "cp.async": re.compile(r"LDGSTS\b"),
    "TMA": re.compile(r"UTMALDG|UBLKCP"),
    "ldmatrix": re.compile(r"LDSM\b"),
    "mma": re.compile(r"[HID]MMA\b"),
    "mma.tf32": re.compile(r"HMMA\.1688\.F32\.TF32\b"),
    "wgmma": re.compile(r"[HI]GMMA\b"),
}


@dataclass
class Family:
    """The kernels of one file. `bytes` and `flops` are formulas of one call."""

    bytes: str
    flops: str
    limit: str  # what bounds the time: "bytes", "flops", "latency"
    paths: list[str] = field(default_factory=list)  # of PATHS, that each kernel has on sm_90a
    without: dict[str, dict[str, str]] = field(default_factory=dict)  # path: pattern of kernels that lack it: why

    def missing(self, kernel: str, instructions: Counter[str]) -> list[str]:
        """The paths that a kernel should have and has not."""
        return [
            path
            for path in self.paths
            if not any(fnmatchcase(kernel, pattern) for pattern in self.without.get(path, {}))
            and not any(PATHS[path].match(name) for name in instructions)
        ]


def families() -> dict[str, Family]:
    """By the name of the file, without .cu."""
    return {stem: Family(**row) for stem, row in tomllib.loads(TABLE.read_text(encoding="utf-8")).items()}

"""Describes the machine and the software that a result was measured with."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

# The CPU flags that decide which kernels run.
TELLING_FLAGS = ("sse4_2", "avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "asimd", "sve2")


def describe_machine() -> dict[str, object]:
    """Processor, caches, memory, system, and the load at the start."""
    return {
        "processor": _from_cpuinfo("model name") or platform.processor(),
        "flags": [flag for flag in TELLING_FLAGS if flag in (_from_cpuinfo("flags") or "").split()],
        "usable_cores": usable_cores(),
        "caches": _caches(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "load_average": os.getloadavg()[0],
    }


def usable_cores() -> int:
    """The number of cores that this process may use, which a container can limit."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _from_cpuinfo(key: str) -> str | None:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    return None


def _caches() -> dict[str, str]:
    """Size by level and kind, of the first core."""
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        found[f"L{level} {kind.lower()}"] = size
    return found

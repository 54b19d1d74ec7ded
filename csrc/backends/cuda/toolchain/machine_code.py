"""The contents of a fat binary, by cuobjdump: launch bounds and machine instructions of the kernels."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+ |@!?U?PT )?\s*([A-Z][A-Za-z0-9_.]*)")


@cache
def folders() -> list[Path]:
    """The folders with NVIDIA's programs: that of the PyPI packages, and those of PATH."""
    package = importlib.util.find_spec("nvidia.cu13") if importlib.util.find_spec("nvidia") else None
    found = [Path(path) / "bin" for path in (package.submodule_search_locations or [])] if package else []
    return found + [Path(path) for path in os.environ.get("PATH", "").split(os.pathsep)]


@cache
def is_readable() -> bool:
    """Whether cuobjdump and nvdisasm are there."""
    path = os.pathsep.join(map(str, folders()))
    return all(shutil.which(program, path=path) for program in ("cuobjdump", "nvdisasm"))


def cuobjdump(*arguments: str | Path) -> str:
    # It looks for nvdisasm in PATH.
    environment = {**os.environ, "PATH": os.pathsep.join(map(str, folders()))}
    program = shutil.which("cuobjdump", path=environment["PATH"]) or "cuobjdump"
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def with_block_size(fat_binary: Path) -> set[str]:
    """The kernels whose PTX states the greatest number of threads in a block."""
    return set(re.findall(r"\.entry (\w+)\([^{]*?\.maxntid ", cuobjdump("-ptx", fat_binary)))


def instructions_in(text: str) -> dict[tuple[str, str], Counter[str]]:
    """Count each instruction of each kernel (name, architecture) in the output of cuobjdump -sass."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    architecture, current = "", Counter[str]()
    for line in text.splitlines():
        if found := re.match(r"\s*code for (sm_\w+)", line):
            architecture = found[1]
        elif found := re.match(r"\s*Function : (\w+)", line):
            current = counts.setdefault((found[1], architecture), Counter())
        elif found := INSTRUCTION.search(line):
            current[found[1]] += 1
    return counts


def instructions(fat_binary: Path) -> dict[tuple[str, str], Counter[str]]:
    return instructions_in(cuobjdump("-sass", fat_binary))

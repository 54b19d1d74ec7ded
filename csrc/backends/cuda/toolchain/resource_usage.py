"""Spilled registers of kernels, as ptxas states them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Kernel:
    """The resources of one kernel on one architecture, as ptxas prints them."""

    file: str
    name: str
    architecture: str  # "sm_80"
    spill_stores: int = 0  # bytes, of the functions that it calls, too
    spill_loads: int = 0
    complaints: list[str] = field(default_factory=list)  # "Potential Performance Loss: ..."


def number(pattern: str, line: str) -> int:
    found = re.search(pattern, line)
    return int(found[1]) if found else 0


def kernels_in(text: str, file: str) -> list[Kernel]:
    """The kernels in the output of `nvcc --resource-usage`."""
    kernels: list[Kernel] = []
    loss: list[tuple[str, str]] = []
    for line in text.splitlines():
        if found := re.search(r"Compiling entry function '(\w+)' for '(\w+)'", line):
            kernels.append(Kernel(file, found[1], found[2]))
        elif "Potential Performance Loss" in line:
            loss.append((line.partition(") ")[2] or line, kernels[-1].architecture if kernels else ""))
        elif kernels and "bytes stack frame" in line:
            kernels[-1].spill_stores += number(r"(\d+) bytes spill stores", line)
            kernels[-1].spill_loads += number(r"(\d+) bytes spill loads", line)
    # The line names its kernel, which may be compiled before or after it.
    for sentence, architecture in loss:
        named = [kernel for kernel in kernels if f"'{kernel.name}'" in sentence]
        for kernel in [kernel for kernel in named if kernel.architecture == architecture] or named or kernels[-1:]:
            kernel.complaints.append(sentence)
    return kernels


def read(folder: Path) -> list[Kernel]:
    """The kernels of all files of the folder."""
    texts = sorted(folder.glob("*.resources.txt"))
    suffix = len(".resources.txt")
    return [kernel for path in texts for kernel in kernels_in(path.read_text(), f"{path.name[:-suffix]}.cu")]


def faults(kernels: Iterable[Kernel]) -> list[str]:
    """A sentence for each kernel that spills registers, or about which ptxas complains."""
    sentences = []
    for kernel in kernels:
        where = f"{kernel.file}: {kernel.name} on {kernel.architecture}"
        if kernel.spill_stores or kernel.spill_loads:
            sentences.append(f"{where} spills: {kernel.spill_stores} bytes stored, {kernel.spill_loads} loaded")
        sentences += [f"{where}: {complaint}" for complaint in kernel.complaints]
    return sentences

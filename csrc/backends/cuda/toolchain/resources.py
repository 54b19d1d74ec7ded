"""Registers, memory and occupancy of the CUDA kernels, as ptxas states them, computed without a GPU.

    python -m csrc.backends.cuda.toolchain.resources FOLDER

FOLDER is the folder fat_binaries of a build of the CUDA module. The sizes of blocks, which occupancy depends on, and
machine code (--sass) are read by cuobjdump and nvdisasm, from the same folder as nvcc or from PATH.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from csrc.backends.cuda.toolchain import machine_code
from csrc.backends.cuda.toolchain.occupancy import LIMITS, occupancy

BEGIN = "<!-- the kernels: written by ./dev ptxas -->"
END = "<!-- the end of the kernels -->"
DTYPES = {"bool", "bf16", "f16", "f32", "f64", "u128", *(f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64))}


@dataclass
class Kernel:
    """What ptxas says about one kernel on one architecture."""

    file: str
    name: str
    architecture: str  # "sm_80"
    registers: int = 0  # of each thread
    stack_bytes: int = 0  # of each thread, in local memory
    spill_stores: int = 0  # bytes, of the functions that it calls, too
    spill_loads: int = 0
    shared_bytes: int = 0  # of each block, without dynamic shared memory
    complaints: list[str] = field(default_factory=list)  # "Potential Performance Loss: ..."

    def occupancy(self, threads: int) -> float:
        return occupancy(self.architecture, threads, self.registers, self.shared_bytes)

    @property
    def family(self) -> str:
        """The name, without the dtype: `fill_*` for `fill_f32`."""
        stem, _, last = self.name.rpartition("_")
        return f"{stem}_*" if stem and last in DTYPES else self.name


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
            kernels[-1].stack_bytes = max(kernels[-1].stack_bytes, number(r"(\d+) bytes stack frame", line))
            kernels[-1].spill_stores += number(r"(\d+) bytes spill stores", line)
            kernels[-1].spill_loads += number(r"(\d+) bytes spill loads", line)
        elif kernels and re.search(r": Used \d+ registers", line):
            kernels[-1].registers = number(r"Used (\d+) registers", line)
            kernels[-1].shared_bytes = number(r"(\d+) bytes smem", line)
            kernels[-1].stack_bytes = max(kernels[-1].stack_bytes, number(r"(\d+) bytes cumulative stack size", line))
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


def block_sizes(folder: Path) -> dict[str, int]:
    """The launch bounds of each kernel: its threads in a block; empty without cuobjdump."""
    if not machine_code.is_readable():
        return {}
    files = sorted(folder.glob("*.fatbin"))
    return {name: threads for file in files for name, threads in machine_code.launch_bounds(file).items()}


def faults(kernels: Iterable[Kernel]) -> list[str]:
    """A sentence for each kernel that spills registers, or about which ptxas complains."""
    sentences = []
    for kernel in kernels:
        where = f"{kernel.file}: {kernel.name} on {kernel.architecture}"
        if kernel.spill_stores or kernel.spill_loads:
            sentences.append(f"{where} spills: {kernel.spill_stores} bytes stored, {kernel.spill_loads} loaded")
        sentences += [f"{where}: {complaint}" for complaint in kernel.complaints]
    return sentences


def table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> str:
    """A Markdown table whose first columns, as many as `texts`, are no numbers."""
    lines = [head, ["---"] * texts + ["---:"] * (len(head) - texts), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def least(kernels: Iterable[Kernel], blocks: Mapping[str, int]) -> str:
    """The least occupancy of the kernels whose block sizes are known."""
    known = [kernel.occupancy(blocks[kernel.name]) for kernel in kernels if kernel.name in blocks]
    return f"{min(known):.0%}" if known else ""


def by_kernel(kernels: Iterable[Kernel], blocks: Mapping[str, int]) -> str:
    head = ("kernel", "for", "threads", "registers", "stack", "spill stores", "spill loads", "shared", "occupancy")
    rows = []
    for kernel in kernels:
        counts = (kernel.registers, kernel.stack_bytes, kernel.spill_stores, kernel.spill_loads, kernel.shared_bytes)
        threads = str(blocks.get(kernel.name, ""))
        rows.append((kernel.name, kernel.architecture, threads, *map(str, counts), least([kernel], blocks)))
    return table(head, rows, texts=2)


def span(numbers: set[int]) -> str:
    return " to ".join(map(str, sorted({min(numbers), max(numbers)}))) if numbers else ""


def by_family(kernels: Sequence[Kernel], blocks: Mapping[str, int]) -> str:
    """A table with a row for the kernels that differ only in the dtype: least and greatest numbers, least occupancy."""
    families: dict[tuple[str, str], list[Kernel]] = {}
    for kernel in kernels:
        families.setdefault((kernel.file, kernel.family), []).append(kernel)
    architectures = sorted({kernel.architecture for kernel in kernels}, key=list(LIMITS).index)
    head = ("file", "kernels", "threads", "registers", "stack bytes", "spilled bytes", "shared bytes", *architectures)
    rows = []
    for (file, family), members in sorted(families.items()):
        counts = (
            {blocks[member.name] for member in members if member.name in blocks},
            {member.registers for member in members},
            {member.stack_bytes for member in members},
            {member.spill_stores + member.spill_loads for member in members},
            {member.shared_bytes for member in members},
        )
        on = {a: [m for m in members if m.architecture == a] for a in architectures}
        rows.append((f"`{file}`", f"`{family}`", *map(span, counts), *(least(on[a], blocks) for a in architectures)))
    return table(head, rows, texts=2)


def write(page: Path, text: str) -> None:
    old = page.read_text(encoding="utf-8")
    before, after = old[: old.index(BEGIN)], old[old.index(END) :]
    page.write_text(f"{before}{BEGIN}\n{text}{after}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m csrc.backends.cuda.toolchain.resources", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path, metavar="PATH", help="the page that gets the table of families")
    parser.add_argument("--check", action="store_true", help="fail if a kernel spills registers, or ptxas complains")
    parser.add_argument("--sass", metavar="REGEX", help="count the instructions that match, such as HGMMA, instead")
    options = parser.parse_args(arguments)
    if options.sass:
        for file in sorted(options.folder.glob("*.fatbin")):
            for (kernel, architecture), counts in machine_code.instructions(file).items():
                for name, count in sorted(counts.items()):
                    if re.match(options.sass, name):
                        print(f"{kernel} {architecture} {name} {count}")
        return 0
    kernels = read(options.folder)
    if not kernels:
        print(f"{options.folder} has no *.resources.txt with kernels", file=sys.stderr)
        return 1
    blocks = block_sizes(options.folder)
    print(by_kernel(kernels, blocks), end="")
    if options.page:
        write(options.page, by_family(kernels, blocks))
    sentences = faults(kernels) if options.check else []
    print("".join(f"{sentence}\n" for sentence in sentences), end="", file=sys.stderr)
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())

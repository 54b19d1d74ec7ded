"""The tables of docs/kernels.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from csrc.backends.cuda.toolchain import machine_code
from csrc.backends.cuda.toolchain.kernel_families import PATHS, families
from csrc.backends.cuda.toolchain.occupancy import LIMITS
from csrc.backends.cuda.toolchain.resource_usage import Kernel

BEGIN = "<!-- the kernels: written by toolchain/resources.py -->"
END = "<!-- the end of the kernels -->"
PROVEN = "sm_90a"  # the architecture whose machine code the page shows


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


def paths(codes: Mapping[tuple[str, str], Counter[str]]) -> str:
    """How many kernels of a file have each of PATHS: "mma 12, cp.async 8 of 12"."""
    counts = {path: sum(any(map(names.match, code)) for code in codes.values()) for path, names in PATHS.items()}
    found = ", ".join(f"{path} {count}" for path, count in counts.items() if count)
    return f"{found} of {len(codes)}" if found else ""


def by_file(folder: Path) -> str:
    """A table with the work of each file of kernels, and the paths of its machine code."""
    rows = []
    for stem, family in sorted(families().items()):
        file = folder / f"{stem}.fatbin"
        codes = machine_code.instructions(file, PROVEN) if machine_code.is_readable() and file.exists() else {}
        reasons = [
            f"`{pattern}` without {path}: {why}"
            for path, patterns in family.without.items()
            for pattern, why in patterns.items()
        ]
        rows.append((f"`{stem}.cu`", family.bytes, family.flops, family.limit, paths(codes), "; ".join(reasons)))
    head = ("file", "bytes", "flops", "limit", f"of the kernels on {PROVEN} have", "exceptions")
    return table(head, rows, texts=len(head))


def text(kernels: Sequence[Kernel], blocks: Mapping[str, int], folder: Path) -> str:
    return f"{by_file(folder)}\n{by_family(kernels, blocks)}"


def write(page: Path, tables: str) -> None:
    old = page.read_text(encoding="utf-8")
    before, after = old[: old.index(BEGIN)], old[old.index(END) :]
    page.write_text(f"{before}{BEGIN}\n{tables}{after}", encoding="utf-8")

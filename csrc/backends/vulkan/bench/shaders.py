"""Instruction and byte counts of the Vulkan kernels, computed without a GPU.

    python -m csrc.backends.vulkan.bench.shaders TABLE

TABLE is the shader_table.h of a build of the Vulkan module, which includes all shaders. Needs spirv-dis (Debian:
spirv-tools).
"""

from __future__ import annotations

import argparse
import json
import re
import struct
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from csrc.backends.vulkan.bench.spirv import FLOAT_OPS, Module, disassembled

BEGIN = "<!-- the kernels: written by bench/shaders.py -->"
END = "<!-- the end of the kernels -->"
WORKGROUP = 128  # invocations, for kernels whose shared memory depends on them
COLUMNS = ("SPIR-V bytes", "instructions", "from main", "loads", "stores", "barriers", "shared bytes", *FLOAT_OPS)


@dataclass(frozen=True)
class Shader:
    """Counts of one shader."""

    file: str
    variant: str  # empty if there are no variants
    spirv_bytes: int
    instructions: int  # of all functions in the module
    reached: int  # of main and the functions it calls, counted once for each call
    loads: int  # of those, through buffer references; stores likewise
    stores: int
    barriers: int
    shared_bytes: int
    fma: int  # of floats, in the innermost loop; mul and add likewise
    mul: int
    add: int

    @property
    def family(self) -> tuple[str, str]:
        """The file, and the variants that differ only in the dtype: `sum_*` for `sum_f32`."""
        kind, _, dtype = self.variant.rpartition("_")
        return self.file, f"{kind}_*" if kind and dtype else ""

    @property
    def counts(self) -> tuple[int, ...]:
        return astuple(self)[2:]


def shader_in(header: Path) -> Shader:
    """The counts of the shader in a C header of the build."""
    words = [int(word, 16) for word in re.findall(r"\b0x([0-9a-f]{8})\b", header.read_text())]
    binary = struct.pack(f"<{len(words)}I", *words)
    module = Module(disassembled(binary), specialised={0: WORKGROUP, 1: 1, 2: 1})
    file, _, variant = header.stem.partition(".")
    counts, loop = module.counts, module.innermost_loop
    return Shader(
        file=f"{file}.comp",
        variant=variant,
        spirv_bytes=len(binary),
        instructions=module.instruction_count,
        reached=counts["instructions"],
        loads=counts["loads"],
        stores=counts["stores"],
        barriers=counts["barriers"],
        shared_bytes=module.shared_bytes,
        **{op: loop[op] for op in FLOAT_OPS},
    )


def table(rows: Iterable[Sequence[str]]) -> str:
    head = ("shader", "variants", *COLUMNS)
    lines = [head, ("---", "---", *["---:"] * len(COLUMNS)), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def row_of(shaders: Sequence[Shader], variants: str) -> tuple[str, ...]:
    """A table row with the least and the greatest counts of the shaders."""
    columns = zip(*(shader.counts for shader in shaders), strict=True)
    cells = (
        f"{min(column)}" if min(column) == max(column) else f"{min(column)} to {max(column)}" for column in columns
    )
    return (f"`{shaders[0].file}`", variants, *cells)


def by_family(shaders: Iterable[Shader]) -> list[tuple[str, ...]]:
    families: dict[tuple[str, str], list[Shader]] = {}
    for shader in shaders:
        families.setdefault(shader.family, []).append(shader)
    return [
        row_of(members, kind or " ".join(member.variant for member in members))
        for (_, kind), members in families.items()
    ]


def write(page: Path, text: str) -> None:
    old = page.read_text(encoding="utf-8")
    before, after = old[: old.index(BEGIN)], old[old.index(END) :]
    page.write_text(f"{before}{BEGIN}\n{text}{after}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m csrc.backends.vulkan.bench.shaders", description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--json", type=Path, metavar="PATH", help="where the counts go, too")
    parser.add_argument("--page", type=Path, metavar="PATH", help="the page that gets the table of families")
    options = parser.parse_args(arguments)
    headers = re.findall(r'^#include "(.*)"$', options.table.read_text(), re.MULTILINE)
    shaders = [shader_in(options.table.parent / header) for header in sorted(headers)]
    print(table(row_of([shader], shader.variant) for shader in shaders), end="")
    if options.json:
        options.json.write_text(json.dumps([asdict(shader) for shader in shaders], indent=1) + "\n")
    if options.page:
        write(options.page, table(by_family(shaders)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Registers, memory, occupancy and machine instructions of the CUDA kernels, without a GPU.

    python -m csrc.backends.cuda.toolchain.resources FOLDER

FOLDER is the folder fat_binaries of a build of the CUDA module. The sizes of blocks, which occupancy depends on, and
machine code are read by cuobjdump and nvdisasm, from the same folder as nvcc or from PATH.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from csrc.backends.cuda.toolchain import kernel_page, machine_code
from csrc.backends.cuda.toolchain.resource_usage import block_sizes, faults, read


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m csrc.backends.cuda.toolchain.resources", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path, metavar="PATH", help="the page that gets the tables")
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
    print(kernel_page.by_kernel(kernels, blocks), end="")
    if options.page:
        kernel_page.write(options.page, kernel_page.text(kernels, blocks, options.folder))
    sentences = faults(kernels) if options.check else []
    print("".join(f"{sentence}\n" for sentence in sentences), end="", file=sys.stderr)
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())

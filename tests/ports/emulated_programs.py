"""Makes programs of another machine start like this machine's: a script of the same name runs them by qemu.

    QEMU_LD_PREFIX=build/ports/arm64/root python tests/ports/emulated_programs.py aarch64 PROGRAM ...

The kernel starts the script, so programs that start each other (pytest and Python, libferrule and its probe) need no
setting of the system. qemu reads QEMU_LD_PREFIX and QEMU_CPU.
"""

from __future__ import annotations

import sys
from pathlib import Path

SCRIPT = '#!/bin/sh\nexec qemu-{machine} -0 "$0" "$0.{machine}" "$@"\n'


def wrap(program: Path, machine: str) -> None:
    """Moves the program to `<program>.<machine>`, and writes the script in its place."""
    real = program.with_name(f"{program.name}.{machine}")
    if program.read_bytes()[:4] != b"\x7fELF":
        return
    program.rename(real)
    program.write_text(SCRIPT.format(machine=machine), encoding="utf-8")
    program.chmod(0o755)


if __name__ == "__main__":
    for name in sys.argv[2:]:
        wrap(Path(name), sys.argv[1])

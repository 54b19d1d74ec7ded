"""Runs Python programs in their own process, in which ferrule finds the module whose kernels run on the CPU."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import backend_processes

# `put` makes an array on the device, `page` an array in pages of its own.
PRELUDE = (
    """
import json, mmap, os, tempfile
import numpy as np
import ferrule as fe
"""
    + backend_processes.THREADS
    + """
def put(values, dtype=np.float32, device="cuda"):
    return fe.asarray(np.array(values, dtype), device=device)

def page(count, dtype=np.float32):
    size = -(-count * np.dtype(dtype).itemsize // 4096) * 4096
    return np.frombuffer(mmap.mmap(-1, size), dtype)

[row] = [row for row in fe.load_all().candidates if row.name == "cuda"]
"""
)


@dataclass(frozen=True)
class Done(backend_processes.Done):
    calls: tuple[str, ...]  # of the CUDA runtime, with contexts, objects and requested failures among them

    def contexts(self) -> set[int]:
        """The devices that got a context."""
        return {int(line.removeprefix("context ")) for line in self.calls if line.startswith("context ")}

    def compilations(self) -> int:
        """The number of kernels that NVRTC was asked to compile."""
        return self.calls.count("nvrtcCompileProgram")

    def leaks(self) -> dict[str, int]:
        """The numbers of objects of each kind that were made and not ended."""
        counts: Counter[str] = Counter()
        for line in self.calls:
            if line[:2] in ("+ ", "- "):
                counts[line[2:]] += 1 if line[0] == "+" else -1
        return {kind: count for kind, count in counts.items() if count != 0}


class Processes(backend_processes.Processes):
    """Their calls of the CUDA runtime are recorded."""

    PRELUDE = PRELUDE
    WITHOUT = ("CUDA_VISIBLE_DEVICES",)

    def __call__(self, program: str, **variables: str) -> Done:
        calls = self.folder / "calls.txt"
        calls.unlink(missing_ok=True)
        done = super().__call__(program, **{"FERRULE_EMULATION_LOG": str(calls), **variables})
        lines = calls.read_text().splitlines() if calls.exists() else []
        return Done(done.output, done.log, tuple(lines))

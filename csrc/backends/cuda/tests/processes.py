"""Runs Python programs in their own process, in which ferrule finds the module whose kernels run on the CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

# `put` makes an array on the device, `attempt` gives the error of a call as text, `page` an array in pages of its own.
PRELUDE = """
import json, mmap, os, tempfile, threading
import numpy as np
import ferrule as fe

def put(values, dtype=np.float32, device="cuda"):
    return fe.asarray(np.array(values, dtype), device=device)

def attempt(call):
    try:
        result = call()
        return result.tolist() if hasattr(result, "tolist") else result
    except (fe.Error, BufferError) as error:
        return f"{type(error).__name__}: {error}"

def page(count, dtype=np.float32):
    size = -(-count * np.dtype(dtype).itemsize // 4096) * 4096
    return np.frombuffer(mmap.mmap(-1, size), dtype)

def in_threads(count, work):
    errors = []
    def run(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads: thread.start()
    for thread in threads: thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if errors: raise errors[0]

[row] = [row for row in fe.load_all().candidates if row.name == "cuda"]
"""


@dataclass(frozen=True)
class Done:
    output: str
    log: str
    calls: tuple[str, ...]  # of the CUDA runtime, with contexts, objects and requested failures among them

    def contexts(self) -> set[int]:
        """The devices that got a context."""
        return {int(line.removeprefix("context ")) for line in self.calls if line.startswith("context ")}

    def leaks(self) -> dict[str, int]:
        """How many objects of each kind were made and not ended."""
        counts: Counter[str] = Counter()
        for line in self.calls:
            if line[:2] in ("+ ", "- "):
                counts[line[2:]] += 1 if line[0] == "+" else -1
        return {kind: count for kind, count in counts.items() if count != 0}


@dataclass(frozen=True)
class Processes:
    """Starts processes in a folder, by default without a probe."""

    folder: Path

    def __call__(self, program: str, **variables: str) -> Done:
        calls = self.folder / "calls.txt"
        calls.unlink(missing_ok=True)
        settings = {
            "FERRULE_CACHE_DIR": str(self.folder / "cache"),
            "FERRULE_PROBE": "never",
            "FERRULE_EMULATION_LOG": str(calls),
        }
        inherited = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
        result = subprocess.run(
            [sys.executable, "-c", PRELUDE + program],
            env={**inherited, **settings, **variables},
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.folder,
        )
        assert result.returncode == 0, result.stderr
        lines = calls.read_text().splitlines() if calls.exists() else []
        return Done(result.stdout, result.stderr, tuple(lines))

    def quiet(self, program: str, **variables: str) -> str:
        """Runs a program and returns its output. The log must be empty."""
        done = self(program, **variables)
        assert done.log == "", done.log
        return done.output

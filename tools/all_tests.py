"""`./dev test`: what CI runs of the core and of the CPU; with --all everything."""

from __future__ import annotations

import time
from collections.abc import Callable

from tools import applications, builds, lint, testing, verify
from tools.process import say


def test(*, all: bool) -> None:
    """Everything that CI's fixed list runs."""
    stages: dict[str, Callable[[], None]] = {
        "build": lambda: testing.prepare(with_tests=True),
        "C++ tests": lambda: testing.ctest(builds.DEV),
        "Python tests": lambda: testing.pytest("python"),
        "conformance kit": lambda: testing.run_kit("--ferrule-sample"),  # memory layouts once for each size of elements
        "hostile modules": lambda: testing.pytest("hostile"),
        "a language model": lambda: applications.demo("chat", "--check"),
        "lint": lambda: lint.lint(fix=False),
    }
    times: list[str] = []
    try:
        for name, stage in stages.items():
            say(f"{name} ({len(times) + 1} of {len(stages)})")
            begin = time.monotonic()
            stage()
            times.append(f"{time.monotonic() - begin:6.0f} s  {name}")
    finally:
        print("\n".join(times), flush=True)
    if all:
        verify.verify(stages=[], list=False, one=None)

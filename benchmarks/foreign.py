"""Generates third-party modules: small, all different, without manifests, and all working."""

from __future__ import annotations

import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "tests" / "cpp" / "modules" / "module.c"


@cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="ferrule-foreign-")


@cache
def folder_of_modules(count: int, headers: Path) -> Path:
    """`count` modules in a folder that is removed with this process. Raises RuntimeError without a C compiler."""
    folder = Path(_kept().name)

    def compile_one(number: int) -> None:
        name = f"foreign{number:02}"
        command = ["cc", "-O1", "-std=c11", "-shared", "-fPIC", f"-I{headers}", f'-DTEST_NAME="{name}"', str(SOURCE)]
        subprocess.run([*command, "-o", str(folder / f"libferrule-{name}.so")], check=True, capture_output=True)

    try:
        with ThreadPoolExecutor() as pool:
            list(pool.map(compile_one, range(count)))
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeError(f"the foreign modules could not be compiled: {error}") from None
    return folder

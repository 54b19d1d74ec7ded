"""A hostile module: how it is installed into its folder, and what the load report must say about it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hostile_modules.load_runner import LoadResult

HERE = Path(__file__).resolve().parents[1]
PACKAGE = "HOSTILE_PACKAGE"  # the folder of the installed package, which conftest.py sets
SHORT_PROBE = 2  # seconds, of the probes of modules that hang
TOO_LONG = "did not end within"


@dataclass(frozen=True)
class Toolchain:
    """The compilers of hostile modules, and the end of the modules' names."""

    c: tuple[str, ...] = ("cc",)
    cpp: tuple[str, ...] = ("c++",)
    flags: tuple[str, ...] = ("-fPIC",)
    link_flags: tuple[str, ...] = ("-pthread", "-lm")
    suffix: str = ".so"


HERE_RUNS = Toolchain()


@dataclass(frozen=True)
class HostileModule:
    name: str
    state: str  # of its row in the report
    reason: str = ""  # a regular expression that its row's reason matches
    source: str = "innocent.c"  # in sources/
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    note: str = ""  # a regular expression that one of its row's notes matches
    runs: bool = True  # whether any of its code may run, in the probe or in the loading process
    is_steady: bool = True  # whether a second load has the same result
    environment: Mapping[str, str] = field(default_factory=dict)
    put: Callable[[Place], None] = lambda place: place.put_module()
    check: Callable[[LoadResult, dict[str, Any]], None] = lambda result, row: None  # additional checks

    def file_by(self, toolchain: Toolchain) -> str:
        return f"libferrule-{self.name}{toolchain.suffix}"

    @property
    def file(self) -> str:
        return self.file_by(HERE_RUNS)

    @property
    def hangs(self) -> bool:
        return TOO_LONG in self.reason or "does not answer" in self.reason


@dataclass(frozen=True)
class Place:
    """The folder of one hostile module."""

    hostile: HostileModule
    folder: Path
    toolchain: Toolchain = HERE_RUNS

    @property
    def module(self) -> Path:
        return self.folder / self.hostile.file_by(self.toolchain)

    def put_module(self) -> None:
        compile_module(self.hostile, self.module, self.toolchain)

    def put_manifest(self, **changes: object) -> None:
        """A correct manifest with changes; None removes an entry."""
        null = Path(os.environ[PACKAGE]) / "testing" / "libferrule-null.json"
        content = self.module.read_bytes()
        entries: dict[str, object] = {
            "name": self.hostile.name,
            "variant": "",
            "abi": json.loads(null.read_text())["abi"],
            "sha256": hashlib.sha256(content).hexdigest(),
            "size": len(content),
            "rank": 1,
        }
        entries |= changes
        self.write_manifest(json.dumps({key: value for key, value in entries.items() if value is not None}))

    def write_manifest(self, content: str | bytes) -> None:
        data = content if isinstance(content, bytes) else content.encode()
        self.module.with_suffix(".json").write_bytes(data)


def compile_module(hostile: HostileModule, to: Path, toolchain: Toolchain = HERE_RUNS) -> None:
    """Compiles a module where it is needed, so that parallel tests share the work."""
    source = HERE / "sources" / hostile.source
    is_cpp = source.suffix == ".cc"
    compiler = [*toolchain.cpp, "-std=c++17"] if is_cpp else [*toolchain.c, "-std=gnu11"]
    launcher = ["ccache"] if shutil.which("ccache") else []
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-infinite-recursion"]
    if hostile.source == "throwing.cc":  # the exception passes through code compiled as C
        warnings += ["-Wno-missing-field-initializers"]
    folders = [f"-I{os.environ[PACKAGE]}/include", f"-I{HERE}"]
    defined = [f"-D{word}" for word in (f'HOSTILE_NAME="{hostile.name}"', *hostile.defines)]
    made = to.with_name("unfinished.o")
    compile_only = [*launcher, *compiler, "-O1", "-g0", *toolchain.flags, *warnings, *folders, *defined, "-c"]
    subprocess.run([*compile_only, str(source), "-o", str(made)], check=True)
    linker = toolchain.cpp if is_cpp else toolchain.c
    link = [*linker, "-shared", str(made), "-o", str(to), *hostile.flags, *toolchain.link_flags]
    subprocess.run(link, check=True, cwd=to.parent)
    made.unlink()

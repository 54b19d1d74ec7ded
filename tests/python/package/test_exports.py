"""Symbols that the wheel's shared objects export, and their system requirements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from installed import modules, output_of, package

REQUIRED = {"ferrule_backend_abi", "ferrule_backend_init"}
OPTIONAL = {"ferrule_backend_score"}
# The parts of the C library, and the unwinder, which glibc opens itself when a thread ends early. The C++ library is
# inside each file, and drivers are opened lazily.
SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}

every_module = pytest.mark.parametrize("module", modules(), ids=lambda path: path.stem)


def exported(path: Path) -> set[str]:
    return {line.split()[-1] for line in output_of("nm", "-D", "--defined-only", path).splitlines()}


def functions_of_the_c_api() -> list[str]:
    snapshot = package() / "include/ferrule/abi_snapshot.inc"
    return re.findall(r"^FE_FUNCTION\((\w+),", snapshot.read_text(encoding="utf-8"), re.MULTILINE)


def needed(path: Path) -> set[str]:
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", output_of("readelf", "-d", path)))


def test_modules_are_found() -> None:
    names = {path.name for path in modules()}
    assert {"libferrule-cpu-x64.so", "libferrule-null.so"} <= names


@every_module
def test_a_module_exports_its_three_symbols_and_nothing_else(module: Path) -> None:
    symbols = exported(module)
    assert symbols >= REQUIRED
    assert symbols <= REQUIRED | OPTIONAL


@every_module
def test_opening_a_module_runs_no_code(module: Path) -> None:
    dynamic = output_of("readelf", "-dW", module)
    assert "(STRTAB)" in dynamic
    assert not re.search(r"\((INIT|INIT_ARRAY|PREINIT_ARRAY)\)", dynamic)


@every_module
def test_modules_depend_only_on_system_libraries(module: Path) -> None:
    assert needed(module) <= SYSTEM
    assert "RUNPATH" not in output_of("readelf", "-d", module)


def test_libferrule_exports_the_c_api_and_nothing_else() -> None:
    """The exports match the snapshot: a function is added or removed with `./dev abi` and a commit that shows it."""
    assert exported(package() / "libferrule.so") == set(functions_of_the_c_api())
    assert needed(package() / "libferrule.so") <= SYSTEM


def test_the_extension_finds_libferrule_beside_itself() -> None:
    [extension] = package().glob("_ferrule.*.so")
    assert "[$ORIGIN]" in output_of("readelf", "-d", extension)
    assert needed(extension) <= SYSTEM | {"libferrule.so"}
    assert exported(extension) == {"PyInit__ferrule"}

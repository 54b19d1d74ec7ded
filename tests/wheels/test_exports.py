"""Symbols that the wheel's shared objects export, and their system requirements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from installed import (
    SYSTEM_LIBRARIES,
    exported,
    finalizes_when_unloaded,
    modules,
    needed,
    output_of,
    package,
    runs_code_when_opened,
)

REQUIRED = {"ferrule_backend_abi", "ferrule_backend_init"}
OPTIONAL = {"ferrule_backend_score"}

every_module = pytest.mark.parametrize("module", modules(), ids=lambda path: path.stem)


def functions_of_the_c_api() -> list[str]:
    header = (package() / "include/ferrule/ferrule.h").read_text(encoding="utf-8")
    return re.findall(r"^FE_API [^;(]*?\b(fe_\w+)\(", header, re.MULTILINE)


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
    assert not runs_code_when_opened(module)


@every_module
def test_an_unloaded_module_runs_its_destructors(module: Path) -> None:
    assert finalizes_when_unloaded(module)


@every_module
def test_modules_depend_only_on_system_libraries(module: Path) -> None:
    assert needed(module) <= SYSTEM_LIBRARIES
    assert "RUNPATH" not in output_of("readelf", "-d", module)


def test_libferrule_exports_the_c_api_and_nothing_else() -> None:
    """The functions of ferrule.h."""
    assert exported(package() / "libferrule.so") == set(functions_of_the_c_api())
    assert needed(package() / "libferrule.so") <= SYSTEM_LIBRARIES


def test_the_extension_finds_libferrule_beside_itself() -> None:
    [extension] = package().glob("_ferrule.*.so")
    assert "[$ORIGIN]" in output_of("readelf", "-d", extension)
    assert needed(extension) <= SYSTEM_LIBRARIES | {"libferrule.so"}
    assert exported(extension) == {"PyInit__ferrule"}

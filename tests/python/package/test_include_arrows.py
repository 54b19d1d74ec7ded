"""Includes point in the direction of the design: bindings -> ferrule.h <- core -> ops -> sdk <- backends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "csrc"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

# What the files of each part may include besides the part itself and the standard library.
PARTS = {
    "sdk": set[str](),
    "ops": {"sdk"},
    "core": {"sdk", "ops", "host"},
    "backends": {"sdk"},
    "bindings": {"host"},
    "probe": {"host"},
    "conformance": {"sdk"},
}
# The host C API is for programs and bindings; the rest of sdk/ferrule is for backends.
HOST_HEADERS = {"ferrule/ferrule.h", "ferrule/types.h"}
LIBRARIES = {
    "fmt/": {"ops", "core", "sdk", "probe", "fmt"},
    "nlohmann/": {"ops", "core", "sdk", "probe"},
    "hwy/": {"backends"},
    "vulkan/": {"backends"},
    "pybind11/": {"bindings"},
}
GENERATED = {
    "op_table.inc": "ops",
    "op_samples.inc": "conformance",
    "declarations.inc": "sdk",
    "shader_table.h": "backends/vulkan",
}


def files() -> Iterator[Path]:
    for pattern in ("*.h", "*.hpp", "*.c", "*.cpp"):
        yield from sorted(SOURCES.rglob(pattern))


def part_of(path: Path) -> str:
    """The part that a file belongs to; each backend is its own part."""
    folders = path.relative_to(SOURCES).parts
    return "/".join(folders[:2]) if folders[0] == "backends" else folders[0]


def target_of(file: Path, quote: str, name: str) -> str | None:
    """The part or library that an include line refers to; None for the standard library."""
    if name.startswith("ferrule/"):
        return "host" if name in HOST_HEADERS and part_of(file) != "sdk" else "sdk"
    for library in LIBRARIES:
        if name.startswith(library):
            return library
    if quote == "<":
        return None
    if name in GENERATED:
        return GENERATED[name]
    for folder in (file.parent, SOURCES / Path(*part_of(file).split("/")), SOURCES):
        if (folder / name).is_file():
            return part_of((folder / name).resolve())
    return f"nowhere ({name})"


def is_allowed(part: str, target: str, name: str) -> bool:
    kind = part.split("/")[0]
    if target in (part, None):
        return True
    if target in LIBRARIES:
        return kind in LIBRARIES[target]
    if name == "ferrule/types.h":  # plain types that both sides use
        return True
    return target in PARTS[kind]


def violations(file: Path) -> list[str]:
    part = part_of(file)
    found = []
    for quote, name in INCLUDE.findall(file.read_text(encoding="utf-8")):
        target = target_of(file, quote, name)
        if target is not None and not is_allowed(part, target, name):
            found.append(f"{file.relative_to(ROOT)} ({part}) includes {name} ({target})")
    return found


def test_there_are_sources_to_read() -> None:
    assert sum(1 for _ in files()) > 20


def test_include_lines_follow_the_arrows() -> None:
    assert [line for file in files() for line in violations(file)] == []


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("core/x.cpp", '#include "backends/cpu/kernel.h"'),
        ("backends/null/module.cpp", '#include "ops/dtype.h"'),
        ("backends/null/module.cpp", '#include "backends/cpu/kernel.h"'),
        ("backends/null/module.cpp", "#include <ferrule/ferrule.h>"),
        ("bindings/x.cpp", "#include <ferrule/backend.h>"),
        ("bindings/x.cpp", '#include "ops/dtype.h"'),
        ("ops/x.cpp", '#include "core/layout_check.cpp"'),
        ("sdk/x.cpp", "#include <hwy/highway.h>"),
    ],
)
def test_an_arrow_that_points_back_is_found(place: str, line: str) -> None:
    quote, name = INCLUDE.findall(line)[0]
    file = SOURCES / place
    target = target_of(file, quote, name)
    assert target is not None
    assert not is_allowed(part_of(file), target, name)


def test_the_core_names_no_backend() -> None:
    names = re.compile(r"\b(cuda|vulkan|metal|lavapipe)\b|ferrule-(cpu|null)", re.IGNORECASE)
    comment = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
    named = {
        f"{file.relative_to(ROOT)}: {match.group()}"
        for file in files()
        if part_of(file) == "core"
        for match in names.finditer(comment.sub("", file.read_text(encoding="utf-8")))
    }
    assert named == set()

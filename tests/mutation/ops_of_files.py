"""Maps kernel files to ops: by the lines from which CMake finds the ops, and by includes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_ROW = re.compile(r'^(?:KERNEL|ELEMENTWISE)\((\w+),(?:.*?\.op = "(\w+)")?', re.MULTILINE)
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_OP = re.compile(r"^OP\((\w+)\)", re.MULTILINE)
_DEFINITION = re.compile(
    r"^(?:struct (\w+)|(?:KERNEL|ELEMENTWISE)\((\w+)|[\w:<>*&][\w:<>*&, ]*?\b(\w+)\()", re.MULTILINE
)


@dataclass(frozen=True)
class Unit:
    """A kernel file that is compiled, and the ops whose results it can change."""

    path: Path
    ops: frozenset[str] = field(default_factory=frozenset)


def ops_in(text: str) -> frozenset[str]:
    return frozenset(found[2] or found[1] for found in _ROW.finditer(text))


@cache
def _elementwise(folder: Path) -> frozenset[str]:
    rows = (path.read_text() for path in folder.rglob("*.cpp"))
    return frozenset(name for text in rows for name in re.findall(r"^ELEMENTWISE\((\w+),", text, re.MULTILINE))


def kernels_above(path: Path) -> Path:
    """The folder `kernels` that a file lies in."""
    return next(folder for folder in path.parents if folder.name == "kernels")


def ops_of_family(path: Path, folder: Path, root: Path) -> frozenset[str]:
    """The ops of the family that a file is named after: it is F.* or lies in F/, below the folder. None without one."""
    rows = root / "csrc/ops" / f"{path.relative_to(folder).parts[0].partition('.')[0]}.cpp"
    return frozenset(_OP.findall(rows.read_text())) if rows.is_file() else frozenset()


def units_of(path: Path) -> list[Unit]:
    """The kernel files that a file is part of: itself, or those that include it, those with few ops first."""
    folder = kernels_above(path)
    sources = [path] if path.suffix == ".cpp" else [s for s in sorted(folder.rglob("*.cpp")) if path in included(s)]
    units = [Unit(source, _ops_of_source(source, folder)) for source in sources]
    return sorted(units, key=lambda unit: (len(unit.ops), unit.path))


@cache
def _ops_of_source(source: Path, folder: Path) -> frozenset[str]:
    """The ops of the rows of a kernel file. One without rows has functions that others call: those that include its
    header; or the interpreter of elementwise bodies, if it has no header."""
    if own := ops_in(source.read_text()):
        return own
    header = source.with_suffix(".h")
    if not header.is_file():
        return _elementwise(folder)
    callers = (other for other in sorted(folder.rglob("*.cpp")) if header in included(other))
    return frozenset().union(*(ops_in(caller.read_text()) for caller in callers))


@cache
def included(path: Path) -> frozenset[Path]:
    """All files that a file includes from its own folders, directly or indirectly."""
    found: set[Path] = set()
    for name in _INCLUDE.findall(path.read_text()):
        for folder in (path.parent, path.parent.parent):
            inner = (folder / name).resolve()
            if inner.is_file() and inner not in found:
                found |= {inner, *included(inner)}
                break
    return frozenset(found)


def ops_of_shaders(path: Path, folder: Path) -> frozenset[str]:
    """For a planner: its rows. For a shader: the rows of the planners that name it. For an include: both."""
    planners = sorted(folder.rglob("*.cpp"))
    if path.suffix in (".cpp", ".h"):
        of = [path] if path.suffix == ".cpp" else [planner for planner in planners if path in included(planner)]
        return frozenset().union(*(ops_in(planner.read_text()) for planner in of))
    shaders = [path] if path.suffix == ".comp" else [s for s in sorted(folder.rglob("*.comp")) if path in included(s)]
    stems = {shader.stem for shader in shaders}
    ops: set[str] = set()
    for planner in planners:
        text = planner.read_text()
        if any(re.search(rf'"{stem}\b', text) for stem in stems):
            ops |= ops_in(text)
    return frozenset(ops)


@cache
def ops_with_rows(root: Path) -> frozenset[str]:
    """The existing ops. A kernel whose op has no row yet cannot run."""
    return frozenset(op for path in (root / "csrc/ops").glob("*.cpp") for op in _OP.findall(path.read_text()))


def near(text: str, line: int, ops: frozenset[str]) -> list[str]:
    """The ops that the definition around a line is named after: for example of `struct FloorDivide` or `exp_f32`."""
    above = "\n".join(text.splitlines()[:line])
    names = [next(name for name in found if name) for found in _DEFINITION.findall(above)]
    if not names:
        return []
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", names[-1]).lower()
    if word in ops:
        return [word]
    return sorted(op for op in ops if word.startswith(f"{op}_") or word.endswith(f"_{op}"))

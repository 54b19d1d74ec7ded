"""The differences between two binary interfaces, and whether modules built for one work with the other.

`abi_diff(a, b)` takes the older interface a and the newer one b. Each is a path to

- a folder of headers, such as `ferrule --include-dir` prints, or
- a module (an ELF, PE or Mach-O file), of which only the version, the layout hashes and the exported symbols are known.

Two folders of headers are compared declaration by declaration; in other cases the versions are compared by the rules of
docs/develop/abi.md. Nothing is executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from ferrule.tools.inspection.abi import from_data
from ferrule.tools.inspection.abi_version import AbiVersion, complaint
from ferrule.tools.inspection.read_in_child import read_modules

_COUNT = re.compile(r"FE_\w+_COUNT")  # a constant that counts the enumerators of an enumeration; it may grow
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_STRUCT = re.compile(r"typedef (?:struct|union) (fe_\w+) \{([^}]*)\} \1;")
_ENUM = re.compile(r"typedef enum (fe_\w+) FE_ANY_INT \{([^}]*)\} \1;")
_FUNCTION = re.compile(r"(?:FE_API|typedef) ([^;({]+?)(?:\b|\(\*)(fe_\w+)\)?(\([^;]*\));")
_LIST = re.compile(r"^#define (FE_\w+_(?:FIELDS|SLOTS))\([A-Z]\)(.*)$", re.MULTILINE)
# F(type, name), or S(result, name, (parameters)), where parameters may have one level of parentheses.
_LISTED = re.compile(r"\b[A-Z]\(([^(),]+),\s+(\w+)(?:,\s+(\((?:[^()]|\([^()]*\))*\)))?\)")
_FIELD = re.compile(r"(.+?)(\w+)(\[\w+\])?")
_OP = re.compile(r'^    \{"(\w+)", (\d+), OpKind::', re.MULTILINE)


@dataclass(frozen=True)
class Difference:
    """A change. It is compatible if modules built for either interface work with the other."""

    subject: str
    what: str
    is_compatible: bool

    def __str__(self) -> str:
        return f"{self.subject}: {self.what} ({'compatible' if self.is_compatible else 'incompatible'})"


@dataclass
class Interface:
    """The declarations of a folder of headers; for a module, only the version and the symbols."""

    version: AbiVersion
    structs: dict[str, dict[str, str]] = field(default_factory=dict)  # the type of each field, in their order
    values: dict[str, dict[str, int]] = field(default_factory=dict)  # of enumerators
    functions: dict[str, str] = field(default_factory=dict)  # of the host C API, and types of functions
    revisions: dict[str, int] = field(default_factory=dict)  # of ops
    symbols: frozenset[str] | None = None  # that a module exports


def abi_diff(a: Path, b: Path) -> list[Difference]:
    """Return the changes from a to b, incompatible ones first.

    Raises ValueError, with a sentence, for a path that is not an interface.
    """
    older, newer = read_interface(a), read_interface(b)
    found = list(_versions(older, newer))
    if older.structs and newer.structs:
        found += _declarations(older, newer)
    if older.symbols is not None and newer.symbols is not None:
        found += [
            Difference("exported symbols", f"'{name}' is gone", name == "ferrule_backend_score")
            for name in sorted(older.symbols - newer.symbols)
        ]
        found += [
            Difference("exported symbols", f"'{name}' is new", is_compatible=True)
            for name in sorted(newer.symbols - older.symbols)
        ]
    return sorted(found, key=lambda difference: difference.is_compatible)


def is_compatible(differences: list[Difference]) -> bool:
    """Whether modules built for one interface work with the other."""
    return all(difference.is_compatible for difference in differences)


# ---- reading


def read_interface(path: Path) -> Interface:
    """Read a folder of headers, or a module. Raises ValueError for other paths."""
    return _read_headers(path) if path.is_dir() else _read_module(path)


def _read_module(path: Path) -> Interface:
    if not path.is_file():
        raise ValueError(f"{path} cannot be read: it is neither a module nor a folder of headers")
    if find_spec("lief") is None:
        raise ValueError(f"to read a module such as {path}, install lief: pip install 'ferrule[inspect]'")
    [found] = read_modules([path])
    if not found["images"]:
        raise ValueError(f"{path} is not a module: {'; '.join(found['problems'])}")
    interfaces = []
    for image in found["images"]:
        if image["abi"] is None:
            raise ValueError(f"{path} has no ferrule_backend_abi that can be read")
        interfaces.append(Interface(from_data(image["abi"]), symbols=frozenset(image["exports"])))
    if any(interface != interfaces[0] for interface in interfaces):
        raise ValueError(f"{path} has several architectures, and their interfaces differ")
    return interfaces[0]


def _read_headers(folder: Path) -> Interface:
    texts = {
        path.name: _COMMENT.sub(" ", path.read_text(encoding="utf-8")).replace("\\\n", " ")
        for path in sorted((folder / "ferrule").glob("*.h*"))
    }
    text = "\n".join(texts.values())
    major, minor = (re.search(rf"#define FE_ABI_{part} (\d+)", text) for part in ("MAJOR", "MINOR"))
    hashes = re.search(r"#define FE_LAYOUT_HASHES (.*)", text)
    if major is None or minor is None or hashes is None:
        raise ValueError(f"{folder} is not a folder of headers: no file of {folder / 'ferrule'} names a version")
    numbers = tuple(int(number, 16) for number in re.findall(r"0x\w+", hashes[1]))
    interface = Interface(AbiVersion(int(major[1]), int(minor[1]), numbers))
    lists = {name: list(_fields_of_list(body)) for name, body in _LIST.findall(text)}
    text = _DIRECTIVE.sub("", text)
    for name, body in _STRUCT.findall(text):
        interface.structs[name] = dict(_fields(body, lists))
    for name, body in _ENUM.findall(text):
        interface.values[name] = dict(_enumerators(body))
    for result, name, parameters in _FUNCTION.findall(text):
        interface.functions[name] = _one_form(f"{result} {parameters}")
    interface.revisions = {name: int(revision) for name, revision in _OP.findall(texts.get("op_table.hpp", ""))}
    return interface


def _fields_of_list(body: str) -> Iterator[tuple[str, str]]:
    for kind, name, parameters in _LISTED.findall(body):
        yield name, _one_form(f"{kind} {parameters}")


def _fields(body: str, lists: Mapping[str, list[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    for part in filter(None, (" ".join(part.split()) for part in body.replace(")", ");").split(";"))):
        if part.split("(")[0] in lists:
            yield from lists[part.split("(")[0]]
        elif match := _FIELD.fullmatch(part):
            yield match[2], _one_form(match[1] + (match[3] or ""))


def _enumerators(body: str) -> Iterator[tuple[str, int]]:
    value = -1
    for part in filter(None, (part.strip() for part in body.split(","))):
        name, _, given = part.partition("=")
        value = int(given, 0) if given else value + 1
        yield name.strip(), value


def _one_form(declaration: str) -> str:
    """Normalize the whitespace of a declaration: blanks around '*' depend on formatting."""
    return re.sub(r"\s*\*\s*", " *", " ".join(declaration.split())).replace("( ", "(").replace(" * *", " **")


# ---- comparing


def _versions(a: Interface, b: Interface) -> Iterator[Difference]:
    if a.version == b.version:
        return
    # Either may be the module and the other the core: the rules are symmetric.
    problem = complaint(a.version, b.version)
    if problem and a.version.major == b.version.major == 0:
        problem = "the layout hash differs, and before 1.0 only equal ones fit"
    elif problem and a.version.major == b.version.major:
        problem = f"{min(a.version.minor, b.version.minor)} is the lower minor, and its layout hash differs"
    elif problem:
        problem = "the majors differ"
    what = f"{a.version} became {b.version}" if str(a.version) != str(b.version) else f"is {a.version} in both"
    yield Difference("interface", what + (f", but {problem}" if problem else ""), not problem)


def _declarations(a: Interface, b: Interface) -> Iterator[Difference]:
    yield from _named(a.structs, b.structs)
    for name in a.structs.keys() & b.structs.keys():
        yield from _slots(name, a.structs[name], b.structs[name])
    for name, values in a.values.items():
        yield from _values(name, values, b.values.get(name, {}))
    yield from _named(a.functions, b.functions)
    for name in a.functions.keys() & b.functions.keys():
        if a.functions[name] != b.functions[name]:
            yield Difference(name, f"was '{a.functions[name]}' and is '{b.functions[name]}'", is_compatible=False)
    yield from _named(a.revisions, b.revisions, "op ")
    for name in a.revisions.keys() & b.revisions.keys():
        if b.revisions[name] < a.revisions[name]:
            what = f"its revision fell from {a.revisions[name]} to {b.revisions[name]}"
            yield Difference(f"op {name}", what, is_compatible=False)


def _named(a: Mapping[str, object], b: Mapping[str, object], kind: str = "") -> Iterator[Difference]:
    for name in sorted(a.keys() - b.keys()):
        yield Difference(kind + name, "is gone", is_compatible=False)
    for name in sorted(b.keys() - a.keys()):
        yield Difference(kind + name, "is new", is_compatible=True)


def _slots(struct: str, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Difference]:
    kept = [name for name in b if name in a]
    last = list(b).index(kept[-1]) if kept else -1
    for name in sorted(a.keys() - b.keys()):
        yield Difference(struct, f"slot '{name}' is gone", is_compatible=False)
    if kept != [name for name in a if name in b]:
        yield Difference(struct, "its slots are in another order", is_compatible=False)
    for name in kept:
        if a[name] != b[name]:
            yield Difference(struct, f"slot '{name}' was '{a[name]}' and is '{b[name]}'", is_compatible=False)
    # A struct without struct_size is copied as a whole and used in arrays, so it cannot grow.
    can_grow = "struct_size" in a
    for index, name in enumerate(b):
        if name in a:
            continue
        if index > last and can_grow:
            yield Difference(struct, f"'{name}' appended", is_compatible=True)
        else:
            what = "inserted" if can_grow else "added to a struct that cannot grow"
            yield Difference(struct, f"'{name}' {what}", is_compatible=False)


def _values(enumeration: str, a: Mapping[str, int], b: Mapping[str, int]) -> Iterator[Difference]:
    for name, value in a.items():
        if name not in b:
            yield Difference(enumeration, f"'{name}' is gone", is_compatible=False)
        elif b[name] != value and not _COUNT.fullmatch(name):
            yield Difference(enumeration, f"'{name}' was {value} and is {b[name]}", is_compatible=False)
    for name in b.keys() - a.keys():
        is_free = b[name] not in a.values() or any(_COUNT.fullmatch(n) and v == b[name] for n, v in a.items())
        yield Difference(enumeration, f"'{name}' = {b[name]} added", is_free)

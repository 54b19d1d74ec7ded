"""The differences between two binary interfaces, and whether modules built for one work with the other.

`abi_diff(a, b)` takes the older interface a and the newer one b. Each is a path to

- a snapshot (`abi_snapshot.inc`), which `./dev abi` writes and the package contains beside the headers,
- a folder of headers that contains `ferrule/abi_snapshot.inc`, or
- a module (an ELF, PE or Mach-O file), of which only the version, the layout hashes and the exported symbols are known.

Two snapshots are compared slot by slot; in other cases the versions are compared by the rules of docs/abi.md. Nothing
is executed.
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

SNAPSHOT = Path("ferrule", "abi_snapshot.inc")
# The first bytes of ELF, PE, and Mach-O files of 32 and 64 bits or with several architectures.
MODULE_STARTS = (
    b"\x7fELF",
    b"MZ",
    *(bytes.fromhex(magic) for magic in ("cefaedfe", "cffaedfe", "feedface", "feedfacf", "cafebabe", "cafebabf")),
)
# Constants that count the enumerators of an enumeration; they may grow.
_COUNTS = re.compile(r"FE_\w+_COUNT")
# FE_SLOT(structure, slot, offset, "type") and the other lines of a snapshot: docs/abi.md lists them.
_LINE = re.compile(r"(FE_[A-Z]+)\((.*)\)")
_ARGUMENT_COUNTS = {
    "FE_ABI": 2,
    "FE_HASH": 2,
    "FE_SIZE": 2,
    "FE_SLOT": 4,
    "FE_VALUE": 3,
    "FE_POINTER": 3,
    "FE_FUNCTION": 3,
    "FE_OP": 2,
    "FE_ATTRIBUTE": 5,
}


@dataclass(frozen=True)
class Difference:
    """A change. It is compatible if modules built for either interface work with the other."""

    subject: str
    what: str
    is_compatible: bool

    def __str__(self) -> str:
        return f"{self.subject}: {self.what} ({'compatible' if self.is_compatible else 'incompatible'})"


@dataclass(frozen=True)
class Slot:
    """A field or function pointer of a struct, or an attribute of an op."""

    offset: int
    kind: str
    since: int = 1  # of an attribute: the revision that appended it


@dataclass
class Interface:
    """The contents of a snapshot; for a module, only the version and the symbols."""

    version: AbiVersion
    sizes: dict[str, int] = field(default_factory=dict)
    structs: dict[str, dict[str, Slot]] = field(default_factory=dict)
    values: dict[str, dict[str, int]] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)  # of the host C API, and types of functions
    revisions: dict[str, int] = field(default_factory=dict)  # of ops
    attributes: dict[str, dict[str, Slot]] = field(default_factory=dict)
    symbols: frozenset[str] | None = None  # that a module exports


def abi_diff(a: Path, b: Path) -> list[Difference]:
    """Return the changes from a to b, incompatible ones first.

    Raises ValueError, with a sentence, for a path that is not an interface.
    """
    older, newer = read_interface(a), read_interface(b)
    found = list(_versions(older, newer))
    if older.structs and newer.structs:
        found += _snapshots(older, newer)
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
    """Read a snapshot, a folder of headers, or a module. Raises ValueError for other paths."""
    if path.is_dir():
        path /= SNAPSHOT
        if not path.is_file():
            raise ValueError(f"{path} does not exist: a folder of headers holds {SNAPSHOT}")
    try:
        with path.open("rb") as stream:
            data = stream.read(4)
        if data.startswith(MODULE_STARTS):
            return _read_module(path)
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is neither a module nor a snapshot") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    return _read_snapshot(path, text)


def _read_module(path: Path) -> Interface:
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


def _read_snapshot(path: Path, text: str) -> Interface:
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("//"):
            continue
        match = _LINE.fullmatch(line)
        count = _ARGUMENT_COUNTS.get(match[1], 0) if match else 0
        arguments = match[2].split(", ", count - 1) if match and count else []
        if match is None or not arguments or len(arguments) != count:
            raise ValueError(f"{path}: line {number} is none of a snapshot: {line[:60]!r}")
        lines.append((match[1], arguments))
    versions = [arguments for kind, arguments in lines if kind == "FE_ABI"]
    hashes = [int(arguments[1], 16) for kind, arguments in lines if kind == "FE_HASH"]
    if len(versions) != 1 or not hashes:
        raise ValueError(f"{path} is not a snapshot: it names no version, or no layout hash")
    interface = Interface(AbiVersion(int(versions[0][0]), int(versions[0][1]), tuple(hashes)))
    for kind, arguments in lines:
        _add(interface, kind, arguments)
    return interface


def _add(to: Interface, kind: str, arguments: list[str]) -> None:
    name = arguments[0]
    if kind == "FE_SIZE":
        to.sizes[name] = int(arguments[1])
        to.structs.setdefault(name, {})
    elif kind == "FE_SLOT":
        to.structs.setdefault(name, {})[arguments[1]] = Slot(int(arguments[2]), _one_form(arguments[3].strip('"')))
    elif kind == "FE_VALUE":
        to.values.setdefault(name, {})[arguments[1]] = int(arguments[2])
    elif kind in ("FE_POINTER", "FE_FUNCTION"):
        to.functions[name] = _one_form(f"{arguments[1]} {arguments[2]}")
    elif kind == "FE_OP":
        to.revisions[name] = int(arguments[1])
        to.attributes.setdefault(name, {})
    elif kind == "FE_ATTRIBUTE":
        slot = Slot(int(arguments[2]), arguments[3].strip('"'), int(arguments[4]))
        to.attributes.setdefault(name, {})[arguments[1]] = slot


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


def _snapshots(a: Interface, b: Interface) -> Iterator[Difference]:
    for name, slots in a.structs.items():
        if name in b.structs:
            yield from _slots(name, slots, b.structs[name])
        else:
            yield Difference(name, "is gone", is_compatible=False)
    for name in b.structs.keys() - a.structs.keys():
        yield Difference(name, "is new", is_compatible=True)
    for name, values in a.values.items():
        yield from _values(name, values, b.values.get(name, {}))
    yield from _functions(a.functions, b.functions)
    for name in a.attributes:
        if name in b.attributes:
            yield from _op(name, a, b)
        else:
            yield Difference(f"op {name}", "is gone", is_compatible=False)
    for name in sorted(b.attributes.keys() - a.attributes.keys()):
        yield Difference(f"op {name}", "is new", is_compatible=True)


def _slots(struct: str, a: Mapping[str, Slot], b: Mapping[str, Slot]) -> Iterator[Difference]:
    end = max((slot.offset for slot in a.values()), default=-1)
    for name, slot in a.items():
        other = b.get(name)
        if other is None:
            yield Difference(struct, f"slot '{name}' is gone", is_compatible=False)
            continue
        if other.offset != slot.offset:
            yield Difference(struct, f"slot '{name}' moved from {slot.offset} to {other.offset}", is_compatible=False)
        if other.kind != slot.kind:
            yield Difference(struct, f"slot '{name}' was '{slot.kind}' and is '{other.kind}'", is_compatible=False)
    # A struct without a leading size is copied as a whole and used in arrays, so it cannot grow. fe_abi has its size in
    # a later field.
    can_grow = struct == "fe_abi" or all(slot.offset > 0 for slot in a.values())
    for name, slot in b.items():
        if name in a:
            continue
        if slot.offset > end and can_grow:
            yield Difference(struct, f"'{name}' appended", is_compatible=True)
        else:
            what = "inserted" if can_grow else "added to a struct that cannot grow,"
            yield Difference(struct, f"'{name}' {what} at {slot.offset}", is_compatible=False)


def _values(enumeration: str, a: Mapping[str, int], b: Mapping[str, int]) -> Iterator[Difference]:
    for name, value in a.items():
        if name not in b:
            yield Difference(enumeration, f"'{name}' is gone", is_compatible=False)
        elif b[name] != value and not _COUNTS.fullmatch(name):
            yield Difference(enumeration, f"'{name}' was {value} and is {b[name]}", is_compatible=False)
    for name in b.keys() - a.keys():
        is_free = b[name] not in a.values() or any(_COUNTS.fullmatch(n) and v == b[name] for n, v in a.items())
        yield Difference(enumeration, f"'{name}' = {b[name]} added", is_free)


def _functions(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Difference]:
    for name, signature in a.items():
        if name not in b:
            yield Difference(name, "is gone", is_compatible=False)
        elif b[name] != signature:
            yield Difference(name, f"was '{signature}' and is '{b[name]}'", is_compatible=False)
    for name in sorted(b.keys() - a.keys()):
        yield Difference(name, "is new", is_compatible=True)


def _op(name: str, a: Interface, b: Interface) -> Iterator[Difference]:
    subject = f"op {name}"
    before, after = a.revisions[name], b.revisions[name]
    if after < before:
        yield Difference(subject, f"its revision fell from {before} to {after}", is_compatible=False)
    for difference in _slots(subject, a.attributes[name], b.attributes[name]):
        yield Difference(subject, difference.what.replace("slot '", "attribute '"), difference.is_compatible)
    for attribute, slot in b.attributes[name].items():
        known = a.attributes[name].get(attribute)
        if known is None and slot.since <= before:
            yield Difference(
                subject, f"attribute '{attribute}' is new and claims revision {slot.since}", is_compatible=False
            )
        elif known is not None and known.since != slot.since:
            yield Difference(
                subject,
                f"attribute '{attribute}' was of revision {known.since} and is of {slot.since}",
                is_compatible=False,
            )

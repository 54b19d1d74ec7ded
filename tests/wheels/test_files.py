"""The files of all wheels in dist/, ferrule's and the backends', for all platforms, read by lief: what they need,
export and say of the system.

`./dev wheels all` builds the wheels. Nothing here runs what is in them.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zipfile
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import lief
import pytest

ROOT = Path(__file__).resolve().parents[2]
WHEELS = sorted((ROOT / "dist").glob("ferrule*.whl"))
BACKENDS = [path for path in WHEELS if path.name.startswith("ferrule_")]
# Bytes, by the name of the distribution.
LARGEST = {
    "ferrule": 13_000_000,
    "ferrule_cuda": 40_000_000,
    "ferrule_vulkan": 6_000_000,
    "ferrule_metal": 1_000_000,
}
# By the beginning of a platform's tag: what comes with each such system. With glibc that is the unwinder, too, which it
# opens itself when a thread ends early. The C++ library is inside each file, and drivers are opened lazily.
SYSTEM_LIBRARIES = {
    "manylinux": {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1"},
    "musllinux": {"libc.so"},
    "win": {"kernel32.dll", "advapi32.dll", "shell32.dll", "ntdll.dll", "psapi.dll"},
    "macosx": {"/usr/lib/libSystem.B.dylib"},
}
PYTHON = {"python311.dll"}
LIBFERRULE = {"libferrule.so", "libferrule.dll", "@rpath/libferrule.dylib"}
TAG = lief.ELF.DynamicEntry.TAG


class Contents(NamedTuple):
    """The machine that a file is for, the libraries that it needs, the names that it exports, its run paths."""

    machine: str
    needed: set[str]
    exported: set[str]
    run_path: list[str]


def elf(binary: lief.ELF.Binary) -> Contents:
    run_path = [path for entry in binary.dynamic_entries if isinstance(entry, lief.ELF.DynamicEntryRunPath)
                for path in entry.paths]  # fmt: skip
    needed = {str(name) for name in binary.libraries}
    return Contents(
        binary.header.machine_type.name.lower(), needed, {str(s.name) for s in binary.exported_symbols}, run_path
    )


def pe(binary: lief.PE.Binary) -> Contents:
    needed = {str(each.name).lower() for each in binary.imports}
    needed = {name for name in needed if not name.startswith("api-ms-win-crt-")}  # the C library of Windows 10
    return Contents(
        binary.header.machine.name.lower(), needed, {str(each.name) for each in binary.exported_functions}, []
    )


def mach_o(binary: lief.MachO.Binary) -> Contents:
    own = {each.name for each in binary.libraries if each.command == lief.MachO.LoadCommand.TYPE.ID_DYLIB}
    assert all(str(name).startswith("@rpath/") for name in own)
    # zig's linker lists these two, which each file has for itself.
    exported = {str(each.name).removeprefix("_") for each in binary.exported_symbols}
    exported -= {"_mh_dylib_header", "_mh_execute_header", "__dso_handle"}
    needed = {str(each.name) for each in binary.libraries} - own
    return Contents(binary.header.cpu_type.name.lower(), needed, exported, [str(each.path) for each in binary.rpaths])


class Wheel:
    """A wheel's files."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self.distribution = path.name.partition("-")[0]
        self.tag = path.stem.rpartition("-")[2]
        self.system = re.split(r"[_\d]", self.tag)[0]
        self.folder = folder
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)

    @cached_property
    def binaries(self) -> dict[str, Contents]:
        found = {}
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path.stat().st_size:
                binary = lief.parse(str(path)) if path.suffix in {"", ".so", ".dylib", ".dll", ".pyd", ".exe"} else None
                name = str(path.relative_to(self.folder))
                if isinstance(binary, lief.ELF.Binary):
                    found[name] = elf(binary)
                elif isinstance(binary, lief.PE.Binary):
                    found[name] = pe(binary)
                elif isinstance(binary, lief.MachO.Binary):
                    found[name] = mach_o(binary)
        return found


def name_of(path: Path) -> str:
    return path.stem


def those(paths: list[Path]) -> pytest.MarkDecorator:
    """Run a test on these wheels only."""
    return pytest.mark.parametrize("wheel", paths, indirect=True, ids=name_of)


@pytest.fixture(scope="module", params=WHEELS, ids=name_of)
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Wheel:
    return Wheel(request.param, tmp_path_factory.mktemp("wheel"))


@those([path for path in WHEELS if path not in BACKENDS])
def test_it_has_libferrule_the_extension_three_programs_and_modules(wheel: Wheel) -> None:
    names = {Path(name).name for name in wheel.binaries}
    ends = {"win": (".dll", ".exe"), "macosx": (".dylib", "")}
    library, program = ends.get(wheel.system, (".so", ""))
    assert f"libferrule{library}" in names
    assert {f"ferrule-{each}{program}" for each in ("probe", "manifest", "conformance")} <= names
    assert len([name for name in names if name.startswith("_ferrule.")]) == 1
    assert len([name for name in names if name.startswith("libferrule-cpu-")]) >= 3


@those(BACKENDS)
def test_a_backends_wheel_has_its_module_in_one_folder(wheel: Wheel) -> None:
    name = wheel.distribution.removeprefix("ferrule_")
    [folder] = [path for path in wheel.folder.iterdir() if not path.name.startswith(f"{wheel.distribution}-")]
    assert [*folder.iterdir()] == [wheel.folder / "ferrule_backends" / name]
    end = ".dll" if wheel.system == "win" else ".so"
    assert set(wheel.binaries) == {str(Path("ferrule_backends", name, f"libferrule-{name}{end}"))}


def test_its_sbom_has_the_libraries_of_the_compiler(wheel: Wheel) -> None:
    [path] = wheel.folder.glob("*.dist-info/sboms/*.cdx.json")
    components = {row["name"]: row for row in json.loads(path.read_text(encoding="utf-8"))["components"]}
    assert components.keys() >= {"libcxx", "libcxxabi", "zig-compiler-rt"}
    binaries = [(wheel.folder / name).read_bytes() for name in wheel.binaries]
    assert ("libunwind" in components) == any(b"libunwind: %s" in each for each in binaries), "its messages begin so"
    for row in components.values():
        files = [each["value"] for each in row["properties"] if each["name"] == "ferrule:license-file"]
        assert all((path.parents[1] / "licenses" / file).is_file() for file in files), row["name"]


def test_all_files_are_for_its_machine(wheel: Wheel) -> None:
    arm = wheel.tag.endswith(("arm64", "aarch64"))
    machines = {contents.machine for contents in wheel.binaries.values()}
    assert machines <= ({"aarch64", "arm64"} if arm else {"x86_64", "amd64"})


def test_they_need_the_system_and_libferrule_only(wheel: Wheel) -> None:
    for name, contents in wheel.binaries.items():
        others = {each for each in contents.needed if not each.startswith("ld-linux")} - SYSTEM_LIBRARIES[wheel.system]
        if Path(name).name.startswith("libferrule-"):
            assert others == set(), name
            assert contents.run_path == [], name
        else:
            assert others <= LIBFERRULE | (PYTHON if "_ferrule." in name else set()), name


def test_they_find_libferrule_in_the_wheel(wheel: Wheel) -> None:
    for name, contents in wheel.binaries.items():
        assert all(path.startswith(("$ORIGIN", "@loader_path")) for path in contents.run_path), name
        # Windows looks beside the file itself; the wheel is in no PATH.
        places = [""] if wheel.system == "win" else [path.partition("/")[2] for path in contents.run_path]
        for library in contents.needed & LIBFERRULE:
            file = Path(library).name
            assert any(((wheel.folder / name).parent / place / file).exists() for place in places), name


def test_they_export_what_they_should(wheel: Wheel) -> None:
    for name, contents in wheel.binaries.items():
        file = Path(name).name
        if file.startswith("libferrule-"):
            assert contents.exported == {"ferrule_backend_abi", "ferrule_backend_init", "ferrule_backend_score"}, name
        elif file.startswith("libferrule."):
            header = (wheel.folder / "ferrule/include/ferrule/ferrule.h").read_text(encoding="utf-8")
            assert contents.exported == {*re.findall(r"^FE_API [^;(]*?\b(fe_\w+)\(", header, re.MULTILINE)}
        elif file.startswith("_ferrule."):
            # On macOS and Windows pybind11 exports its exceptions, which its extensions share.
            others = {
                symbol for symbol in contents.exported if "pybind11" not in symbol or wheel.system.endswith("linux")
            }
            assert others == {"PyInit__ferrule"}
        elif wheel.system == "macosx":
            assert contents.exported == set(), name


def test_each_module_has_a_manifest_with_its_hash(wheel: Wheel) -> None:
    modules = [path for path in wheel.folder.rglob("libferrule-*") if path.suffix in {".so", ".dll"}]
    assert modules
    for module in modules:
        manifest = json.loads(module.with_suffix(".json").read_text(encoding="utf-8"))
        assert manifest["sha256"] == hashlib.sha256(module.read_bytes()).hexdigest(), module.name
        assert manifest["size"] == module.stat().st_size, module.name


def test_no_file_names_a_folder_of_the_machine_that_built_it(wheel: Wheel) -> None:
    folders = [f"{ROOT}/".encode(), f"{Path.home()}/.".encode()]
    files = [path for path in wheel.folder.rglob("*") if path.is_file()]
    assert [path for path in files if any(folder in path.read_bytes() for folder in folders)] == []


def test_it_is_small(wheel: Wheel) -> None:
    assert wheel.path.stat().st_size <= LARGEST[wheel.distribution]


def manylinux_wheels() -> pytest.MarkDecorator:
    """Run a test on the wheels for Linux with glibc."""
    return those([path for path in WHEELS if "-manylinux_" in path.name])


@manylinux_wheels()
def test_it_runs_on_old_systems(wheel: Wheel) -> None:
    assert [int(number) for number in re.findall(r"\d+", wheel.tag)[:2]] <= [2, 28]


def elf_modules(wheel: Wheel) -> list[lief.ELF.Binary]:
    paths = [wheel.folder / name for name in wheel.binaries if Path(name).name.startswith("libferrule-")]
    modules = [binary for binary in map(lief.parse, map(str, paths)) if isinstance(binary, lief.ELF.Binary)]
    assert modules
    return modules


@manylinux_wheels()
def test_opening_an_elf_module_runs_no_code_of_it(wheel: Wheel) -> None:
    for module in elf_modules(wheel):
        tags = {entry.tag for entry in module.dynamic_entries}
        assert TAG.STRTAB in tags
        assert tags & {TAG.INIT, TAG.INIT_ARRAY, TAG.PREINIT_ARRAY} == set()


@manylinux_wheels()
def test_an_unloaded_module_runs_its_destructors(wheel: Wheel) -> None:
    """Otherwise the process would run them when it ends, after the module is gone."""
    for module in elf_modules(wheel):
        assert TAG.FINI_ARRAY in {entry.tag for entry in module.dynamic_entries}
        assert "__cxa_finalize" in {str(symbol.name) for symbol in module.imported_symbols}


def macos_wheels(*ends: str) -> pytest.MarkDecorator:
    """Run a test on the wheels for macOS whose names end so."""
    return those([path for path in WHEELS if path.stem.endswith(ends) and "-macosx_" in path.name])


def mach_o_files(wheel: Wheel) -> list[Path]:
    return [wheel.folder / name for name in wheel.binaries]


def parsed(path: Path) -> lief.MachO.Binary:
    binary = lief.parse(str(path))
    assert isinstance(binary, lief.MachO.Binary)
    return binary


@macos_wheels("arm64", "x86_64")
def test_they_run_on_the_macos_of_the_tag(wheel: Wheel) -> None:
    for path in mach_o_files(wheel):
        binary = parsed(path)
        said = binary.build_version.minos if binary.build_version else None
        oldest = said or (binary.version_min.version if binary.version_min else [])
        numbers = re.findall(r"\d+", wheel.tag)
        assert [int(number) for number in numbers[:2]] == list(oldest[:2]), path.name


@macos_wheels("arm64", "x86_64")
def test_opening_a_mach_o_module_runs_no_code_of_it(wheel: Wheel) -> None:
    modules = [path for path in mach_o_files(wheel) if path.name.startswith("libferrule-")]
    assert modules
    for path in modules:
        binary = parsed(path)
        sections = {str(section.name) for section in binary.sections}
        assert "__text" in sections, path.name
        assert sections & {"__mod_init_func", "__init_offsets", "__constructor", "__objc_nlclslist"} == set(), path.name


def code_directory(path: Path) -> tuple[int, int, list[bytes], int]:
    """The flags of a signature, the bytes that it covers, the hashes of the pages and their size; Apple's
    cs_blobs.h describes the format."""
    binary = parsed(path)
    signature = binary.code_signature
    assert signature is not None, path.name
    data = path.read_bytes()[signature.data_offset :][: signature.data_size]
    magic, _, count = struct.unpack_from(">III", data)
    assert magic == 0xFADE0CC0
    [at] = [offset for kind, offset in struct.iter_unpack(">II", data[12 : 12 + 8 * count]) if kind == 0]
    magic, _, _, flags, hashes, _, _, pages, covered, size, kind, _, page_bits = struct.unpack_from(">9I4B", data, at)
    assert (magic, size, kind) == (0xFADE0C02, 32, 2)  # SHA-256
    assert covered == signature.data_offset
    return flags, covered, [data[at + hashes + size * page :][:size] for page in range(pages)], 1 << page_bits


@macos_wheels("arm64")
def test_they_are_signed_ad_hoc(wheel: Wheel) -> None:
    """macOS runs nothing on Arm that has no signature, or that was changed after it was signed."""
    for path in mach_o_files(wheel):
        flags, covered, hashes, page = code_directory(path)
        assert flags & 0x2, path.name  # CS_ADHOC
        content = path.read_bytes()[:covered]
        pages = [content[begin : begin + page] for begin in range(0, covered, page)]
        assert [hashlib.sha256(each).digest() for each in pages] == hashes, path.name

"""Includes point one way: between the parts of csrc (bindings -> ferrule.h <- core -> ops -> base -> sdk <- backends),
between the folders of the core, and between those of a backend whose page lists them in order. There is no cycle among
files, among the units of a folder of the core, or among the folders of a backend. The emulator of CUDA includes nothing
of csrc."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "csrc"
EMULATION = ROOT / "tests" / "emulation"
PATTERNS = ("*.h", "*.hpp", "*.c", "*.cpp", "*.cu", "*.cuh", "*.inc")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

# The parts that the files of each part may include besides the part itself and the standard library.
PARTS = {
    "sdk": set[str](),
    "base": {"sdk"},
    "ops": {"sdk", "base"},
    "windows": set(),
    "module_file": {"sdk", "windows"},
    "core": {"sdk", "base", "ops", "host", "module_file", "windows"},
    "backends": {"sdk"},
    "bindings": {"host"},
    "probe": {"host", "module_file", "windows"},
    "manifest": {"module_file"},
    "conformance": {"sdk", "windows"},
}
# The folders of csrc/core, lowest first; "." holds the files beside them. A file includes files of its own folder and
# of folders that stand before it.
CORE_FOLDERS = [
    "sync",
    ".",
    "trace",
    "platform/files",
    "platform/machine",
    "platform/libraries",
    "platform/drivers",
    "cache",
    "threads",
    "registry",
    "loader/options",
    "loader/report",
    "loader/candidate",
    "loader/trust",
    "loader/probe",
    "loader/search",
    "loader",
    "graph",
    "memory",
    "copy",
    "compiler",
    "executor",
    "lazy",
    "api",
]
# Folders of csrc/core whose units need each other: memory is given back after the work of queues that use it, and the
# allocator, when it is short of memory, waits for that work.
FOLDERS_WITH_A_CYCLE_OF_UNITS = {"memory"}
# Types and dtypes are for both sides, the host C API for programs and bindings, the rest of sdk/ferrule for backends.
SHARED_HEADERS = {"ferrule/types.h", "ferrule/dtypes.h"}
HOST_HEADERS = {"ferrule/ferrule.h", *SHARED_HEADERS}
LIBRARIES = {
    "fmt/": {"base", "ops", "core", "module_file", "probe", "manifest", "fmt"},
    "nlohmann/": {"base", "ops", "core", "module_file", "probe", "manifest"},
    "pybind11/": {"bindings"},
    "numpy/": {"bindings"},
}
SYSTEM_FOLDERS = ("sys/", "linux/", "mach/", "mach-o/", "bits/")
OTHER_LIBRARY = "a library that only backends may need"
GENERATED = {
    "op_table.inc": "ops",
    "op_samples.inc": "conformance",
}


def files() -> Iterator[Path]:
    """All but the tests of backends, which may include what tests/cpp may."""
    for pattern in PATTERNS:
        yield from (file for file in sorted(SOURCES.rglob(pattern)) if "tests" not in file.relative_to(SOURCES).parts)


def part_of(path: Path) -> str:
    """The part that a file belongs to; each backend is its own part."""
    folders = path.relative_to(SOURCES).parts
    return "/".join(folders[:2]) if folders[0] == "backends" else folders[0]


def backends() -> list[str]:
    """The folders of the backends, from csrc."""
    return [relative(folder) for folder in sorted((SOURCES / "backends").iterdir()) if folder.is_dir()]


def included_file(file: Path, name: str) -> Path | None:
    """The file of csrc that an include line of this file reaches; None for libraries and for generated files."""
    for folder in (file.parent, SOURCES / Path(*part_of(file).split("/")), SOURCES, SOURCES / "sdk"):
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None


def includes_of_files() -> dict[str, set[str]]:
    """For each file the files that it includes, by their paths from csrc."""
    included: dict[str, set[str]] = {}
    for file in files():
        names = [name for _, name in INCLUDE.findall(file.read_text(encoding="utf-8"))]
        found = [included_file(file, name) for name in names]
        included[relative(file)] = {relative(path) for path in found if path is not None}
    return included


def includes_of_units(included: Mapping[str, Iterable[str]], folder: str) -> dict[str, set[str]]:
    """The same for the units of a folder, which are a header together with the source of its name."""
    units: dict[str, set[str]] = {}
    for file, others in included.items():
        if Path(file).parent.as_posix() == folder:
            reached = {Path(other).stem for other in others if Path(other).parent.as_posix() == folder}
            units.setdefault(Path(file).stem, set()).update(reached - {Path(file).stem})
    return units


def relative(file: Path) -> str:
    return file.relative_to(SOURCES).as_posix()


def cycle_in(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """The nodes of a cycle, the first one again at the end; empty when there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(node) for node in error.args[1]]
    return []


def folder_of(file: str, base: str) -> str:
    """The folder of a file, from the base."""
    return Path(file).relative_to(base).parent.as_posix()


def includes_of_folders(included: Mapping[str, Iterable[str]], base: str) -> dict[str, set[str]]:
    """For each folder below the base, and the base itself ("."), the other ones that its files include."""
    folders: dict[str, set[str]] = {}
    for file, others in included.items():
        if file.startswith(f"{base}/"):
            reached = {folder_of(other, base) for other in others if other.startswith(f"{base}/")}
            folders.setdefault(folder_of(file, base), set()).update(reached - {folder_of(file, base)})
    return folders


def folders_out_of_order(included: Mapping[str, Iterable[str]]) -> list[str]:
    """Include lines of the core that reach a folder which stands behind their own in CORE_FOLDERS."""
    return [
        f"core/{folder} includes core/{other}"
        for folder, others in sorted(includes_of_folders(included, "core").items())
        for other in sorted(others)
        if CORE_FOLDERS.index(other) > CORE_FOLDERS.index(folder)
    ]


def target_of(file: Path, quote: str, name: str) -> str | None:
    """The part, or the library, that an include line reaches; None for the standard library and the system's."""
    if name.startswith("ferrule/"):
        return "host" if name in HOST_HEADERS and part_of(file) != "sdk" else "sdk"
    for library in LIBRARIES:
        if name.startswith(library):
            return library
    if quote == "<":
        return None if "/" not in name or name.startswith(SYSTEM_FOLDERS) else OTHER_LIBRARY
    if name in GENERATED:
        return GENERATED[name]
    included = included_file(file, name)
    if included is not None:
        return part_of(included)
    if any((SOURCES / Path(*part_of(file).split("/"))).rglob(f"{name}.in")):  # CMake makes it of this part's template
        return part_of(file)
    return f"nowhere ({name})"


def is_allowed(part: str, target: str, name: str) -> bool:
    kind = part.split("/")[0]
    if target in (part, None):
        return True
    if target in LIBRARIES:
        return kind in LIBRARIES[target]
    if target == OTHER_LIBRARY:
        return kind == "backends"
    if name in SHARED_HEADERS:
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


def test_sources_are_found() -> None:
    found = list(files())
    assert len(found) > 20
    assert {".h", ".cpp", ".cu", ".inc"} <= {file.suffix for file in found}


def test_include_lines_follow_the_arrows() -> None:
    assert [line for file in files() for line in violations(file)] == []


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("core/x.cpp", '#include "backends/cpu/kernel.h"'),
        ("backends/null/module.cpp", '#include "base/dtype.h"'),
        ("backends/null/module.cpp", '#include "backends/cpu/kernel.h"'),
        ("backends/null/module.cpp", "#include <ferrule/ferrule.h>"),
        ("bindings/x.cpp", "#include <ferrule/backend.h>"),
        ("bindings/x.cpp", '#include "base/dtype.h"'),
        ("ops/x.cpp", '#include "core/layout_check.cpp"'),
        ("base/x.cpp", '#include "ops/row.h"'),
        ("sdk/x.cpp", "#include <hwy/highway.h>"),
        ("module_file/x.h", '#include "base/dtype.h"'),
        ("ops/x.cpp", '#include "module_file/image.h"'),
        ("backends/null/module.cpp", '#include "module_file/image.h"'),
        ("core/x.cpp", "#include <vulkan/vulkan.h>"),
        ("backends/cuda/kernels/x.cu", '#include "base/dtype.h"'),
    ],
)
def test_include_against_the_order_is_found(place: str, line: str) -> None:
    quote, name = INCLUDE.findall(line)[0]
    file = SOURCES / place
    target = target_of(file, quote, name)
    assert target is not None
    assert not is_allowed(part_of(file), target, name)


def test_no_files_include_each_other_in_a_cycle() -> None:
    assert cycle_in(includes_of_files()) == []


def test_folders_of_the_core_include_lower_ones_only() -> None:
    included = includes_of_files()
    folders = includes_of_folders(included, "core")
    assert sorted(folders) == sorted(CORE_FOLDERS)
    assert cycle_in(folders) == []
    assert folders_out_of_order(included) == []


@pytest.mark.parametrize(
    ("file", "other"),
    [
        ("core/sync/mutexes.h", "core/trace/traced_work.h"),
        ("core/registry/manifest.h", "core/loader/candidate/candidate.h"),
        ("core/loader/candidate/candidate.h", "core/loader/trust/trust_check.h"),
    ],
)
def test_a_cycle_is_found(file: str, other: str) -> None:
    included = includes_of_files()
    included[file].add(other)
    folders = includes_of_folders(included, "core")
    for graph, member in ((included, file), (folders, folder_of(file, "core"))):
        cycle = cycle_in(graph)
        assert cycle[0] == cycle[-1]
        assert member in cycle
    assert folders_out_of_order(included) == [
        f"core/{folder_of(file, 'core')} includes core/{folder_of(other, 'core')}"
    ]


def test_a_cycle_within_a_folder_is_found() -> None:
    included = includes_of_files()
    included["core/registry/device_properties.h"].add("core/registry/device.h")
    assert {"core/registry/device_properties.h", "core/registry/device.h"} <= set(cycle_in(included))
    assert folders_out_of_order(included) == []


def test_units_of_a_folder_of_the_core_include_each_other_in_no_cycle() -> None:
    included = includes_of_files()
    cycles = {
        folder: cycle_in(includes_of_units(included, (Path("core") / folder).as_posix())) for folder in CORE_FOLDERS
    }
    assert {folder for folder, cycle in cycles.items() if cycle} == FOLDERS_WITH_A_CYCLE_OF_UNITS, cycles


def test_a_cycle_of_units_without_a_cycle_of_files_is_found() -> None:
    included = includes_of_files()
    included["core/registry/device.cpp"].add("core/registry/backend.h")
    assert cycle_in(included) == []
    assert {"device", "backend"} <= set(cycle_in(includes_of_units(included, "core/registry")))


def folders_in_order(backend: str) -> list[str]:
    """The folders that a backend's page lists, lowest first: in a table after this sentence. Empty without it."""
    page = SOURCES / backend / "docs" / "README.md"
    sentence = "A file includes files of its own folder and of folders that stand above it in this table."
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    table = text.partition(sentence)[2].partition("\n\n|")[2].partition("\n\n")[0]
    first_column = re.findall(r"^\|? ?(`[^|]*`) \|", table, re.MULTILINE)
    return [name.rstrip("/") for column in first_column for name in re.findall(r"`([^`]+)`", column)]


def test_folders_of_the_cuda_backend_include_those_above_them_in_its_page() -> None:
    order = folders_in_order("backends/cuda")
    folders = includes_of_folders(includes_of_files(), "backends/cuda")
    top = {folder: others for folder, others in tops(folders).items() if folder != "docs"}
    assert set(top) - {"."} <= set(order)
    assert {"parameters", "kernels", "device"} <= set(top)
    against = [
        f"{folder} includes {other}"
        for folder, others in sorted(top.items())
        for other in sorted(others)
        if order.index(other) > order.index(folder)
    ]
    assert against == []


def tops(folders: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """The same for the outermost folders alone: kernels for kernels/reduction."""
    found: dict[str, set[str]] = {}
    for folder, others in folders.items():
        own = folder.partition("/")[0]
        found.setdefault(own, set()).update(other.partition("/")[0] for other in others)
        found[own].discard(own)
    return found


def files_of_the_emulator() -> list[Path]:
    """Without its tests, which include GoogleTest, and the headers of MSL's kernels."""
    found = [file for pattern in PATTERNS for file in sorted(EMULATION.rglob(pattern))]
    return [file for file in found if not {"checks", "msl"} & set(file.relative_to(EMULATION).parts)]


def names_of_the_emulator() -> dict[str, str]:
    """The files of the emulator, from its folder, by the names in include lines. CUDA's own headers have short ones."""
    names = [file.relative_to(EMULATION).as_posix() for file in files_of_the_emulator()]
    return {name.removeprefix("cuda/") if Path(name).parent == Path("cuda") else name: name for name in names}


def includes_of_the_emulator() -> dict[str, set[str]]:
    """For each file the files that it includes."""
    names = names_of_the_emulator()
    return {
        file.relative_to(EMULATION).as_posix(): {
            names[name] for _, name in INCLUDE.findall(file.read_text(encoding="utf-8")) if name in names
        }
        for file in files_of_the_emulator()
    }


def test_the_emulator_includes_its_own_files_alone() -> None:
    """Other projects add it without csrc."""
    names = names_of_the_emulator()
    assert "cuda/runtime/streams.cpp" in names
    foreign = [
        f"{file.relative_to(EMULATION)} includes {name}"
        for file in files_of_the_emulator()
        for quote, name in INCLUDE.findall(file.read_text(encoding="utf-8"))
        if quote == '"' and name not in names
    ]
    assert foreign == []


def test_files_and_folders_of_the_emulator_include_each_other_in_no_cycle() -> None:
    included = includes_of_the_emulator()
    assert cycle_in(included) == []
    folders: dict[str, set[str]] = {}
    for file, others in included.items():
        own = Path(file).parent.as_posix()
        reached = {Path(other).parent.as_posix() for other in others}
        # These folders have CUDA's own headers, and the interface of MSL's libraries, besides their parts.
        folders.setdefault(own, set()).update(reached - {own, "cuda", "metal"})
    folders.pop("cuda")
    folders.pop("metal")
    assert cycle_in(folders) == []
    assert folders["cuda/runtime"] >= {"emulation"}
    assert folders["metal/simulated"] >= {"metal/objc"}


def test_the_emulators_of_cuda_and_of_metal_share_threads_alone() -> None:
    parts = {
        (Path(file).parts[0], Path(other).parts[0])
        for file, others in includes_of_the_emulator().items()
        for other in others
    }
    assert parts == {(part, other) for part in ("cuda", "metal") for other in (part, "emulation")} | {
        ("emulation", "emulation")
    }


@pytest.mark.parametrize("backend", backends())
def test_folders_of_a_backend_include_each_other_in_no_cycle(backend: str) -> None:
    assert cycle_in(includes_of_folders(includes_of_files(), backend)) == []


def test_a_cycle_of_folders_without_a_cycle_of_files_is_found() -> None:
    included = {
        "backends/any/device.h": {"backends/any/a/lower.h"},
        "backends/any/a/lower.h": set[str](),
        "backends/any/a/upper.h": {"backends/any/b/middle.h"},
        "backends/any/b/middle.h": {"backends/any/a/lower.h", "sdk/ferrule/backend.h"},
    }
    assert cycle_in(included) == []
    assert set(cycle_in(includes_of_folders(included, "backends/any"))) == {"a", "b"}


def test_an_include_that_closes_a_cycle_of_folders_is_found() -> None:
    included = includes_of_files()
    graphs = [includes_of_folders(included, backend) for backend in backends()]
    pairs = [(graph, folder, lower) for graph in graphs for folder in graph for lower in graph[folder]]
    assert pairs
    for graph, folder, lower in pairs:
        assert {folder, lower} <= set(cycle_in({**graph, lower: {*graph[lower], folder}}))


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

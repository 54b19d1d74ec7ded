"""The hostile modules of tests/hostile that Windows can have, in wine: each gets its row in the load report, and the
process that loads goes on. `./dev verify wine` puts CPython with the wheel in $FERRULE_WINDOWS_PYTHON."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hostile_modules.catalogue import HOSTILE_MODULES, hostile_module_named
from hostile_modules.hostile_module import PACKAGE, SHORT_PROBE, HostileModule, Place, Toolchain, compile_module
from hostile_modules.load_runner import LoadResult, request_for
from ports.programs import windows_path

FOLDER = Path(os.environ.get("FERRULE_WINDOWS_PYTHON", "."))
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "hostile" / "hostile_modules" / "load_and_report.py"
SECONDS_PER_LOAD = 300  # wine starts CPython and NumPy within some seconds

# Modules of these sources ask POSIX for something. (Jobs of wine have no limit of memory.)
POSIX_SOURCES = {"memory.c", "needs.c", "parent.c", "pipes.c", "replaced.c", "stopped.c", "symbols.c"}
LEFT_OUT = {
    # Constructors run while Windows loads the file, and Windows itself handles their faults.
    *(hostile.name for hostile in HOSTILE_MODULES if "HOSTILE_STEP=STEP_OPEN" in hostile.defines),
    # POSIX
    *("handlers", "blocked_signals", "traps", "mask", "descriptors", "descriptors_of_close", "output", "leaks"),
    *("grandchild", "fleeing_child"),
    # ELF
    *("abi_misaligned", "abi_of_no_bytes", "abi_not_in_the_file", "abi_huge"),
    # files that wine's drive of this system's files shows otherwise
    *("fifo", "device", "dangling_link", "looping_link", "manifest_is_a_fifo", "manifest_is_a_device"),
    # a fault while the library is removed, which wine's loader handles
    "crash_unload",
    # names without regard to their case, or with an end that is not .dll
    *("beside_bytes", "twin", "same_name"),
}
CHOSEN = [
    hostile
    for hostile in HOSTILE_MODULES
    if hostile.source not in POSIX_SOURCES and hostile.name not in LEFT_OUT and not hostile.flags
]

# Pairs of patterns: the reason that a report gives on Linux, and what it is on Windows. In wine, a process whose stack
# overflows ends with status 0.
WORDS = (
    (r"its probe was ended by SIG", r"ended by SIG"),
    (
        r"ended by SIGSEGV .*",
        r"(ended by (an access violation|a stack overflow)|ended its process with exit status 0) .*",
    ),
    (r"ended by SIGABRT .*", r"(ended by a fast fail|with exit status 3) .*"),
    (r"ended by SIG", r"ended by "),
    # Module and probe have one C++ library here.
    (r"an exception of an unknown type", r"thrown by the hostile module"),
    # A PE file does not tell the sizes of what it exports.
    (r"constant data|ends after 8", r"layout hashes"),
)
# A crash takes seconds in wine, whose debugger starts, and its pipes are slow: only what never ends has a short limit.
PATIENCE = 60
ENDLESS = {hostile.name for hostile in CHOSEN if hostile.hangs}


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    os.environ[PACKAGE] = str(FOLDER / "Lib" / "site-packages" / "ferrule")
    zig = os.environ["FERRULE_ZIG"]
    target = ("-target", "x86_64-windows-gnu", "-fno-sanitize=undefined")
    return Toolchain((zig, "cc", *target), (zig, "c++", *target), (), ("-s",), ".dll")


@pytest.fixture
def home(hostile: HostileModule, request: pytest.FixtureRequest) -> Path:
    """A folder of a module that only its owner can write; wine does not know the bit that protects files in /tmp."""
    folder = FOLDER.parent / "hostile" / re.sub(r"\W+", "_", request.node.name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def load(
    folder: Path, home: Path, add_on: str | None = None, environment: Mapping[str, str] | None = None, **options: object
) -> LoadResult:
    answer = home / "answer.json"
    answer.unlink(missing_ok=True)
    (home / "here").mkdir(exist_ok=True)
    request = request_for([Path(windows_path(folder))], options=options, add_on=add_on)
    unwanted = ("FERRULE_", "HOSTILE_", "PYTHON", "WINEPATH")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    variables |= {
        "FERRULE_CACHE_DIR": windows_path(home / "cache"),
        "FERRULE_PROBE_TIMEOUT": str(SHORT_PROBE if folder.name in ENDLESS else PATIENCE),
        "HOSTILE_MARKS": windows_path(home / "marks"),
        "WINEDEBUG": "-all",
        **(environment or {}),
    }
    ended = subprocess.run(
        ["wine", FOLDER / "python.exe", windows_path(PROGRAM), json.dumps(request), windows_path(answer)],
        cwd=home / "here",
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS_PER_LOAD,
    )
    printed = (ended.stdout + ended.stderr)[:100_000].decode(errors="replace")
    assert ended.returncode == 0, printed
    return LoadResult(json.loads(answer.read_text()), living_processes(folder.name), printed)


def living_processes(module: str) -> list[str]:
    """The command lines of the probes of a module, and of the processes that it starts."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has ended
            continue
        is_of_it = any(re.split(r"[\\ ]", word)[-1] in (module, f"libferrule-{module}.dll") for word in words)
        if is_of_it and re.search("ferrule-probe|cmd", words[0]):
            found.append(" ".join(words))
    return found


def check_row(hostile: HostileModule, row: dict[str, Any]) -> None:
    message = f"{row['state']}: {row['reason']}; notes: {row['notes']}; output: {row['output'][:500]}"
    reason = hostile.reason
    for here, there in WORDS:
        reason = reason.replace(here, there)
    assert re.fullmatch(hostile.state, row["state"]), message
    assert re.search(reason, row["reason"]), message
    assert "\n" not in row["reason"], "one sentence"
    assert len(row["devices"]) == (1 if row["state"] == "loaded" else 0)


@pytest.mark.parametrize("hostile", CHOSEN, ids=lambda hostile: hostile.name)
def test_hostile_module_gets_its_row_and_the_process_stays_intact(
    hostile: HostileModule, home: Path, toolchain: Toolchain
) -> None:
    folder = home / hostile.name
    folder.mkdir()
    hostile.put(Place(hostile, folder, toolchain))
    result = load(folder, home, "innocent" if hostile.name == "innocent" else None, hostile.environment)
    row = result.row(hostile.file_by(toolchain))
    check_row(hostile, row)
    assert result.left == []
    assert result.reported["cpu_faults"] == []
    assert result.reported["changed"] == {}
    hostile.check(result, row)
    marks = (home / "marks").read_text().split() if (home / "marks").exists() else []
    if not hostile.runs:
        assert marks == [], "nothing of it may run"
    elif row["state"] in ("probe_failed", "error"):
        assert str(result.reported["pid"]) not in marks[::2], "no step runs in the process that loads"


INNOCENT = hostile_module_named("innocent")


@pytest.mark.parametrize("hostile", [INNOCENT], ids=["innocent"])
@pytest.mark.parametrize("what", ["module", "folder", "manifest"])
def test_what_everybody_can_write_is_unsafe(
    what: str, hostile: HostileModule, home: Path, toolchain: Toolchain
) -> None:
    """wine makes a file's access list from its mode."""
    folder = home / "innocent"
    folder.mkdir()
    place = Place(hostile, folder, toolchain)
    place.put_module()
    place.put_manifest()
    path = {"module": place.module, "folder": folder, "manifest": place.module.with_suffix(".json")}[what]
    path.chmod(0o777)
    refused = load(folder, home).row(place.module.name)
    assert refused["state"] == "unsafe"
    assert refused["reason"].startswith(f"{windows_path(path)} can be written by everybody")
    assert not (home / "marks").exists(), "nothing of it may run"
    assert load(folder, home, trust="any").row(place.module.name)["state"] == "loaded"
    path.chmod(0o755)
    assert load(folder, home).row(place.module.name)["state"] == "loaded"


HELPED = HostileModule("helped", "loaded", source="needs.c")


@pytest.mark.parametrize("hostile", [HELPED], ids=["helped"])
def test_library_beside_the_program_is_found_by_the_probe_too(
    hostile: HostileModule, home: Path, toolchain: Toolchain
) -> None:
    """As those of MSVC's C++ library, which lie beside python.exe. ferrule-probe.exe lies elsewhere."""
    (home / "helper.c").write_text("__declspec(dllexport) int hostile_from_elsewhere(void) { return 42; }\n")
    library = FOLDER / "ferrule-helps.dll"
    folder = home / "helped"
    folder.mkdir()
    try:
        command = [*toolchain.c, "-shared", "helper.c", "-o", str(library), "-Wl,--out-implib,helper.lib"]
        subprocess.run(command, check=True, cwd=home)
        compile_module(
            replace(hostile, flags=(str(home / "helper.lib"),)), folder / hostile.file_by(toolchain), toolchain
        )
        row = load(folder, home).row(hostile.file_by(toolchain))
    finally:
        library.unlink(missing_ok=True)
        library.with_suffix(".pdb").unlink(missing_ok=True)
    assert (row["state"], row["probed"]) == ("loaded", "yes"), row["reason"]
    marks = (home / "marks").read_text().split()
    assert len(set(marks[::2])) == 2, "the probe and the process that loads ran it"


DRIVERS = r"HKLM\SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}\0799"


@pytest.mark.parametrize("hostile", [INNOCENT], ids=["innocent"])
def test_another_display_driver_asks_for_another_probe(
    hostile: HostileModule, home: Path, toolchain: Toolchain
) -> None:
    def set_driver(version: str) -> None:
        command = ["wine", "reg", "add", DRIVERS, "/f", "/v", "DriverVersion", "/d", version]
        subprocess.run(command, env=os.environ | {"WINEDEBUG": "-all"}, check=True, capture_output=True)

    folder = home / "innocent"
    folder.mkdir()
    Place(hostile, folder, toolchain).put_module()

    def probed() -> str:
        return str(load(folder, home).row(hostile.file_by(toolchain))["probed"])

    try:
        set_driver("31.0.15.5222")
        assert probed() == "yes"
        assert probed() == "cached"
        set_driver("31.0.15.5223")
        assert probed() == "yes"
        assert probed() == "cached"
    finally:
        subprocess.run(["wine", "reg", "delete", DRIVERS, "/f"], env=os.environ | {"WINEDEBUG": "-all"}, check=True)


def test_most_hostile_modules_are_tried() -> None:
    assert len(CHOSEN) > 90

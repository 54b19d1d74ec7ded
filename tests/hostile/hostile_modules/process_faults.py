"""Modules that interfere with the process: with process-wide state, with its parent, or with the probe's answer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from hostile_modules.hostile_module import HostileModule, Place, compile_module
from hostile_modules.load_runner import LoadResult

# The probe's answer for a good module, as a C string.
ANSWER = '{"answer": {"error": null, "changes": [], "notes": [], "threads": 0, "version": "1", "devices": []}}'
FORGED = '"' + ANSWER.replace('"', r"\"") + r'\n"'


def changing(name: str, change: str, what: str, step: str = "INIT", note: str = "") -> HostileModule:
    defines = (f"HOSTILE_CHANGE={change}", f"HOSTILE_STEP=STEP_{step}")
    if note:
        return HostileModule(name, "loaded", source="process.c", defines=defines, note=note)
    return HostileModule(name, "probe_failed", rf"changes the process: .*{what}", source="process.c", defines=defines)


def closing(name: str, step: str) -> HostileModule:
    defines = ("HOSTILE_CHANGE=descriptors", f"HOSTILE_STEP=STEP_{step}")
    return HostileModule(
        name, "probe_failed", "closes descriptors that are not its own", source="process.c", defines=defines
    )


def leaving(name: str, child: str) -> HostileModule:
    """It starts children only in the probe, because nothing computes on it here: none may be left."""
    note = "leaves processes behind, which were ended"
    return HostileModule(name, "loaded", source="children.c", defines=(f"HOSTILE_CHILD={child}",), note=note)


def against_its_parent(name: str, signal: str, *defines: str) -> HostileModule:
    """It is unknown what ended the probe, so no verdict is cached."""
    return HostileModule(
        name,
        "probe_failed",
        "its probe (was killed from outside|does not answer)",
        source="parent.c",
        defines=(f"HOSTILE_SIGNAL={signal}", *defines),
        is_steady=False,
    )


def put_with_a_missing_library(place: Place) -> None:
    source = place.folder / "missing.c"
    library = place.folder / "libhostile_missing.so.1"
    source.write_text("int hostile_from_elsewhere(void) { return 42; }\n")
    command = ["cc", "-shared", "-fPIC", str(source), "-o", str(library), "-Wl,-soname,libhostile_missing.so.1"]
    subprocess.run(command, check=True)
    place.put_module()
    os.unlink(library)
    source.unlink()


def put_with_a_library_beside_it(place: Place) -> None:
    """The library is found without environment variable or run path: libraries beside a module belong to it."""
    put_with_a_missing_library(place)
    source = place.folder / "beside.c"
    source.write_text("int hostile_from_elsewhere(void) { return 42; }\n")
    library = place.folder / "libhostile_missing.so.1"
    command = ["cc", "-shared", "-fPIC", str(source), "-o", str(library), "-Wl,-soname,libhostile_missing.so.1"]
    subprocess.run(command, check=True)
    source.unlink()


def maps_what_lies_beside(result: LoadResult, row: dict[str, Any]) -> None:
    mapped = [Path(file).name for file in row["files"]]
    assert mapped[0] == "libferrule-library_beside.so"
    assert "libhostile_missing.so.1" in mapped


def put_a_pair(place: Place) -> None:
    """A second module that exports the same symbols."""
    place.put_module()
    twin = HostileModule("same_symbols_twin", "loaded", source="symbols.c")
    compile_module(twin, place.folder / twin.file)


def loads_the_pair(result: LoadResult, row: dict[str, Any]) -> None:
    assert result.row("libferrule-same_symbols_twin.so")["state"] == "loaded"


def put_with_a_replacement(place: Place) -> None:
    place.put_module()
    os.makedirs(place.folder / "other")
    compile_module(HostileModule(place.hostile.name, "loaded"), place.folder / "other" / "module")


def replaced(name: str, reason: str, *defines: str) -> HostileModule:
    return HostileModule(
        name,
        "error",
        reason,
        source="replaced.c",
        defines=defines,
        put=put_with_a_replacement,
        is_steady=False,
        environment={"HOSTILE_REPLACEMENT": "{folder}/other/module"},
    )


HOSTILE_MODULES = [
    changing("locale", "locale", "locale"),
    changing("locale_of_constructor", "locale", "locale", "OPEN"),
    changing("handlers", "handlers", "handlers of SIGSEGV, SIGTERM"),
    changing("blocked_signals", "blocked_signals", "signal"),
    changing("flush_to_zero", "flush_to_zero", "floating"),
    changing("flush_to_zero_of_constructor", "flush_to_zero", "floating", "OPEN"),
    changing("flush_to_zero_of_execute", "flush_to_zero", "floating", "EXECUTE"),
    changing("rounding", "rounding", "rounding of floating"),
    changing("traps", "traps", "floating"),
    changing("directory", "directory", "directory"),
    changing("mask", "mask", "umask"),
    changing("environment", "environment", "", note="it sets HOSTILE_WAS_HERE in the environment"),
    closing("descriptors", "INIT"),
    closing("descriptors_of_close", "CLOSE"),
    changing("output", "output", "standard output"),
    HostileModule(
        "leaks", "loaded", source="process.c", defines=("HOSTILE_CHANGE=leaks", "HOSTILE_STEP=STEP_DEVICE_OPEN")
    ),
    HostileModule("threads", "loaded", source="threads.c", note="3 threads"),
    HostileModule("running_threads", "loaded", source="threads.c", defines=("HOSTILE_RUNNING",), note="3 threads"),
    leaving("child", "child"),
    leaving("grandchild", "daemon_of_its_own"),
    leaving("fleeing_child", "fleeing"),
    leaving("swarm", "swarm"),
    against_its_parent("kills_parent", "SIGKILL"),
    against_its_parent("kills_parent_and_stays", "SIGKILL", "HOSTILE_STAYS"),
    against_its_parent("stops_parent_and_stays", "SIGSTOP", "HOSTILE_STAYS"),
    against_its_parent("terminates_parent_and_stays", "SIGTERM", "HOSTILE_STAYS"),
    HostileModule("rubbish_in_pipes", "probe_failed", "probe", source="pipes.c"),
    HostileModule("forged_verdict", "probe_failed", "probe", source="pipes.c", defines=(f"HOSTILE_FORGED={FORGED}",)),
    HostileModule(
        "forged_verdict_and_success",
        "probe_failed",
        "ended its process with exit status 0",
        source="pipes.c",
        defines=(f"HOSTILE_FORGED={FORGED}", "HOSTILE_SUCCEEDS"),
    ),
    HostileModule("same_symbols", "loaded", source="symbols.c", put=put_a_pair, check=loads_the_pair),
    HostileModule(
        "missing_library",
        "error",
        "libhostile_missing.so.1",
        source="needs.c",
        flags=("./libhostile_missing.so.1",),
        put=put_with_a_missing_library,
        runs=False,
    ),
    HostileModule(
        "library_beside",
        "loaded",
        source="needs.c",
        flags=("./libhostile_missing.so.1",),
        put=put_with_a_library_beside_it,
        check=maps_what_lies_beside,
    ),
    HostileModule("missing_symbol", "error", "hostile_from_elsewhere", source="needs.c", runs=False),
    replaced("replaced_by_rename", "replaced|changed"),
    replaced("rewritten_in_place", "replaced|changed", "HOSTILE_REWRITTEN"),
]

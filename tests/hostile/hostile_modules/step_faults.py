"""Modules that fail in one of the steps of a probe."""

from __future__ import annotations

from typing import Any

from hostile_modules.hostile_module import TOO_LONG, HostileModule
from hostile_modules.load_runner import LoadResult

STEPS = ("open", "score", "init", "enumerate", "device_open", "compile", "execute", "close")


def ended_by(signal: str, step: str) -> str:
    return rf"its probe was ended by {signal} .*\(step '{step}'"


def fault(name: str, function: str, reason: str, step: str) -> HostileModule:
    defines = (f"HOSTILE_FAULT={function}", f"HOSTILE_STEP=STEP_{step.upper()}")
    return HostileModule(f"{name}_{step}", "probe_failed", reason, source="family.c", defines=defines)


def throwing(step: str) -> HostileModule:
    # The wheel has its own C++ library, which does not know the exceptions of others. An exception of a constructor
    # passes through the system's loader, which may end the program.
    reason = "an exception of an unknown type|thrown by the hostile module" + (
        f"|{ended_by('SIGABRT', step)}" if step in ("open", "close") else ""
    )
    defines = (f"HOSTILE_STEP=STEP_{step.upper()}",)
    return HostileModule(f"throw_{step}", "error|probe_failed", reason, source="throwing.cc", defines=defines)


def failing(step: str) -> HostileModule:
    reason = "hostile module: the device fell off the bus"
    state = "error" if step == "init" else "probe_failed"
    return HostileModule(
        f"error_{step}", state, reason, source="failing.c", defines=(f"HOSTILE_STEP=STEP_{step.upper()}",)
    )


def answered_right(result: LoadResult, row: dict[str, Any]) -> None:
    assert result.reported["sum"] == [2, 4, 6]


def printed_little(result: LoadResult, row: dict[str, Any]) -> None:
    assert "the quick brown fox" in row["output"]
    assert len(row["output"].encode()) <= 64 << 10, "it is bounded"
    assert len(result.printed) < 10_000, "and does not come out of the process that loads"


FAMILY = [
    hostile
    for step in STEPS
    for hostile in (
        fault("crash", "crash", ended_by("SIGSEGV", step), step),
        fault("hang", "hang", rf"{TOO_LONG}.*'{step}'", step),
        fault("abort", "abort", ended_by("SIGABRT", step), step),
        fault("exit", "leave", rf"ended its process with exit status 3 \(step '{step}'", step),
        throwing(step),
        fault("overflow", "overflow", ended_by("SIGSEGV", step), step),
    )
]

OTHERS = [
    HostileModule("innocent", "loaded", check=answered_right),
    *(failing(step) for step in ("init", "device_open", "compile", "execute")),
    fault("spin", "spin", rf"{TOO_LONG}.*'compile'", "compile"),
    fault("success", "leave_at_once", r"ended its process with exit status 0 \(step 'execute'", "execute"),
    HostileModule("stopped", "probe_failed", rf"{TOO_LONG}.*'compile'", source="stopped.c"),
    HostileModule(
        "killed",
        "probe_failed",
        r"ended by SIGKILL \(step 'compile'",
        source="stopped.c",
        defines=("HOSTILE_SIGNAL=SIGKILL",),
    ),
    HostileModule(
        "bus_error",
        "probe_failed",
        r"ended by SIGBUS .*\(step 'compile'",
        source="stopped.c",
        defines=("HOSTILE_SIGNAL=SIGBUS",),
    ),
    HostileModule("wrong_answer", "probe_failed", "wrong|instead of", source="wrong_answer.c"),
    HostileModule("score_zero", "incompatible", r"score 0", defines=("HOSTILE_SCORE=0",)),
    HostileModule("no_device", "no_device", "no device", defines=("HOSTILE_DEVICE_COUNT=0",)),
    HostileModule("crash_unload", "probe_failed", "ended by SIGSEGV", source="unloading.c"),
    HostileModule("hang_unload", "probe_failed", TOO_LONG, source="unloading.c", defines=("HOSTILE_HANGS",)),
    HostileModule("chatter", "loaded", source="output.c", check=printed_little),
    HostileModule(
        "endless_chatter",
        "probe_failed",
        "printed more than",
        source="output.c",
        defines=("HOSTILE_ENDLESS",),
        check=printed_little,
    ),
    HostileModule("greed", "error", "10 GB", source="memory.c", environment={"FERRULE_PROBE_MEMORY": "256"}),
    HostileModule(
        "shared_greed",
        "probe_failed",
        "took more than 256 MiB of memory",
        source="memory.c",
        defines=("HOSTILE_SHARED",),
        environment={"FERRULE_PROBE_MEMORY": "256"},
    ),
]

HOSTILE_MODULES = FAMILY + OTHERS

"""Modules that fail in one of the steps of a probe."""

from __future__ import annotations

from typing import Any

from zoo.creature import Creature
from zoo.visitor import PROBE_TIMEOUT, Visit

STEPS = ("open", "score", "init", "enumerate", "device_open", "compile", "execute", "close")
TOO_LONG = rf"did not end within {PROBE_TIMEOUT} s"


def ended_by(signal: str, step: str) -> str:
    return rf"its probe was ended by {signal} .*\(step '{step}'"


def fault(name: str, function: str, reason: str, step: str) -> Creature:
    defines = (f"ZOO_FAULT={function}", f"ZOO_STEP=STEP_{step.upper()}")
    return Creature(f"{name}_{step}", "probe_failed", reason, source="family.c", defines=defines)


def throwing(step: str) -> Creature:
    # Thrown from a constructor, it passes through the system's loader, which may end the program.
    reason = "thrown by the zoo" + (f"|{ended_by('SIGABRT', step)}" if step in ("open", "close") else "")
    defines = (f"ZOO_STEP=STEP_{step.upper()}",)
    return Creature(f"throw_{step}", "error|probe_failed", reason, source="throwing.cc", defines=defines)


def failing(step: str) -> Creature:
    reason = "zoo: the device fell off the bus"
    state = "error" if step == "init" else "probe_failed"
    return Creature(f"error_{step}", state, reason, source="failing.c", defines=(f"ZOO_STEP=STEP_{step.upper()}",))


def answered_right(visit: Visit, row: dict[str, Any]) -> None:
    assert visit.told["sum"] == [2, 4, 6]


def printed_little(visit: Visit, row: dict[str, Any]) -> None:
    assert "the quick brown fox" in row["output"]
    assert len(row["output"].encode()) <= 64 << 10, "it is bounded"
    assert len(visit.printed) < 10_000, "and does not come out of the process that loads"


FAMILY = [
    creature
    for step in STEPS
    for creature in (
        fault("crash", "crash", ended_by("SIGSEGV", step), step),
        fault("hang", "hang", rf"{TOO_LONG}.*'{step}'", step),
        fault("abort", "abort", ended_by("SIGABRT", step), step),
        fault("exit", "leave", rf"ended its process with exit status 3 \(step '{step}'", step),
        throwing(step),
        fault("overflow", "overflow", ended_by("SIGSEGV", step), step),
    )
]

OTHERS = [
    Creature("innocent", "loaded", check=answered_right),
    *(failing(step) for step in ("init", "device_open", "compile", "execute")),
    fault("spin", "spin", rf"{TOO_LONG}.*'compile'", "compile"),
    fault("success", "leave_at_once", r"ended its process with exit status 0 \(step 'execute'", "execute"),
    Creature("stopped", "probe_failed", rf"{TOO_LONG}.*'compile'", source="stopped.c"),
    Creature(
        "killed",
        "probe_failed",
        r"ended by SIGKILL \(step 'compile'",
        source="stopped.c",
        defines=("ZOO_SIGNAL=SIGKILL",),
    ),
    Creature("wrong_answer", "probe_failed", "wrong|instead of", source="wrong_answer.c"),
    Creature("score_zero", "incompatible", r"score 0", defines=("ZOO_SCORE=0",)),
    Creature("no_device", "no_device", "no device", defines=("ZOO_DEVICE_COUNT=0",)),
    Creature("crash_unload", "probe_failed", "ended by SIGSEGV", source="unloading.c"),
    Creature("hang_unload", "probe_failed", TOO_LONG, source="unloading.c", defines=("ZOO_HANGS",)),
    Creature("chatter", "loaded", source="output.c", check=printed_little),
    Creature(
        "endless_chatter",
        "probe_failed",
        "printed more than",
        source="output.c",
        defines=("ZOO_ENDLESS",),
        check=printed_little,
    ),
    Creature("greed", "error", "10 GB", source="memory.c", environment={"FERRULE_PROBE_MEMORY": "256"}),
    Creature(
        "shared_greed",
        "probe_failed",
        "took more than 256 MiB of memory",
        source="memory.c",
        defines=("ZOO_SHARED",),
        environment={"FERRULE_PROBE_MEMORY": "256"},
    ),
]

CREATURES = FAMILY + OTHERS

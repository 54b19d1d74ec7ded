"""The examination. Everything that may crash or hang runs in a process of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from ferrule.tools import machine
from ferrule.tools.child import Child, ChildEnded, ChildError
from ferrule.tools.doctor.advice import advice, verdict
from ferrule.tools.doctor.drivers import drivers_of, variables_of, versions_of

LOAD_LIMIT = 300.0  # seconds; the probe of each module may take long
DEVICE_LIMIT = 60.0  # seconds for each step of a device
BAD = ("wrong", "crashed", "hung", "fails")

Progress = Callable[[str, int, int], None]  # the next step, the number of steps done, and the total number


def _silent(text: str, done: int, steps: int) -> None:
    pass


def examine(
    names: list[str], reprobe: bool = False, progress: Progress = lambda text, done, steps: None
) -> dict[str, Any]:
    """Return all findings as data. `ok` is false if a requested item fails or a device computes wrong results."""
    found: dict[str, Any] = {"about": machine.about(), "variables": machine.variables(), "load_problem": ""}
    progress("loading", 0, 1)
    only = [name for name in re.split(r"[,\s]+", os.environ.get("FERRULE_ONLY", "")) if name]
    loaded, variables = _load(found, [*names, *only], reprobe)
    found["report"] = loaded["report"] if loaded else None
    drivers = drivers_of(loaded["report"]["candidates"] if loaded else [])
    found["about"] |= versions_of(drivers)
    found["variables"] |= variables_of(drivers)
    found["asked"] = _asked(loaded, names, only)
    found["warnings"] = loaded["warnings"] if loaded else []
    devices = loaded["devices"] if loaded else []
    wanted = {answer["device"] for answer in found["asked"] if answer["device"]} if names else None
    chosen = [device for device in devices if wanted is None or device["name"] in wanted]
    found["devices"] = []
    for number, device in enumerate(chosen):
        progress(device["name"], number + 1, len(chosen) + 1)
        found["devices"].append(_examine_device(device, variables))
    bad = {device["name"]: device["message"] for device in found["devices"] if device["state"] in BAD}
    for answer in found["asked"]:
        if answer["device"] in bad:
            answer.update(ok=False, why=f"{answer['device']}: {bad[answer['device']]}")
    # Who names a device has it if the answer says so; all others need one that is no test device.
    usable = [device for device in found["devices"] if device["state"] not in BAD and device["kind"] != "test"]
    found["has_device"] = bool(usable or names or only)
    works = loaded is not None and all(answer["ok"] for answer in found["asked"]) and not bad
    found["ok"] = works and found["has_device"]
    found["verdict"] = verdict(found)
    found["advice"] = advice(found, drivers)
    return found


def _load(found: dict[str, Any], names: list[str], reprobe: bool) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Load the backends; return what was loaded, and the variables that were needed.

    If loading ends the process, every module is probed first in a second attempt, so that the culprit gets a row.
    """
    for variables in ({}, {"FERRULE_PROBE": "always"}):
        child = Child("ferrule.tools.doctor.worker", LOAD_LIMIT, variables)
        try:
            return child.ask(do="load", reprobe=reprobe, names=names), variables
        except ChildEnded as end:
            found["load_problem"] += f"loading ended its process: {end}\n"
        except ChildError as error:
            found["load_problem"] += f"nothing could be loaded: {error}\n"
            break
        finally:
            child.close()
    return None, {}


def _asked(loaded: dict[str, Any] | None, names: list[str], only: list[str]) -> list[dict[str, Any]]:
    """Return for each item that the user named whether it works."""
    answers = []
    for source, name in [*(("", name) for name in names), *(("FERRULE_ONLY", name) for name in only)]:
        answer = loaded["asked"][name] if loaded else {"device": "", "why": f"{name}: nothing could be loaded."}
        answers.append({"name": name, "source": source, "ok": bool(answer["device"]), **answer})
    rows = loaded["report"]["candidates"] if loaded else []
    for path in filter(None, os.environ.get("FERRULE_BACKEND_PATH", "").split(os.pathsep)):
        row = next((row for row in rows if row["path"] == path), None)
        state, reason = (row["state"], row["reason"]) if row else ("error", "it was not part of any load")
        answers.append(
            {
                "name": path,
                "source": "FERRULE_BACKEND_PATH",
                "ok": state == "loaded",
                "device": next(iter(row["devices"]), "") if row else "",
                "why": "" if state == "loaded" else f"{path}: {state}: {reason}",
            }
        )
    return answers


def _examine_device(device: dict[str, Any], variables: dict[str, str]) -> dict[str, Any]:
    child = Child("ferrule.tools.doctor.worker", DEVICE_LIMIT, variables)
    try:
        return {**device, **child.ask(do="measure", device=device["name"], backend=device["backend"])}
    except ChildEnded as end:
        message = f"{end.how}, {end.at or 'at its start'}"
        return {**device, "state": end.state, "message": message, "output": end.output}
    except ChildError as error:
        return {**device, "state": "fails", "message": str(error)}
    finally:
        child.close()

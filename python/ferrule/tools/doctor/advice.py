"""Sentences of advice on the results of an examination."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ferrule.loading.devices import DEVICE_KINDS
from ferrule.loading.explain import again, installed
from ferrule.loading.search_folders import backend_dir
from ferrule.tools.doctor.drivers import Driver, advice_on

KNOWN = (
    *("FERRULE_AUTOLOAD", "FERRULE_BACKEND_DIR", "FERRULE_BACKEND_PATH", "FERRULE_CACHE_DIR", "FERRULE_DISABLE"),
    *("FERRULE_LOG", "FERRULE_ONLY", "FERRULE_PREFER", "FERRULE_PROBE", "FERRULE_PROBE_MEMORY"),
    *("FERRULE_PROBE_TIMEOUT", "FERRULE_THREADS", "FERRULE_TRACEBACK", "FERRULE_TRUST"),
)
# These match the reasons that the core and ferrule's modules give: a driver is missing or too old; a library is
# damaged, or is not a driver.
NEEDS_DRIVER = re.compile(
    r"(the|its driver's) .* is not (installed|on this machine)|driver .*needs .* or (newer|later)\b"
)
FAULTY_DRIVER = re.compile(r"; (install it again|take its folder out of LD_LIBRARY_PATH)$")
REAL = set(DEVICE_KINDS) - {"software", "test"}


def advice(found: dict[str, Any], drivers: Sequence[Driver]) -> list[str]:
    """Return the advice on an examination: no sentences if there is nothing to do."""
    sentences = [*_of_variables(found["variables"]), *advice_on(drivers, found["variables"])]
    if found["report"] is None:
        why = found["load_problem"].strip().splitlines() or ["FERRULE_LOG=debug says how far it came"]
        return [*sentences, "Fix this first: " + ": ".join(line.strip() for line in why[:2])]
    if found["load_problem"]:
        sentences.append(
            "A module crashes the process that opens it; FERRULE_PROBE=always tries it in another process first."
        )
    rows = found["report"]["candidates"]
    sentences += _of_disabled(found["variables"], sorted({row["name"] for row in rows if row["name"]}))
    warnings = [warning for warning in found["warnings"] if warning.startswith("FERRULE_")]
    sentences += [warning if warning.endswith("?") else f"{warning}." for warning in warnings]
    sentences += _of_missing_files(rows)
    for row in rows:
        sentences += _of_row(row)
    for device in found["devices"]:
        sentences += _of_device(device)
    reasons = [row["reason"].rstrip(".") for row in rows if row["reason"]]
    told = [reason for reason in reasons if any(reason in sentence for sentence in sentences)]
    for answer in found["asked"]:
        if not answer["ok"] and not any(reason in answer["why"] for reason in told):
            sentences.append(answer["why"])
    return list(dict.fromkeys([*sentences, *_of_kinds(found)]))


def verdict(found: dict[str, Any]) -> str:
    """Return the examination's result in one sentence."""
    if found["ok"]:
        return "Everything that was requested works."
    if found["report"] is not None and not found["has_device"]:
        return "No device is usable: see the advice."
    return "Something does not work: see the details."


def _of_missing_files(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not any(row["name"] == "cpu" for row in rows):
        yield f"There is no module for the CPU, which ferrule has in {backend_dir()}. {again('')}."


def _of_disabled(variables: dict[str, str], names: list[str]) -> Iterator[str]:
    words = [word.lower() for word in re.split(r"[,\s]+", variables.get("FERRULE_DISABLE", "").strip()) if word]
    for word in words:
        if word in DEVICE_KINDS:
            yield f"FERRULE_DISABLE takes names of backends, and {word!r} is a kind of device."
        elif ";" in word or (word not in names and word.partition("-")[0] in names):
            yield f"FERRULE_DISABLE takes names of backends, without variants and with commas: {word!r} is none."


def _of_variables(variables: dict[str, str]) -> Iterator[str]:
    switched = {
        "FERRULE_DISABLE": "switches these backends off: {}.",
        "FERRULE_ONLY": "switches off all backends but these: {}.",
    }
    for name, text in switched.items():
        if variables.get(name):
            yield f"{name} {text.format(variables[name])}"
    if variables.get("FERRULE_AUTOLOAD") == "0":
        yield "FERRULE_AUTOLOAD=0: nothing is loaded before load_all() is called."
    if variables.get("FERRULE_PROBE") == "never":
        yield "FERRULE_PROBE=never: a module that crashes ends your process."
    if variables.get("FERRULE_TRUST") == "any":
        yield "FERRULE_TRUST=any: files that others can write are opened, too."
    for name in variables:
        close = difflib.get_close_matches(name, KNOWN, 1, 0.88)
        if name.startswith("FERRULE_") and name not in KNOWN and close:
            yield f"{name} is not a variable of ferrule; did you mean {close[0]}?"


def _of_row(row: dict[str, Any]) -> Iterator[str]:
    name, path, reason = row["name"] or os.path.basename(row["path"]), row["path"], row["reason"].rstrip(".")
    if row["state"] == "probe_failed":
        yield (
            f"{name}: {path} failed in the process that tried it ({reason}). Look at its driver, and at what it "
            f"printed; FERRULE_DISABLE={name} leaves it out, `ferrule doctor --reprobe` tries it again."
        )
    elif row["state"] == "unsafe":
        yield f"{name}: {path} was not opened ({reason})."
    elif row["state"] == "not_probed":
        yield f"{name}: {path} was not opened, because nothing could probe it first ({reason})."
    elif row["state"] == "error":
        yield f"{name}: {path} does not work ({reason}){_remedy(row)}."
    elif row["state"] == "no_device":
        yield f"{name}: {path} runs but found no device to drive{f' ({reason})' if reason else ''}."
    elif row["state"] == "incompatible" and NEEDS_DRIVER.search(reason):
        install = "" if "; install " in reason else "; install or update it"
        yield f"{name}: {reason}{install}, then `ferrule doctor --reprobe`."
    elif row["state"] == "incompatible" and FAULTY_DRIVER.search(reason):
        yield f"{name}: {reason}; then `ferrule doctor --reprobe`."
    for note in row.get("notes") or []:
        if note.startswith("it was not tried"):
            yield f"{name}: {path}: {note}. {again('')}."
        if note.startswith("FERRULE_"):  # a variable that has no effect, or a wrong value
            yield f"{name}: {note}" if note.endswith("?") else f"{name}: {note}."


def _remedy(row: dict[str, Any]) -> str:
    if row["reason"].startswith("FERRULE_"):  # a variable with a wrong value
        return ""
    package = Path(row["path"]).parent
    is_own = package == backend_dir() or (package.parent.name == "ferrule_backends" and installed(row["name"]))
    return ". " + again(row["name"]) if is_own else "; build or install it again"


def _of_device(device: dict[str, Any]) -> Iterator[str]:
    name, backend = device["name"], device["backend"]
    if device["state"] == "wrong":
        yield f"{name} computes wrongly: {device['message']}. Do not use it; FERRULE_DISABLE={backend} leaves it out."
    elif device["state"] in ("crashed", "hung"):
        yield f"{name} took its process down: {device['message']}. FERRULE_DISABLE={backend} leaves it out."
    elif device["state"] == "fails":
        yield f"{name} does not compute: {device['message']}"


def _how_to_get_a_device(found: dict[str, Any]) -> str:
    cpu = next((row for row in found["report"]["candidates"] if row["name"] == "cpu"), None)
    if cpu is not None and cpu["state"] == "disabled":
        return (
            f"No device is usable: cpu is disabled, as {cpu['reason']}. Change the variable: cpu computes on every "
            "machine."
        )
    return "No device is usable; the reasons are listed beside the candidates. Module cpu computes on every machine."


def _of_kinds(found: dict[str, Any]) -> Iterator[str]:
    kinds = [device["kind"] for device in found["devices"]]
    if not found["has_device"]:
        yield _how_to_get_a_device(found)
    if "software" in kinds and not {"gpu", "integrated_gpu", "accelerator"} & set(kinds):
        yield "The only graphics device is a software one: it computes on the CPU, and no GPU was found."
    elif kinds and not set(kinds) & REAL:
        yield "No device but test devices: what they compute means nothing."

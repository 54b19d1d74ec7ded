"""The data of the templates for the panel of a cell and for each failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferrule.testing.report.matrix import Cell, Place
from ferrule.testing.report.numbers import distance, several, time
from ferrule.testing.report.record import Record
from ferrule.testing.report.state import State, state_of
from ferrule.testing.report.text import first_line

FIRST = 12  # failures that are not folded
SHOWN = 400  # failures in full; the JSON file has all
LENGTH = 6000  # characters of a message; the JSON file has all


def panel(cell: Cell, name: str, failures: Mapping[int, str]) -> dict[str, Any]:
    """The panel of a cell. `failures` maps id(record) to the HTML id of a failure that is shown in full."""
    rows, last = [], ""
    command = next((record.repeat for record in cell.records if record.repeat), "")
    for record in cell.records:
        row = _check(record, command, failures.get(id(record)))
        if cell.cases > 1 and record.case != last:
            row["case"] = last = record.case
        rows.append(row)
    return {"cell": cell, "id": name, "rows": rows, "notes": _notes(cell), "command": command}


def _check(record: Record, command: str, failure: str | None) -> dict[str, Any]:
    where = record.where
    if record.nanoseconds is not None:
        peer = f", NumPy {time(record.peer_nanoseconds)}" if record.peer_nanoseconds is not None else ""
        where += f"{': ' if where else ''}{time(record.nanoseconds)}{peer}"
    return {
        "case": "",
        "state": state_of(record),
        "name": record.check,
        "word": record.state if record.state in ("hung", "refused") else "",
        "repeat": _difference(command, record.repeat) if record.repeat not in ("", command) else "",
        "measured": record.ulp is not None or record.allowed is not None or bool(where or failure),
        "ulp": distance(record.ulp),
        "allowed": distance(record.allowed),
        "where": where,
        "failure": failure,
        "runs": record.runs,
    }


def _difference(first: str, other: str) -> str:
    """Encode the other command as `prefix,suffix,between`: the lengths that it shares with the first, and the rest."""
    prefix = _alike(first, other)
    suffix = _alike(first[prefix:][::-1], other[prefix:][::-1])
    return f"{prefix},{suffix},{other[prefix : len(other) - suffix]}"


def _alike(first: str, other: str) -> int:
    """The length of the common prefix."""
    pairs = enumerate(zip(first, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(other)))


def _notes(cell: Cell) -> list[tuple[str, list[str]]]:
    kernels = dict.fromkeys(kernel for record in cell.records for kernel in record.kernels)
    passed = dict.fromkeys(r.reason for r in cell.records if r.reason and r.state == "passed")
    others = dict.fromkeys(r.reason for r in cell.records if r.reason and r.state != "passed")
    notes = {"reason": others, "bound": passed, "kernels": kernels}
    return [(name, list(texts)) for name, texts in notes.items() if texts]


def failure_list(failures: Sequence[Record], undone: Sequence[Cell], links: Mapping[Place, str]) -> dict[str, Any]:
    """The failures that are shown at once, those that are folded, and the number of those left out. `undone` are
    declared cells without a case that ran."""
    items = [_failure(record, number, links) for number, record in enumerate(failures[:SHOWN])]
    items += [_undone(cell, links) for cell in undone[:SHOWN]]
    count = len(failures) + len(undone)
    first = len(items) if count <= FIRST + 1 else FIRST
    return {"count": count, "first": items[:first], "more": items[first:], "left": count - len(items)}


def _undone(cell: Cell, links: Mapping[Place, str]) -> dict[str, Any]:
    return {
        "id": "",
        "state": State.WRONG,
        "target": cell.target,
        "name": f"{cell.op} {cell.dtype}",
        "what": cell.why,
        "link": links.get((cell.target, cell.op, cell.dtype)) if cell.records else None,
    }


def failure_names(failures: Sequence[Record]) -> dict[int, str]:
    return {id(record): f"f{number}" for number, record in enumerate(failures[:SHOWN])}


def _failure(record: Record, number: int, links: Mapping[Place, str]) -> dict[str, Any]:
    about = [record.where, f"{distance(record.ulp)} ulp" if record.ulp is not None else ""]
    about += [f"{distance(record.allowed)} allowed" if record.allowed is not None else "", record.module]
    about += [f"seed {record.seed}" if record.seed else "", *record.kernels]
    return {
        "id": f"f{number}",
        "state": state_of(record),
        "target": record.target,
        "name": record.name,
        "what": first_line(record.message) or record.state,
        "message": _shorten(record.message),
        "about": " · ".join(filter(None, about)),
        "link": links.get((record.target, record.op, record.dtype)),
        "op": record.op,
        "dtype": record.dtype,
        "repeat": record.repeat,
    }


def _shorten(message: str) -> str:
    if len(message) <= LENGTH:
        return message
    left = len(message) - LENGTH
    return f"{message[: LENGTH * 2 // 3]}\n… {several(left, 'character')} …\n{message[-LENGTH // 3 :]}"

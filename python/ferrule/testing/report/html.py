"""The report as a self-contained HTML page. It works without scripts, which only add comfort."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from ferrule.testing.report import grid
from ferrule.testing.report.contents import Report
from ferrule.testing.report.details import failure_list, failure_names, panel
from ferrule.testing.report.distances import distance_bars
from ferrule.testing.report.json_file import replace
from ferrule.testing.report.matrix import Place
from ferrule.testing.report.numbers import several
from ferrule.testing.report.record import MODULE_CHECK, Record
from ferrule.testing.report.speed import speed_rows
from ferrule.testing.report.state import State, state_of
from ferrule.testing.report.text import titled
from ferrule.text.html_templates import render

RAN = (State.EXACT, State.WITHIN, State.WRONG, State.CRASHED, State.UNSUPPORTED)


def write(report: Report, path: str | Path) -> None:
    replace(path, page(report))


def page(report: Report) -> str:
    matrix = report.matrix
    counts = matrix.counts()
    cells = [cell for cell in matrix.cells() if cell.records or cell.state.failing]
    links: dict[Place, str] = {(cell.target, cell.op, cell.dtype): f"c{number}" for number, cell in enumerate(cells)}
    failures = failure_names(report.failures)
    undone = [c for c in matrix.cells() if c.state is State.WRONG and not any(r.failing for r in c.records)]
    values = {
        "verdict": _verdict(report),
        "digest": _digest,
        "columns": grid.columns(matrix),
        "summary": report.summary,
        "environment": report.environment,
        "counts": counts,
        "tiles": [state for state in (*RAN, State.NOT_RUN) if counts[state] or state is not State.NOT_RUN],
        "strip": [state for state in RAN if counts[state]],
        "chips": [state for state in (*RAN, State.NOT_RUN) if counts[state]],
        "failing": (State.WRONG, State.CRASHED),
        "failures": failure_list(report.failures, undone, links),
        "targets": [_target(report, number) for number, _ in enumerate(matrix.targets)],
        "links": links,
        "panels": [panel(cell, links[cell.target, cell.op, cell.dtype], failures) for cell in cells],
    }
    return render("kit/page.html.j2", grid.values(matrix) | values)


def _digest(script: str) -> str:
    """The SHA-256 of a script in base64, for the content security policy."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _verdict(report: Report) -> str:
    counts = report.matrix.counts()
    parts = [f"{counts[state]:,} {state.word}" for state in (State.CRASHED, State.WRONG) if counts[state]]
    parts[:1] = [part.replace(" ", " cell " if part.startswith("1 ") else " cells ", 1) for part in parts[:1]]
    modules = sum(record.failing for record in report.records if not record.op)
    parts += [f"{several(modules, 'module check')} failed"] if modules else []
    if parts:
        return ", ".join(parts)
    return "every check passed" if any(record.state == "passed" for record in report.records) else "no case ran"


def _target(report: Report, number: int) -> dict[str, Any]:
    target = report.matrix.targets[number]
    records = report.of(target)
    about = titled(target, records).removeprefix(target).strip(" ()")
    variants = ", ".join(dict.fromkeys(record.variant for record in records if record.variant))
    parts = [about, f"variant {variants}" if variants else "", several(sum(r.runs for r in records), "run")]
    return {
        "id": f"t{number}",
        "name": target,
        "about": " · ".join(filter(None, parts)),
        "counts": report.matrix.counts(target),
        "module": _module(records),
        "distances": distance_bars(report.matrix.cells(target)),
        "times": speed_rows([record for record in report.timed if record.target == target]),
    }


def _module(records: tuple[Record, ...]) -> dict[str, Any] | None:
    """The checks of the module's binary interface."""
    checks = [record for record in records if not record.op]
    if not checks:
        return None
    return {
        "passed": sum(record.state == "passed" for record in checks),
        "checks": [
            {
                "state": state_of(record),
                "name": (record.case or record.check).removeprefix(MODULE_CHECK),
                "reason": record.reason,
            }
            for record in checks
        ],
    }

"""The report as a page: one file that needs nothing else, and loses only comfort without scripts."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

from ferrule.testing.report.contents import Report
from ferrule.testing.report.details import failure_list, failure_names, panel
from ferrule.testing.report.distances import distance_bars
from ferrule.testing.report.grid import column_rules, grid
from ferrule.testing.report.json_file import replace
from ferrule.testing.report.markup import CLASSES, symbol, symbol_rules
from ferrule.testing.report.numbers import several
from ferrule.testing.report.record import MODULE_CHECK, Record
from ferrule.testing.report.speed import speed_table
from ferrule.testing.report.state import State, state_of
from ferrule.testing.report.text import titled
from ferrule.text.html_text import safe

TITLE = "ferrule conformance"
Links = dict[tuple[str, str, str], str]


def write(report: Report, path: str | Path) -> None:
    replace(path, page(report))


def page(report: Report) -> str:
    matrix = report.matrix
    told = [cell for cell in matrix.cells() if cell.records or cell.state.failing]
    links = {(cell.target, cell.op, cell.dtype): f"c{number}" for number, cell in enumerate(told)}
    failures = failure_names(report.failures)
    style = _asset("page.css") + symbol_rules() + column_rules(matrix)
    sections = "\n".join(_target(report, number, links) for number, _ in enumerate(matrix.targets))
    panels = "\n".join(panel(cell, links[cell.target, cell.op, cell.dtype], failures) for cell in told)
    script = _asset("page.js")
    return (
        f"<!doctype html>\n<html lang=en><head><meta charset=utf-8>{_policy(script)}"
        '<meta name=viewport content="width=device-width,initial-scale=1"><meta name=color-scheme content="light dark">'
        f"<title>{TITLE}: {_verdict(report)}</title><style>{style}</style></head>\n<body><main>"
        f"{_header(report)}\n{_failures(report, links)}\n{_tools(report)}\n{sections}\n{_footer()}</main>\n"
        f"<div id=panels>\n{panels}\n<a class=close href=#_ title=close aria-label=close>✕</a></div>\n"
        f"<script>{script}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _policy(script: str) -> str:
    """Nothing is fetched, and no script runs but ours, whatever a message holds."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return f'<meta http-equiv=Content-Security-Policy content="{rules}">'


def _verdict(report: Report) -> str:
    counts = report.matrix.counts()
    parts = [f"{counts[state]:,} {state.word}" for state in (State.CRASHED, State.WRONG) if counts[state]]
    parts[:1] = [part.replace(" ", " cell " if part.startswith("1 ") else " cells ", 1) for part in parts[:1]]
    modules = sum(record.failing for record in report.records if not record.op)
    parts += [f"{several(modules, 'module check')} failed"] if modules else []
    if parts:
        return ", ".join(parts)
    return "every check passed" if any(record.state == "passed" for record in report.records) else "no case ran"


def _header(report: Report) -> str:
    matrix = report.matrix
    counts = matrix.counts()
    whole = report.summary
    runs = [f"{len(matrix.targets):,} {'target' if len(matrix.targets) == 1 else 'targets'}"]
    runs += [f"{whole[name]:,} {name}" for name in ("cases", "checks", "runs")]
    tiles = "".join(
        f"<div class=t{CLASSES[state]}><dt>{symbol(state)}{state.word}<dd>{counts[state]:,}</div>"
        for state in (State.EXACT, State.WITHIN, State.WRONG, State.CRASHED, State.UNSUPPORTED, State.NOT_RUN)
        if counts[state] or state is not State.NOT_RUN
    )
    strip = "".join(
        f"<i class=f{CLASSES[state]} style=flex-grow:{counts[state]}></i>"
        for state in (State.EXACT, State.WITHIN, State.WRONG, State.CRASHED, State.UNSUPPORTED)
        if counts[state]
    )
    where = "".join(f"<div><dt>{safe(name)}<dd>{safe(value)}</div>" for name, value in report.environment.items())
    verdict = _verdict(report)
    return (
        f"<header><p class=over>{TITLE}<h1>{safe(verdict[0].upper() + verdict[1:])}</h1>"
        f"<p class=runs>{' · '.join(runs)}<dl class=tiles>{tiles}</dl>"
        + (f"<div class=strip aria-hidden=true>{strip}</div>" if strip else "")
        + (f"<dl class=where>{where}</dl>" if where else "")
        + "</header>"
    )


def _failures(report: Report, links: Links) -> str:
    undone = [c for c in report.matrix.cells() if c.state is State.WRONG and not any(r.failing for r in c.records)]
    count = len(report.failures) + len(undone)
    if not count:
        return ""
    return (
        f"<section id=failures><h2>Failures <small>{count:,}</small></h2>"
        f"{failure_list(report.failures, undone, links)}</section>"
    )


def _tools(report: Report) -> str:
    """Of use with scripts only, which show it; the tabs are links without."""
    if not report.matrix.targets:
        return "<p class=none>No record, so no matrix."
    counts = report.matrix.counts()
    chips = "".join(
        f"<button type=button aria-pressed=false data-s={CLASSES[state]}>{symbol(state)}{state.word}</button>"
        for state in (State.EXACT, State.WITHIN, State.WRONG, State.CRASHED, State.UNSUPPORTED, State.NOT_RUN)
        if counts[state]
    )
    tabs = "".join(
        f'<a href=#t{number} data-t="{safe(target)}">{safe(target)}{_mark(report, target)}</a>'
        for number, target in enumerate(report.matrix.targets)
    )
    return (
        f"<div class=tools><nav aria-label=targets>{tabs}</nav><form hidden role=search>"
        f"<input type=search placeholder='Filter: softmax float16' aria-label='filter by op, dtype or kind'>"
        f"<span role=group aria-label='filter by state'>{chips}</span><output></output></form></div>"
    )


def _mark(report: Report, target: str) -> str:
    counts = report.matrix.counts(target)
    return "".join(
        f" <span>{symbol(state)}{counts[state]}</span>" for state in (State.WRONG, State.CRASHED) if counts[state]
    )


def _target(report: Report, number: int, links: Links) -> str:
    target = report.matrix.targets[number]
    records = report.of(target)
    about = titled(target, records).removeprefix(target).strip(" ()")
    variants = ", ".join(dict.fromkeys(record.variant for record in records if record.variant))
    timed = [record for record in report.timed if record.target == target]
    bars = distance_bars(report.matrix.cells(target))
    told = [about, f"variant {variants}" if variants else "", several(sum(r.runs for r in records), "run")]
    return (
        f'<section class=target id=t{number} aria-label="{safe(target)}"><h2>{safe(target)} '
        f"<small>{safe(' · '.join(text for text in told if text))}</small></h2>{_module(records)}"
        f"<div class=wide>{grid(report.matrix, target, links)}</div>"
        + (f"<h3>Distance from the truth</h3><p>The worst of each floating-point cell that ran.{bars}" if bars else "")
        + (f"<h3>Time of a call</h3><div class=wide>{speed_table(timed)}</div>" if timed else "")
        + "</section>"
    )


def _module(records: tuple[Record, ...]) -> str:
    """The checks of the module's binary interface."""
    checks = [record for record in records if not record.op]
    if not checks:
        return ""
    passed = sum(record.state == "passed" for record in checks)
    items = "".join(
        f"<li>{symbol(state_of(record))} {safe((record.case or record.check).removeprefix(MODULE_CHECK))}"
        + (f" <small>{safe(record.reason)}</small>" if record.reason else "")
        for record in checks
    )
    title = f"Module: {passed} of {several(len(checks), 'check')} passed"
    return f"<details class=module><summary>{title}</summary><ul>{items}</ul></details>"


def _footer() -> str:
    meanings = "".join(
        f"<div><dt>{symbol(state)}{state.word}<dd>{state.meaning}</div>" for state in State if state in CLASSES
    )
    return (
        f"<footer><h3>What the cells say</h3><dl class=legend>{meanings}</dl><p>The number is the greatest distance "
        "from the truth, in units in the last place (ulp); the line below it how much of the bound that is. An empty "
        "cell is an op that does not take the dtype. The column is the dtype of the first input.</footer>"
    )

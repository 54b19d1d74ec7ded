"""What is told of a cell when it is chosen, and of each failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ferrule.testing.report.markup import CLASSES, symbol
from ferrule.testing.report.matrix import Cell
from ferrule.testing.report.numbers import distance, several, time
from ferrule.testing.report.record import Record
from ferrule.testing.report.state import State, state_of
from ferrule.testing.report.text import first_line
from ferrule.text.html_text import safe

FIRST = 12  # failures that are seen at once
SHOWN = 400  # failures in full; the JSON file has all
LENGTH = 6000  # characters of a message; the JSON file has all


def panel(cell: Cell, name: str, failures: Mapping[int, str]) -> str:
    """Of a cell. `failures` has the ids of those that are told in full, by the record's id()."""
    rows, last = [], ""
    command = next((record.repeat for record in cell.records if record.repeat), "")
    for record in cell.records:
        if cell.cases > 1 and record.case != last:
            rows.append(f"<tr class=g><th colspan=5>{safe(record.case)}")
            last = record.case
        rows.append(_check(record, command, failures.get(id(record))))
    counts = f"{several(cell.cases, 'case')}, {several(len(cell.records), 'check')}, {several(cell.runs, 'run')}"
    about = f"{symbol(cell.state)} {cell.state.word} on {safe(cell.target)}; {counts}"
    table = f"<table><thead><tr><th>check<th>ulp<th>allowed<th>worst<th>runs</thead>{''.join(rows)}</table>"
    return (
        f"<section class=d id={name} tabindex=-1><h3>{safe(cell.op)} <small>{safe(cell.dtype)}</small></h3>"
        f"<p>{about}"
        + (f"<p>{safe(cell.why)}" if not rows else table)
        + _notes(cell)
        + _command(command)
        + "</section>"
    )


def _check(record: Record, command: str, failure: str | None) -> str:
    state = state_of(record)
    name = safe(record.check) + (f" <small>{record.state}</small>" if record.state in ("hung", "refused") else "")
    again = f' data-r="{safe(_difference(command, record.repeat))}"' if record.repeat not in ("", command) else ""
    link = f" <a class=m href=#{failure}>message</a>" if failure else ""
    row = f"<tr class={CLASSES[state]}{again}><th>{name}"
    where = safe(record.where)
    if record.nanoseconds is not None:
        peer = f", NumPy {time(record.peer_nanoseconds)}" if record.peer_nanoseconds is not None else ""
        where += f"{': ' if where else ''}{time(record.nanoseconds)}{peer}"
    if record.ulp is None and record.allowed is None and not where and not link:
        return row + (f"<td colspan=3><td>{record.runs}" if record.runs else "")
    return f"{row}<td>{distance(record.ulp)}<td>{distance(record.allowed)}<td>{where}{link}<td>{record.runs}"


def _difference(first: str, other: str) -> str:
    """`prefix,suffix,between`: how much of the first command the other begins and ends with. Most differ in a word."""
    prefix = _alike(first, other)
    suffix = _alike(first[prefix:][::-1], other[prefix:][::-1])
    return f"{prefix},{suffix},{other[prefix : len(other) - suffix]}"


def _alike(first: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(first, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(other)))


def _notes(cell: Cell) -> str:
    kernels = dict.fromkeys(kernel for record in cell.records for kernel in record.kernels)
    passed = dict.fromkeys(r.reason for r in cell.records if r.reason and r.state == "passed")
    others = dict.fromkeys(r.reason for r in cell.records if r.reason and r.state != "passed")
    notes = {"reason": others, "bound": passed, "kernels": kernels}
    lines = (f"<dt>{name}<dd>{'<br>'.join(safe(text) for text in texts)}" for name, texts in notes.items() if texts)
    made = "".join(lines)
    return f"<dl>{made}</dl>" if made else ""


def _command(command: str) -> str:
    return f"<pre class=r>{safe(command)}</pre>" if command else ""


def failure_list(failures: Sequence[Record], undone: Sequence[Cell], links: Mapping[tuple[str, str, str], str]) -> str:
    """Each as a line that opens, all but the first folded. `undone` are declared capabilities of which no case ran."""
    items = [_failure(record, number, links) for number, record in enumerate(failures[:SHOWN])]
    items += [_undone(cell, links) for cell in undone[:SHOWN]]
    count = len(failures) + len(undone)
    if count <= FIRST + 1:
        return "\n".join(items)
    left = count - len(items)
    note = f"<p>{several(left, 'other')} of them are only in the JSON file." if left else ""
    title = f"<summary>and {count - FIRST:,} more</summary>"
    return "\n".join([*items[:FIRST], f"<details class=more>{title}", *items[FIRST:], f"{note}</details>"])


def _undone(cell: Cell, links: Mapping[tuple[str, str, str], str]) -> str:
    line = _summary(State.WRONG, cell.target, f"{cell.op} {cell.dtype}", cell.why)
    link = links.get((cell.target, cell.op, cell.dtype))
    about = f" · <a href=#{link}>all checks</a>" if link and cell.records else ""
    return f"<details>{line}<p>A kernel of the target says that it takes this{about}</details>"


def failure_names(failures: Sequence[Record]) -> dict[int, str]:
    return {id(record): f"f{number}" for number, record in enumerate(failures[:SHOWN])}


def _failure(record: Record, number: int, links: Mapping[tuple[str, str, str], str]) -> str:
    line = _summary(state_of(record), record.target, record.name, first_line(record.message) or record.state)
    about = [record.where, f"{distance(record.ulp)} ulp" if record.ulp is not None else ""]
    about += [f"{distance(record.allowed)} allowed" if record.allowed is not None else "", record.module]
    about += [f"seed {record.seed}" if record.seed else "", *record.kernels]
    told = " · ".join(safe(text) for text in about if text)
    link = links.get((record.target, record.op, record.dtype))
    cell = f" · <a href=#{link}>all checks of {safe(record.op)} {safe(record.dtype)}</a>" if link else ""
    message = f"<pre>{safe(_shortened(record.message))}</pre>" if record.message else ""
    return f"<details id=f{number}>{line}{message}<p>{told}{cell}{_command(record.repeat)}</details>"


def _summary(state: State, target: str, name: str, what: str) -> str:
    return (
        f"<summary>{symbol(state)}<b>{safe(name)}</b> <small>{safe(target)}</small> <span>{safe(what)}</span></summary>"
    )


def _shortened(message: str) -> str:
    if len(message) <= LENGTH:
        return message
    left = len(message) - LENGTH
    return f"{message[: LENGTH * 2 // 3]}\n… {several(left, 'character')} …\n{message[-LENGTH // 3 :]}"

"""Formats the outcomes of generated faults, as tables and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .campaign import EQUIVALENT, Tried
from .generated import PASSES
from .trial import IDENTICAL, KILLED, NOT_COMPILED, SURVIVED

STATES = (NOT_COMPILED, IDENTICAL, EQUIVALENT, KILLED, SURVIVED)


def share(tried: Iterable[Tried]) -> float:
    """The fraction of killed faults among the killed and survived ones."""
    states = Counter(one.state for one in tried)
    possible = states[KILLED] + states[SURVIVED]
    return states[KILLED] / possible if possible else 1.0


def tables(tried: list[Tried]) -> list[Table]:
    return [
        _table("area and file", tried, lambda one: f"{one.fault.area} {Path(one.fault.file).name}"),
        _table("kind", tried, lambda one: one.fault.kind),
        _table("area", tried, lambda one: one.fault.area),
    ]


def _table(title: str, tried: list[Tried], key: Callable[[Tried], str]) -> Table:
    table = Table(title, "generated", *STATES, "killed of possible", "by")
    groups: dict[str, list[Tried]] = {}
    for one in tried:
        groups.setdefault(key(one), []).append(one)
    for name, group in sorted(groups.items()):
        states = Counter(one.state for one in group)
        by = Counter(check_of(one) for one in group if one.state == KILLED)
        table.add_row(
            *(escape(name), str(len(group)), *(str(states[state] or "") for state in STATES)),
            *(f"{share(group):.0%}", ", ".join(f"{check} {count}" for check, count in by.most_common(4))),
        )
    return table


def check_of(one: Tried) -> str:
    """The kit's check that caught it, such as `values`, or `ctest` or `pytest`."""
    by = one.outcome.by
    return by.split(":")[0] if one.fault.area == PASSES else [*by.split(), "", ""][1].strip(",()")


def line_of(one: Tried) -> str:
    """One line of progress output."""
    outcome = one.outcome
    message = f"by {outcome.by}" if outcome.state == KILLED else one.reason or outcome.note
    colour = {SURVIVED: "[bold red]", KILLED: "[green]"}.get(one.state, "")
    return (
        f"{colour}{one.state:<12}{'[/]' if colour else ''} {escape(one.fault.name)}  {escape(one.fault.what)}  "
        f"{escape(message.splitlines()[0] if message else '')} ({outcome.seconds:.0f} s)"
    )


def show(console: Console, tried: list[Tried]) -> None:
    for table in tables(tried):
        console.print(table)
    for state, title in ((EQUIVALENT, "survived, and equivalent"), (SURVIVED, "survived")):
        of_state = sorted((one for one in tried if one.state == state), key=lambda one: one.fault.name)
        if of_state:
            console.print(f"\n{title}:")
        for one in of_state:
            console.print(f"  {escape(one.fault.name)}: {escape(one.fault.what)}", soft_wrap=True)
            console.print(f"    {escape(one.reason or one.outcome.note)}", soft_wrap=True)
    killed, survived = (sum(one.state == state for one in tried) for state in (KILLED, SURVIVED))
    console.print(f"\n{killed} of {killed + survived} faults that can be seen are killed: {share(tried):.1%}")


def save(path: Path, tried: list[Tried]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "name": one.fault.name,
            "area": one.fault.area,
            "file": one.fault.file,
            "line": one.fault.line,
            "kind": one.fault.kind,
            "before": one.fault.edit.before,
            "after": one.fault.edit.after,
            "state": one.state,
            "by": one.outcome.by,
            "note": one.outcome.note,
            "reason": one.reason,
            "seconds": one.outcome.seconds,
        }
        for one in tried
    ]
    path.write_text(json.dumps(rows, indent=1) + "\n")

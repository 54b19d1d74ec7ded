"""Prints the example's results to standard output; `--json` adds its line at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import ferrule as fe
from batches import Batch
from check import TOLERANCE, Verdict
from index import Result
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn, track
from rich.table import Table
from rich.text import Text

Item = TypeVar("Item")

LONGEST_EXCERPT = 240

console = Console(highlight=False)


def show_loading(report: fe.LoadReport) -> None:
    """Prints the load report with one line per state; `python -m ferrule` prints all of it."""
    states: dict[str, list[str]] = {}
    for candidate in report.candidates:
        states.setdefault(candidate.state, []).append(candidate.path.name)
    console.print(f"[bold]load report[/]: {len(report.candidates)} modules found")
    for state, names in states.items():
        console.print(f"  {state}: {', '.join(names)}")


def describe(device: fe.Device) -> dict[str, Any]:
    """The module that computes, as `--json` names it."""
    backend = device.backend
    return {
        "device": str(device),
        "backend": backend.name,
        "variant": backend.variant,
        "module_file": str(backend.path),
    }


def show_device(device: fe.Device) -> None:
    for name, value in describe(device).items():
        console.print(f"[bold]{name.replace('_', ' ')}[/]: {value}")


def watch_batches(batches: Iterable[Batch], sentences: int) -> Iterator[Batch]:
    """Yields the batches, and shows a progress bar that counts sentences."""
    columns = (TextColumn("indexing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("indexing", total=sentences)
        for batch in batches:
            yield batch
            progress.advance(task, len(batch.rows))


def watch(items: Sequence[Item], description: str) -> Iterable[Item]:
    return track(items, description, console=console)


def show_results(query: str, results: Sequence[Result]) -> None:
    table = Table(title=Text(query), title_justify="left", title_style="bold", expand=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("topic", no_wrap=True)
    table.add_column("paragraph", ratio=1)
    for result in results:
        text = result.paragraph.text
        excerpt = text if len(text) <= LONGEST_EXCERPT else text[: LONGEST_EXCERPT - 1] + "…"
        table.add_row(f"{result.score:.4f}", Text(result.paragraph.topic), Text(excerpt))
    console.print(table)


def show_verdict(verdict: Verdict) -> None:
    for failure in verdict.failures:
        console.print(f"[bold red]check failed[/]: {failure}")
    if not verdict.failures:
        console.print(
            f"[bold green]check passed[/]: {verdict.compared} embeddings are within {verdict.greatest_distance:.1e} "
            f"(cosine distance, limit {TOLERANCE:g}) of NumPy float64, and all rankings agree"
        )

"""`ferrule doctor`: tests the devices of this machine and gives advice on problems."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ferrule.later import later
from ferrule.tools.cli.terminal import console

if TYPE_CHECKING:
    from ferrule.tools.doctor import examine, page, redact, text
else:  # the other verbs do not need these modules
    examine = later("ferrule.tools.doctor.examine")
    page = later("ferrule.tools.doctor.page")
    redact = later("ferrule.tools.doctor.redact")
    text = later("ferrule.tools.doctor.text")


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "what works on this machine, what does not, and what to do about it; good for pasting into a report"
    parser = verbs.add_parser("doctor", help=about, description=f"{about[0].upper()}{about[1:]}.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a backend, a device or a kind of device: must work")
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--reprobe", action="store_true", help="try modules again whose verdict is known")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page, too")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with _progress() as progress:
        found = redact.Redaction().data(examine.examine(options.names, options.reprobe, progress))
    if options.html is not None:
        try:
            options.html.write_text(page.page(found), encoding="utf-8")
        except OSError as error:
            print(f"doctor: {options.html} cannot be written: {error.strerror}", file=sys.stderr)
            return 2
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        with console() as out:
            text.show(found, out)
    return 0 if found["ok"] else 1


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar with the current step if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda text, done, steps: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda text, done, steps: bar.update(task, description=text, completed=done, total=steps)

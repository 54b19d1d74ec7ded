"""The report as text: a line of counts for each target, and a row for each failure."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable
from typing import TextIO

from ferrule.testing.report import numbers
from ferrule.testing.report.contents import Report
from ferrule.testing.report.matrix import Cell
from ferrule.testing.report.record import Record
from ferrule.testing.report.state import State

REPLACEMENTS = str.maketrans(
    {state.symbol: state.ascii_symbol for state in State if state.symbol}
    | {numbers.INFINITY: "inf", "µ": "u", "×": "x", "…": "...", "·": "|"}  # noqa: RUF001
)
ROWS = 40  # the most rows of failing cells
NAMED = 8  # the most cells that are named one by one; more are only counted
TIMED = 20  # the most rows of the benchmark, slowest relative to NumPy first


def text(report: Report, width: int = 100, *, ascii_only: bool = False) -> str:
    """Format the report. The text ends with a newline."""
    lines = [line for target in report.matrix.targets for line in _target(report, target, width)]
    lines = lines or ["no case ran"]
    made = "\n".join(lines) + "\n"
    return made.translate(REPLACEMENTS).encode("ascii", "backslashreplace").decode() if ascii_only else made


def write(report: Report, stream: TextIO | None = None) -> None:
    """Write the report to a stream, in ASCII if its encoding lacks the symbols."""
    stream = sys.stdout if stream is None else stream
    width = shutil.get_terminal_size((100, 24)).columns
    whole = text(report, width)
    try:
        whole.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        whole = text(report, width, ascii_only=True)
    stream.write(whole)


def _target(report: Report, target: str, width: int) -> list[str]:
    records = report.of(target)
    cells = report.matrix.cells(target)
    counts = report.matrix.counts(target)
    shown = [s for s in State if counts.get(s) or (s in (State.EXACT, State.WITHIN, State.WRONG) and cells)]
    states = ", ".join(f"{state.symbol} {counts[state]} {state.word}" for state in shown)
    runs = numbers.several(sum(record.runs for record in records), "run")
    lines = [f"{titled(target, records)}: {states + ', ' if states else ''}{runs}"]
    failed = [record for record in records if record.failing and not record.op]
    lines += [_line(f"  {State.WRONG.symbol} {record.name}: {first_line(record.message)}", width) for record in failed]
    rows = [cell for cell in cells if cell.state.failing or cell.state is State.NOT_RUN]
    lines += _rows([cell for cell in rows if cell.state.failing], width)
    lines += _list_cells("not run: ", [cell for cell in rows if cell.state is State.NOT_RUN], cells, width)
    lines += _list_cells("unsupported: ", [cell for cell in cells if cell.state is State.UNSUPPORTED], cells, width)
    return lines + _times([record for record in report.timed if record.target == target], width)


def titled(target: str, records: Iterable[Record]) -> str:
    """The target with its modules: `cpu:0 (libferrule-cpu-zen4.so)`."""
    modules = dict.fromkeys(record.module for record in records if record.module)
    return f"{target} ({', '.join(modules)})" if modules else target


def first_line(message: str) -> str:
    return next((line.strip() for line in message.splitlines() if line.strip()), "")


def _line(line: str, width: int) -> str:
    return line if len(line) <= width else line[: max(1, width - 1)] + "…"


def _rows(cells: list[Cell], width: int) -> list[str]:
    """A row for each cell: op, dtype, distance and what is wrong."""
    if not cells:
        return []
    op, dtype = (max(len(getattr(cell, name)) for cell in cells) for name in ("op", "dtype"))
    lines = []
    for cell in cells[:ROWS]:
        off = f"{numbers.distance(cell.ulp)} ulp" if cell.ulp is not None else ""
        about = f"{cell.why}, {cell.where}" if cell.where and cell.where not in cell.why else cell.why
        lines.append(_line(f"  {cell.state.symbol} {cell.op:<{op}} {cell.dtype:<{dtype}} {off:>9}  {about}", width))
    if len(cells) > ROWS:
        lines.append(f"  … and {len(cells) - ROWS:,} more")
    return lines


def _list_cells(title: str, cells: list[Cell], among: list[Cell], width: int) -> list[str]:
    """List cells in one wrapped text: first the ops all of whose cells are listed, then other cells."""
    if not cells:
        return []
    total = Counter(cell.op for cell in among)
    whole = {op for op, count in Counter(cell.op for cell in cells).items() if count == total[op]}
    some = [cell for cell in cells if cell.op not in whole]
    words = [*dict.fromkeys(cell.op for cell in cells if cell.op in whole)]
    if len(some) <= NAMED:
        words += [f"{cell.op} {cell.dtype}" for cell in some]
    else:
        by_dtype = Counter(cell.dtype for cell in some)
        words += [f"{dtype} of {numbers.several(count, 'op')}" for dtype, count in by_dtype.items()]
    return textwrap.wrap(
        ", ".join(words),
        max(width, 40),
        initial_indent="  " + title,
        subsequent_indent=" " * (2 + len(title)),
        break_on_hyphens=False,
    )


def _times(records: list[Record], width: int) -> list[str]:
    """The rows of the benchmark, slowest relative to NumPy first."""
    if not records:
        return []
    ranked = sorted(records, key=lambda r: numbers.ratio(r.nanoseconds or 0.0, r.peer_nanoseconds) or 0.0)
    case = max(len(record.case) for record in ranked[:TIMED])
    lines = [f"  {'time of a call':<{case}} {'ferrule':>10} {'NumPy':>10} {'':>7}"]
    for record in ranked[:TIMED]:
        ours, theirs = record.nanoseconds or 0.0, record.peer_nanoseconds
        peer = numbers.time(theirs) if theirs is not None else ""
        faster = numbers.times(numbers.ratio(ours, theirs))
        line = f"  {record.case:<{case}} {numbers.time(ours):>10} {peer:>10} {faster:>7}  {record.where}"
        lines.append(_line(line.rstrip(), width))
    if len(ranked) > TIMED:
        lines.append(f"  … and {numbers.several(len(ranked) - TIMED, 'faster one')}")
    return lines

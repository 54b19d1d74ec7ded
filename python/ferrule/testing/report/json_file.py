"""The report as a JSON file. Reading it gives an equal report, including infinite distances."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from ferrule.testing.report.contents import Report
from ferrule.testing.report.record import Record, ReportError

SCHEMA = "ferrule-conformance"
VERSION = 1


def document(report: Report) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "environment": dict(report.environment),
        "summary": report.summary,
        "kinds": dict(report.kinds),
        "declared": [list(place) for place in sorted(report.declared)],
        "expected": [list(pair) for pair in sorted(report.expected)],
        "matrix": [cell.to_json() for cell in report.matrix.cells()],
        "records": [record.to_json() for record in report.records],
    }


def write(report: Report, path: str | Path) -> None:
    """Write the report with one list item per line, so that reports can be compared with diff."""
    parts = []
    for name, value in document(report).items():
        if isinstance(value, list) and value:
            text = "[\n" + ",\n".join(_text(item) for item in value) + "\n]"
        else:
            text = _text(value)
        parts.append(f"{_text(name)}: {text}")
    replace(path, "{\n" + ",\n".join(parts) + "\n}\n")


def read(path: str | Path) -> Report:
    """Read what `write` wrote. Raises ReportError if the file is no valid report."""
    try:
        return _report(json.loads(Path(path).read_text("utf-8"), parse_constant=_no_constant))
    except (ValueError, RecursionError) as error:  # ReportError, JSONDecodeError and UnicodeDecodeError are ValueErrors
        raise ReportError(f"{path}: no report of the kit: {error}") from error


def replace(path: str | Path, text: str) -> None:
    """Replace a file atomically."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(
        "w", encoding="utf-8", errors="backslashreplace", newline="\n", dir=path.parent, prefix=path.name, delete=False
    ) as file:
        try:
            file.write(text)
        except BaseException:
            file.close()
            Path(file.name).unlink()
            raise
    mask = os.umask(0)
    os.umask(mask)
    Path(file.name).chmod(0o666 & ~mask)  # the mode that open() would give
    Path(file.name).replace(path)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def _no_constant(name: str) -> None:
    raise ReportError(f"{name} is not JSON")


def _report(given: Any) -> Report:
    if not isinstance(given, dict) or given.get("schema") != SCHEMA:
        raise ReportError(f"needs an object with schema {SCHEMA!r}")
    if given.get("version") != VERSION:
        raise ReportError(f"version {given.get('version')!r}; this ferrule reads version {VERSION}")
    records = []
    for number, item in enumerate(_part(given, "records", list)):
        try:
            records.append(Record.from_json(item))
        except ReportError as error:
            raise ReportError(f"record {number}: {error}") from error
    return Report(
        records=tuple(records),
        environment=_strings(given, "environment"),
        declared=frozenset((a, b, c) for a, b, c in _names(given, "declared", 3)),
        expected=frozenset((a, b) for a, b in _names(given, "expected", 2)),
        kinds=_strings(given, "kinds"),
    )


def _part(given: dict[str, Any], name: str, kind: type) -> Any:
    if not isinstance(given.get(name), kind):
        raise ReportError(f"{name}: needs {'a list' if kind is list else 'an object'}")
    return given[name]


def _strings(given: dict[str, Any], name: str) -> dict[str, str]:
    part: dict[str, str] = _part(given, name, dict)
    if not all(isinstance(value, str) for value in part.values()):
        raise ReportError(f"{name}: needs strings")
    return part


def _names(given: dict[str, Any], part: str, length: int) -> list[list[str]]:
    names: list[list[str]] = _part(given, part, list)
    for item in names:
        if not isinstance(item, list) or len(item) != length or not all(isinstance(name, str) for name in item):
            raise ReportError(f"{part}: got {item!r}, needs a list of {length} strings")
    return names

"""Writes a report to a file in the format of its suffix."""

from __future__ import annotations

from pathlib import Path

from ferrule.testing.report import html, json_file
from ferrule.testing.report.contents import Report
from ferrule.testing.report.text import text

FORMS = (".html", ".json", ".txt")


def save(report: Report, path: Path) -> None:
    """Replace the file by the report as .html, .json or .txt. Raises ValueError for another suffix."""
    if path.suffix == ".html":
        html.write(report, path)
    elif path.suffix == ".json":
        json_file.write(report, path)
    elif path.suffix == ".txt":
        json_file.replace(path, text(report))
    else:
        raise ValueError(f"{path.name}: a report is {', '.join(FORMS[:-1])} or {FORMS[-1]}")

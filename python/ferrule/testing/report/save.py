"""A report as a file, in the form that its name asks for."""

from __future__ import annotations

from pathlib import Path

from ferrule.testing.report import html, json_file
from ferrule.testing.report.contents import Report
from ferrule.testing.report.text import text

FORMS = (".html", ".json", ".txt")


def save(report: Report, path: Path) -> None:
    """.html to look at, .json for programs, .txt. ValueError for another name; the file is replaced whole."""
    if path.suffix == ".html":
        html.write(report, path)
    elif path.suffix == ".json":
        json_file.write(report, path)
    elif path.suffix == ".txt":
        json_file.replace(path, text(report))
    else:
        raise ValueError(f"{path.name}: a report is {', '.join(FORMS[:-1])} or {FORMS[-1]}")

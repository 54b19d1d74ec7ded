"""The report of a kit run: as a matrix, a JSON file, text, an HTML page and in a notebook."""

from ferrule.testing.report.contents import Report, environment
from ferrule.testing.report.matrix import Cell, Matrix
from ferrule.testing.report.notebook import notebook_html
from ferrule.testing.report.record import Record, ReportError
from ferrule.testing.report.save import save
from ferrule.testing.report.state import State
from ferrule.testing.report.text import text as as_text

__all__ = [
    "Cell",
    "Matrix",
    "Record",
    "Report",
    "ReportError",
    "State",
    "as_text",
    "environment",
    "notebook_html",
    "save",
]

"""The error of a load that lacks what it must have; `ferrule.errors` has all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.errors import Error

if TYPE_CHECKING:
    from ferrule.loading.load_report import LoadReport


class LoadError(Error, ImportError):
    """What `load_all(require=...)` asks for is not there; `report` says why."""

    code = "not_found"

    def __init__(self, message: str, report: LoadReport) -> None:
        super().__init__(message)
        self.report = report

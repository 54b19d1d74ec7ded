"""The error of `load_all(require=...)`. All other errors are in ferrule.errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule.errors import Error

if TYPE_CHECKING:
    from ferrule.loading.load_report import LoadReport


class LoadError(Error, ImportError):
    """A backend that `load_all(require=...)` asks for was not loaded.

    Attributes
    ----------
    report : LoadReport
        The report of the load, which says why.

    Examples
    --------
    >>> try:
    ...     fe.load_all(require="abacus")
    ... except fe.LoadError as error:
    ...     print(type(error.report).__name__)
    LoadReport
    """

    code = "not_found"

    def __init__(self, message: str, report: LoadReport) -> None:
        super().__init__(message)
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.report), self.__dict__  # args has no report

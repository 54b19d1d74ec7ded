"""`LoadReport`, the result of a load."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ferrule import _ferrule
from ferrule.later import later

if TYPE_CHECKING:
    from ferrule.loading import candidates, load_report_html
    from ferrule.loading.candidates import Candidate, Root
else:
    candidates = later("ferrule.loading.candidates")
    load_report_html = later("ferrule.loading.load_report_html")


class _SavedReport:
    """The data and texts of a report that was pickled, in place of the core's handle."""

    def __init__(self, data: dict[str, Any], formats: dict[str, str]) -> None:
        self._data, self._formats = data, formats

    def data(self) -> dict[str, Any]:
        return copy.deepcopy(self._data)

    def format(self, name: str) -> str:
        return self._formats[name]


class LoadReport:
    """The folders and modules that a load considered; `print` shows a table. Iteration yields the candidates.

    Examples
    --------
    >>> report = fe.load_all(only="cpu")
    >>> report.ok, len(report) == len(report.candidates)
    (True, True)
    """

    def __init__(self, handle: _ferrule.LoadReport | _SavedReport) -> None:
        self._handle = handle

    def __reduce__(self) -> tuple[Any, ...]:
        formats = {name: self._handle.format(name) for name in ("json", "text")}
        return LoadReport, (_SavedReport(self._data, formats),)

    # Made on first use: most programs never look at their load report.
    @cached_property
    def _data(self) -> dict[str, Any]:
        return self.to_dict()

    @cached_property
    def candidates(self) -> list[Candidate]:
        """The modules that were considered."""
        return [candidates.candidate_of(row) for row in self._data["candidates"]]

    @cached_property
    def roots(self) -> list[Root]:
        """The folders and lists of files that were searched."""
        return [candidates.root_of(root) for root in self._data["roots"]]

    @property
    def milliseconds(self) -> float:
        """The duration of the load in milliseconds."""
        return float(self._data["milliseconds"])

    @property
    def loaded(self) -> list[Candidate]:
        """The candidates that are loaded."""
        return [candidate for candidate in self.candidates if candidate.state == "loaded"]

    @property
    def ok(self) -> bool:
        """Whether a backend is loaded and no module has failed."""
        failed = {"error", "probe_failed"}
        return bool(self.loaded) and not any(candidate.state in failed for candidate in self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    def __str__(self) -> str:
        return self._handle.format("text").rstrip("\n")

    def __repr__(self) -> str:
        return f"LoadReport(loaded={[candidate.path.name for candidate in self.loaded]}, candidates={len(self)})"

    def to_json(self) -> str:
        """Return the report as JSON.

        Returns
        -------
        str
            The JSON text.

        Examples
        --------
        >>> fe.load_all().to_json()[0]
        '{'
        """
        return self._handle.format("json")

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dict, of the form of its JSON.

        Returns
        -------
        dict
            The report.

        Examples
        --------
        >>> {row["state"] for row in fe.load_all(only="cpu").to_dict()["candidates"]} >= {"loaded"}
        True
        """
        return self._handle.data()

    def _repr_html_(self) -> str:
        return load_report_html.report_html(self._data)

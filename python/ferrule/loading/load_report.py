"""What a load looked at, as an object."""

from __future__ import annotations

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


class _Formatted:
    """A report in the formats that a handle of the core gives: what a pickle of it has."""

    def __init__(self, formats: dict[str, str]) -> None:
        self._formats = formats

    def format(self, name: str) -> str:
        return self._formats[name]


class LoadReport:
    """What a load looked at: `print` it for a table."""

    def __init__(self, handle: _ferrule.LoadReport | _Formatted) -> None:
        self._handle = handle

    def __reduce__(self) -> tuple[Any, ...]:
        return LoadReport, (_Formatted({name: self._handle.format(name) for name in ("json", "text")}),)

    # Read when it is asked for: most loads are of a program that wants a device, and nobody looks.
    @cached_property
    def _data(self) -> dict[str, Any]:
        return self.to_dict()

    @cached_property
    def candidates(self) -> list[Candidate]:
        return [candidates.candidate_of(row) for row in self._data["candidates"]]

    @cached_property
    def roots(self) -> list[Root]:
        return [candidates.root_of(root) for root in self._data["roots"]]

    @property
    def milliseconds(self) -> float:
        return float(self._data["milliseconds"])

    @property
    def loaded(self) -> list[Candidate]:
        return [candidate for candidate in self.candidates if candidate.state == "loaded"]

    @property
    def ok(self) -> bool:
        """Whether something is loaded and nothing that was tried has failed."""
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
        return self._handle.format("json")

    def to_dict(self) -> dict[str, Any]:
        import json

        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def _repr_html_(self) -> str:
        return load_report_html.report_html(self._data)

"""Tries generated faults in parallel, and stores the result of each, so that an interrupted run can be resumed."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue

from .generated import GeneratedFault
from .trial import SURVIVED, Outcome, PassTrial, Trial, trial_of
from .workspace import FOLDER

EQUIVALENT = "equivalent"  # a survivor with an explanation in equivalent.toml
JUDGED = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True)
class Tried:
    """A fault and its outcome. `reason` says why a survivor is equivalent."""

    fault: GeneratedFault
    outcome: Outcome
    reason: str = ""

    @property
    def state(self) -> str:
        return EQUIVALENT if self.outcome.state == SURVIVED and self.reason else self.outcome.state


class Campaign:
    """Tries faults; `on_tried` is called with each fault that has been tried."""

    def __init__(self, variant: str, level: str, jobs: int, on_tried: Callable[[Tried], None]) -> None:
        self._variant, self._level, self._jobs, self._on_tried = variant, level, jobs, on_tried
        self._results = FOLDER / "results" / level
        self._results.mkdir(parents=True, exist_ok=True)

    def run(self, faults: Iterable[GeneratedFault], again: Callable[[Outcome], bool]) -> list[Tried]:
        """Tries the faults that have no stored outcome, or whose outcome `again` selects."""
        tried: list[Tried] = []
        left: dict[str, list[GeneratedFault]] = {}
        for fault in faults:
            kept = self._kept(fault)
            if kept is None or again(kept):
                left.setdefault(fault.area, []).append(fault)
            else:
                tried.append(self._judged(fault, kept))
                self._on_tried(tried[-1])
        for area, of_area in left.items():
            tried += self._run_area(area, of_area)
        return tried

    def _run_area(self, area: str, faults: list[GeneratedFault]) -> list[Tried]:
        jobs = min(self._jobs, len(faults))
        trials = [trial_of(area, self._variant, number, self._level) for number in range(jobs)]
        free: SimpleQueue[Trial] = SimpleQueue()
        for trial in trials:  # sequentially: later ones find the objects of the first in the compiler cache
            trial.workspace.prepare()
            free.put(trial)

        def one(fault: GeneratedFault) -> Tried:
            trial = free.get()
            try:
                start = time.perf_counter()
                outcome = trial.run(fault)
                outcome.seconds = round(time.perf_counter() - start, 1)
            finally:
                free.put(trial)
            self._keep(fault, outcome)
            return self._judged(fault, outcome)

        _measure([trial for trial in trials if isinstance(trial, PassTrial)])
        tried: list[Tried] = []
        with ThreadPoolExecutor(jobs) as pool:
            futures: list[Future[Tried]] = [pool.submit(one, fault) for fault in faults]
            try:
                for future in as_completed(futures):
                    tried.append(future.result())
                    self._on_tried(tried[-1])
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return tried

    def _judged(self, fault: GeneratedFault, outcome: Outcome) -> Tried:
        return Tried(fault, outcome, self.reasons.get(fault.fingerprint, ""))

    @cached_property
    def reasons(self) -> dict[str, str]:
        return judged_equivalent()

    def _path(self, fault: GeneratedFault) -> Path:
        return self._results / f"{fault.fingerprint}.json"

    def _kept(self, fault: GeneratedFault) -> Outcome | None:
        try:
            return Outcome(**json.loads(self._path(fault).read_text()))
        except FileNotFoundError:
            return None

    def _keep(self, fault: GeneratedFault, outcome: Outcome) -> None:
        new = self._path(fault).with_suffix(".new")
        new.write_text(json.dumps(asdict(outcome)))
        new.replace(self._path(fault))


def _measure(trials: list[PassTrial]) -> None:
    """Measures the time limits of the tests with the first trial, and copies them to the others."""
    if trials and (outcome := trials[0].measure()).state != SURVIVED:
        raise SystemExit(f"the tests fail without a fault: {outcome.by}")
    for trial in trials[1:]:
        trial.limits = trials[0].limits


def judged_equivalent() -> dict[str, str]:
    """The reasons in equivalent.toml, by fault fingerprint."""
    groups = tomllib.loads(JUDGED.read_text()).get("equivalent", [])
    return {name.split("-")[-1]: group["reason"] for group in groups for name in group["faults"]}

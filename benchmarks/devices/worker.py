"""The process of one contender for a device."""

from __future__ import annotations

import math
import warnings
from typing import Any

from benchmarks.devices.cases import DeviceCase
from benchmarks.devices.contenders import Prepared, clock_times, open_contender, queued_time
from benchmarks.devices.inputs import greatest_error, make_inputs

WARM_UP = 3  # calls before any is timed
QUEUED = 48  # at most: ferrule waits when 64 pieces of work are in a queue


class DeviceWorker:
    """Prepares a case, checks it, and times turns; see benchmarks.worker.serve."""

    def __init__(self, name: str, device: str, uuid: str) -> None:
        warnings.simplefilter("ignore")  # a peer's advice is not a result
        self.contender = open_contender(name, device, uuid)
        self.case: DeviceCase | None = None
        self.prepared: Prepared | None = None
        self.seconds = 0.0  # of one call, about

    def describe(self) -> dict[str, str]:
        return self.contender.describe()

    def prepare(self, case: DeviceCase) -> dict[str, Any]:
        """Compiles, computes once, returns the greatest error against float64; ValueError if it is too great."""
        self.finish()
        inputs = make_inputs(case)
        prepared = self.contender.prepare(case, inputs)
        error, within = greatest_error(case, inputs, prepared.output())
        if not within:
            raise ValueError(f"{case.name}: wrong by {error:.1e}")
        self.case, self.prepared = case, prepared
        del inputs
        for number in range(WARM_UP):
            prepared.run(number)
        self.seconds = queued_time(self.contender, prepared.run, 2)
        return {"greatest_error": error}

    def turn(self, seconds: float) -> list[float]:
        """Seconds of one op: one sample for each call, or one for all calls if the case is queued."""
        assert self.case is not None
        assert self.prepared is not None
        run, ops = self.prepared.run, self.case.ops
        calls = max(1, min(math.ceil(seconds / max(self.seconds, 1e-7)), QUEUED))
        self.contender.wait()
        run(0)  # after the turn of another process, caches and clocks of the device are not ours
        if self.case.method == "queue":
            return [queued_time(self.contender, run, calls) / ops]
        if self.case.method == "events":
            return [time / ops for time in self.contender.event_times(run, calls)]
        return [time / ops for time in clock_times(self.contender, run, calls)]

    def finish(self) -> None:
        """Releases the arrays of the case."""
        self.case = self.prepared = None
        self.contender.release()

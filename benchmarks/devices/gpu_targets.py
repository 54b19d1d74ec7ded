"""The targets of the CUDA backend on a Hopper GPU: a factor of the best that was measured elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

OURS = "ferrule"


@dataclass(frozen=True)
class GpuTarget:
    """`best` was measured on an H200, which moves 4131 GB/s; `factor` of it is wanted: at least of a rate, at most of
    seconds. Where a peer takes part in the run, `factor` of that peer is wanted instead, so that cards do not matter.
    """

    measure: Literal["bytes per second", "flops", "seconds"]
    best: float
    factor: float

    def value(self, seconds: Mapping[str, float], work: float) -> tuple[float, str] | None:
        """Our share of the best (a ratio of rates, or of seconds), and whose the best is; None without ferrule.

        Parameters
        ----------
        seconds : mapping of str to float
            The seconds of each contender for one op.
        work : float
            The bytes or flops of one op; not used for seconds.
        """
        ours = seconds.get(OURS)
        if ours is None:
            return None
        peers = {name: time for name, time in seconds.items() if not name.startswith(OURS)}
        if peers:
            name = min(peers, key=lambda peer: peers[peer])
            return (ours / peers[name] if self.measure == "seconds" else peers[name] / ours), name
        return (ours / self.best if self.measure == "seconds" else work / ours / self.best), "H200"

    def reached(self, value: float) -> bool:
        return value <= self.factor if self.measure == "seconds" else value >= self.factor

    def __str__(self) -> str:
        if self.measure == "seconds":
            return f"≤ {self.best * self.factor * 1e6:.3g} us"
        scale, unit = (1e9, "GB/s") if self.measure == "bytes per second" else (1e12, "TFLOP/s")
        return f"≥ {self.factor:g}x {self.best / scale:.4g} {unit}"

"""The targets to reach. A missed target is shown, but does not fail the run: a busy machine is not a bug."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

OURS = "ferrule"
PEERS = ("numpy", "onnxruntime", "ggml")


@dataclass(frozen=True)
class Target:
    """A measure and its limit. "share of best" is the best peer's time over ours, "times onnxruntime" ours over its."""

    measure: Literal["share of best", "times onnxruntime", "microseconds", "milliseconds"]
    at_least: float = 0.0
    at_most: float = float("inf")

    def value(self, seconds: Mapping[str, float]) -> float | None:
        """The measure, from the seconds of each contender; None without ferrule, or without the peer that it needs."""
        ours = seconds.get(OURS)
        if ours is None:
            return None
        if self.measure == "microseconds":
            return 1e6 * ours
        if self.measure == "milliseconds":
            return 1e3 * ours
        if self.measure == "times onnxruntime":
            return ours / seconds["onnxruntime"] if "onnxruntime" in seconds else None
        peers = [seconds[peer] for peer in PEERS if peer in seconds]
        return min(peers) / ours if peers else None

    def reached(self, value: float) -> bool:
        return self.at_least <= value <= self.at_most

    def __str__(self) -> str:
        bound = f"≥ {self.at_least:g}" if self.at_least else f"≤ {self.at_most:g}"
        return f"{bound} {self.measure}"

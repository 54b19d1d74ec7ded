"""Minimum, median and spread of a list of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True)
class Timing:
    """Samples in seconds per call. Ratios use the median, because minimum and mean depend on outliers."""

    samples: Sequence[float]

    @property
    def minimum(self) -> float:
        return min(self.samples)

    @property
    def median(self) -> float:
        return median(self.samples)

    @property
    def quartiles(self) -> tuple[float, float]:
        if len(self.samples) < 2:
            return self.samples[0], self.samples[0]
        first, _, third = quantiles(self.samples, n=4, method="inclusive")
        return first, third

    def as_json(self) -> dict[str, float | int]:
        first, third = self.quartiles
        return {
            "samples": len(self.samples),
            "min_seconds": self.minimum,
            "median_seconds": self.median,
            "first_quartile_seconds": first,
            "third_quartile_seconds": third,
            "iqr_seconds": third - first,
        }

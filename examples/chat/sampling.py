"""The choice of the next token by its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import ferrule as fe
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Sampling:
    """How a token is drawn. A temperature of 0 takes the likeliest one; the others are not read then.

    `top_k` keeps so many of the likeliest tokens, `top_p` the likeliest ones that together reach this probability,
    `min_p` those with at least this part of the greatest probability; 0 and 1 keep all. `repetition_penalty` divides
    positive scores of tokens that were there already, and multiplies negative ones (Keskar et al. 2019).
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0

    def numbers(self, count: int) -> NDArray[np.float64]:
        """Return the random number of each step: the same for the same seed on every device."""
        key = fe.random.key(self.seed, device="cpu")
        return np.asarray(fe.random.uniform(key, (count,), dtype="float64"))

    def choose(self, scores: NDArray[np.float32], before: Sequence[int], number: float) -> int:
        """Return the id of the next token, for a number from 0 to below 1."""
        values = scores.astype(np.float64)
        if self.repetition_penalty != 1:
            seen = np.unique(np.asarray(before, np.int64))
            there = values[seen]
            values[seen] = np.where(there > 0, there / self.repetition_penalty, there * self.repetition_penalty)
        if self.temperature == 0:
            return int(values.argmax())
        order = np.argsort(-values, kind="stable")
        order = order[: self.top_k] if self.top_k else order
        chances = np.exp((values[order] - values[order[0]]) / self.temperature)
        chances /= chances.sum()
        kept = chances >= self.min_p * chances[0]
        kept[1:] &= np.cumsum(chances)[:-1] < self.top_p  # the token that reaches top_p is kept
        order, chances = order[kept], chances[kept]
        bounds = np.cumsum(chances)
        return int(order[min(int(np.searchsorted(bounds, number * bounds[-1], side="right")), len(order) - 1)])

"""NumPy arrays that hold the inputs of a program, each described by an expression that creates it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ferrule.testing.model.dtypes import Values, is_floating

Shape = tuple[int, ...]
EDGES = "0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 1e-5, -3e-39, 1e30, np.inf, -np.inf, np.nan"
DRAWS = "np.random.default_rng({seed})"


@dataclass(frozen=True)
class Memory:
    """A NumPy array. `kind` is one of KINDS; `low` and `high` are the least and greatest integers that it may hold."""

    dtype: str
    shape: Shape
    kind: str
    seed: int = 0
    low: int = 0
    high: int = 0
    writable: bool = True

    def source(self, call: int = 0) -> str:
        """The expression that creates the array. The values depend on the number of the call."""
        words = {"seed": DRAWS.format(seed=self.seed + call), "shape": self.shape, "low": self.low, "high": self.high}
        text = KINDS[self.kind].format(**words, size=int(np.prod(self.shape, dtype=object)))
        return f"np.asarray({text}).astype({self.dtype!r})"

    def values(self, call: int = 0) -> Values:
        values: Values = evaluate(self.source(call))
        return values


KINDS = {
    "ordinary": "{seed}.uniform(-4, 4, {shape})",
    "positive": "{seed}.uniform(0.5, 2, {shape})",
    "eighths": "({seed}.integers(-32, 33, {shape}) / 8)",
    "far": "({seed}.uniform(-1, 1, {shape}) + 1000)",
    "wide": "{seed}.uniform(-6e4, 6e4, {shape})",
    "edges": f"{{seed}}.choice(np.array([{EDGES}]), {{shape}})",
    "bools": "({seed}.random({shape}) < 0.5)",
    "integers": "{seed}.integers({low}, {high}, {shape}, dtype=np.int64, endpoint=True)",
    "unsigned": "{seed}.integers(0, {high}, {shape}, dtype=np.uint64, endpoint=True)",
    # Used by the shrinker.
    "counted": "np.arange({size}).reshape({shape})",
    "ones": "np.ones({shape})",
}


def evaluate(text: str, **names: Any) -> Any:
    """Evaluate an expression of a program with NumPy."""
    import ml_dtypes  # registers the dtype name bfloat16

    with np.errstate(all="ignore"):
        return eval(text, {"np": np, "ml_dtypes": ml_dtypes, **names})


def draw_memory(rng: np.random.Generator, dtype: str, shape: Shape, kind: str = "") -> Memory:
    """Draw memory of ordinary values, rarely with edge values of the dtype."""
    seed = int(rng.integers(1 << 31))
    writable = bool(rng.random() < 0.6)
    if dtype == "bool":
        return Memory(dtype, shape, "bools", seed, writable=writable)
    if is_floating(dtype):
        kinds = ["ordinary", "eighths", "positive", "far", "wide", "edges"]
        drawn = kind or str(rng.choice(kinds, p=[0.4, 0.25, 0.12, 0.06, 0.05, 0.12]))
        return Memory(dtype, shape, drawn, seed, writable=writable)
    info = np.iinfo(dtype)
    if rng.random() < 0.7:
        return Memory(dtype, shape, "integers", seed, max(int(info.min), -9), 9, writable)
    return Memory(
        dtype, shape, "unsigned" if dtype == "uint64" else "integers", seed, int(info.min), int(info.max), writable
    )

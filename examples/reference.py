"""The same model in NumPy float64, to check the example: slow, simple, and written without looking at minilm.py.

It shares no code with ferrule: it reads the file itself, handles one sentence at a time, so that there is no padding
or mask to get wrong, and takes erf from the C library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_DTYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "I64": np.dtype("<i8")}


def read_safetensors(path: Path | str) -> dict[str, NDArray[Any]]:
    """Name -> array, as views of the mapped file: 8 bytes of header length, a JSON header, then the data."""
    raw = np.memmap(path, mode="r")
    size = int.from_bytes(raw[:8].tobytes(), "little")
    header = json.loads(raw[8 : 8 + size].tobytes())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        tensors[name] = raw[begin:end].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


class Reference:
    """The float64 forward pass: one sentence of 128 tokens takes 2.7 GFLOP."""

    def __init__(self, path: Path | str) -> None:
        self.tensors = read_safetensors(path)
        self.in_float64: dict[str, Vector] = {}

    def embed(self, sentences: Iterable[Sequence[int]]) -> Vector:
        """Token ids of each sentence, without padding -> (sentences, 384), every row of norm 1."""
        return np.stack([self._embed_one(np.asarray(ids, dtype=np.int64)) for ids in sentences])

    def _embed_one(self, ids: NDArray[np.int64]) -> Vector:
        tables = "embeddings.{}_embeddings.weight".format
        x = self.tensors[tables("word")][ids].astype(np.float64)
        x += self.tensors[tables("position")][: len(ids)]
        x += self.tensors[tables("token_type")][0]
        x = self._normalise(x, "embeddings.LayerNorm")
        for index in range(6):
            x = self._layer(x, f"encoder.layer.{index}.")
        pooled: Vector = x.mean(axis=0)
        unit: Vector = pooled / np.linalg.norm(pooled)
        return unit

    def _layer(self, x: Vector, prefix: str) -> Vector:
        q, k, v = (self._affine(x, f"{prefix}attention.self.{part}") for part in ("query", "key", "value"))
        heads = []
        for columns in np.split(np.arange(384), 12):
            logits = q[:, columns] @ k[:, columns].T / math.sqrt(32)
            logits -= logits.max(axis=1, keepdims=True)
            weights = np.exp(logits)
            heads.append(weights / weights.sum(axis=1, keepdims=True) @ v[:, columns])
        attended = self._affine(np.concatenate(heads, axis=1), f"{prefix}attention.output.dense")
        x = self._normalise(x + attended, f"{prefix}attention.output.LayerNorm")
        inner = gelu(self._affine(x, f"{prefix}intermediate.dense"))
        return self._normalise(x + self._affine(inner, f"{prefix}output.dense"), f"{prefix}output.LayerNorm")

    def _affine(self, x: Vector, name: str) -> Vector:
        return x @ self._float64(f"{name}.weight").T + self._float64(f"{name}.bias")

    def _normalise(self, x: Vector, name: str) -> Vector:
        centred = x - x.mean(axis=-1, keepdims=True)
        unit: Vector = centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-12)
        return unit * self._float64(f"{name}.weight") + self._float64(f"{name}.bias")

    def _float64(self, name: str) -> Vector:
        if name not in self.in_float64:
            self.in_float64[name] = self.tensors[name].astype(np.float64)
        return self.in_float64[name]


def gelu(x: Vector) -> Vector:
    """x times the normal distribution function of x (Hendrycks and Gimpel 2016), not its tanh approximation."""
    return 0.5 * x * (1.0 + erf(x / math.sqrt(2.0)))


_STEPS = 512  # per unit; the Taylor step is then at most 1/1024, and the first omitted term below 3e-16
_GRID = np.arange(-6 * _STEPS, 6 * _STEPS + 1) / _STEPS  # beyond 6, erf is 1 in float64
_ERF_ON_GRID = np.array([math.erf(x) for x in _GRID])
_SLOPE_ON_GRID = 2.0 / math.sqrt(math.pi) * np.exp(-_GRID * _GRID)


def erf(x: Vector) -> Vector:
    """erf, correct to the last bits: the C library's value at the nearest grid point, plus a Taylor step."""
    x = np.clip(x, -6.0, 6.0)
    index = np.rint(x * _STEPS).astype(np.int64) + 6 * _STEPS
    point = _GRID[index]
    h = x - point
    square = point * point
    series = 1.0 - point * h + (2.0 * square - 1.0) / 3.0 * h**2 - (2.0 * square - 3.0) * point / 6.0 * h**3
    return _ERF_ON_GRID[index] + _SLOPE_ON_GRID[index] * h * series

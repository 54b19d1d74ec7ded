"""The same model in NumPy float64, with weights that the package gguf decodes, for `--check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from llama import Sizes
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def decoded_by_gguf(path: Path) -> dict[str, NDArray[Any]]:
    """All tensors of a GGUF file in float32, decoded by the package gguf."""
    tensors = gguf.GGUFReader(path).tensors
    return {one.name: gguf.quants.dequantize(one.data, one.tensor_type) for one in tensors}


class Reference:
    """Reads a sequence of tokens at once, and returns the scores after each."""

    def __init__(self, weights: Mapping[str, NDArray[Any]], sizes: Sizes) -> None:
        self._weights, self._sizes = weights, sizes

    def read(self, ids: Sequence[int]) -> Numbers:
        """Scores of shape (tokens that were read, tokens that there are)."""
        sizes = self._sizes
        x = self._weight("token_embd")[np.asarray(ids)]
        count = len(ids)
        angles = np.arange(count)[:, None] * sizes.base ** (-np.arange(0, sizes.head, 2) / sizes.head)
        turn = np.exp(1j * angles)[None]
        for number in range(sizes.layers):
            name = f"blk.{number}"
            unit = self._normal(x, f"{name}.attn_norm")
            query, key, value = (
                (unit @ self._weight(f"{name}.attn_{part}").T).reshape(count, -1, sizes.head).swapaxes(0, 1)
                for part in "qkv"
            )
            query, key = self._turned(query, turn), self._turned(key, turn)
            key, value = (np.repeat(part, sizes.heads // sizes.groups, axis=0) for part in (key, value))
            scores = query @ key.swapaxes(1, 2) / np.sqrt(sizes.head)
            scores[:, ~np.tri(count, dtype=bool)] = -np.inf
            chances = np.exp(scores - scores.max(axis=-1, keepdims=True))
            chances /= chances.sum(axis=-1, keepdims=True)
            found = (chances @ value).swapaxes(0, 1).reshape(count, -1)
            x = x + found @ self._weight(f"{name}.attn_output").T
            unit = self._normal(x, f"{name}.ffn_norm")
            gate = unit @ self._weight(f"{name}.ffn_gate").T
            wide = gate / (1 + np.exp(-gate)) * (unit @ self._weight(f"{name}.ffn_up").T)
            x = x + wide @ self._weight(f"{name}.ffn_down").T
        last = "output" if "output.weight" in self._weights else "token_embd"
        return np.asarray(self._normal(x, "output_norm") @ self._weight(last).T)

    def _weight(self, name: str) -> Numbers:
        return np.asarray(self._weights[f"{name}.weight"], np.float64)

    def _normal(self, x: Numbers, name: str) -> Numbers:
        return np.asarray(x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + self._sizes.epsilon) * self._weight(name))

    @staticmethod
    def _turned(x: Numbers, turn: NDArray[np.complex128]) -> Numbers:
        pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * turn
        return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)

"""all-MiniLM-L6-v2 with ferrule's ops: token ids in, one vector of length 1 per sentence out.

It is a BERT of 6 layers (Devlin et al. 2018), distilled to a width of 384 (Wang et al. 2020) and tuned so that
sentences with the same meaning are close together (Reimers and Gurevych 2019). Shapes in the comments: B sentences, L
tokens, H = 12 heads of 32, W = 384.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import ferrule as fe

LAYERS = 6
HEADS = 12
EPSILON = 1e-12  # BERT's own; the usual 1e-5 changes the fifth digit of results


class Linear:
    """x @ weight.T + bias. Weights are stored as (out, in) in the file; packing by a kernel is the only copy."""

    def __init__(self, weights: Mapping[str, fe.Array], name: str) -> None:
        self.weight = weights[f"{name}.weight"]
        self.bias = weights[f"{name}.bias"]

    def __call__(self, x: fe.Array) -> fe.Array:
        return fe.matmul(x, self.weight.T) + self.bias


class LayerNorm:
    """Zero mean and unit variance over the last axis, then a scale and a shift."""

    def __init__(self, weights: Mapping[str, fe.Array], name: str) -> None:
        self.weight = weights[f"{name}.weight"]
        self.bias = weights[f"{name}.bias"]

    def __call__(self, x: fe.Array) -> fe.Array:
        return fe.layer_norm(x, self.weight, self.bias, epsilon=EPSILON)


class Layer:
    """Attention, then a transformation of each token; both add to their input and normalise."""

    def __init__(self, weights: Mapping[str, fe.Array], name: str) -> None:
        self.query = Linear(weights, f"{name}.attention.self.query")
        self.key = Linear(weights, f"{name}.attention.self.key")
        self.value = Linear(weights, f"{name}.attention.self.value")
        self.mix = Linear(weights, f"{name}.attention.output.dense")
        self.mix_norm = LayerNorm(weights, f"{name}.attention.output.LayerNorm")
        self.widen = Linear(weights, f"{name}.intermediate.dense")
        self.narrow = Linear(weights, f"{name}.output.dense")
        self.narrow_norm = LayerNorm(weights, f"{name}.output.LayerNorm")

    def __call__(self, x: fe.Array, mask: fe.Array) -> fe.Array:
        x = self.mix_norm(x + self.mix(self.attend(x, mask)))
        return self.narrow_norm(x + self.narrow(fe.gelu(self.widen(x))))

    def attend(self, x: fe.Array, mask: fe.Array) -> fe.Array:
        query, key, value = (split_heads(linear(x)) for linear in (self.query, self.key, self.value))
        seen = fe.scaled_dot_product_attention(query, key, value, mask=mask)  # (B, H, L, 32)
        return fe.reshape(fe.permute_dims(seen, (0, 2, 1, 3)), x.shape)


def split_heads(x: fe.Array) -> fe.Array:
    """(B, L, W) -> (B, H, L, 32)"""
    batch, length, width = x.shape
    return fe.permute_dims(fe.reshape(x, (batch, length, HEADS, width // HEADS)), (0, 2, 1, 3))


class MiniLM:
    """The weights, views into one read-only mapped file, and `encode`."""

    def __init__(self, path: Path | str, device: fe.Device | None = None) -> None:
        self.device = device
        weights = fe.io.open_safetensors(path, device=device)
        self.words = weights["embeddings.word_embeddings.weight"]  # (30522, W)
        self.positions = weights["embeddings.position_embeddings.weight"]  # (512, W)
        self.kinds = weights["embeddings.token_type_embeddings.weight"]  # (2, W); here all tokens are of kind 0
        self.width = self.words.shape[1]
        self.norm = LayerNorm(weights, "embeddings.LayerNorm")
        self.layers = [Layer(weights, f"encoder.layer.{index}") for index in range(LAYERS)]
        self.encode = fe.graph(self._encode)  # traced and compiled once for each shape, then called like a function

    def _encode(self, token_ids: fe.Array, mask: fe.Array) -> fe.Array:
        """Integer token ids (B, L) and a mask (B, L), True at real tokens and False at padding -> (B, W) of norm 1."""
        batch, length = token_ids.shape
        x = self._embed(token_ids)
        attended = fe.reshape(mask, (batch, 1, 1, length))  # no token attends to padding
        for layer in self.layers:
            x = layer(x, attended)
        real = fe.astype(fe.reshape(mask, (batch, length, 1)), x.dtype)
        mean = fe.sum(x * real, axis=1) / fe.sum(real, axis=1)
        return mean / fe.sqrt(fe.sum(mean * mean, axis=-1, keepdims=True))

    def _embed(self, token_ids: fe.Array) -> fe.Array:
        """The sum of the embeddings of the token, its position and its kind: (B, L, W)."""
        batch, length = token_ids.shape
        words = fe.take(self.words, fe.reshape(token_ids, (batch * length,)), axis=0)
        words = fe.reshape(words, (batch, length, self.width))
        return self.norm(words + self.positions[:length] + self.kinds[0])

"""A language model of the architecture `llama` with ferrule's ops: token ids in, the scores of the next token out.

Layers of attention with rotary positions and grouped heads, and of a gated product (Touvron et al. 2023). Shapes in
the comments: B conversations, T tokens, W the width, H heads that ask, G heads that answer, D the size of a head, R the
room of the caches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ferrule as fe
import numpy as np


@dataclass(frozen=True)
class Sizes:
    layers: int
    width: int
    heads: int
    groups: int
    head: int
    context: int
    base: float
    epsilon: float

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Sizes:
        architecture = metadata.get("general.architecture")
        if architecture != "llama":
            raise ValueError(f"this example runs models of the architecture llama, not {architecture!r}")
        width, heads = metadata["llama.embedding_length"], metadata["llama.attention.head_count"]
        return cls(
            layers=metadata["llama.block_count"],
            width=width,
            heads=heads,
            groups=metadata.get("llama.attention.head_count_kv", heads),
            head=metadata.get("llama.attention.key_length", width // heads),
            context=metadata["llama.context_length"],
            base=metadata.get("llama.rope.freq_base", 10000.0),
            epsilon=metadata["llama.attention.layer_norm_rms_epsilon"],
        )


PART = 256  # how many tokens of a prompt are read at once at most


def room_for(tokens: int) -> int:
    """The room of caches for so many tokens: whole parts, as the last part of a prompt may be longer than the prompt,
    and as graphs are compiled for each size.
    """
    return round_up(tokens, PART)


def round_up(count: int, step: int) -> int:
    return -(-count // step) * step


class Layer:
    """The weights of a layer. Matrices are (out, in), as in the file. Small weights are copied: those of the file would
    keep the pages around them in memory.
    """

    def __init__(self, weights: Mapping[str, fe.Array], number: int) -> None:
        name = f"blk.{number}"
        self.attention_norm, self.feed_norm = (
            fe.asarray(weights[f"{name}.{part}_norm.weight"], copy=True) for part in ("attn", "ffn")
        )
        self.query, self.key, self.value = (weights[f"{name}.attn_{part}.weight"] for part in "qkv")
        self.mix = weights[f"{name}.attn_output.weight"]
        self.gate, self.up, self.down = (weights[f"{name}.ffn_{part}.weight"] for part in ("gate", "up", "down"))


class Llama:
    """The weights, and `read`, one graph for each number of tokens that are read at once.

    `context` is how many positions there are. `activation` is that of `fe.linear`, for weights in blocks. `cache` is
    the dtype of the caches: attention reads a half in half the time where memory limits it, and rounds queries, keys,
    values and its result to it.
    """

    def __init__(
        self,
        weights: Mapping[str, fe.Array],
        sizes: Sizes,
        context: int,
        device: fe.Device | None = None,
        activation: str = "given",
        cache: str = "float32",
    ) -> None:
        self.sizes, self.context, self.device, self.activation, self.cache = sizes, context, device, activation, cache
        self.words = weights["token_embd.weight"]  # (tokens, W)
        self.scores = weights.get("output.weight", self.words)
        self.norm = fe.asarray(weights["output_norm.weight"], copy=True)
        self.layers = [Layer(weights, number) for number in range(sizes.layers)]
        room = room_for(context)
        self.cosines, self.sines = fe.rope_table(room, sizes.head, base=sizes.base, device=device)  # (R, D / 2)
        self.read = fe.graph(self._read, donate=(1, 2), device=device)
        self._parts: set[int] = set()

    def part_for(self, tokens: int) -> int:
        """How many tokens to read at once when so many are left. Each number has its graph; one that was read before is
        used again if it is at most twice as long, since reading in vain costs less than another graph.
        """
        wanted = min(round_up(tokens, 8), PART)
        part = min((known for known in self._parts if wanted <= known <= 2 * wanted), default=wanted)
        self._parts.add(part)
        return part

    def caches(self, conversations: int, room: int) -> tuple[fe.Array, fe.Array]:
        """Empty caches of keys and values: (layers, B, G, R, D)."""
        sizes = self.sizes
        shape = (sizes.layers, conversations, sizes.groups, room, sizes.head)
        keys, values = (fe.zeros(shape, dtype=self.cache, device=self.device) for _ in range(2))
        return keys, values

    def _read(
        self, ids: fe.Array, keys: fe.Array, values: fe.Array, position: int, last: int, empty: fe.Array
    ) -> tuple[fe.Array, fe.Array, fe.Array]:
        """Read ids (B, T) from `position` on; return the scores (B, tokens) after token `last` of them, and the caches.

        `empty` (B) is how many places at the start of each conversation have no token.
        """
        conversations, count = ids.shape
        sizes = self.sizes
        x = fe.take(self.words, fe.reshape(ids, (conversations * count,)), axis=0)
        x = fe.reshape(fe.astype(x, "float32"), (conversations, count, sizes.width))
        turn = tuple(
            fe.dynamic_slice(table, (position, 0), (count, sizes.head // 2)) for table in (self.cosines, self.sines)
        )
        seen = self._seen(count, position, empty, keys.shape[3])
        for number, layer in enumerate(self.layers):
            unit = fe.rms_norm(x, layer.attention_norm, epsilon=sizes.epsilon)
            query = self._product(unit, layer.query)
            query = fe.rope(self._heads(query, sizes.heads), *turn, interleaved=True)  # (B, H, T, D)
            key = fe.rope(self._heads(self._product(unit, layer.key), sizes.groups), *turn, interleaved=True)
            value = self._heads(self._product(unit, layer.value), sizes.groups)
            query, key, value = (fe.astype(part, self.cache, copy=False) for part in (query, key, value))
            keys = fe.update_slice(keys, fe.expand_dims(key, axis=0), (number, 0, 0, position, 0))
            values = fe.update_slice(values, fe.expand_dims(value, axis=0), (number, 0, 0, position, 0))
            # The heads of a group share its keys, so they are rows of one product: (B, G, H / G * T, D).
            rows = fe.reshape(query, (conversations, sizes.groups, sizes.heads // sizes.groups * count, sizes.head))
            found = fe.scaled_dot_product_attention(
                rows, keys[number], values[number], mask=seen, kv_length=position + count
            )
            found = fe.astype(found, "float32", copy=False)
            found = fe.reshape(found, (conversations, sizes.heads, count, sizes.head))
            found = fe.reshape(fe.permute_dims(found, (0, 2, 1, 3)), (conversations, count, sizes.heads * sizes.head))
            x = x + self._product(found, layer.mix)
            unit = fe.rms_norm(x, layer.feed_norm, epsilon=sizes.epsilon)
            x = x + self._product(fe.silu(self._product(unit, layer.gate)) * self._product(unit, layer.up), layer.down)
        x = fe.dynamic_slice(x, (0, last, 0), (conversations, 1, sizes.width))
        x = fe.reshape(fe.rms_norm(x, self.norm, epsilon=sizes.epsilon), (conversations, sizes.width))
        return self._product(x, self.scores), keys, values

    def _product(self, x: fe.Array, w: fe.Array) -> fe.Array:
        """x @ w.T"""
        return x @ w.T if isinstance(w.dtype, np.dtype) else fe.linear(x, w, activation=self.activation)

    def _heads(self, x: fe.Array, heads: int) -> fe.Array:
        """(B, T, heads * D) -> (B, heads, T, D)"""
        conversations, count, _ = x.shape
        return fe.permute_dims(fe.reshape(x, (conversations, count, heads, self.sizes.head)), (0, 2, 1, 3))

    def _seen(self, count: int, position: int, empty: fe.Array, room: int) -> fe.Array:
        """Which keys each row of attention sees, (B, 1, H / G * T, R): its own, and those before it from `empty` on."""
        places = fe.arange(room, device=self.device)
        rows = fe.reshape(fe.arange(count, device=self.device) + position, (count, 1))
        seen = (places <= rows) & (places >= fe.reshape(empty, (-1, 1, 1, 1)))
        return fe.tile(seen, (1, 1, self.sizes.heads // self.sizes.groups, 1))

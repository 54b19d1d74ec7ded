"""A decoder that generates one token after the other, with a cache of keys and values:
`python examples/decoder.py --steps 1000`.

The weights are random, from a fixed seed: the output means nothing, but the computation is that of a language model.
One graph serves every step, since the position is a number among the arguments; the caches are donated, so a step
writes one row into each and copies neither. `--check` repeats it in NumPy float64.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ferrule as fe
import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]


@dataclass(frozen=True)
class Sizes:
    """Sizes of the model, and the number of tokens that fit the caches."""

    tokens: int = 256
    width: int = 64
    heads: int = 4
    layers: int = 2
    room: int = 1024

    @property
    def head(self) -> int:
        return self.width // self.heads


class Model:
    """Layers of attention and of a gelu between two products, each with a residual connection (Vaswani et al. 2017)."""

    def __init__(self, sizes: Sizes, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)

        def weights(*shape: int) -> Weights:
            values: Weights = (rng.standard_normal(shape) / np.sqrt(shape[-2])).astype(np.float32)
            values.flags.writeable = False  # so that ferrule borrows it
            return values

        self.sizes = sizes
        self.embedding = weights(sizes.tokens, sizes.width)
        self.position = weights(sizes.room, sizes.width)
        self.attention = weights(sizes.layers, 4, sizes.width, sizes.width)  # for queries, keys, values and the result
        self.wider = weights(sizes.layers, sizes.width, 4 * sizes.width)
        self.narrower = weights(sizes.layers, 4 * sizes.width, sizes.width)


class Decoder:
    """The model with its caches on a device. Each step reads one token and returns the scores of the next."""

    def __init__(self, model: Model, device: str | None = None) -> None:
        sizes = model.sizes
        shape = (sizes.layers, sizes.heads, sizes.room, sizes.head)
        self._model = model
        self._keys, self._values = (fe.zeros(shape, dtype="float32", device=device) for _ in range(2))
        self._position = 0
        self.run = fe.graph(self._step, donate=(1, 2), device=device)

    def read(self, token: int) -> fe.Array:
        scores: fe.Array
        scores, self._keys, self._values = self.run(token, self._keys, self._values, self._position)
        self._position += 1
        return scores

    def _step(self, token: int, keys: fe.Array, values: fe.Array, position: int) -> tuple[fe.Array, ...]:
        model, sizes = self._model, self._model.sizes
        x = fe.asarray(model.embedding)[token] + fe.asarray(model.position)[position]
        x = x.reshape((1, sizes.width))
        for layer in range(sizes.layers):
            query, key, value = (
                (unit(x) @ model.attention[layer, part]).reshape((sizes.heads, 1, sizes.head)) for part in range(3)
            )
            keys = fe.update_slice(keys, key.reshape((1, sizes.heads, 1, sizes.head)), (layer, 0, position, 0))
            values = fe.update_slice(values, value.reshape((1, sizes.heads, 1, sizes.head)), (layer, 0, position, 0))
            seen = fe.scaled_dot_product_attention(query, keys[layer], values[layer], kv_length=position + 1)
            x = x + seen.reshape((1, sizes.width)) @ model.attention[layer, 3]
            x = x + fe.gelu(unit(x) @ model.wider[layer]) @ model.narrower[layer]
        return (unit(x) @ model.embedding.T).reshape((sizes.tokens,)), keys, values


def unit(x: fe.Array) -> fe.Array:
    return fe.layer_norm(x)


class Reference:
    """The same model in NumPy float64, for --check."""

    def __init__(self, model: Model) -> None:
        self._model = model
        sizes = model.sizes
        self._keys = np.zeros((sizes.layers, sizes.heads, 0, sizes.head))
        self._values = self._keys.copy()

    def read(self, token: int) -> NDArray[np.float64]:
        model, sizes = self._model, self._model.sizes
        position = self._keys.shape[2]
        x = model.embedding[token].astype(np.float64) + model.position[position]
        row = np.zeros((sizes.layers, sizes.heads, 1, sizes.head))
        self._keys, self._values = (np.concatenate([cache, row], axis=2) for cache in (self._keys, self._values))
        for layer in range(sizes.layers):
            query, key, value = (
                (self._unit(x) @ model.attention[layer, part]).reshape(sizes.heads, sizes.head) for part in range(3)
            )
            self._keys[layer, :, position], self._values[layer, :, position] = key, value
            scores = np.einsum("hd,hkd->hk", query, self._keys[layer]) / np.sqrt(sizes.head)
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            x = x + np.einsum("hk,hkd->hd", weights, self._values[layer]).ravel() @ model.attention[layer, 3]
            x = x + self._gelu(self._unit(x) @ model.wider[layer]) @ model.narrower[layer]
        return np.asarray(self._unit(x) @ model.embedding.T.astype(np.float64))

    @staticmethod
    def _unit(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((x - x.mean()) / np.sqrt(x.var() + 1e-5))

    @staticmethod
    def _gelu(x: NDArray[np.float64]) -> NDArray[np.float64]:
        import math

        return np.array([value * 0.5 * (1 + math.erf(value / math.sqrt(2))) for value in x])


def decode(model: Model, steps: int, device: str | None, check: bool) -> dict[str, Any]:
    """Generates `steps` tokens, the most likely one each time, and returns statistics."""
    decoder, reference = Decoder(model, device), Reference(model)
    token, worst, written = 0, 0.0, []
    seconds = 0.0
    for _ in range(steps):
        begin = time.perf_counter()
        scores = np.asarray(decoder.read(token))
        seconds += time.perf_counter() - begin
        if check:
            worst = max(worst, float(np.abs(scores - reference.read(token)).max()))
        token = int(scores.argmax())
        written.append(token)
    return {
        "tokens": written,
        "seconds": seconds,
        "compiled": decoder.run.cache_info().misses,
        "worst": worst,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0, or 1 when the check fails or the device does not exist."""
    parser = argparse.ArgumentParser(description="Write tokens with a small decoder and its cache.")
    parser.add_argument("--steps", type=int, default=200, help="how many tokens (default: 200)")
    parser.add_argument("--device", help='such as "cpu" or "gpu:0"; the best one without it')
    parser.add_argument("--check", action="store_true", help="compare with NumPy float64; exit 1 if it differs")
    options = parser.parse_args(arguments)
    model = Model(Sizes())
    if not 1 <= options.steps <= model.sizes.room:
        parser.error(f"--steps is from 1 to {model.sizes.room}")
    try:
        done = decode(model, options.steps, options.device, options.check)
    except fe.Error as error:
        print(f"decoder: {error}", file=sys.stderr)
        return 1
    print("tokens:", *done["tokens"][:16], "..." if options.steps > 16 else "")
    print(f"{options.steps / done['seconds']:.0f} tokens a second; compiled {done['compiled']} graph(s)")
    if options.check:
        print(f"scores within {done['worst']:.1e} of NumPy float64 (limit 1e-3)")
    return 0 if not options.check or (done["worst"] < 1e-3 and done["compiled"] <= 2) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Operands of the cases, the same for all contenders, and what they should give in the first rows of a result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.devices.cases import BLOCKS, DeviceCase

Inputs = tuple[NDArray[Any], ...]  # float32, or uint8 for blocks

CHECKED = 4  # rows of a result; elements of one with a single axis are as many as in a row of 256
TILE = 2**20  # elements that are random; larger arrays repeat them
EPSILON = 1e-5


def make_inputs(case: DeviceCase) -> Inputs:
    """Random numbers of [-4, 4), of [-1, 1) where they are multiplied and added; those of a half are halves."""
    spread = 1.0 if case.op in ("matmul", "product of weights", "attention", "decode") else 4.0
    generator = np.random.default_rng(20240607)
    made = []
    for number, shape in enumerate(case.shapes):
        if case.blocks and number == len(case.shapes) - 1:
            made.append(_pack(generator, case.blocks, shape))
            continue
        count = math.prod(shape)
        tile = spread * (2 * generator.random(min(count, TILE), dtype=np.float32) - 1)
        made.append(np.resize(_representable(tile, case.dtype), shape))
    return tuple(made)


def _representable(x: NDArray[np.float32], dtype: str) -> NDArray[np.float32]:
    if dtype == "bfloat16":
        return (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return x.astype(dtype).astype(np.float32)


def _pack(generator: np.random.Generator, name: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    from ferrule.testing.model.values import blocks_with_scales

    elements, _ = BLOCKS[name]
    rows = min(shape[0], 64)
    scales = generator.uniform(-0.01, 0.01, (rows, shape[1] // elements, 2))
    packed = np.frombuffer(blocks_with_scales(generator, name, scales).tobytes(), np.uint8).reshape(rows, -1)
    return np.resize(packed, (shape[0], packed.shape[1]))


def checked_rows(case: DeviceCase) -> int:
    """The number of elements along the first axis of a result that are compared."""
    return 256 if case.op in ("copy", "add", "gelu") or "load" in case.op or case.op.startswith("sum") else CHECKED


def greatest_error(case: DeviceCase, inputs: Inputs, got: NDArray[Any]) -> tuple[float, bool]:
    """The greatest |got - expected| of the checked rows against float64, and whether all are within the tolerance."""
    expected = EXPECTED[case.op](case, inputs)
    if got.shape != expected.shape:
        raise ValueError(f"{case.name}: {got.shape} is not the shape {expected.shape}")
    error = np.abs(got - expected)
    rounding = {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(case.dtype, 0.0)
    within = bool(np.all(error <= case.tolerance + (case.tolerance + rounding) * np.abs(expected)))  # false for NaN
    return float(np.max(error, initial=0.0)), within


def _gelu(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))))


def _softmax(x: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _chained_softmax(x: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    for _ in range(count):
        x = _softmax(x)
    return x


def _normalise(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPSILON))


def _weights(case: DeviceCase, packed: NDArray[Any]) -> NDArray[np.float64]:
    if not case.blocks:
        return packed.astype(np.float64)
    import ferrule as fe

    decoded = fe.from_packed(packed[:64].copy(), case.blocks).astype("float32")
    rows: NDArray[np.float32] = np.asarray(decoded.to_device("cpu"))
    return np.resize(rows, (len(packed), rows.shape[1])).astype(np.float64)


def _attention(query: NDArray[Any], key: NDArray[Any], value: NDArray[Any], causal: bool) -> NDArray[np.float64]:
    """The attention of the first head's first queries."""
    q, k, v = (x[0, 0].astype(np.float64) for x in (query, key, value))
    q = q[:CHECKED]
    scores = q @ k.T / math.sqrt(q.shape[-1])
    if causal:
        scores[np.arange(len(k))[None, :] > np.arange(len(q))[:, None]] = -np.inf
    return np.asarray(_softmax(scores) @ v)


Expected = Callable[[DeviceCase, Inputs], NDArray[np.float64]]


def first(x: NDArray[Any], case: DeviceCase) -> NDArray[np.float64]:
    return x[: checked_rows(case)].astype(np.float64)


EXPECTED: dict[str, Expected] = {
    "copy": lambda case, x: -first(x[0], case),
    "add": lambda case, x: first(x[0], case) + first(x[1], case),
    "gelu": lambda case, x: _gelu(first(x[0], case)),
    "softmax": lambda case, x: _softmax(first(x[0], case)),
    "rms_norm": lambda case, x: _normalise(first(x[0], case)),
    "layer_norm": lambda case, x: _normalise((y := first(x[0], case)) - y.mean(axis=-1, keepdims=True)),
    "transpose": lambda case, x: x[0].T[: checked_rows(case)].astype(np.float64),
    "sum 0": lambda case, x: x[0][:, :256].sum(axis=0, dtype=np.float64),
    "sum 1": lambda case, x: first(x[0], case).sum(axis=1),
    "matmul": lambda case, x: first(x[0], case) @ x[1].astype(np.float64),
    "product of weights": lambda case, x: first(x[0], case) @ _weights(case, x[1]).T,
    "attention": lambda case, x: _attention(x[0], x[1], x[2], True),
    "decode": lambda case, x: _attention(x[0], x[1], x[2], False),
    "small ops": lambda case, x: _chained_softmax(first(x[0], case), case.chained),
    **{f"{way}load{kind}": lambda case, x: first(x[0], case) for way in ("up", "down") for kind in ("", " pinned")},
}

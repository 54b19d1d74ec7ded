"""The benchmark cases: inputs, amount of work, expected result, and the mark to reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from model_files import find_model_files
from numpy.typing import NDArray
from reference import Reference

from benchmarks.marks import Mark

Inputs = tuple[NDArray[Any], ...]

MINILM_WIDTH, MINILM_INNER, MINILM_LAYERS = 384, 1536, 6
APPENDED = 100  # the number of the row
ROWS, COLUMNS = 16384, 1024  # 64 MB of float32, far above the caches
ELEMENTS = 10_000_000  # of the cases that sort or move single elements
SEARCHES = 1_000_000

BEST_PEER = Mark("share of best", at_least=0.8)
FUSED_PEER = Mark("times onnxruntime", at_most=1.3)
EAGER_CALL = Mark("microseconds", at_most=2.0)
CALL = Mark("microseconds", at_most=1.2)
APPEND = Mark("microseconds", at_most=10.0)


@dataclass(frozen=True)
class Case:
    """One op or model at one size. `bytes` must be read or written at least once, whatever the caches.

    `absolute` and `relative` bound |got - expected|, which is checked before anything is timed.
    """

    name: str
    op: str
    shapes: tuple[tuple[int, ...], ...]
    flops: int
    bytes: int
    mark: Mark
    absolute: float
    relative: float = 0.0


def matmul(size: int) -> Case:
    # Inputs are in [-1, 1): rounding errors grow like sqrt(size) * 2^-24, a missing term is 0.25 on average.
    bytes_moved = 3 * 4 * size**2
    return Case(f"matmul {size}", "matmul", ((size, size),) * 2, 2 * size**3, bytes_moved, BEST_PEER, size * 2.0**-24)


def memory_bound(op: str, arrays: int, flops: int, absolute: float, relative: float = 0.0) -> Case:
    """`arrays`: how many arrays of 64 MB are read or written; `flops`: operations per element, for comparison only."""
    shapes = ((ROWS, COLUMNS),) * (arrays - 1)
    count = ROWS * COLUMNS
    return Case(f"{op} 64 MB", op, shapes, flops * count, arrays * 4 * count, BEST_PEER, absolute, relative)


def of_elements(op: str, name: str, inputs: int, bytes_moved: int, absolute: float = 0.0) -> Case:
    """`inputs` vectors of 10 million elements; the result is exact unless `absolute` is given."""
    return Case(f"{name} 10 M", op, ((ELEMENTS,),) * inputs, 0, bytes_moved * ELEMENTS, BEST_PEER, absolute)


def append(megabytes: int) -> Case:
    """Writes one row of 4 KB into a cache of the given size."""
    shapes = ((megabytes * 256, 1024), (1, 1024))
    return Case(f"append to {megabytes} MB", "append", shapes, 0, 2 * 4096, APPEND, 0.0)


def minilm(batch: int, length: int) -> Case:
    tokens = batch * length
    dense = 2 * tokens * MINILM_WIDTH * (4 * MINILM_WIDTH + 2 * MINILM_INNER)
    attention = 2 * 2 * batch * length**2 * MINILM_WIDTH
    weights = 4 * MINILM_LAYERS * MINILM_WIDTH * (4 * MINILM_WIDTH + 2 * MINILM_INNER)
    flops = MINILM_LAYERS * (dense + attention)
    return Case(f"MiniLM {batch}x{length}", "minilm", ((batch, length),), flops, weights, FUSED_PEER, absolute=1e-5)


CASES = [
    matmul(512),
    matmul(1024),
    matmul(2048),
    memory_bound("add", arrays=3, flops=1, absolute=0.0, relative=2.0**-24),
    memory_bound("exp", arrays=2, flops=1, absolute=0.0, relative=4 * 2.0**-24),
    memory_bound("softmax", arrays=2, flops=4, absolute=1e-9, relative=1e-5),
    memory_bound("layer_norm", arrays=2, flops=8, absolute=1e-5),
    of_elements("sort", "sort float32", 1, 4 + 4),
    of_elements("argsort", "argsort float32", 1, 4 + 8),
    of_elements("unique_counts", "unique_counts int64", 1, 8),
    of_elements("take", "take float32", 2, 4 + 8 + 4),
    # An error of half a unit of a sum that is about 10^4, in each of 2^12 blocks or 10^7 steps.
    of_elements("cumulative_sum", "cumulative_sum float32", 1, 4 + 4, absolute=8.0),
    Case("searchsorted 1 M in 1 M", "searchsorted", ((SEARCHES,),) * 2, 0, 16 * SEARCHES, BEST_PEER, 0.0),
    minilm(1, 16),
    minilm(32, 128),
    Case("small eager call", "eager add", ((4, 4),) * 2, 16, 3 * 64, EAGER_CALL, 0.0, 2.0**-24),
    Case("small graph call", "add", ((4, 4),) * 2, 16, 3 * 64, CALL, 0.0, 2.0**-24),
    append(1),
    append(64),
]


def make_inputs(case: Case) -> Inputs:
    """The inputs of every contender.

    MiniLM gets token ids and a mask (int32, all tokens real), unique_counts int64, take indices; the others float32.
    """
    generator = np.random.default_rng(20240607)
    if case.op == "minilm":
        token_ids = generator.integers(1000, 30000, case.shapes[0]).astype(np.int32)
        return token_ids, np.ones(case.shapes[0], dtype=np.int32)
    if case.op == "unique_counts":
        return (generator.integers(0, 1_000_000, case.shapes[0]),)
    spread = 1.0 if case.op == "matmul" else 4.0
    if case.op == "take":
        return generator.random(case.shapes[0], dtype=np.float32), generator.integers(0, ELEMENTS, case.shapes[1])
    if case.op == "searchsorted":
        places, wanted = (generator.random(shape, dtype=np.float32) for shape in case.shapes)
        return np.sort(places), wanted
    return tuple(spread * (2.0 * generator.random(shape, dtype=np.float32) - 1.0) for shape in case.shapes)


def layer_norm_parameters() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Scale and shift, constants for every contender."""
    generator = np.random.default_rng(7)
    return generator.random(COLUMNS, dtype=np.float32) + 0.5, generator.random(COLUMNS, dtype=np.float32) - 0.5


def greatest_error(case: Case, inputs: Inputs, got: NDArray[Any]) -> tuple[float, bool]:
    """The greatest |got - expected| against float64, and whether all errors are within the bounds of the case."""
    rows, expected = _expected(case, inputs)
    wanted = np.int64 if case.op in ("argsort", "searchsorted", "unique_counts") else np.float32
    if got.dtype != wanted or got[rows].shape != expected.shape:
        raise ValueError(f"{case.name}: {got.dtype} {got.shape} is not what was asked for")
    error = np.abs(got[rows] - expected)
    within = bool(np.all(error <= case.absolute + case.relative * np.abs(expected)))  # NaN fails this comparison
    return float(np.max(error)), within


def _expected(case: Case, inputs: Inputs) -> tuple[Sequence[int] | slice, NDArray[Any]]:
    if case.op == "minilm":
        return _expected_embeddings(inputs)
    if case.op == "sort":
        return slice(None), np.sort(inputs[0])
    if case.op == "argsort":
        return slice(None), np.argsort(inputs[0], kind="stable")
    if case.op == "unique_counts":
        counts = np.bincount(inputs[0])
        return slice(None), counts[counts > 0]
    if case.op == "take":
        return slice(None), inputs[0][inputs[1]]
    if case.op == "searchsorted":
        return slice(None), np.searchsorted(inputs[0], inputs[1])
    x = inputs[0].astype(np.float64)
    if case.op == "matmul":
        x = x @ inputs[1].astype(np.float64)
    elif case.op in ("add", "eager add"):
        x += inputs[1]
    elif case.op == "exp":
        np.exp(x, out=x)
    elif case.op == "cumulative_sum":
        np.cumsum(x, out=x)
    elif case.op == "append":
        x[APPENDED] = inputs[1]
    elif case.op == "softmax":
        np.exp(x, out=x)  # inputs are small enough for float64 without subtracting the maximum
        x /= x.sum(axis=1, keepdims=True)
    elif case.op == "layer_norm":
        scale, shift = layer_norm_parameters()
        x -= x.mean(axis=1, keepdims=True)
        x *= scale / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 1e-12)
        x += shift
    else:
        raise ValueError(f"no oracle for {case.op}")
    return slice(None), x


def _expected_embeddings(inputs: Inputs) -> tuple[list[int], NDArray[np.float64]]:
    """Four sentences of the batch, including the first and the last, because float64 takes long for each."""
    batch = len(inputs[0])
    rows = sorted({math.floor(share * (batch - 1)) for share in (0.0, 0.3, 0.7, 1.0)})
    return rows, Reference(find_model_files().weights).embed(inputs[0][rows].tolist())

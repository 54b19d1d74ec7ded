"""Weights in blocks: the bits of the package that reads and writes GGUF files (https://pypi.org/project/gguf)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ferrule.testing import families_blocks as families
from ferrule.testing.case import Case, Problem
from ferrule.testing.dtypes import BLOCKS, Values, numpy_dtype
from ferrule.testing.values import ANY, Domain

# The package does not say what numbers become that are not finite.
FINITE = Domain(-300, 300, within=True)
INDEX = Domain(integer_low=-1, integer_high=0)


def _kind_of(name: str) -> Any:
    import gguf

    return gguf.GGMLQuantizationType[name.upper()]


def dequantized(name: str, x: Values, dtype: str) -> Values:
    import gguf

    elements, size = BLOCKS[name]
    if x.size == 0:
        return np.empty((*x.shape[:-1], x.shape[-1] * elements), dtype)
    packed = np.ascontiguousarray(x).view(np.uint8).reshape(-1, size)  # the package wants rows
    numbers = gguf.quants.dequantize(packed, _kind_of(name))
    return np.asarray(numbers).reshape(*x.shape[:-1], x.shape[-1] * elements)


def quantized(x: Values, dtype: str) -> Values:
    import gguf

    elements, _ = BLOCKS[dtype]
    shape = (*x.shape[:-1], x.shape[-1] // elements)
    if x.size == 0:
        return np.empty(shape, numpy_dtype(dtype))
    packed = gguf.quants.quantize(x.astype(np.float32).reshape(-1, elements), _kind_of(dtype))
    return np.ascontiguousarray(packed).view(numpy_dtype(dtype)).reshape(shape)


def copy(x: Values) -> Values:
    return x.copy()


def cut(elements: int, x: Values, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> Values:
    places = np.array([*starts[:-1], starts[-1] // elements])
    counts = np.array([*sizes[:-1], sizes[-1] // elements])
    for axis, (start, count, step) in enumerate(zip(places, counts, steps, strict=True)):
        x = np.take(x, start + step * np.arange(count), axis)
    return x


def dynamic_cut(elements: int, x: Values, *starts: Values, sizes: Sequence[int]) -> Values:
    places = [int(start) for start in starts]
    counts = [*sizes[:-1], sizes[-1] // elements]
    return x[tuple(slice(place, place + count) for place, count in zip(places, counts, strict=True))]


def starts_of_rows(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Wherever the slice fits; of the last axis it has all."""
    axis, shape = number - 1, problem.shapes[0]
    if number == 0:
        return drawn
    most = 0 if number == len(shape) else shape[axis] - problem.attributes["sizes"][axis]
    return np.asarray(rng.integers(0, most + 1), drawn.dtype)


def reshape(elements: int, x: Values, shape: Sequence[int]) -> Values:
    return x.reshape(*shape[:-1], shape[-1] // elements)


def cases(name: str) -> list[Case]:
    elements, _ = BLOCKS[name]
    rows = families.rows_of_blocks(elements, counts_elements=False)
    return [
        Case("astype", (name,), "float32", rows.with_attributes(dtype="float32"), partial(dequantized, name)),
        Case("copy", (name,), name, rows, copy),
        Case("slice", (name,), name, families.cuts(elements), partial(cut, elements)),
        Case(
            "dynamic_slice",
            (name, "int64"),
            name,
            families.dynamic_cuts(elements),
            partial(dynamic_cut, elements),
            domains=(ANY, INDEX),
            fill=starts_of_rows,
        ),
        Case("reshape", (name,), name, families.reshapes(elements), partial(reshape, elements)),
    ]


def quantizing(name: str) -> Case:
    rows = families.rows_of_blocks(BLOCKS[name][0], counts_elements=True)
    left_out = dict.fromkeys(("infinities of both signs",), "what they become is left open")
    return Case(
        "astype", ("float32",), name, rows.with_attributes(dtype=name), quantized, domains=(FINITE,), left_out=left_out
    )


CASES = [*(case for name in BLOCKS for case in cases(name)), *map(quantizing, ("q8_0", "q4_0"))]

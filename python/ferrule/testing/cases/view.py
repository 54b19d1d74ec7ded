"""Views: bit for bit, for every dtype."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import ALL, BLOCKS, Values
from ferrule.testing.problems import blocks, view as problems


def reshape(x: Values, shape: Sequence[int]) -> Values:
    return x.reshape(shape)


def permute_dims(x: Values, axes: Sequence[int]) -> Values:
    return x.transpose(axes)


def broadcast_to(x: Values, shape: Sequence[int]) -> Values:
    return np.broadcast_to(x, shape)


def cut(x: Values, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> Values:
    for axis, (start, size, step) in enumerate(zip(starts, sizes, steps, strict=True)):
        x = np.take(x, start + step * np.arange(size), axis) if size else np.take(x, [], axis).astype(x.dtype)
    return x


def cut_blocks(elements: int, x: Values, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> Values:
    places = np.array([*starts[:-1], starts[-1] // elements])
    counts = np.array([*sizes[:-1], sizes[-1] // elements])
    for axis, (start, count, step) in enumerate(zip(places, counts, steps, strict=True)):
        x = np.take(x, start + step * np.arange(count), axis)
    return x


def reshape_blocks(elements: int, x: Values, shape: Sequence[int]) -> Values:
    return x.reshape(*shape[:-1], shape[-1] // elements)


def cases_of_blocks(name: str) -> list[Case]:
    elements, _ = BLOCKS[name]
    return [
        Case("slice", (name,), name, blocks.cuts(elements), partial(cut_blocks, elements)),
        Case("reshape", (name,), name, blocks.reshapes(elements), partial(reshape_blocks, elements)),
        Case("permute_dims", (name,), name, blocks.permutations(), permute_dims),
    ]


CASES = [
    *(case for name in BLOCKS for case in cases_of_blocks(name)),
    *(Case("reshape", (d,), d, problems.reshapes(), reshape) for d in ALL),
    *(Case("permute_dims", (d,), d, problems.permutations(), permute_dims) for d in ALL),
    *(Case("broadcast_to", (d,), d, problems.broadcasts(), broadcast_to) for d in ALL),
    *(Case("slice", (d,), d, problems.slices(), cut) for d in ALL),
]

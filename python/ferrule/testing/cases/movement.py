"""Ops that move elements: bit for bit, for every dtype."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ferrule.testing.model.case import Case, Failing
from ferrule.testing.model.dtypes import ALL, BLOCKS, Values
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import ANY, Domain
from ferrule.testing.problems import blocks, movement as problems


def copy(x: Values) -> Values:
    return x.copy()


def concat(*arrays: Values, axis: int) -> Values:
    return np.concatenate(arrays, axis)


def pad(x: Values, value: Values | None = None, *, before: Sequence[int], after: Sequence[int]) -> Values:
    if x.ndim == 0:
        return x.copy()
    filler = np.zeros((), x.dtype) if value is None else value
    return np.pad(x, list(zip(before, after, strict=True)), constant_values=filler[()])


def take(x: Values, indices: Values, axis: int) -> Values:
    return np.take(x, indices, axis)


def take_along_axis(x: Values, indices: Values, axis: int) -> Values:
    return np.take_along_axis(x, indices, axis)


def indices(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Fill the indices: within the axis, including negative ones."""
    if number == 0:
        return drawn
    size = problem.shapes[0][problem.attributes["axis"]]
    return rng.integers(-size, size, drawn.shape, drawn.dtype) if drawn.size else drawn


def out_of_bounds(case: Case, axis: int = 1) -> Iterator[Failing]:
    problem = Problem(((3, 4) if axis == 1 else (4, 3), (5,) if case.op == "take" else (3, 5)), {"axis": axis})
    rng = np.random.default_rng(0)
    for wrong in (4, -5, int(np.iinfo(case.dtypes[1]).max), int(np.iinfo(case.dtypes[1]).min)):
        x, places = case.inputs(problem, rng)
        places[..., 3] = wrong
        yield Failing(problem, [x, places], f"index {wrong} of an axis of 4")


def scattered(x: Values, indices: Values, values: Values, axis: int, joined: int) -> Values:
    shape = x.shape
    axis %= x.ndim
    result = x.reshape(
        *shape[:axis], -1 if x.size else int(np.prod(shape[axis : axis + joined])), *shape[axis + joined :]
    )
    result = result.copy()
    key: Any = (*(slice(None),) * axis, indices)
    result[key] = values
    return result.reshape(shape)


def joined_indices(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Fill the indices: within the joined axes, including negative and repeated ones."""
    if number != 1 or not drawn.size:
        return drawn
    shape, axis = problem.shapes[0], problem.attributes["axis"] % len(problem.shapes[0])
    size = int(np.prod(shape[axis : axis + problem.attributes["joined"]]))
    return rng.integers(-size, size, drawn.shape, drawn.dtype)


def scattered_out_of_bounds(case: Case) -> Iterator[Failing]:
    problem = Problem(((3, 4), (5,), (3, 5)), {"axis": 1, "joined": 1})
    rng = np.random.default_rng(0)
    for wrong in (4, -5, int(np.iinfo(case.dtypes[1]).max), int(np.iinfo(case.dtypes[1]).min)):
        x, places, values = case.inputs(problem, rng)
        places[3] = wrong
        yield Failing(problem, [x, places, values], f"index {wrong} of an axis of 4")


def sliced(x: Values, *starts: Values, sizes: Sequence[int]) -> Values:
    return x[tuple(slice(int(start), int(start) + size) for start, size in zip(starts, sizes, strict=True))].copy()


def updated(x: Values, value: Values, *starts: Values) -> Values:
    result = x.copy()
    result[tuple(slice(int(a), int(a) + size) for a, size in zip(starts, value.shape, strict=True))] = value
    return result


def slice_starts(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Fill the starts: anywhere that the slice fits."""
    first = len(problem.shapes) - len(problem.shapes[0])
    if number < first:
        return drawn
    sizes = problem.attributes.get("sizes") or problem.shapes[1]
    axis = number - first
    return np.asarray(rng.integers(0, problem.shapes[0][axis] - sizes[axis] + 1), drawn.dtype)


def leaving_slices(case: Case) -> Iterator[Failing]:
    update = case.op == "update_slice"
    problem = Problem(((3, 4), *(((1, 2),) if update else ()), (), ()), {} if update else {"sizes": [1, 2]})
    rng = np.random.default_rng(0)
    limits = np.iinfo(case.dtypes[-1])
    for axis, wrong in ((0, 3), (1, 3), (0, -1), (1, int(limits.min)), (0, int(limits.max))):
        inputs = case.inputs(problem, rng)
        inputs[len(inputs) - 2 + axis] = np.asarray(wrong, case.dtypes[-1])
        yield Failing(problem, inputs, f"start {wrong} of axis {axis}")


INDEX = Domain(integer_low=-1, integer_high=0)


def dynamic_cut(elements: int, x: Values, *starts: Values, sizes: Sequence[int]) -> Values:
    places = [int(start) for start in starts]
    counts = [*sizes[:-1], sizes[-1] // elements]
    return x[tuple(slice(place, place + count) for place, count in zip(places, counts, strict=True))]


def starts_of_rows(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Fill the starts: anywhere that the slice fits; it spans the whole last axis."""
    axis, shape = number - 1, problem.shapes[0]
    if number == 0:
        return drawn
    most = 0 if number == len(shape) else shape[axis] - problem.attributes["sizes"][axis]
    return np.asarray(rng.integers(0, most + 1), drawn.dtype)


def cases_of_blocks(name: str) -> list[Case]:
    elements, _ = BLOCKS[name]
    return [
        Case("copy", (name,), name, blocks.rows_of_blocks(elements, counts_elements=False), copy),
        Case(
            "dynamic_slice",
            (name, "int64"),
            name,
            blocks.dynamic_cuts(elements),
            partial(dynamic_cut, elements),
            domains=(ANY, INDEX),
            fill=starts_of_rows,
        ),
        Case("concat", (name,), name, blocks.concatenations(), concat),
        *(
            Case(
                "take",
                (name, i),
                name,
                blocks.takes(),
                take,
                domains=(ANY, INDEX),
                fill=indices,
                errors=partial(out_of_bounds, axis=0),
            )
            for i in (("int32", "int64") if name == "q8_0" else ("int32",))
        ),
    ]


CASES = [
    *(case for name in BLOCKS for case in cases_of_blocks(name)),
    *(Case("copy", (d,), d, problems.copies(), copy) for d in ALL),
    *(Case("concat", (d,), d, problems.concatenations(), concat) for d in ALL),
    *(Case("pad", (d, d), d, problems.paddings(), pad) for d in ALL),
    *(
        Case("take", (d, i), d, problems.takes(), take, domains=(ANY, INDEX), fill=indices, errors=out_of_bounds)
        for d in ALL
        for i in ("int32", "int64")
    ),
    *(
        Case(
            "take_along_axis",
            (d, i),
            d,
            problems.takes_along_axis(),
            take_along_axis,
            domains=(ANY, INDEX),
            fill=indices,
            errors=out_of_bounds,
        )
        for d in ALL
        for i in ("int32", "int64")
    ),
    *(
        Case(
            "scatter",
            (d, i, d),
            d,
            problems.scatters(),
            scattered,
            domains=(ANY, INDEX, ANY),
            fill=joined_indices,
            errors=scattered_out_of_bounds,
        )
        for d, i in (*((d, "int64") for d in ALL), ("float32", "int32"))
    ),
    *(
        Case(
            "dynamic_slice",
            (d, i),
            d,
            problems.dynamic_slices(),
            sliced,
            domains=(ANY, INDEX),
            fill=slice_starts,
            errors=leaving_slices,
        )
        for d, i in (*((d, "int64") for d in ALL), ("float32", "int32"))
    ),
    *(
        Case(
            "update_slice",
            (d, d, i),
            d,
            problems.dynamic_slices(update=True),
            updated,
            domains=(ANY, ANY, INDEX),
            fill=slice_starts,
            errors=leaving_slices,
        )
        for d, i in (*((d, "int64") for d in ALL), ("float32", "int32"))
    ),
]

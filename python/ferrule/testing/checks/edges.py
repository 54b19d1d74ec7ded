"""Edge values (signed zeros, infinities, NaN, least and greatest numbers): in every combination for elementwise ops,
else among ordinary values. A maximum or minimum of equal elements has their bits, if they are no NaN."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import FORMATS, PARTS, Values, is_floating, numpy_dtype
from ferrule.testing.model.problem import Problem
from ferrule.testing.running.check_attempt import Attempt

EXTREMES = ("max", "min")


def applies(case: Case) -> bool:
    return bool(case.family.plain[0].shapes) and not case.ordinary_only


def check(attempt: Attempt) -> None:
    case = attempt.case
    shapes = case.family.plain[0].shapes
    if case.family.pointwise:
        grids = np.meshgrid(*(case.domain(i).edge_values(case.dtype(i)) for i in range(len(shapes))), indexing="ij")
        inputs = [grid.ravel().astype(grid.dtype) for grid in grids]
        problem = Problem(tuple(x.shape for x in inputs), case.family.plain[0].attributes)
        attempt.try_problem(problem, inputs, "edge values")
        return
    if case.fill is not None and all(d not in ("float16", "bfloat16", "float32", "float64") for d in case.dtypes[:1]):
        return  # the values of such inputs are limited by the shapes
    for number in range(attempt.pick(quick=2, full=8, edge=50)):
        problem = case.family.plain[number % len(case.family.plain)]
        rng = attempt.rng(number)
        inputs = case.inputs(problem, rng)
        attempt.try_problem(problem, [_sprinkle(attempt, rng, i, x) for i, x in enumerate(inputs)], "edge values")
    if case.op in EXTREMES:
        _of_equals(attempt)


def _of_equals(attempt: Attempt) -> None:
    case = attempt.case
    problem = case.family.plain[0]
    for value in case.domain(0).edge_values(case.dtype(0)):
        if value != value:
            continue
        equals = np.full(problem.shapes[0], value, numpy_dtype(case.dtype(0)))
        execution = attempt.try_prepare(problem, [equals], f"all elements are {value}")
        if execution is not None:
            got = attempt.compute(execution)
            attempt.equal_bits(problem, got, np.full_like(got, value), "of equal elements, and these")


def _sprinkle(attempt: Attempt, rng: np.random.Generator, number: int, values: Values) -> Values:
    """Replace a tenth of the elements by edge values; inputs whose values depend on the shapes are unchanged."""
    case = attempt.case
    if values.size == 0 or (case.fill is not None and number > 0):
        return values
    edges = case.domain(number).edge_values(case.dtype(number))
    real = PARTS.get(case.dtype(number), case.dtype(number))
    if case.tolerance.bound is not None and is_floating(real):
        # Large values are left out: whether sums of products overflow depends on their order, which is unspecified.
        parts = (edges.real, edges.imag) if real != case.dtype(number) else (edges,)
        sizes = [np.abs(part.astype(np.float64)) for part in parts]
        edges = edges[~np.any([(size > 2.0 ** (FORMATS[real].high // 4)) & ~np.isinf(size) for size in sizes], axis=0)]
    chosen = rng.random(values.shape) < 0.1
    return np.where(chosen, rng.choice(edges, values.shape), values).astype(values.dtype)

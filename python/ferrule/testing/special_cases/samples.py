"""Samples of operands: every special value, and ordinary ones, in every combination."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import COMPLEX, FLOATS, FORMATS, PARTS, Values, numpy_dtype
from ferrule.testing.model.exactness import spacing
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import complex_of, float_edges
from ferrule.testing.special_cases.evaluate import Outcome
from ferrule.testing.special_cases.notation import Entry, entries

FEW = (0.0, 1.0, 2.5, float("inf"), float("nan"))  # for four operands and for three


@dataclass(frozen=True)
class Samples:
    """The inputs of an op, each of one axis. Reshaped to `grid`, they are all combinations of one list of numbers for
    each operand; the second half of the list has the numbers of the first half with the other sign."""

    inputs: list[Values]
    grid: tuple[int, ...]

    def at(self, indices: Values) -> list[Values]:
        return [x[indices] for x in self.inputs]


def entry_of(case: Case) -> Entry | None:
    """The special cases of the case's op. Inputs have one dtype, floating-point or complex, or bool for all and any."""
    if case.variant or case.output or not case.dtypes or len(set(case.dtypes)) > 1:
        return None
    if case.dtypes[0] not in (*FLOATS, *COMPLEX) and case.op not in ("all", "any"):
        return None
    is_complex = case.dtypes[0] in COMPLEX
    real = entries().get((case.op, False))
    # The sentences of sums and products hold for both.
    found = entries().get((case.op, is_complex), real if real is not None and real.is_reduction else None)
    if found is not None and found.is_reduction and "axis" not in case.family.plain[0].attributes:
        return None
    return found


def samples_of(entry: Entry, dtype: str) -> Samples:
    """Samples for an elementwise function."""
    real = PARTS.get(dtype, dtype)
    count = len(entry.operands)
    numbers = np.array(FEW if count > 2 else [*_positive(real), 0.25, 3.5, 7.0, np.nan])
    numbers = np.concatenate([numbers, -numbers]).astype(numpy_dtype(real))
    parts = [grid.ravel() for grid in np.meshgrid(*[numbers] * count, indexing="ij")]
    if entry.is_complex:
        parts = [complex_of(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return Samples(parts, (numbers.size,) * count)


def _positive(dtype: str) -> list[float]:
    edges = float_edges(dtype)
    return edges[: edges.index(float("inf")) + 1]


def parts_of(values: Values) -> tuple[Values, ...]:
    """The values, or their parts, as float64."""
    if values.dtype.kind == "c":
        return values.real.astype(np.float64), values.imag.astype(np.float64)
    return (values.astype(np.float64),)


def outcome_of(case: Case, problem: Problem, inputs: list[Values], got: Values) -> Outcome:
    """The outcome of an elementwise op. The oracle and the tolerance are those of the case."""
    real = PARTS.get(case.result, case.result)

    def allowed(wanted: Values) -> Values:
        if real not in FORMATS:
            return np.zeros(wanted.shape)
        unit = spacing(wanted.astype(np.float64), real)
        truth = wanted + 0j if case.result in PARTS else wanted
        distances = case.tolerance.distances(inputs, {}, truth, case.result)
        own = (case.tolerance.ulp + 1) * unit
        return np.asarray(own if distances is None else np.maximum(own, distances + unit))

    def wrong(mask: Values) -> Values:
        chosen = np.flatnonzero(mask & moderate if any(domain.only for domain in case.domains) else mask)
        part = Problem(((chosen.size,),) * len(inputs), problem.attributes)
        verdict = case.judge(part, [x[chosen] for x in inputs], got[chosen])
        bad = np.zeros(mask.shape, bool)
        if not verdict.ok:
            bad[chosen[verdict.index[0]]] = True
        return bad

    operands = tuple(part for x in inputs for part in parts_of(x))
    form = FORMATS[PARTS.get(case.dtypes[0], case.dtypes[0])]
    # Whether a complex product overflows on its way is unspecified.
    bound = 2.0 ** (form.high // 4)
    moderate = np.logical_and.reduce([(x == 0) | ((abs(x) < bound) & (abs(x) > 1 / bound)) for x in operands])
    return Outcome(operands, parts_of(got), form.least_normal, allowed, wrong)

"""The special cases of the Python array API standard, each row a test: signed zeros, infinities, NaN, branch cuts.

The rows are those of special_cases/. Elementwise functions get every combination of special values and ordinary ones,
in arrays of several sizes, at several positions. Subnormal numbers are neither read nor written as zero.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import FORMATS, PARTS, Values, numpy_dtype
from ferrule.testing.model.problem import Problem
from ferrule.testing.running.check_attempt import Attempt
from ferrule.testing.special_cases.conditions import agrees
from ferrule.testing.special_cases.evaluate import Violation, asymmetric, violations, witnesses
from ferrule.testing.special_cases.notation import Entry, Row
from ferrule.testing.special_cases.samples import Samples, entry_of, outcome_of, parts_of, samples_of

SIZES = (67, 17, 1)


def applies(case: Case) -> bool:
    return entry_of(case) is not None


def check(attempt: Attempt) -> None:
    entry = entry_of(attempt.case)
    assert entry is not None
    if entry.is_reduction:
        _reduction(attempt, entry)
    else:
        _elementwise(attempt, entry)


def _elementwise(attempt: Attempt, entry: Entry) -> None:
    samples = samples_of(entry, attempt.case.dtypes[0])
    everything = np.arange(samples.inputs[0].size)
    for shift in range(attempt.pick(brief=2, quick=4, full=16)):
        got = _compute(attempt, entry, samples, np.roll(everything, shift))
        if got is None:
            return
        if shift == 0:
            outcome = outcome_of(attempt.case, _problem(attempt, everything), samples.inputs, got)
            found = asymmetric(entry, outcome, samples.grid)
            if found is not None:
                raise _failure(attempt, entry, samples.inputs, got, found)
            _subnormal(attempt, samples, got)
            chosen = _choose(attempt, entry, samples, got)
    for size in SIZES:
        count = attempt.pick(brief=3, quick=8, full=chosen.size) if size == 1 else -(-chosen.size // size)
        for number in range(min(count, chosen.size)):
            part = np.take(chosen, range(number * size, (number + 1) * size), mode="wrap")
            _compute(attempt, entry, samples, part)


def _choose(attempt: Attempt, entry: Entry, samples: Samples, got: Values) -> Values:
    """One sample for each row and symmetry, in random order. The rows of another function may cover none."""
    problem = _problem(attempt, np.arange(got.size))
    rng = attempt.rng("chosen")
    found = []
    for frame, row, indices in witnesses(entry, outcome_of(attempt.case, problem, samples.inputs, got)):
        if indices.size or not frame.how.startswith("as "):
            assert indices.size, f"{frame.entry.name}, {row.text}: no sample"
            found.append(rng.choice(indices))
    return np.asarray(rng.permutation(found))


def _problem(attempt: Attempt, indices: Values) -> Problem:
    plain = attempt.case.family.plain[0]
    return Problem((indices.shape,) * len(plain.shapes), plain.attributes)


def _compute(attempt: Attempt, entry: Entry, samples: Samples, indices: Values) -> Values | None:
    """Compute some of the samples and compare the result with all rows. None if the device refuses it."""
    problem, inputs = _problem(attempt, indices), samples.at(indices)
    execution = attempt.try_prepare(problem, inputs, "special cases")
    if execution is None:
        return None
    got = attempt.compute(execution)
    if got.shape != indices.shape or got.dtype != numpy_dtype(attempt.case.result):
        raise attempt.fail(problem, f"the result is {got.dtype.name}{got.shape}")
    for found in violations(entry, outcome_of(attempt.case, problem, inputs, got)):
        raise _failure(attempt, entry, inputs, got, found)
    return got


def _subnormal(attempt: Attempt, samples: Samples, got: Values) -> None:
    """Judge the results of finite inputs of which one is subnormal."""
    case = attempt.case
    if any(domain.only for domain in case.domains):
        return
    least_normal = FORMATS[PARTS.get(case.dtypes[0], case.dtypes[0])].least_normal
    parts = [part for x in samples.inputs for part in parts_of(x)]
    small = np.logical_or.reduce([(part != 0) & (np.abs(part) < least_normal) for part in parts])
    chosen = np.flatnonzero(small & np.logical_and.reduce([np.isfinite(part) for part in parts]))
    if chosen.size:
        attempt.judge(_problem(attempt, chosen), samples.at(chosen), got[chosen], "subnormal inputs")


def _failure(attempt: Attempt, entry: Entry, inputs: list[Values], got: Values, found: Violation) -> Exception:
    at = found.index
    return attempt.fail(
        _problem(attempt, got),
        found.how or "a special case",
        row=f"{entry.name}({' '.join(entry.operands)}): {found.row.text}",
        element=f"{at} of {got.size}",
        inputs=", ".join(repr(x[at]) for x in inputs),
        got=repr(got[at]),
    )


def _reduction(attempt: Attempt, entry: Entry) -> None:
    """Rows of values. Each row of the array is one reduction."""
    for row in entry.rows:
        for condition in row.conditions:
            for values, more in _vectors(attempt, condition, row):
                problem = _along_rows(attempt, values, more)
                execution = attempt.try_prepare(problem, [values], row.text)
                if execution is None:
                    continue
                got = attempt.compute(execution)
                if row.results == ("in order",):
                    attempt.judge(problem, [values], got, row.text)
                    continue
                _compare(attempt, problem, entry, row, values, got)


def _along_rows(attempt: Attempt, values: Values, more: dict[str, float]) -> Problem:
    attributes = dict(attempt.case.family.plain[0].attributes)
    axis = attributes.get("axis")
    if axis is not None:
        attributes["axis"] = [1] if isinstance(axis, list) else 1
    if "keepdims" in attributes:
        attributes["keepdims"] = False
    return Problem((values.shape,), {**attributes, **more})


def _compare(attempt: Attempt, problem: Problem, entry: Entry, row: Row, values: Values, got: Values) -> None:
    if got.shape != values.shape[:1]:
        raise attempt.fail(problem, f"the result is {got.dtype.name}{got.shape}")
    parts = parts_of(got)
    wanted = (*row.results, "0")[: len(parts)]  # the imaginary part of a real result is zero
    for what, part in zip(wanted, parts, strict=True):
        good = agrees(what, part, Entry("", (), False, ()), (), np.zeros_like)
        if not good.all():
            at = int(np.argmin(good))
            raise attempt.fail(
                problem,
                "a special case",
                row=f"{entry.name}: {row.text}",
                inputs=repr(values[at]),
                got=repr(got[at]),
            )


def _vectors(attempt: Attempt, condition: str, row: Row) -> Iterator[tuple[Values, dict[str, float]]]:
    """Arrays of which each row satisfies a condition, and attributes."""
    case = attempt.case
    dtype = numpy_dtype(case.dtypes[0])
    rng = attempt.rng(condition)
    if condition == "empty":
        yield np.zeros((3, 0), dtype), {}
    elif condition == "correction>=N":
        for size in (0, 1, 2, 17, 67):
            for correction in sorted({size, size + 0.5, size + 3}):
                values = rng.uniform(-2, 2, (3, size)).astype(dtype)
                yield values, {"correction": float(correction)}
    elif condition == "values":
        numbers = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
        if row.results == ("in order",) and "prod" in case.op and dtype.kind == "c":
            numbers = [1.0, -1.0]  # in which part of a product a NaN arises depends on the order
        for size in (1, 2, 3, 17, 67):
            values = np.ones((40, size), dtype)
            for special in values:
                special[rng.integers(0, size, 2)] = rng.choice(numbers, 2)
            yield values, {}
    else:
        nan: complex | float = np.nan
        if condition.endswith(" in b"):
            nan = complex(1, np.nan)
        elif condition.endswith(" in a"):
            nan = complex(np.nan, 1)
        for size in (1, 2, 17, 67):
            values = rng.uniform(-2, 2, (size, size)).astype(dtype)
            np.fill_diagonal(values, nan)
            yield values, {}
            if size > 1:
                values[np.arange(size), (np.arange(size) + 1) % size] = np.inf
                yield values, {}

"""The special cases of the standard as data, and the check that compares results with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import ferrule as fe
import numpy as np
import pytest
from ferrule.testing.cases import all_cases
from ferrule.testing.checks import all_checks
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import COMPLEX, FLOATS, FORMATS, PARTS, Values
from ferrule.testing.model.problem import Problem
from ferrule.testing.running.array_conversion import values_of
from ferrule.testing.running.check_attempt import Attempt, Failed
from ferrule.testing.running.execution import Execution, run
from ferrule.testing.special_cases.conditions import covered
from ferrule.testing.special_cases.evaluate import CMATH, Outcome, asymmetric, violations, witnesses
from ferrule.testing.special_cases.notation import Entry, entries
from ferrule.testing.special_cases.samples import Samples, entry_of, outcome_of, samples_of

from tests.python.each import each

# The sentences in the lists "Special cases" of the standard 2024.12, for real and for complex numbers. One of the
# two sentences on complex products and quotients leaves the result open; the row is for finite numbers instead.
# Sums and products have one more, which says that they are successive operations.
SENTENCES = {
    "__bool__": (3, 2),
    "__complex__": (6, 0),
    "__float__": (2, 0),
    "__int__": (6, 0),
    "abs": (3, 7),
    "acos": (4, 12),
    "acosh": (4, 12),
    "add": (17, 2),
    "all": (1, 0),
    "any": (1, 0),
    "asin": (5, 0),
    "asinh": (5, 9),
    "atan": (5, 0),
    "atan2": (23, 0),
    "atanh": (7, 11),
    "ceil": (6, 0),
    "clip": (3, 0),
    "copysign": (12, 0),
    "cos": (5, 0),
    "cosh": (5, 12),
    "cumulative_prod": (1, 0),
    "cumulative_sum": (1, 0),
    "divide": (22, 2),
    "equal": (7, 2),
    "exp": (5, 13),
    "expm1": (5, 13),
    "floor": (6, 0),
    "floor_divide": (22, 0),
    "hypot": (7, 0),
    "isfinite": (3, 4),
    "isinf": (2, 3),
    "isnan": (2, 2),
    "log": (5, 12),
    "log10": (5, 0),
    "log1p": (6, 11),
    "log2": (5, 0),
    "logaddexp": (3, 0),
    "max": (1, 0),
    "maximum": (1, 0),
    "mean": (2, 3),
    "min": (1, 0),
    "minimum": (1, 0),
    "multiply": (9, 2),
    "nextafter": (3, 0),
    "not_equal": (5, 2),
    "pow": (24, 0),
    "prod": (2, 0),
    "remainder": (20, 0),
    "round": (7, 0),
    "sign": (4, 3),
    "signbit": (8, 0),
    "sin": (4, 0),
    "sinh": (5, 12),
    "slogdet": (1, 1),
    "sqrt": (5, 9),
    "std": (2, 0),
    "sum": (2, 0),
    "tan": (4, 0),
    "tanh": (5, 11),
    "trace": (2, 0),
    "trunc": (6, 0),
    "var": (2, 0),
}
# Functions that have the special cases of another function.
SAME = {"subtract", "reciprocal", "square"}
SAME_COMPLEX = {"asin", "atan", "cos", "log10", "log2", "reciprocal", "sin", "square", "tan"}
CASES = [name for name, case in all_cases().items() if (found := entry_of(case)) and not found.is_reduction]


def test_each_sentence_of_the_standard_has_a_row() -> None:
    rows = {key: len(entry.rows) for key, entry in entries().items() if entry.rows}
    wanted = {
        (name, is_complex): count
        for name, counts in SENTENCES.items()
        for is_complex, count in zip((False, True), counts, strict=True)
        if count
    }
    assert rows == wanted
    without = {key for key, entry in entries().items() if not entry.rows}
    by_parts = {("subtract", True), ("round", True)}
    assert without == {(name, False) for name in SAME} | {(name, True) for name in SAME_COMPLEX} | by_parts


def test_every_function_of_ferrule_in_the_table_is_tested_in_every_dtype() -> None:
    tested = {(case.op, case.dtypes[0]) for case in all_cases().values() if entry_of(case)}
    for name, is_complex in entries():
        if name == "slogdet":  # a function with two results: tests/python/functions/test_special_cases.py tests it
            continue
        if any(case.op == name for case in all_cases().values()):
            for dtype in COMPLEX if is_complex else FLOATS:
                accepted = any(case.op == name and case.dtypes[:1] == (dtype,) for case in all_cases().values())
                assert (name, dtype) in tested or not accepted, (name, dtype)
    assert {name for name, _ in tested} >= {"atan2", "pow", "sum", "var", "clip", "nextafter", "hypot", "round"}


def computed(case: Case) -> tuple[Entry, Samples, Values]:
    """The CPU's results for all samples."""
    entry = entry_of(case)
    assert entry is not None
    samples = samples_of(entry, case.dtypes[0])
    problem = Problem(tuple(x.shape for x in samples.inputs), case.family.plain[0].attributes)
    return entry, samples, run(fe.device("cpu"), case, problem, samples.inputs)


def outcome(case: Case, inputs: list[Values], got: Values) -> Outcome:
    return outcome_of(case, Problem(tuple(x.shape for x in inputs), case.family.plain[0].attributes), inputs, got)


def planted_results(got: Values, number: int) -> Iterator[Values]:
    """The results, with another value in the place of one of them."""
    value = got[number]
    values: list[object] = [~value] if got.dtype == np.bool_ else [np.nan, 77.0, np.inf, -np.inf, 0.0, -0.0, -value]
    if got.dtype.kind == "c":
        for part in (np.nan, 77.0, np.inf, -np.inf, 0.0, -0.0):
            values += [complex(part, float(value.imag)), complex(float(value.real), part)]
    for other in values:
        planted = got.copy()
        planted[number] = other
        yield planted


@each("name", [name for name in CASES if all_cases()[name].dtypes[0] in ("float32", "complex64")])
def test_a_planted_wrong_result_violates_each_row(name: str) -> None:
    case = all_cases()[name]
    entry, samples, everything = computed(case)
    rng = np.random.default_rng(0)
    chosen = [
        (row, int(rng.choice(indices)))
        for _, row, indices in witnesses(entry, outcome(case, samples.inputs, everything))
        if indices.size
    ]
    assert chosen
    places = np.array([index for _, index in chosen])
    inputs, got = samples.at(places), everything[places]
    assert [found.row.text for found in violations(entry, outcome(case, inputs, got))] == []
    for number, (row, _) in enumerate(chosen):
        if row.results == ("any",) * len(row.results):
            continue
        assert any(
            row.text in {found.row.text for found in violations(entry, outcome(case, inputs, planted))}
            for planted in planted_results(got, number)
        ), row.text


def attempted(case: Case, monkeypatch: pytest.MonkeyPatch, change: Callable[[Values], None]) -> None:
    """The check on the CPU, with changed results."""

    def compute(execution: Execution) -> Values:
        got = values_of(execution.graph.compute(*execution.given)).copy()
        change(got)
        return got

    monkeypatch.setattr(Execution, "compute", compute)
    all_checks()["special_cases"](Attempt(fe.device("cpu"), case, "special_cases", "brief", 0, lambda at: None))


@pytest.mark.parametrize("size", [17, 67, 56])
def test_a_wrong_result_at_the_end_of_an_array_is_found(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(got: Values) -> None:
        if got.size == size:
            got[-1] = 77

    attempted(all_cases()["exp-float32"], monkeypatch, lambda got: None)
    with pytest.raises(Failed, match=rf"element +{size - 1} of {size}|shapes +\({size},\)"):
        attempted(all_cases()["tan-float32"], monkeypatch, change)


@pytest.mark.parametrize("name", ["tan-float32", "sinh-float64", "asin-float16", "tanh-bfloat16", "sin-complex64"])
def test_subnormal_results_that_are_flushed_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = all_cases()[name]
    least_normal = FORMATS[PARTS.get(case.result, case.result)].least_normal

    def flush(got: Values) -> None:
        parts = [got.real, got.imag] if case.result in PARTS else [got]
        for part in parts:
            part[np.abs(part) < least_normal] *= 0

    with pytest.raises(Failed, match="subnormal inputs"):
        attempted(case, monkeypatch, flush)


@pytest.mark.parametrize(
    ("name", "wrong", "row"),
    [
        ("sum-float32", 1, "sum: empty -> 0"),
        ("prod-complex64", 0, "prod: empty -> 1"),
        ("mean-float64", 0, "mean: empty -> nan"),
        ("var-float16", np.inf, "var: correction>=N -> nan"),
        ("max-float32", np.inf, "max: some nan -> nan"),
        ("mean-complex128", np.nan, "mean: some nan in b -> any, nan"),
    ],
)
def test_wrong_reductions_are_found(name: str, wrong: float, row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(got: Values) -> None:
        if got.dtype.kind == "c" and wrong != 0:
            got.imag[~np.isnan(got.real)] = 0
        elif wrong == 1:
            got[...] = 1
        else:
            got[np.isnan(got) | (got == 1)] = wrong

    attempted(all_cases()[name], monkeypatch, lambda got: None)
    with pytest.raises(Failed) as error:
        attempted(all_cases()[name], monkeypatch, change)
    assert row in str(error.value)


@each(
    ("name", "at"),
    [("sinh-float32", (1,)), ("hypot-float32", (3, 5)), ("hypot-float32", (3, 30)), ("sqrt-complex64", (4, 6))],
)
def test_a_result_without_the_symmetry_is_found(name: str, at: tuple[int, ...]) -> None:
    case = all_cases()[name]
    entry, samples, got = computed(case)
    assert asymmetric(entry, outcome(case, samples.inputs, got), samples.grid) is None
    place = int(np.ravel_multi_index(at, samples.grid))
    planted = got.copy()
    planted[place] *= 1.5
    assert np.isfinite(planted[place])
    assert planted[place] != 0
    assert asymmetric(entry, outcome(case, samples.inputs, planted), samples.grid) is not None


@each("op", CMATH)
def test_the_other_side_of_a_branch_cut_is_found(op: str) -> None:
    """A backend that does not read the signs of zeros."""
    case = all_cases()[f"{op}-complex128"]
    entry, samples, got = computed(case)
    (z,) = samples.inputs
    rows = [covered(entry, row, (z.real, z.imag), 0) for row in entry.cuts]
    (place, *_) = np.flatnonzero(rows[0] & (np.signbit(z.real) | np.signbit(z.imag)))
    parts = [np.where(part == 0, -part, part) for part in (z.real, z.imag)]
    (other,) = np.flatnonzero((z.real == parts[0][place]) & (z.imag == parts[1][place]) & _same_signs(z, parts, place))
    planted = got.copy()
    planted[place] = got[other]
    found = list(violations(entry, outcome(case, samples.inputs, planted)))
    assert "a branch cut" in {one.how for one in found}


def _same_signs(z: Values, parts: list[Values], place: int) -> Values:
    signs = [np.signbit(part[place]) for part in parts]
    return np.asarray((np.signbit(z.real) == signs[0]) & (np.signbit(z.imag) == signs[1]))

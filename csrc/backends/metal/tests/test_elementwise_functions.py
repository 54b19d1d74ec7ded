"""The elementwise functions in MSL, each in a kernel of its own: the kit's values, truths and tolerances.

Each kernel also runs with subnormal floats flushed to zero, as a GPU does, and must have the same bits.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import Values, numpy_dtype
from ferrule.testing.model.problem import Problem
from ferrule.testing.special_cases.evaluate import asymmetric, violations
from ferrule.testing.special_cases.samples import entry_of, outcome_of, samples_of

from csrc.backends.metal.tests.elementwise_values import (
    DTYPE,
    FAMILIES,
    FAULT_OF_POWER,
    INTEGERS,
    arity_of,
    cases,
    compute,
    errors,
    inputs_of,
    sweep,
)
from csrc.backends.metal.tests.emulated_msl import EmulatedMsl, emulator

PAGE = Path(__file__).resolve().parents[1] / "docs" / "functions.md"
ALL = [(family, case) for family in FAMILIES for case in cases(family)]
NAMES = [f"{family}-{case.name}" for family, case in ALL]
SPECIAL = [(family, case) for family, case in ALL if entry_of(case) is not None]


@pytest.fixture(scope="module")
def msl() -> EmulatedMsl:
    return emulator()


def problem_of(case: Case, inputs: list[Values]) -> Problem:
    return Problem(tuple(x.shape for x in inputs), case.family.plain[0].attributes)


def same_bits(a: Values, b: Values) -> Values:
    word = f"u{a.dtype.itemsize}"
    return np.asarray(a.view(word) == b.view(word))


@pytest.mark.parametrize(("family", "case"), ALL, ids=NAMES)
def test_results_are_within_the_kits_tolerance(msl: EmulatedMsl, family: str, case: Case) -> None:
    for inputs in inputs_of(case):
        got = compute(msl, family, case, inputs, flushes=False)
        with np.errstate(all="ignore"):
            verdict = case.judge(problem_of(case, inputs), inputs, got.values)
        assert verdict.ok, (verdict, [x[verdict.index] for x in inputs])
        assert not got.fault.any()


@pytest.mark.parametrize(("family", "case"), ALL, ids=NAMES)
def test_results_do_not_depend_on_flushing(msl: EmulatedMsl, family: str, case: Case) -> None:
    for inputs in inputs_of(case):
        kept, flushed = (compute(msl, family, case, inputs, flushes).values for flushes in (False, True))
        same = same_bits(kept, flushed)
        assert same.all(), [(values[~same][:3]).tolist() for values in (*inputs, kept, flushed)]


@pytest.mark.parametrize(("family", "case"), SPECIAL, ids=[f"{family}-{case.name}" for family, case in SPECIAL])
def test_special_cases_of_the_array_api_standard_hold(msl: EmulatedMsl, family: str, case: Case) -> None:
    entry = entry_of(case)
    assert entry is not None
    samples = samples_of(entry, case.dtypes[0])
    for flushes in (False, True):
        got = compute(msl, family, case, samples.inputs, flushes).values
        outcome = outcome_of(case, problem_of(case, samples.inputs), samples.inputs, got)
        found = [*violations(entry, outcome), *filter(None, [asymmetric(entry, outcome, samples.grid)])]
        assert not found, [(one.row.text, [x[one.index] for x in samples.inputs], got[one.index]) for one in found]


@pytest.mark.parametrize("dtype", [dtype for dtype in INTEGERS if dtype.startswith("int")])
def test_a_negative_power_of_an_integer_is_a_fault(msl: EmulatedMsl, dtype: str) -> None:
    case = next(case for case in cases("exponential") if case.op == "pow" and case.result == dtype)
    powers = np.arange(20_000).astype(dtype) % 5
    base = np.full(powers.shape, 2, dtype)
    for place, wrong in ((0, -1), (7_777, np.iinfo(dtype).min), (19_999, -3)):
        bad = powers.copy()
        bad[place] = wrong
        got = compute(msl, "exponential", case, [base, bad], flushes=False)
        assert got.fault[:2].tolist() == [FAULT_OF_POWER, DTYPE]
        others = np.arange(powers.size) != place
        assert (got.values == base**powers)[others].all()


def documented() -> dict[str, float]:
    """The greatest errors that the page tells, by the names of the cases."""
    rows = re.findall(r"^\| `(\w+)` \|(?: `(\w+)` \|| \|) ([\d.]+) \|", PAGE.read_text(), re.MULTILINE)
    return {"-".join(filter(None, (op, "float32", variant))): float(error) for op, variant, error in rows}


ELEMENTARY = [
    (family, case)
    for family, case in ALL
    if case.dtypes[0] == case.result == "float32" and case.tolerance.ulp > 0.5 and case.op != "floor_divide"
]


@pytest.mark.parametrize(("family", "case"), ELEMENTARY, ids=[case.name for _, case in ELEMENTARY])
def test_greatest_errors_are_those_of_the_page(msl: EmulatedMsl, family: str, case: Case) -> None:
    worst = 0.0
    for inputs in sweep(arity_of(case)):
        got, flushed = (compute(msl, family, case, inputs, flushes).values for flushes in (False, True))
        assert same_bits(got, flushed).all()
        # erf and its relatives are given in float64.
        wide = np.float64 if case.op in ("erf", "erfc", "gelu") else np.longdouble
        attributes = case.family.plain[0].attributes
        with np.errstate(all="ignore"):
            truth = np.asarray(case.oracle(*(x.astype(wide) for x in inputs), **attributes))
            found = errors(got, truth)
            if case.op == "logaddexp":  # whose error is relative to the greater operand, where that is greater
                greater = np.maximum(*map(np.abs, inputs))
                found = np.where(
                    np.isfinite(greater), np.minimum(found, np.abs(got - truth) / np.spacing(greater)), found
                )
        worst = max(worst, float(found.max()))
    print(f"{case.name}: {worst:.4f}")
    assert worst <= documented()[case.name] < worst + 0.011


def test_the_page_lists_each_elementary_function() -> None:
    assert sorted(documented()) == sorted(case.name for _, case in ELEMENTARY)


# The float32 numbers n * 2^e that are nearest to a multiple of pi / 2.
NEAR_RIGHT_ANGLES = [
    (16367173, 72),
    (10741887, 11),
    (16573937, -16),
    (10057457, 62),
    (11617958, 17),
    (9012376, 53),
    (14173733, 88),
    (12438944, 102),
    (12438944, 103),
    (9860544, 96),
    (12615508, 93),
]


@pytest.mark.parametrize("op", ["sin", "cos", "tan"])
def test_angles_next_to_right_angles_keep_their_digits(msl: EmulatedMsl, op: str) -> None:
    case = next(case for case in cases("trigonometric") if case.name == f"{op}-float32")
    x = np.array([s * n * 2.0**e * f for n, e in NEAR_RIGHT_ANGLES for f in (0.5, 1, 2) for s in (1, -1)], np.float32)
    got = compute(msl, "trigonometric", case, [x], flushes=False).values
    found = errors(got, case.oracle(x.astype(np.longdouble)))
    assert found.max() < 2.6, list(zip(x.tolist(), found.tolist(), strict=True))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_keep_their_bits_in_memory(msl: EmulatedMsl, dtype: str) -> None:
    case = next(case for case in cases("arithmetic") if case.op == "positive" and case.result == dtype)
    bits = np.arange(1 << 16, dtype=np.uint16)
    for flushes in (False, True):
        got = compute(msl, "arithmetic", case, [bits.view(numpy_dtype(dtype))], flushes).values
        numbers = ~np.isnan(got.astype(np.float32))
        assert (got.view(np.uint16) == bits)[numbers].all()
        assert np.isnan(bits.view(numpy_dtype(dtype)).astype(np.float32)[~numbers]).all()

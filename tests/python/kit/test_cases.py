"""The kit's cases: every op and dtype, a reason for each tolerance, and oracles that agree with a second source."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from ferrule.op_rows import OP_ROWS
from ferrule.testing.cases import activation, all_cases
from ferrule.testing.model import error_function
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import (
    ALL,
    BLOCKS,
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMERIC,
    REALS,
    TABLE,
    accumulator_roundoff,
    numpy_dtype,
    widen,
)
from ferrule.testing.model.problem import Problem

from tests.python.each import each

ACCEPTED = {
    "stored": (*ALL, *BLOCKS),
    "plain": ALL,
    "real": REALS,
    "numeric": (*NUMERIC, *COMPLEX),
    "bool or numeric": (*REALS, *COMPLEX),
    "real numeric": NUMERIC,
    "floating-point": (*FLOATS, *COMPLEX),
    "real floating-point": FLOATS,
    "complex": COMPLEX,
    "integer": INTEGERS,
    "bool": BOOL,
    "bool or integer": BOOL + INTEGERS,
    "int32 or int64": ("int32", "int64"),
    "float32, float64 or complex": ("float32", "float64", *COMPLEX),
}
# Elementwise tolerances above 4 ULP in float32; the row states the reason.
WIDER = {"gelu-float32-none"}


def case_of(name: str) -> Case:
    return all_cases()[name]


def truth(name: str, *inputs: Any, **attributes: Any) -> Any:
    case = case_of(name)
    arrays = [np.array(x, numpy_dtype(case.dtype(number))) for number, x in enumerate(inputs)]
    return case.truth(Problem(tuple(a.shape for a in arrays), attributes), arrays)


@each("op", sorted(OP_ROWS))
def test_each_input_of_an_op_has_cases_for_each_dtype_that_it_accepts(op: str) -> None:
    cases = [case for case in all_cases().values() if case.op == op]
    assert cases
    for number, row in enumerate(OP_ROWS[op]["inputs"]):
        tried = {case.dtype(number) for case in cases if _takes(case, number)}
        assert tried >= set(ACCEPTED[row["accepts"]]) - _refused(op, row["name"])


def _takes(case: Case, number: int) -> bool:
    return any(len(problem.shapes) > number for problem in case.family.plain)


def _refused(op: str, name: str) -> set[str]:
    """A mask is bool or has the query's dtype, and a key is uint32: the op's rule narrows the dtypes of the row."""
    if op == "arange":  # its numbers are int64 or float64
        return set(NUMERIC) - {"int64", "float64"}
    if (op, name) == ("random_bits", "key"):
        return set(INTEGERS) - {"uint32"}
    if (op, name) == ("linear", "w"):
        return set(ALL) - set(FLOATS)
    if op == "fft_real":
        return set(COMPLEX)
    return set(INTEGERS) if (op, name) == ("scaled_dot_product_attention", "mask") else set()


@each("op", [op for op, row in OP_ROWS.items() if any(a["type"] == "dtype" for a in row["attributes"])])
def test_an_op_with_an_attribute_dtype_has_cases_for_each(op: str) -> None:
    made = {name for name in BLOCKS if TABLE[name].is_encoded}
    wanted = {*ALL, *made} if op == "astype" else set(NUMERIC)
    assert {case.result for case in all_cases().values() if case.op == op} == wanted


@each("name", all_cases())
def test_each_check_has_problems_and_each_problem_names_attributes_that_there_are(name: str) -> None:
    case = case_of(name)
    family, row = case.family, OP_ROWS[case.op]
    assert family.plain
    assert family.empty
    assert family.single
    assert family.large
    assert family.draw is not None
    assert family.sized is not None
    sized = [problem for size in (1, 2, 33, 128, 1_025) for problem in family.sized(size)]
    assert sized
    known = {a["name"] for a in row["attributes"]}
    required = {a["name"] for a in row["attributes"] if a["required"]}
    further = (*sized, *family.shapes, *family.constants)
    for problem in (*family.plain, *family.empty, *family.single, *family.large, *further):
        assert required <= set(problem.attributes) <= known


@each("name", all_cases())
def test_every_tolerance_of_a_case_has_a_reason(name: str) -> None:
    case = case_of(name)
    assert len(case.tolerance.reason) > 20
    if case.tolerance.ulp > 4:
        assert name in WIDER or case.dtypes[0] == "float64"
    if case.result in COMPLEX:  # bounds are relative to the magnitude, not to each part
        return
    if not case.floating:
        assert case.tolerance.ulp == 0
        assert case.tolerance.bound is None
    if case.family.pointwise and case.result != "float64" and case.op != "logaddexp":  # logaddexp contains an addition
        assert case.tolerance.bound is None


def test_wider_lists_the_cases_with_tolerances_above_4_ulp() -> None:
    assert {n for n, c in all_cases().items() if c.result == "float32" and c.tolerance.ulp > 4} == WIDER


@each("name", [n for n, c in all_cases().items() if c.tolerance.bound is not None])
def test_bound_has_the_shape_of_the_result_and_scales_with_the_unit_roundoff(name: str) -> None:
    case = case_of(name)
    for problem in (*case.family.plain, *case.family.empty, *case.family.single):
        inputs = case.inputs(problem, np.random.default_rng(3))
        wanted = case.truth(problem, inputs)
        with np.errstate(all="ignore"):
            wide = [widen(x) for x in inputs]
            bound = case.tolerance.bound(wide, dict(problem.attributes), wanted, case.result)
        assert bound.shape == wanted.shape
        finite = np.isfinite(wanted)
        assert (bound[finite] >= 0).all()
        # A sum of n products has n errors, each relative to the sum of all magnitudes.
        terms = max((size for shape in problem.shapes for size in shape), default=1)
        unit = max(1, terms / 100) ** 2 * accumulator_roundoff(case.result)
        assert (bound[finite] <= 1e5 * unit * (1 + np.abs(wanted[finite]).max(initial=0))).all()


@each("dtype", INTEGERS)
def test_integer_oracles_match_pythons_unbounded_integers(dtype: str) -> None:
    info = np.iinfo(dtype)
    span = int(info.max) - int(info.min) + 1

    def wrap(value: int) -> int:
        return (value - int(info.min)) % span + int(info.min)

    pick = random.Random(7)
    some = [0, 1, 2, 3, info.max, info.min, *(pick.randint(info.min, info.max) for _ in range(30))]
    formulas: dict[str, Callable[[int, int], int]] = {
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "floor_divide": lambda a, b: a // b if b else 0,
        "remainder": lambda a, b: a % b if b else 0,
        "maximum": max,
        "minimum": min,
        "bitwise_and": lambda a, b: a & b,
        "bitwise_or": lambda a, b: a | b,
        "bitwise_xor": lambda a, b: a ^ b,
    }
    pairs = [(int(a), int(b)) for a in some for b in some]
    left, right = zip(*pairs, strict=True)
    for op, formula in formulas.items():
        assert truth(f"{op}-{dtype}", left, right).tolist() == [wrap(formula(a, b)) for a, b in pairs], op
    powers = [(a, b) for a, _ in pairs[::33] for b in range(0, 64, 3)]
    left, right = zip(*powers, strict=True)
    assert truth(f"pow-{dtype}", left, right).tolist() == [wrap(a**b) for a, b in powers]
    numbers = [int(v) for v in some]
    unary: dict[str, Callable[[int], int]] = {
        "negative": lambda a: -a,
        "abs": abs,
        "square": lambda a: a * a,
        "bitwise_invert": lambda a: ~a,
    }
    for op, one in unary.items():
        assert truth(f"{op}-{dtype}", numbers).tolist() == [wrap(one(a)) for a in numbers], op
    total = (sum(numbers) + 2**63) % 2**64 - 2**63 if info.min < 0 else sum(numbers) % 2**64
    assert int(truth(f"sum-{dtype}", numbers, axis=[0], keepdims=False)) == total
    product = math.prod(numbers[6:]) % 2**64
    assert int(truth(f"prod-{dtype}", numbers[6:], axis=[], keepdims=False)) % 2**64 == product
    dot = sum(a * b for a, b in zip(numbers[:9], numbers[9:18], strict=True))
    assert truth(f"matmul-{dtype}", [numbers[:9]], [[b] for b in numbers[9:18]]).tolist() == [[wrap(dot)]]


@each(
    ("op", "function"),
    [(f, getattr(math, f)) for f in ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf", "sqrt")],
)
def test_elementary_oracles_agree_with_pythons_math(op: str, function: Callable[[float], float]) -> None:
    values = [0.001, 0.1, 0.5, 1.0, 2.75, 5.5]
    for dtype in ("float32", "float64"):
        found = truth(f"{op}-{dtype}", values)
        given = [float(np.array(v, dtype)) for v in values]
        assert [float(v) for v in found] == pytest.approx([function(v) for v in given], rel=1e-15)


def test_error_functions_of_long_double_agree_with_mpmath() -> None:
    mpmath = pytest.importorskip("mpmath")
    if np.finfo(np.longdouble).nmant < 60:
        pytest.skip("long double is no wider than float64")
    values = np.array([1e-30, 1e-3, 0.3, 0.999, 1.0, 1.001, 1.999, 2.0, 3.7, 6.99, 7.01, 20.0], np.longdouble)
    with mpmath.workprec(120):
        for sign in (1, -1):
            for function, exact in ((error_function.erf, mpmath.erf), (error_function.erfc, mpmath.erfc)):
                for v, got in zip(values, function(sign * values), strict=True):
                    wanted = np.longdouble(mpmath.nstr(exact(sign * mpmath.mpf(float(v)) + 0), 25))
                    at = function(np.array([np.longdouble(float(sign * v))]))[0]
                    assert abs(at - wanted) <= abs(wanted) * np.longdouble(2) ** -54 * max(1.0, float(v) ** 2 / 400)
                    assert np.isfinite(got)
    ends = np.array([np.inf, -np.inf, np.nan, -0.0], np.longdouble)
    assert np.array_equal(error_function.erf(ends), [1, -1, np.nan, 0], equal_nan=True)
    assert np.signbit(error_function.erf(ends)[3])
    assert np.array_equal(error_function.erfc(ends), [0, 2, np.nan, 1], equal_nan=True)


@pytest.mark.parametrize(("dtype", "units"), [(np.float64, 4), (np.longdouble, 1)])
def test_gelu_agrees_with_mpmath_in_its_lower_tail(dtype: type[np.floating[Any]], units: float) -> None:
    """The kit computes expected values in long double, which is no wider than float64 on Windows and Arm Macs."""
    mpmath = pytest.importorskip("mpmath")
    values = np.concatenate([np.linspace(-12, 12, 500), np.linspace(-37, -12, 100)])
    with mpmath.workprec(200):
        for v, got in zip(values, activation.gelu(values.astype(dtype), "none"), strict=True):
            x = mpmath.mpf(float(v))
            wanted = x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2
            found = mpmath.mpf(float(got)) + mpmath.mpf(float(got - dtype(float(got))))
            assert abs(found - wanted) <= abs(wanted) * units * mpmath.mpf(2) ** -53


def test_gelu_and_its_relatives_agree_with_their_formulas() -> None:
    for x in (-4.0, -1.5, -0.25, 0.5, 3.0):
        distribution = math.erfc(-x / math.sqrt(2)) / 2
        logistic = 1 / (1 + math.exp(-x))
        u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        for d in ("float32", "float64"):
            assert float(truth(f"gelu-{d}-none", x, approximate="none")) == pytest.approx(x * distribution, rel=1e-14)
            assert float(truth(f"gelu-{d}-tanh", x, approximate="tanh")) == pytest.approx(
                x / 2 * (1 + math.tanh(u)), rel=1e-11
            )
            assert float(truth(f"sigmoid-{d}", x)) == pytest.approx(logistic, rel=1e-15)
            assert float(truth(f"silu-{d}", x)) == pytest.approx(x * logistic, rel=1e-15)


def test_reductions_agree_with_fractions() -> None:
    values = [float(np.float32(v)) for v in np.random.default_rng(5).normal(3, 2, 12)]
    exact = [Fraction(v) for v in values]
    n = len(exact)
    mean = sum(exact) / n
    squares = sum((v - mean) ** 2 for v in exact)
    every = {"axis": [0], "keepdims": False}
    for d in ("float32", "float64"):
        assert float(truth(f"sum-{d}", values, **every)) == pytest.approx(float(sum(exact)), rel=1e-15)
        assert float(truth(f"prod-{d}", values, **every)) == pytest.approx(float(math.prod(exact)), rel=1e-15)
        assert float(truth(f"mean-{d}", values, **every)) == pytest.approx(float(mean), rel=1e-15)
        for correction, variant in ((0.0, ""), (1.0, "-corrected")):
            found = truth(f"var-{d}{variant}", values, correction=correction, **every)
            assert float(found) == pytest.approx(float(squares / (n - int(correction))), rel=1e-14)
        norm = truth(f"layer_norm-{d}", values, epsilon=0.5)
        wanted = [float(v - mean) / math.sqrt(float(squares / n) + 0.5) for v in exact]
        assert [float(v) for v in norm] == pytest.approx(wanted, rel=1e-13)
        norm = truth(f"rms_norm-{d}", values, epsilon=0.5)
        root = math.sqrt(float(sum(v**2 for v in exact) / n) + 0.5)
        assert [float(v) for v in norm] == pytest.approx([float(v) / root for v in exact], rel=1e-13)
        weights = [math.exp(v) for v in values]
        soft = [w / math.fsum(weights) for w in weights]
        assert [float(v) for v in truth(f"softmax-{d}", values, axis=0)] == pytest.approx(soft, rel=1e-14)
        logs = [math.log(p) for p in soft]
        assert [float(v) for v in truth(f"log_softmax-{d}", values, axis=-1)] == pytest.approx(logs, rel=1e-13)


def test_attention_agrees_with_loops() -> None:
    rng = np.random.default_rng(2)
    q, k, v = (rng.normal(size=s).astype(np.float32) for s in ((1, 3, 4), (1, 5, 4), (1, 5, 2)))
    keeps = rng.random((3, 5)) < 0.7
    keeps[1] = False
    found = truth(
        "scaled_dot_product_attention-float32-float32-float32-bool-keeps", q, k, v, keeps, scale=0.0, causal=True
    )
    for i in range(3):
        kept = [j for j in range(5) if j <= i + 2 and keeps[i, j]]
        weights = [math.exp(sum(float(a) * float(b) for a, b in zip(q[0, i], k[0, j], strict=True)) / 2) for j in kept]
        for c in range(2):
            wanted = sum(w * float(v[0, j, c]) for w, j in zip(weights, kept, strict=True)) / (sum(weights) or 1)
            assert found[0, i, c] == pytest.approx(wanted, rel=1e-12, abs=1e-15)


@each("dtype", INTEGERS)
def test_astype_truncates_and_saturates_as_fractions_do(dtype: str) -> None:
    info = np.iinfo(dtype)
    for source in ("float32", "float64"):
        values = case_of(f"astype-{source}-to-{dtype}").domain(0).edge_values(source)
        found = truth(f"astype-{source}-to-{dtype}", values, dtype=dtype)
        for value, got in zip(values.tolist(), found.tolist(), strict=True):
            whole = 0 if math.isnan(value) else value if math.isinf(value) else math.trunc(Fraction(value))
            assert got == min(max(whole, int(info.min)), int(info.max)), value


def test_edge_values_match_the_standard() -> None:
    inf, nan = math.inf, math.nan

    def same(a: Any, b: Any) -> bool:
        return np.array_equal(np.asarray(a, float), np.asarray(b, float), equal_nan=True)

    assert same(truth("pow-float32", [nan, 1, 0, -inf], [0, nan, 0, 3]), [1, 1, 1, -inf])
    assert same(truth("maximum-float64", [nan, 1, -inf], [1, nan, 2]), [nan, nan, 2])
    assert same(truth("sign-float32", [nan, -2, 0, 3]), [nan, -1, 0, 1])
    assert same(truth("remainder-float64", [-1, 1, 5, -5], [inf, -inf, -3, 3]), [inf, -inf, -1, 1])
    assert same(truth("clip-float32", [nan, 5, -5], [0, 0, 0], [1, 1, 1]), [nan, 1, 0])
    assert same(truth("argmax-float32", [1, nan, 3, nan], axis=0, keepdims=False), 1)
    assert same(truth("round-float64", [0.5, 1.5, 2.5, -0.5]), [0, 2, 2, -0.0])
    assert truth("astype-float32-to-bool", [0.0, nan, -0.0, 0.5], dtype="bool").tolist() == [False, True, False, True]


def test_take_has_inputs_that_must_raise() -> None:
    for case in all_cases().values():
        if case.op == "take":
            assert case.errors is not None
            assert len(list(case.errors(case))) == 4

"""Python numbers in operations with arrays never wrap around, eagerly or traced."""

from __future__ import annotations

import enum
import itertools
import operator
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.python.each import each

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
COMPARISONS = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
OPERATORS = dict(
    zip(COMPARISONS, [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne], strict=True)
)


def edges(dtype: str) -> Any:
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.min + 1, 0, 1, limits.max - 1, limits.max], dtype)


NUMBERS = sorted({sign * 2**k + d for k in (0, 7, 8, 31, 63, 64, 70) for d in (-1, 0, 1) for sign in (1, -1)})


@each("dtype", [*INTEGERS, "bool"])
def test_comparisons_with_any_python_int_have_the_known_answer(dtype: str) -> None:
    a = np.array([False, True]) if dtype == "bool" else edges(dtype)
    x, exact = fe.asarray(a), [int(value) for value in a]
    for name, number in itertools.product(COMPARISONS, NUMBERS):
        wanted = [OPERATORS[name](value, number) for value in exact]
        mirrored = [OPERATORS[name](number, value) for value in exact]
        assert OPERATORS[name](x, number).tolist() == wanted, (name, number)
        assert OPERATORS[name](number, x).tolist() == mirrored, (name, number)
        assert getattr(fe, name)(x, number).tolist() == wanted, (name, number)
        assert getattr(fe, name)(number, x).tolist() == mirrored, (name, number)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_traced_comparisons_have_the_known_answer(dtype: str) -> None:
    a = edges(dtype)
    x, exact = fe.asarray(a), [int(value) for value in a]
    for name in COMPARISONS:
        compare = OPERATORS[name]
        closed = fe.graph(lambda x, compare=compare: tuple(compare(x, number) for number in NUMBERS))
        given_ = fe.graph(lambda x, number, compare=compare: compare(x, number))
        for number, got in zip(NUMBERS, closed(x), strict=True):
            assert got.tolist() == given_(x, number).tolist() == [compare(value, number) for value in exact]


@pytest.mark.parametrize("signed", ["int8", "int32", "int64"])
def test_uint64_compares_with_signed_integers_by_value(signed: str) -> None:
    u, s = edges("uint64")[:, None], edges(signed)[None]
    for name, (left, right) in itertools.product(COMPARISONS, ((u, s), (s, u))):
        wanted = OPERATORS[name](left.astype(object), right.astype(object)).astype(bool)
        for got in (OPERATORS[name](fe.asarray(left), right), fe.graph(OPERATORS[name])(left, right)):
            np.testing.assert_array_equal(np.asarray(got), wanted)


def test_numpy_scalars_compare_by_value() -> None:
    x = fe.asarray(np.array([0, 2**64 - 1], "u8"))
    assert (x < np.int64(-1)).tolist() == [False, False]
    assert (x > np.int8(-1)).tolist() == [True, True]
    assert (np.int64(-1) < x).tolist() == [True, True]
    assert (fe.asarray([1]) < np.uint64(2**63)).tolist() == [True]


def test_a_graph_by_hand_compares_with_any_python_int() -> None:
    graph = fe.Graph("cpu")
    x = graph.input((2,), "uint8")
    graph.output(graph.apply("less", x, 300), graph.apply("less", x, -1))
    above, below = graph.compute(np.array([0, 255], "u1"))
    assert above.tolist() == [True, True]
    assert below.tolist() == [False, False]


OVERFLOWS: list[Any] = [
    lambda u: u + 300,
    lambda u: 300 - u,
    lambda u: u * -1,
    lambda u: u.__setitem__(0, 300),
    lambda u: u.__setitem__(1, -1),
    lambda u: u.__setitem__(u > 0, 256),
    lambda u: u.__setitem__(0, 300.5),
    lambda u: u.__setitem__(0, float("inf")),
    lambda u: fe.full_like(u, 300),
    lambda u: fe.full((2,), -1, dtype=u.dtype),
    lambda u: fe.full((2,), 2.5, dtype=u.dtype),
    lambda u: fe.full((2,), 2**64),
    lambda u: fe.asarray(256, dtype=u.dtype),
    lambda u: fe.asarray([1, 256], dtype=u.dtype),
    lambda u: fe.where(u > 0, u, 300),
    lambda u: fe.where(u > 0, -1, u),
    lambda u: fe.clip(u, 0, 300),
    lambda u: fe.clip(u, -5, 7),
    lambda u: fe.maximum(u, -1),
    lambda u: fe.pad(u, 1, value=300),
    lambda u: fe.pad(u, 1, value=0.5),
    lambda u: fe.pad(u > 0, 1, value=2),
    lambda u: fe.arange(0, 300, dtype=u.dtype),
    lambda u: fe.arange(-3, 0, dtype=u.dtype),
    lambda u: fe.linspace(0, 300, 4, dtype=u.dtype),
]


@each("use", OVERFLOWS)
def test_a_python_number_that_does_not_fit_is_an_overflow_error(use: Any) -> None:
    u = fe.zeros(2, dtype="u1")
    with pytest.raises(OverflowError) as caught:
        use(u)
    assert isinstance(caught.value, fe.NumberOverflowError)
    assert isinstance(caught.value, fe.InvalidArgumentError)
    assert u.tolist() == [0, 0]


def test_nan_is_refused_as_an_integer() -> None:
    u = fe.zeros(2, dtype="u1")
    with pytest.raises(fe.InvalidArgumentError):
        u[0] = float("nan")


@each("dtype", ["u1", "i4", "f4", "f2", "?"])
def test_assigning_a_number_converts_it_as_numpy_does(dtype: str) -> None:
    for number in (0, 1, 7, True, 2.75):
        a = np.ones(3, dtype)
        x = fe.asarray(a.copy())
        a[1], x[1] = number, number
        assert x.dtype == a.dtype
        np.testing.assert_array_equal(np.asarray(x), a)
        a[a > 1], x[x > 1] = number, number
        np.testing.assert_array_equal(np.asarray(x), a)


@each("value", [0, 1, False, True, 1.0])
def test_pad_keeps_bool(value: Any) -> None:
    padded = fe.pad(fe.asarray([True, False]), 1, value=value)
    assert padded.dtype == fe.bool
    assert padded.tolist() == [bool(value), True, False, bool(value)]
    assert fe.pad(fe.asarray([True]), 1).dtype == fe.bool


def test_pad_by_a_number_of_a_traced_function() -> None:
    f = fe.graph(lambda x, value: fe.pad(x, 1, value=value))
    assert f(np.ones(1, "u1"), 255).tolist() == [255, 1, 255]
    assert f(np.ones(1, "?"), 0).tolist() == [False, True, False]
    for array, value in ((np.ones(1, "u1"), 256), (np.ones(1, "?"), 2), (np.ones(1, "u1"), 0.5)):
        with pytest.raises(fe.NumberOverflowError):
            f(array, value)


# ---- numbers of traced functions
def test_computed_number_of_a_traced_function_never_wraps() -> None:
    f = fe.graph(lambda a, s: a + s * s)
    a = np.zeros(1, "u1")
    assert f(a, 15).tolist() == [225]
    with pytest.raises(fe.NumberOverflowError, match="256"):
        f(a, 16)
    assert f(a, 3).tolist() == [9]
    assert f(a, 3).dtype == fe.uint8
    with pytest.raises(OverflowError):
        fe.graph(lambda a, s: a + s)(a, 300)
    assert f.cache_info().misses == 1


def test_an_intermediate_number_may_be_of_any_size() -> None:
    f = fe.graph(lambda a, s: a + s**9 // s**8)
    for s in (3, 10**9, 2**62):
        assert f(np.zeros(1, "i8"), s).tolist() == [s]


def test_ints_beyond_64_bits_are_a_part_of_the_signature() -> None:
    f = fe.graph(lambda a, s: a + s)
    a = np.zeros(1, "u8")
    assert f(a, 2**64 - 1).tolist() == [2**64 - 1]
    assert f(a, 2**63).tolist() == [2**63]
    with pytest.raises(fe.NumberOverflowError):
        f(a, 2**64)


def test_division_by_zero_is_pythons_error_in_each_call() -> None:
    f = fe.graph(lambda a, s: a + 1 / s)
    assert f(np.zeros(1, "f4"), 2).tolist() == [0.5]
    with pytest.raises(ZeroDivisionError):
        f(np.zeros(1, "f4"), 0)


def test_number_that_changes_its_kind_is_an_error() -> None:
    f = fe.graph(lambda a, s: a + 2**s)
    assert f(np.zeros(1, "i4"), 3).tolist() == [8]
    with pytest.raises(fe.InvalidArgumentError, match="traced"):
        f(np.zeros(1, "i4"), -1)


def test_numbers_alone_become_arrays_in_functions_of_arrays() -> None:
    f = fe.graph(lambda s: fe.exp(s))
    assert f(0.5).dtype == fe.float32
    assert f(0.5).item() == fe.exp(fe.asarray(0.5)).item()
    g = fe.graph(lambda a, s: a * fe.exp(s))
    assert g(np.ones(2, "f2"), 0.5).dtype == fe.float32  # as eagerly: the array promotes
    assert fe.graph(lambda s: fe.asarray(s, dtype="f8") * 2)(0.1).item() == 0.2
    assert fe.graph(lambda s: s)(3) == 3  # a number alone stays a number


ARITHMETIC: dict[str, Any] = {
    "polynomial": lambda a, s, t: a * s + t * s - 1,
    "division": lambda a, s, t: a / (s + 1) + t / 2,
    "left division": lambda a, s, t: s / (a + 1),
    "floor": lambda a, s, t: a // (abs(s) + 1) + (-t) % 5,
    "where": lambda a, s, t: fe.where(s > t, a, a + 1),
    "where number": lambda a, s, t: fe.where(a > s, t, a),
    "clip": lambda a, s, t: fe.clip(a, s - abs(t), s + abs(t)),
    "comparison": lambda a, s, t: (a < s) == (a >= t),
    "bits": lambda a, s, t: fe.where(s & 1 == 0, a, a * 2),
    "power": lambda a, s, t: a + s**2,
}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([*ARITHMETIC]), st.sampled_from(["u1", "i1", "i4", "i8", "f4", "f8", "f2"]), st.data())
def test_traced_function_of_numbers_matches_the_function(name: str, dtype: str, data: Any) -> None:
    function = ARITHMETIC[name]
    traced = fe.graph(function)
    a = fe.asarray(np.array([0, 1, 2, 100], dtype))
    integers = st.one_of(st.integers(-4, 20), st.integers(-(2**63), 2**63 - 1))
    for _ in range(3):
        s, t = data.draw(integers), data.draw(integers)
        try:
            wanted = function(a, s, t)
            expected = np.asarray(wanted)
        except (fe.Error, ArithmeticError) as error:
            with pytest.raises(type(error)):
                traced(a, s, t)
            continue
        got = traced(a, s, t)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(np.asarray(got), expected)


def test_a_graph_with_computed_numbers_is_saved(tmp_path: Any) -> None:
    graph = fe.graph(lambda a, s: a + s * s - 2.5 * s).trace(np.zeros(2, "f4"), 3)
    again = fe.Graph.from_bytes(graph.to_bytes())
    for numbers in ((), (3,), (5,)):
        assert (
            again.compute(np.zeros(2, "f4"), *numbers).tolist() == graph.compute(np.zeros(2, "f4"), *numbers).tolist()
        )
    assert again.compute(np.zeros(1 + 1, "f4"), 4).tolist() == [6, 6]


class Level(enum.IntEnum):
    LOW = 2


class Ratio(float):
    pass


def test_subclasses_of_pythons_numbers_are_numbers() -> None:
    x = fe.ones(2, dtype="float16")
    for made in (x + Level.LOW, Level.LOW * x, fe.add(x, Ratio(0.5)), fe.graph(lambda a: a - Level.LOW)(x)):
        assert made.dtype == np.float16
    assert (x + Level.LOW).tolist() == [3, 3]
    assert fe.where(x > Ratio(0.5), Level.LOW, x).tolist() == [2, 2]
    assert (x + np.float64(1)).dtype == np.float64

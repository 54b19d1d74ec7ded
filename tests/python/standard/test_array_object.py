"""Operators in place, conversions of one element, and `asarray` of arrays, as the standard defines them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

OPERATOR: Any = operator  # its operators in place have no types
OPERATORS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "+": (operator.iadd, operator.add),
    "-": (operator.isub, operator.sub),
    "*": (operator.imul, operator.mul),
    "//": (operator.ifloordiv, operator.floordiv),
    "%": (operator.imod, operator.mod),
    "**": (operator.ipow, operator.pow),
    "&": (operator.iand, operator.and_),
    "|": (operator.ior, operator.or_),
    "^": (operator.ixor, operator.xor),
    "<<": (operator.ilshift, operator.lshift),
    ">>": (operator.irshift, operator.rshift),
}


@each("sign", OPERATORS)
def test_an_operator_has_numpys_results_with_arrays_and_numbers_on_either_side(sign: str) -> None:
    in_place, plain = OPERATORS[sign]
    a, b = np.array([[1, 2, 3], [4, 5, 6]]), np.array([3, 2, 1])
    x, y = fe.asarray(a), fe.asarray(b)
    for got, wanted in (
        (plain(x, y), plain(a, b)),
        (plain(x, 2), plain(a, 2)),
        (plain(2, x), plain(2, a)),
        (plain(a, y), plain(a, b)),
    ):
        np.testing.assert_array_equal(np.asarray(got), wanted, strict=True)
    same = x
    x = in_place(x, y)
    assert same is x
    np.testing.assert_array_equal(np.asarray(x), plain(a, b), strict=True)
    x = in_place(x, 2)
    np.testing.assert_array_equal(np.asarray(x), plain(plain(a, b), 2), strict=True)


def test_division_and_products_in_place() -> None:
    x = same = fe.asarray([[1.0, 2.0], [3.0, 4.0]])
    x /= 2
    x @= fe.asarray([[0.0, 1.0], [1.0, 0.0]])
    assert same is x
    assert x.tolist() == [[1.0, 0.5], [2.0, 1.5]]


@each(
    ("change", "message"),
    [
        (lambda x: OPERATOR.iadd(x, fe.ones(3, dtype="float32")), r"x \+= y: cannot cast the result, float32"),
        (lambda x: OPERATOR.iadd(x, fe.ones(3, dtype="int16")), r"x \+= y: cannot cast the result, int16"),
        (lambda x: OPERATOR.itruediv(x, 2), "x /= y: cannot cast the result, float32"),
        (lambda x: OPERATOR.imul(x, 1.5), r"x \*= y: cannot cast the result, float32"),
        (lambda x: OPERATOR.isub(x, fe.ones((2, 3), dtype="int8")), r"x -= y: the result has shape \(2, 3\), which x"),
    ],
)
def test_an_operator_in_place_keeps_dtype_and_shape(change: Callable[[Any], Any], message: str) -> None:
    x = fe.asarray([1, 2, 3], dtype="int8")
    with pytest.raises(fe.InvalidArgumentError, match=f"^{message}"):
        change(x)
    assert x.tolist() == [1, 2, 3]


def test_an_operator_in_place_changes_views_and_no_export() -> None:
    x = fe.asarray([1.0, 2.0, 3.0])
    view, export, same = x[1:], np.asarray(x), fe.asarray(x)
    x += 1
    assert x.tolist() == same.tolist() == [2, 3, 4]
    assert view.tolist() == [3, 4]
    assert export.tolist() == [1, 2, 3]


def test_an_operator_in_place_is_recorded_in_a_graph() -> None:
    def total(x: Any) -> Any:
        y = x * 1
        for _ in range(3):
            y += x
        return y

    x = fe.asarray([1.0, 2.0])
    assert fe.graph(total)(x).tolist() == [4, 8]
    assert x.tolist() == [1, 2]
    count = fe.graph(lambda x, n: x * (n.__iadd__(1) if isinstance(n, fe.Array) else n + 1))
    assert [count(x, n).tolist() for n in (1, 2)] == [[2, 4], [3, 6]]


def test_an_unknown_operand_in_place_is_a_type_error() -> None:
    x = fe.ones(2)
    with pytest.raises(TypeError, match="unsupported operand"):
        x += "a"
    with pytest.raises(TypeError, match="unsupported operand"):
        x += None


def test_one_element_converts_to_pythons_numbers() -> None:
    for x in (fe.asarray(3), fe.asarray([[3]])):
        assert (int(x), float(x), complex(x), bool(x)) == (3, 3.0, 3 + 0j, True)
    assert operator.index(fe.asarray(3)) == 3
    assert complex(fe.asarray(1 + 2j)) == 1 + 2j
    assert bool(fe.asarray(0j)) is False
    with pytest.raises(fe.NumberOverflowError, match=r"^int\(\): "):
        int(fe.asarray(float("inf")))
    with pytest.raises(fe.InvalidArgumentError, match=r"^int\(\): "):
        int(fe.asarray(float("nan")))
    for convert in (int, float):
        with pytest.raises(TypeError, match=rf"^{convert.__name__}\(\): .* is complex"):
            convert(fe.asarray(1j))
        with pytest.raises(fe.InvalidArgumentError, match=rf"^{convert.__name__}\(\): the array has 2 elements"):
            convert(fe.ones(2))


def test_asarray_without_a_copy_is_the_array_itself() -> None:
    x = fe.asarray([1.0, 2.0])
    same, copied = fe.asarray(x, copy=False), fe.asarray(x, copy=True)
    x[0] = 5
    assert same.tolist() == [5, 2]
    assert copied.tolist() == [1, 2]
    assert fe.asarray(x, dtype="float32", device=x.device, copy=False) is x
    with pytest.raises(fe.InvalidArgumentError, match=r"^asarray: float32 to float64 needs a copy"):
        fe.asarray(x, dtype="float64", copy=False)
    with pytest.raises(fe.InvalidArgumentError, match=r"^asarray: a list needs a copy"):
        fe.asarray([x, x], copy=False)


def test_asarray_takes_nested_sequences_of_numbers_and_arrays() -> None:
    x = fe.asarray([1, 2], dtype="int8")
    assert fe.asarray([x, x]).tolist() == [[1, 2], [1, 2]]
    mixed = fe.asarray([[x, [3, 4]], [[5, 6], x]])
    assert (mixed.shape, mixed.dtype) == ((2, 2, 2), fe.int64)
    assert mixed.tolist() == [[[1, 2], [3, 4]], [[5, 6], [1, 2]]]
    halves = fe.asarray([fe.asarray(1.5, dtype="float16"), 2, 3.0])
    assert (halves.tolist(), halves.dtype) == ([1.5, 2.0, 3.0], fe.float16)
    assert fe.asarray([x[0], 1.5]).tolist() == [1.0, 1.5]
    assert fe.asarray([[x[0], x[1]]], dtype="float64").dtype == fe.float64
    assert fe.asarray([[1, 2j], [3, 4]]).dtype == fe.complex64
    assert fe.asarray(1 + 2j, dtype="complex128").item() == 1 + 2j
    for ragged in ([x, [1]], [[x], x], [x, 1]):
        with pytest.raises(fe.InvalidArgumentError, match=r"^asarray: the parts of a list differ in shape"):
            fe.asarray(ragged)


def test_reshape_without_a_copy_refuses_what_needs_one() -> None:
    x = fe.asarray(np.arange(24).reshape(2, 3, 4))
    flat = np.asarray(x).reshape(-1)
    for shape in ((6, 4), (2, 12), (24,), (2, 3, 2, 2), (1, 24, 1)):
        assert np.array_equal(np.asarray(fe.reshape(x, shape, copy=False)).reshape(-1), flat)
    turned = np.asarray(x).transpose(0, 2, 1)
    strided = fe.asarray(turned)
    assert fe.reshape(strided, (2, 2, 2, 3), copy=False).shape == (2, 2, 2, 3)
    with pytest.raises(fe.InvalidArgumentError, match=r"^reshape: .* needs a copy, which copy=False forbids"):
        fe.reshape(strided, (2, 12), copy=False)
    assert fe.reshape(strided, (2, 12), copy=True).tolist() == turned.reshape(2, 12).tolist()


def test_negative_sizes_are_errors_of_the_function_that_was_called() -> None:
    for function in (fe.zeros, fe.ones, fe.empty):
        with pytest.raises(
            fe.InvalidArgumentError, match=rf"^{function.__name__}: shape \(-1, 2\) has a negative size"
        ):
            function((-1, 2))

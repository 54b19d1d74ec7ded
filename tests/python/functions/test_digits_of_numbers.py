"""Python numbers and lists keep their digits beside arrays of float64, and must fit where they are put."""

from __future__ import annotations

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

VALUES = [0.1, 0.2, 0.3]
X = np.array(VALUES)
Z = X + 0.7j

# Each function with a number, and with the same number as an array of float64: the results are equal bit for bit.
WITH_A_NUMBER = {
    "isin": lambda f, x, v: f.isin(x, v),
    "isclose": lambda f, x, v: f.isclose(x, v, rtol=1e-12, atol=0),
    "allclose": lambda f, x, v: f.allclose(x, v, rtol=1.0, atol=0),
    "array_equal": lambda f, x, v: f.array_equal(x[0], v),
    "dot": lambda f, x, v: f.dot(x, v),
    "outer": lambda f, x, v: f.outer(x, v),
    "hstack": lambda f, x, v: f.hstack([x, v]),
    "stack": lambda f, x, v: f.stack([x[0], v]),
    "interp": lambda f, x, v: f.interp(v, x, x),
    "clip": lambda f, x, v: f.clip(v, x, x + 1),
    "broadcast_arrays": lambda f, x, v: f.broadcast_arrays(x, v)[1],
    "einsum": lambda f, x, v: f.einsum("i,->i", x, v),
    "where": lambda f, x, v: f.where(x > 0.15, x, v),
    "maximum": lambda f, x, v: f.maximum(x, v),
    "divide": lambda f, x, v: f.divide(x, v),
}


@each("name", WITH_A_NUMBER)
@each("number", [0.1, 1 / 3, 7])
def test_number_has_all_its_digits_beside_float64(name: str, number: float) -> None:
    call = WITH_A_NUMBER[name]
    expected = call(np, X, np.float64(number))
    for result in (call(fe, fe.asarray(X), number), fe.graph(lambda x: call(fe, x, number))(fe.asarray(X))):
        found = np.asarray(result)
        assert found.dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(found, expected)


@each("name", ["dot", "outer", "hstack", "isclose", "divide", "maximum"])
def test_number_that_each_call_passes_has_all_its_digits(name: str) -> None:
    call = WITH_A_NUMBER[name]
    traced = fe.graph(lambda x, v: call(fe, x, v))
    for number in (0.1, 1 / 3):
        np.testing.assert_array_equal(np.asarray(traced(fe.asarray(X), number)), call(np, X, np.float64(number)))


@each(
    ("array", "key", "values"),
    [
        (X, slice(None), [0.7, 0.8, 0.9]),
        (X, np.array([True, False, True]), [0.7, 0.9]),
        (X, [0, 2], (0.7, 0.9)),
        (Z, slice(None), [0.1 + 0.3j, 0.7, 1]),
        (X.astype("float16"), slice(None), [0.1, 1e6, 1]),
        (np.zeros(2, "int64"), slice(None), [2**53 + 1, 0.5]),
        (np.zeros(2, "uint64"), slice(None), [2**64 - 1, 1]),
        (np.zeros(2, bool), slice(None), [2, 0]),
        (np.zeros((2, 3), "int8"), 1, [1.9, -2.9, 127]),
    ],
)
def test_list_is_assigned_as_numpy_assigns_it(array: np.ndarray, key: object, values: object) -> None:
    expected = array.copy()
    with np.errstate(over="ignore"):
        expected[key] = values
    x = fe.asarray(array)
    x[key if not isinstance(key, list) else fe.asarray(key)] = values
    assert x.dtype == array.dtype
    np.testing.assert_array_equal(np.asarray(x), expected)


@each(
    ("dtype", "values", "words"),
    [
        ("uint8", [300, -1, 2], "300 does not fit into uint8"),
        ("uint8", [1, -1, 2], "-1 does not fit into uint8"),
        ("int32", [2**31, 1, 1], "2147483648 does not fit into int32"),
        ("int64", [float("nan"), 1, 1], "NaN"),
        ("float32", [1j, 1, 1], "imaginary"),
    ],
)
def test_list_that_does_not_fit_is_refused(dtype: str, values: list[complex], words: str) -> None:
    x = fe.zeros(3, dtype=dtype)
    with pytest.raises(fe.InvalidArgumentError, match=rf"^x\[key\] = value: .*{words}"):
        x[:] = values
    assert not np.asarray(x).any()


def test_lists_beside_arrays_keep_their_digits() -> None:
    x = fe.asarray(X)
    assert np.asarray(fe.isin(x, [0.1, 0.3])).tolist() == [True, False, True]
    assert np.asarray(fe.isin([0.2, 0.5], x)).tolist() == [True, False]
    assert np.isin(x, [0.1]).tolist() == [True, False, False]
    assert np.asarray(fe.isin(fe.asarray([10, 2**40 + 1]), [2.0**40 + 1])).tolist() == [False, True]
    assert np.asarray(fe.isin(fe.asarray([1, 2], dtype="uint8"), 300)).tolist() == [False, False]
    assert float(np.vdot(x, VALUES)) == float(np.asarray(fe.vecdot(x, x)))
    assert np.asarray(fe.asarray([x, [0.1, 0.3, 0.7]]))[1].tolist() == [0.1, 0.3, 0.7]
    assert np.asarray(fe.asarray([fe.ones(2, dtype="float32"), [0.1, 0.3]])).dtype == np.float32


def test_integers_that_only_uint64_has_are_uint64() -> None:
    x = fe.asarray([2**63, 1])
    assert x.dtype == np.uint64
    assert x.tolist() == [2**63, 1]
    with pytest.raises(fe.NumberOverflowError, match="no integer dtype has both -1 and 9223372036854775808"):
        fe.asarray([2**63, -1])

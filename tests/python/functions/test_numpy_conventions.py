"""Conventions of NumPy that the array API standard leaves open. NumPy is the oracle."""

from __future__ import annotations

import operator
import sys
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

FE: Any = fe
NP: Any = np
FLAGS = np.array([[True, False, True], [False, False, True], [True, True, False]])


@pytest.mark.parametrize("operate", [operator.add, operator.mul, operator.matmul, np.add, np.multiply, np.matmul])
def test_sums_and_products_of_bools_are_logical(operate: Any) -> None:
    wanted = operate(FLAGS, FLAGS.T)
    x = fe.asarray(FLAGS)
    for got in (operate(x, x.T), operate(x, FLAGS.T), fe.graph(lambda x, y: operate(x, y))(x, x.T)):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(np.asarray(got), wanted)
    assert (x + True).tolist() == (FLAGS + True).tolist()
    assert fe.graph(lambda x, y: x * y)(x, True).tolist() == FLAGS.tolist()
    assert (x + 1).tolist() == (FLAGS + 1).tolist()
    for function in ("argmax", "argmin"):
        np.testing.assert_array_equal(
            np.asarray(getattr(fe, function)(x, axis=0)), getattr(np, function)(FLAGS.astype(int), axis=0)
        )
    with pytest.raises(TypeError):
        x - x


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_fmod_of_integers_has_the_sign_of_the_dividend(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 0, 1, 5, 7, -5 if limits.min else 5, -7 if limits.min else 7], dtype)
    y = np.array([3, 5, 7, limits.max, -3 if limits.min else 3, -1 if limits.min else 1, limits.min], dtype)
    with np.errstate(divide="ignore"):
        wanted = np.fmod(x[:, None], y)
    assert NP.fmod(fe.asarray(x)[:, None], fe.asarray(y)).tolist() == wanted.tolist()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_integers_are_rounded_to_tens_with_ties_to_even(dtype: str) -> None:
    x = fe.asarray(list(range(0, 100, 5)), dtype=dtype)
    assert x.round(-1).tolist() == [round(value, -1) for value in range(0, 100, 5)]
    if dtype.startswith("int"):
        assert (-x).round(-1).tolist() == [round(-value, -1) for value in range(0, 100, 5)]
    assert x.round(-30).tolist() == [0] * 20


def test_large_integers_are_rounded_exactly() -> None:
    values = [2**62 + 5, -(2**62) - 5, 10**18 * 5 - 5, 123456789012345]
    assert fe.asarray(values).round(-1).tolist() == [round(value, -1) for value in values]


def test_bytes_and_sizes_are_those_of_the_memory() -> None:
    host = np.arange(6, dtype="int32").reshape(2, 3)
    x = fe.asarray(host)
    assert bytes(x) == bytes(host)
    assert bytes(x.T) == bytes(host.T)
    assert bytes(x[1, 2]) == host[1, 2].tobytes()
    assert sys.getsizeof(fe.zeros(10_000)) > 40_000
    packed = np.arange(68, dtype="uint8").reshape(1, 68)
    assert sys.getsizeof(fe.from_packed(packed, "q8_0")) >= 68


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex64", "bool", "float16"])
def test_memoryview_and_bytearray_have_the_memory(dtype: str) -> None:
    host = np.arange(6).reshape(2, 3).astype(dtype)
    for values in (host, host.T, host[:, ::-1], host[:0], host[0, 0]):
        x: Any = fe.asarray(values, device="cpu")
        view = memoryview(x)
        assert (view.shape, view.tobytes()) == (values.shape, values.tobytes())
        assert view.readonly or not values.size
        if values.ndim:  # of a single integer, bytearray() makes so many zeros
            assert bytearray(x) == bytearray(values)
    computed: Any = fe.asarray(host, device="cpu") == 3
    fe.eval(computed)
    assert bytearray(computed) == (host == 3).tobytes()


def test_memory_without_a_format_is_an_error() -> None:
    half, blocks = FE.ones(3, dtype="bfloat16"), FE.ones(32).astype("q8_0")
    FE.eval(half, blocks)
    with pytest.raises(ValueError, match="cannot include dtype 'E'"):
        bytearray(half)
    with pytest.raises(fe.DTypeError, match="NumPy has no dtype q8_0"):
        memoryview(blocks)
    with pytest.raises(BufferError, match="not computed"):
        memoryview(FE.ones(3) + 1)
    with pytest.raises(BufferError, match="not computed"):
        FE.graph(lambda x: memoryview(x)[0])(fe.ones(3))


def test_round_takes_decimals() -> None:
    host = np.array([1.25, -2.345, 1e30, 0.5, np.inf, np.nan])
    x = fe.asarray(host)
    for decimals in (0, 1, 2, -1, np.int64(2)):
        for got in (fe.round(x, decimals), fe.round(x, decimals=decimals), x.round(decimals)):
            np.testing.assert_array_equal(np.asarray(got), np.round(host, int(decimals)))
    assert fe.round(fe.asarray([15, 25, 31]), -1).tolist() == [20, 20, 30]
    assert fe.graph(lambda x: fe.round(x, 1))(x)[0].item() == 1.2
    with pytest.raises(fe.InvalidArgumentError, match="round: decimals"):
        FE.round(x, 1.5)


def test_objects_with_an_array_interface_are_arrays() -> None:
    class Image:
        __array_interface__ = np.arange(6, dtype="uint8").reshape(2, 3).__array_interface__ | {"data": bytes(range(6))}

    assert fe.asarray(Image()).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_array_copies_and_numpy_shows() -> None:
    host = np.array([1.0, 2.0])
    x = fe.array(host, dtype="float64")
    host[0] = 9
    assert x.tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(x.numpy(), [1.0, 2.0])
    np.testing.assert_array_equal(fe.to_numpy(x), [1.0, 2.0])
    for numbers in ([1, 2], np.ones(2), 1.5, fe.asarray([1.0], dtype="bfloat16").numpy()):
        np.testing.assert_array_equal(fe.to_numpy(numbers), np.asarray(numbers))  # type: ignore[arg-type]


@each("value", [object(), None, "text", [None], {1: 2}, np.array(["text"]), np.array([1], "datetime64[s]")])
def test_what_is_no_array_of_numbers_has_no_form_of_numpy(value: Any) -> None:
    with pytest.raises(fe.DTypeError, match=r"^to_numpy: an object of type \w+ is neither numbers nor memory"):
        fe.to_numpy(value)


def test_dtype_names_are_of_any_case() -> None:
    assert fe.from_packed(np.zeros((1, 144), "uint8"), "Q4_k").dtype == fe.q4_K
    assert fe.asarray([1], dtype="BFloat16").dtype == fe.bfloat16
    others = {"flaot32": "did you mean 'float32'", "q9_K": "there are bool, ", "int128": "there are bool"}
    for name, meant in others.items():
        with pytest.raises(fe.DTypeError, match=f"'{name}' is not a dtype; {meant}"):
            fe.zeros(1, dtype=name)


def test_extremes_take_an_initial_value() -> None:
    x = np.array([[1.0, 5.0], [2.0, 3.0]], "float32")
    for name, options in (("max", {"initial": 4}), ("min", {"initial": 1.5}), ("sum", {"initial": 7}), ("prod", {})):
        for axis in (None, 0, (0, 1)):
            wanted = getattr(np, name)(x, axis=axis, **options)
            np.testing.assert_array_equal(np.asarray(getattr(FE, name)(fe.asarray(x), axis=axis, **options)), wanted)
    assert fe.max(fe.zeros((0, 2)), axis=0, initial=-1.0).tolist() == [-1.0, -1.0]


def test_new_axes_are_named_by_position() -> None:
    x = np.zeros((2, 3))
    for axis in (1, -1, (0, 2), (-1, 0), ()):
        assert FE.expand_dims(fe.asarray(x), axis).shape == np.expand_dims(x, axis).shape
    with pytest.raises(fe.InvalidArgumentError, match="expand_dims: an axis is named twice"):
        FE.expand_dims(fe.asarray(x), (0, 0))


def test_shapes_broadcast_as_numpys() -> None:
    for shapes in ((), ((3, 1), (2,)), ((), (4,)), ((5, 1, 0), (1, 2, 1)), (3, (2, 1))):
        assert FE.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)
    with pytest.raises(fe.InvalidArgumentError, match=r"the shapes \(2,\), \(3,\) do not broadcast"):
        FE.broadcast_shapes((2,), (3,))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: x.reshape((1,) * 9), "reshape"),
        (lambda x: fe.broadcast_to(x, (1,) * 9), "broadcast_to"),
        (lambda x: FE.permute_dims(np.ones((1,) * 9), tuple(range(9))), "permute_dims"),
        (lambda x: x + np.ones((1,) * 9), "add"),
        (lambda x: FE.expand_dims(x, tuple(range(9))), "expand_dims"),
    ],
)
def test_errors_name_the_greatest_number_of_dimensions(call: Any, name: str) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=rf"^{name}: an array has at most 8 dimensions, not (9|10)$"):
        call(fe.ones(()))


def test_casts_in_place_that_are_refused_say_so() -> None:
    x = fe.asarray([1, 2])
    with pytest.raises(fe.DTypeError, match=r"x \+= y: cannot cast the result, float32\(2,\), to int64"):
        x += 1.5


def test_tanh_of_an_infinite_real_part_is_the_standards() -> None:
    for imaginary in (0.0, 1.0, 2.0, 4.0, np.inf, np.nan):
        got = fe.tanh(fe.asarray(complex(np.inf, imaginary))).item()
        assert (got.real, got.imag, np.signbit(got.imag)) == (1.0, 0.0, False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FE.random.normal((3,)), r"normal: key is made by random.key .*normal\(random.key\(seed\), shape\)"),
        (lambda: FE.random.normal(), r"normal\(\) missing .*; ferrule.random.key\(seed\) makes a key"),
        (lambda: FE.rand, r"it is ferrule.random.uniform\(key, shape\) here"),
        (lambda: FE.max_pool2d, "ferrule has no pooling"),
        (lambda: fe.load("t.gguf"), "load is for modules, and ferrule.io.open_gguf reads arrays"),
    ],
)
def test_what_is_missing_has_a_hint(call: Any, message: str) -> None:
    with pytest.raises((AttributeError, TypeError, fe.Error), match=message):
        call()

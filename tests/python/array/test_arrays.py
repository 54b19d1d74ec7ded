"""Arrays against NumPy: ops, dtypes, indexing, errors."""

from __future__ import annotations

import operator
import pickle
import re
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.python.each import each

rng = np.random.default_rng(20261121)
FLOATS = ["float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
WIDE = ["float16", "float32", "float64", "int32", "int64"]


def sample(dtype: str, shape: tuple[int, ...] = (3, 4)) -> NDArray[Any]:
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return rng.normal(size=shape).astype(dtype)
    return rng.integers(1 if dtype.startswith("u") else -20, 20, shape).astype(dtype)


def same(actual: object, expected: Any, rtol: float = 1e-5) -> None:
    result = np.asarray(actual)
    expected = np.asarray(expected)
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(result, expected, rtol=rtol, atol=rtol)
    else:
        np.testing.assert_array_equal(result, expected)


@each("dtype", WIDE)
@each("name", ["add", "sub", "mul", "lt", "le", "gt", "ge", "eq", "ne"])
def test_operators_agree_with_numpy(dtype: str, name: str) -> None:
    function = getattr(operator, name)
    a, b = sample(dtype), sample(dtype)
    same(function(fe.asarray(a), fe.asarray(b)), function(a, b))
    same(function(fe.asarray(a), b), function(a, b))
    same(function(a, fe.asarray(b)), function(a, b))
    same(function(fe.asarray(a), 2), function(a, 2))
    same(function(2, fe.asarray(a)), function(2, a))


@pytest.mark.parametrize("dtype", FLOATS)
def test_division_and_powers_agree_with_numpy(dtype: str) -> None:
    a, b = np.abs(sample(dtype)) + 1, sample(dtype) + 5
    x, y = fe.asarray(a), fe.asarray(b)
    same(x / y, a / b)
    same(2 / x, 2 / a)
    same(x // y, a // b)
    same(x % y, a % b)
    same(x**2, a**2)
    same(2**x, 2**a)
    same(-x, -a)
    same(abs(y), abs(b))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integer_division_agrees_with_numpy(dtype: str) -> None:
    a, b = sample(dtype), np.where(sample(dtype) == 0, 3, sample(dtype) % 7 + 1).astype(dtype)
    same(fe.asarray(a) // fe.asarray(b), a // b)
    same(fe.asarray(a) % fe.asarray(b), a % b)
    same(fe.asarray(a) / fe.asarray(b), (a / b).astype("float32"))


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64"])
def test_bit_operators_agree_with_numpy(dtype: str) -> None:
    a, b = sample(dtype), sample(dtype)
    x, y = fe.asarray(a), fe.asarray(b)
    same(x & y, a & b)
    same(x | y, a | b)
    same(x ^ y, a ^ b)
    same(~x, ~a)


@each("dtype", FLOATS)
@each("name", ["exp", "expm1", "sqrt", "log", "log1p", "sin", "cos", "tanh", "floor", "ceil", "trunc", "square"])
def test_functions_agree_with_numpy(dtype: str, name: str) -> None:
    a = np.abs(sample(dtype)) + 0.1
    same(getattr(fe, name)(fe.asarray(a)), getattr(np, name)(a))


@each("axis", [None, 0, 1, -1, (0, 1), ()])
@each("keepdims", [False, True])
@each("name", ["sum", "prod", "max", "min", "mean", "var"])
def test_reductions_agree_with_numpy(name: str, axis: Any, keepdims: bool) -> None:
    a = sample("float32", (3, 5))
    same(
        getattr(fe, name)(fe.asarray(a), axis=axis, keepdims=keepdims),
        getattr(np, name)(a, axis=axis, keepdims=keepdims),
    )


def test_integer_reductions_are_64_bits_wide() -> None:
    a = sample("int32")
    same(fe.asarray(a).sum(axis=1), a.sum(axis=1, dtype="int64"))
    same(fe.asarray(a).max(), a.max())
    same(fe.asarray(a).argmax(), a.argmax())
    same(fe.asarray(a).argmin(axis=0), a.argmin(axis=0))
    same(fe.asarray(a > 0).all(axis=0), (a > 0).all(axis=0))
    same(fe.asarray(a).any(), a.any())


@each(
    ("left", "right"),
    [
        ((3, 4), (4, 5)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((4,), (4,)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (5, 4, 6)),
        ((2, 3, 4), (4,)),
    ],
)
def test_matmul_agrees_with_numpy(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = sample("float32", left), sample("float32", right)
    same(fe.matmul(fe.asarray(a), fe.asarray(b)), a @ b)
    same(fe.asarray(a) @ fe.asarray(b), a @ b)
    same(fe.asarray(a) @ b, a @ b)
    same(a @ fe.asarray(b), a @ b)


@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("uint8", "int8"), ("int16", "int8"), ("float32", "bool")])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_matmul_computes_in_the_dtype_that_is_given(dtypes: tuple[str, str], dtype: str) -> None:
    x1, x2 = (np.array([[100, -120, 7]]).astype(name) for name in dtypes)
    found = fe.matmul(fe.asarray(x1), fe.asarray(x2[0]), dtype=dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.asarray(found), x1.astype(dtype) @ x2[0].astype(dtype))


def test_long_products_of_bytes_take_little_memory() -> None:
    """Panels are filled up to 32 rows and columns: packed whole, these vectors would take 160 times their memory."""
    length = 100_000_000
    x = fe.ones(length, dtype="int8", device="cpu")
    assert int(fe.matmul(x, x, dtype="int32")) == length
    assert fe.memory_stats(x.device).peak < 8 * length


def test_matmul_promotes_the_dtypes_of_its_operands() -> None:
    a, b = sample("int32", (3, 4)), sample("float32", (4, 5))
    same(fe.asarray(a) @ fe.asarray(b), np.asarray(a, "float32") @ b)
    product = fe.asarray(b, dtype="float16").T @ fe.asarray(b)
    assert product.dtype == np.dtype("float32")


@each("other", [2, 2.0, True, np.float32(2), "x", [[1.0, 2.0]], None])
def test_the_matmul_operator_refuses_what_is_no_array(other: Any) -> None:
    x = fe.ones((2, 2))
    assert x.__matmul__(other) is NotImplemented
    assert x.__rmatmul__(other) is NotImplemented
    for product in (lambda: x @ other, lambda: other @ x):
        with pytest.raises(TypeError, match="unsupported operand type"):
            product()


def test_the_matmul_operator_asks_the_class_of_the_other_operand() -> None:
    class Other:
        def __matmul__(self, x: object) -> str:
            return "left"

        def __rmatmul__(self, x: object) -> str:
            return "right"

    x: Any = fe.ones((2, 2))
    assert (Other() @ x, x @ Other()) == ("left", "right")


def test_matmul_in_place_changes_the_object() -> None:
    x = y = fe.asarray([[1.0, 2.0], [3.0, 4.0]])
    x @= fe.asarray([[0.0, 1.0], [1.0, 0.0]])
    assert x is y
    assert x.tolist() == [[2.0, 1.0], [4.0, 3.0]]


def test_matmul_is_recorded_while_tracing() -> None:
    a, b, v = sample("float32", (3, 4)), sample("float32", (4, 5)), sample("float32", (4,))
    w, u = fe.asarray(b), fe.asarray(v)
    results = fe.graph(lambda x: (x @ w, x @ u, b.T @ x.T, x @ x.T))(fe.asarray(a))
    for result, expected in zip(results, (a @ b, a @ v, b.T @ a.T, a @ a.T), strict=True):
        same(result, expected)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ((3, 4), (5, 6), "matmul: inner sizes differ: (3, 4) @ (5, 6), 4 != 5"),
        ((3, 4), (5,), "matmul: inner sizes differ: (3, 4) @ (5,)"),
        ((), (3, 4), "matmul: needs at least 1 dimension: () @ (3, 4)"),
    ],
    ids=repr,
)
def test_matmul_and_its_operator_have_the_same_errors(
    left: tuple[int, ...], right: tuple[int, ...], message: str
) -> None:
    a, b = fe.ones(left), fe.ones(right)
    for product in (lambda: fe.matmul(a, b), lambda: a @ b):
        with pytest.raises(ValueError, match=re.escape(message) + "$"):
            product()


def test_arrays_and_devices_are_not_made_by_their_classes() -> None:
    with pytest.raises(TypeError, match=r"ferrule\.asarray\(values\)"):
        fe.Array([1])
    with pytest.raises(TypeError, match=r"ferrule\.device\('cpu'\) finds one"):
        fe.Device("cpu")  # type: ignore[arg-type]


def test_softmax_and_layer_norm_match_their_definitions() -> None:
    a = sample("float32", (4, 9))
    e = np.exp(a - a.max(-1, keepdims=True))
    same(fe.softmax(fe.asarray(a)), e / e.sum(-1, keepdims=True))
    normal = (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5)
    same(fe.layer_norm(fe.asarray(a)), normal, 1e-4)


KEYS: list[Any] = [
    0, -1, slice(1, 3), slice(None, None, -1), slice(5, 1, -2), slice(2, 2), ..., None, (1, 2), (slice(None), 1),
    (..., 0), (None, 1, ..., None), (slice(None, None, 2), slice(-2, None), 0), (0, slice(None), slice(1, 2)),
    np.array([2, 0, -1]), (slice(None), np.array([[0, 1], [2, 3]])), (0, np.array([1, 1])), [1, 0], np.int64(1),
]  # fmt: skip


@each("key", KEYS)
def test_indexing_agrees_with_numpy(key: Any) -> None:
    a = sample("float32", (4, 5, 6))
    same(fe.asarray(a)[key], a[key])


@each("key", KEYS)
def test_assignment_agrees_with_numpy(key: Any) -> None:
    a = sample("float32", (4, 5, 6))
    x, expected = fe.asarray(a), a.copy()
    value = sample("float32", a[key].shape)
    before, export = x, np.asarray(x)
    x[key] = value
    expected[key] = value
    same(x, expected)
    x[key] = 7
    expected[key] = 7
    same(x, expected)
    assert before is x
    same(export, a)  # the export keeps the old values


def test_mask_assignment_acts_like_where() -> None:
    a = sample("float32")
    x, expected = fe.asarray(a), a.copy()
    x[x > 0] = 0
    expected[expected > 0] = 0
    same(x, expected)


def test_an_array_of_0_dimensions_is_an_index() -> None:
    a = sample("float32", (4, 5))
    same(fe.asarray(a)[fe.asarray(np.int32(2))], a[2])
    assert [10, 11, 12][fe.asarray(1)] == 11


@each("key", [4, -5, (0, 5), (0, 0, 0), (..., ...), "x", 1.5])
def test_bad_indices_are_index_errors(key: Any) -> None:
    with pytest.raises(IndexError) as caught:
        fe.ones((4, 5))[key]
    assert isinstance(caught.value, fe.Error)


def test_iteration_length_and_containment() -> None:
    x = fe.asarray(np.arange(6).reshape(3, 2))
    assert len(x) == 3
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    assert 5 in x
    assert 6 not in x
    with pytest.raises(TypeError):
        len(fe.asarray(1))


@each(
    "change",
    [
        lambda m, x: m.reshape(x, (2, -1)),
        lambda m, x: (m.permute_dims if m is fe else np.transpose)(x, (2, 0, 1)),
        lambda m, x: m.expand_dims(x, axis=-1),
        lambda m, x: m.squeeze(m.expand_dims(x, axis=1)),
        lambda m, x: m.flip(x, axis=1),
        lambda m, x: m.flip(x),
        lambda m, x: m.broadcast_to(x, (2, 3, 4, 5)),
        lambda m, x: (m.concat if m is fe else np.concatenate)([x, x * 2], axis=1),
        lambda m, x: m.stack([x, x], axis=-1),
        lambda m, x: m.take(x, np.array([1, -1, 0]), axis=2),
        lambda m, x: m.pad(x, ((0, 1), (2, 0), (0, 0))),
        lambda m, x: m.moveaxis(x, 0, -1),
        lambda m, x: m.split(x, [1, 2], axis=1)[1],
        lambda m, x: x.mT,
        lambda m, x: x.astype("int64"),
        lambda m, x: x.astype("bool"),
    ],
)
def test_manipulation_agrees_with_numpy(change: Any) -> None:
    a = sample("float32", (3, 4, 5))
    same(change(fe, fe.asarray(a)), change(np, a))


@each("dtype", ["bool", *INTEGERS, *FLOATS])
def test_every_dtype_round_trips(dtype: str) -> None:
    a = sample(dtype)
    x = fe.asarray(a)
    assert x.dtype == np.dtype(dtype)
    assert str(x.dtype) == dtype
    same(x, a)


def test_python_numbers_do_not_promote() -> None:
    assert (fe.ones(3, dtype="float32") * 2.5).dtype == fe.float32
    assert (fe.ones(3, dtype="int32") + 1).dtype == fe.int32
    assert (fe.ones(3, dtype="int32") + 1.5).dtype == fe.float32
    assert (fe.ones(3, dtype="float64") * 0.1)[0].item() == 0.1
    assert (fe.ones(3, dtype="float32") * np.float64(2)).dtype == fe.float64
    assert (fe.ones(3, dtype="bool") + 1 if False else fe.astype(fe.ones(3), "bool") & True).dtype == fe.bool


def test_number_out_of_range_is_an_error_except_in_comparisons() -> None:
    x = fe.asarray(np.array([1, 2], dtype="uint8"))
    with pytest.raises(fe.InvalidArgumentError, match="300"):
        x + 300
    with pytest.raises(fe.InvalidArgumentError):
        x + -1
    assert (x < 300).tolist() == [True, True]


def test_defaults_are_float32_and_int64() -> None:
    assert fe.zeros((2,)).dtype == fe.float32
    assert fe.asarray([1.0, 2.0]).dtype == fe.float32
    assert fe.asarray([1, 2]).dtype == fe.int64
    assert fe.asarray([True]).dtype == fe.bool
    assert fe.full((2,), 3).dtype == fe.int64
    assert fe.arange(3).dtype == fe.int64
    assert fe.arange(0, 1, 0.25).tolist() == [0, 0.25, 0.5, 0.75]
    assert fe.linspace(0, 1, 3).tolist() == [0, 0.5, 1]
    assert fe.zeros_like(fe.ones((2, 2), dtype="int32")).dtype == fe.int32
    same(fe.eye(3, k=1), np.eye(3, k=1, dtype="float32"))


def test_scalars_convert_to_python_numbers() -> None:
    assert fe.asarray(2.5).item() == 2.5
    assert float(fe.asarray([2.5])) == 2.5
    assert int(fe.asarray(7)) == 7
    assert bool(fe.asarray(True))
    for function in (bool, int, float, lambda x: x.item()):
        with pytest.raises(ValueError, match=r"elements|ambiguous"):
            function(fe.ones(2))


@each(
    ("call", "kind", "words"),
    [
        (lambda: fe.ones((3, 4)) @ fe.ones((5, 6)), ValueError, "inner sizes"),
        (lambda: fe.ones(3) + fe.ones(4), ValueError, "broadcast"),
        (lambda: fe.reshape(fe.ones(6), (4,)), ValueError, "reshape"),
        (lambda: fe.exp(fe.arange(3)), TypeError, "float"),
        (lambda: fe.asarray(["a"]), TypeError, "dtype"),
        (lambda: fe.asarray(np.array([object()])), TypeError, "object"),
        (lambda: fe.asarray(np.zeros((1,) * 9)), ValueError, "8 dimensions"),
        (lambda: fe.asarray(np.ones(2, "datetime64[s]")), TypeError, "datetime64"),
        (lambda: fe.asarray([[1], [2, 3]]), ValueError, "asarray"),
        (lambda: fe.asarray(object()), TypeError, "object"),
        (lambda: fe.zeros((-1,)), ValueError, "negative"),
        (lambda: fe.sum(fe.ones((2, 3)), axis=2), ValueError, "axis"),
        (lambda: fe.softmax(fe.ones((2, 3)), axis=5), ValueError, "axis"),
        (lambda: fe.gelu(fe.ones(2), approximate="no"), ValueError, "approximate"),
        (lambda: fe.asarray(np.ma.array([1, 2], mask=[0, 1])), TypeError, "mask"),
        (lambda: fe.ones(2).astype("nonsense"), TypeError, "nonsense"),
        (lambda: fe.asarray(np.ones(2, "uint64")) + fe.asarray(np.ones(2, "int8")), TypeError, "dtype"),
        (lambda: fe.max(fe.zeros((0,))), ValueError, "empty"),
        (lambda: fe.concat([fe.ones((2, 3)), fe.ones((3, 2))]), ValueError, "concat"),
    ],
)
def test_errors_are_raised_at_recording_with_an_explanation(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        call()
    assert isinstance(caught.value, fe.Error)
    assert caught.value.code == "invalid_argument"


def test_operators_with_unknown_types_are_type_errors() -> None:
    with pytest.raises(TypeError):
        fe.ones(2) + "x"  # type: ignore[operator]
    for other in ("x", b"x", [1, 2], (1, 2)):
        with pytest.raises(fe.DTypeError, match="multiply: takes arrays, not"):
            fe.ones(2) * other  # type: ignore[operator]
        with pytest.raises(fe.DTypeError, match="multiply: takes arrays, not"):
            other * fe.ones(2)  # type: ignore[operator]
    assert (fe.ones(2) == "x") is False
    with pytest.raises(TypeError):
        hash(fe.ones(2))


def test_repr_shows_shape_dtype_device_and_few_values() -> None:
    text = repr(fe.asarray(np.arange(6, dtype="float32").reshape(2, 3)))
    assert "shape=(2, 3)" in text
    assert "dtype=float32" in text
    assert "cpu:0" in text
    assert "5." in text
    large = fe.zeros((1000, 1000)) + 1
    assert len(repr(large)) < 1000
    assert "..." in repr(large)
    assert repr(fe.zeros((0, 3)))
    assert repr(fe.asarray(1))


@each("shape", [(7,), (8,), (1000,), (1001,), (10, 100), (10, 101), (6, 6, 6, 6), (2000, 2)])
def test_repr_abbreviates_as_numpy_does(shape: tuple[int, ...], null_device: fe.Device) -> None:
    x = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    numbers = np.array2string(x, separator=", ", prefix="Array(")
    assert repr(fe.asarray(x)).startswith(f"Array({numbers},")
    zeros = np.array2string(x * 0, separator=", ", prefix="Array(")
    assert repr(fe.zeros(shape, device=null_device)).startswith(f"Array({zeros},")
    with np.printoptions(threshold=5, edgeitems=1):
        assert "..." in repr(fe.asarray(x))
        assert len(repr(fe.zeros(shape, device=null_device))) < 1000


def test_repr_of_an_array_on_another_device_fetches_the_edges_only(null_device: fe.Device) -> None:
    assert "..." in repr(fe.zeros((2000, 3000), device=null_device))


def test_arrays_are_pickled_and_copied_by_value() -> None:
    x = fe.asarray(sample("float32"))
    same(pickle.loads(pickle.dumps(x)), np.asarray(x))


def test_numpy_functions_take_arrays() -> None:
    x = fe.asarray(sample("float32"))
    same(np.asarray(x, dtype="float64"), np.asarray(x).astype("float64"))
    assert np.array(x).flags.writeable
    with pytest.raises(ValueError, match="copy"):
        x.__array__(np.dtype("float64"), copy=False)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0, 2)])
def test_empty_arrays_match_numpy(shape: tuple[int, ...]) -> None:
    a = np.zeros(shape, "float32")
    same(fe.asarray(a) + 1, a + 1)
    same(fe.asarray(a).sum(), a.sum())
    same(fe.concat([fe.asarray(a), fe.ones(shape)]), np.concatenate([a, a]))


def test_command_line_prints_paths(run_python: Any, package: Any) -> None:
    for option, file in (("--cmake-dir", "ferruleConfig.cmake"), ("--include-dir", "ferrule/ferrule.h")):
        code = (
            f"import runpy, sys; sys.argv = ['ferrule', {option!r}]; runpy.run_module('ferrule', run_name='__main__')"
        )
        done = run_python(code, check=False)
        assert (package.__class__(done.stdout.strip()) / file).is_file()


def test_an_array_of_one_element_is_formatted_as_its_number() -> None:
    loss = fe.asarray(np.asarray([[2.34567]], "f4"))
    assert f"{loss:.3f}" == "2.346"
    assert f"{fe.asarray(7)}|{fe.asarray(7):>3}" == "7|  7"
    assert round(loss, 2) == 2.35
    assert round(loss) == 2


def test_an_array_of_more_elements_has_no_format() -> None:
    x = fe.ones(3)
    assert f"{x}" == str(x) == repr(x)
    with pytest.raises(TypeError, match=r"format '\.3f': the array has 3 elements"):
        f"{x:.3f}"
    with pytest.raises(fe.InvalidArgumentError, match="3 elements"):
        round(x)


def test_functions_take_numpys_arrays() -> None:
    a = np.asarray([1.0, 2.0], "f4")
    made = [fe.all(a > 0), fe.any(a > 1), fe.mean(a), fe.pad(a, 1), fe.astype(a, "float64"), fe.flip(a)]
    made += [*fe.split(a, np.int64(2)), fe.argmax(a), fe.sum(a, axis=())]
    assert all(isinstance(one, fe.Array) for one in made)
    want = [True, True, 1.5, [0, 1, 2, 0], [1, 2], [2, 1], [1], [2], 1, [1, 2]]
    assert [np.asarray(one).tolist() for one in made] == want


def test_reduction_over_no_axis_keeps_eight_dimensions() -> None:
    x = fe.asarray(np.arange(6, dtype="f4").reshape(1, 2, 1, 3, 1, 1, 1, 1))
    np.testing.assert_array_equal(np.asarray(fe.sum(x, axis=())), np.asarray(x))
    np.testing.assert_array_equal(np.asarray(fe.std(x, axis=())), np.zeros(x.shape))
    assert fe.max(fe.zeros((0, 2)), axis=()).shape == (0, 2)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32"])
def test_linspace_matches_numpy(dtype: str) -> None:
    for start, stop, count in ((-2, 0, 4), (-7.5, 3.2, 9), (0, 1, 2), (3, -3, 5)):
        want = np.linspace(start, stop, count, dtype=dtype)
        np.testing.assert_array_equal(np.asarray(fe.linspace(start, stop, count, dtype=dtype)), want)


def test_a_list_of_bools_is_a_mask() -> None:
    x = fe.zeros(3)
    x[[True, False, True]] = 3
    assert np.asarray(x).tolist() == [3, 0, 3]


@pytest.mark.parametrize("count", [63, 64, 65, 130, 5000])
def test_concat_joins_any_number_of_arrays(count: int) -> None:
    """Each device call that joins arrays takes at most 64."""
    parts = [np.full((number % 3, 2), number, "float32") for number in range(count)]
    same(fe.concat([fe.asarray(part) for part in parts]), np.concatenate(parts))
    same(fe.concat([fe.asarray(part.T) for part in parts], axis=-1), np.concatenate(parts).T)

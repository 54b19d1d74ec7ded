"""complex64 and complex128: moves, casts, equality and exchange against NumPy, functions against mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ferrule as fe
import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.python.each import each

DTYPES = ["complex64", "complex128"]
PARTS = {"complex64": "float32", "complex128": "float64"}


@pytest.fixture(params=DTYPES)
def dtype(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def hard_numbers(dtype: str) -> NDArray[Any]:
    """Every pair of some parts, including zeros of both signs, infinities and NaN."""
    parts = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e-40, 3e38], PARTS[dtype])
    values = np.empty((parts.size, parts.size), dtype)
    values.real, values.imag = parts[:, None], parts
    return values


def same_bits(got: fe.Array, wanted: NDArray[Any]) -> None:
    host = np.asarray(got)
    assert host.dtype == wanted.dtype
    np.testing.assert_array_equal(
        np.ascontiguousarray(host).view(np.uint8), np.ascontiguousarray(wanted).view(np.uint8)
    )


def test_borrowed_complex_memory_round_trips_bit_for_bit(dtype: str) -> None:
    values = hard_numbers(dtype)
    values.flags.writeable = False
    x = fe.asarray(values)
    assert x.dtype == np.dtype(dtype)
    assert x.placement == "borrowed"
    assert (x.itemsize, x.nbytes) == (values.itemsize, values.nbytes)
    same_bits(x, values)


@each(
    "move",
    [
        lambda xp, x: x[2:7, ::-2],
        lambda xp, x: xp.permute_dims(x, (1, 0)),
        lambda xp, x: xp.reshape(x, (3, -1)),
        lambda xp, x: xp.broadcast_to(x[:, :1], x.shape),
        lambda xp, x: xp.concat([x, x[:2]]),
        lambda xp, x: xp.stack([x, x]),
        lambda xp, x: xp.take(x, xp.asarray([3, 0, 8]), axis=1),
        lambda xp, x: xp.flip(x),
        lambda xp, x: xp.where(x == x, x, x[::-1]),
        lambda xp, x: xp.pad(x, ((1, 0), (0, 2))),
    ],
)
def test_movement_ops_preserve_bits(move: Callable[..., Any], dtype: str) -> None:
    values = hard_numbers(dtype)
    wanted = move(np, values)
    same_bits(move(fe, fe.asarray(values)), wanted)
    same_bits(fe.graph(lambda x: move(fe, x))(fe.asarray(values)), wanted)


def test_equality_compares_both_parts(dtype: str) -> None:
    values = hard_numbers(dtype)
    x, other = fe.asarray(values), fe.asarray(values.T.copy())
    np.testing.assert_array_equal(np.asarray(x == other), values == values.T)
    np.testing.assert_array_equal(np.asarray(x != other), values != values.T)


@each("source", ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "float64", *DTYPES])
def test_astype_of_a_real_number_has_no_imaginary_part(source: str, dtype: str) -> None:
    values = np.array([0, 1, 3, 100]).astype(fe.asarray(0.0).astype(source).dtype)
    same_bits(fe.asarray(values).astype(dtype), values.astype(dtype))


def test_astype_rounds_each_part(dtype: str) -> None:
    values = hard_numbers("complex128")
    values.real *= 1.1
    with np.errstate(over="ignore"):
        wanted = values.astype(dtype)
    got = np.asarray(fe.asarray(values).astype(dtype))
    np.testing.assert_array_equal(got.real, wanted.real)
    np.testing.assert_array_equal(got.imag, wanted.imag)


def test_a_complex_number_is_true_unless_it_is_zero(dtype: str) -> None:
    values = hard_numbers(dtype)
    np.testing.assert_array_equal(np.asarray(fe.asarray(values).astype("bool")), values.astype("bool"))


@each("target", ["float32", "float64", "int32", "uint8", "float8_e5m2"])
def test_an_imaginary_part_is_never_lost(dtype: str, target: str) -> None:
    with pytest.raises(fe.DTypeError, match=f"astype: {dtype}.*imaginary.*{target}"):
        fe.zeros((2,), dtype=dtype).astype(target)


@each(
    "compute",
    [
        lambda x: x < x,
        lambda x: fe.max(x),
        lambda x: fe.floor(x),
        lambda x: x // x,
        lambda x: x % x,
        lambda x: fe.atan2(x, x),
        lambda x: fe.var(x),
        lambda x: fe.softmax(x),
    ],
)
def test_ops_on_real_numbers_refuse_complex_ones(compute: Callable[[fe.Array], fe.Array], dtype: str) -> None:
    with pytest.raises(fe.DTypeError, match=dtype) as caught:
        compute(fe.zeros((2,), dtype=dtype))
    assert "astype('float32')" not in str(caught.value)


UNARY = ("exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
INVERSE = ("acos", "asin", "atan", "acosh", "asinh", "atanh")


@pytest.mark.parametrize("name", [*UNARY, *INVERSE])
@pytest.mark.parametrize("scale", [1e-9, 1e-3, 0.5, 1.0, 1.1, 8.0])
def test_elementary_functions_match_mpmath(name: str, scale: float, dtype: str) -> None:
    """Random numbers, and numbers near the branch points 1, -1, i and -i, where naive formulas lose all digits."""
    rng = np.random.default_rng(5)
    z = (rng.uniform(-1, 1, 40) + 1j * rng.uniform(-1, 1, 40)) * scale
    z = np.concatenate([z, *(point + z * 1e-4 for point in (1, -1, 1j, -1j))]).astype(dtype)
    got = np.asarray(getattr(fe, name)(fe.asarray(z)))
    assert got.dtype == dtype
    unit = np.finfo(dtype).eps
    with mpmath.workprec(200):
        for x, y in zip(z.tolist(), got.tolist(), strict=True):
            truth = MPMATH[name](mpmath.mpc(x))
            assert abs(truth - mpmath.mpc(y)) <= 10 * unit * abs(truth), (x, y, truth)


MPMATH: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(mpmath, name) for name in ("exp", "expm1", "log", "log1p", "log10", "sqrt", *UNARY[7:], *INVERSE)},
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
}


def test_exponential_functions_overflow_only_where_the_result_does() -> None:
    big = np.array([710.0 + 3.1j, -711 + 1.5j, 720 + 1.5707963267948966j])
    huge = np.array([1.5e308 + 1.5e308j, -1.7e308 + 1e300j, 5e-324 + 5e-324j, 1e-310 - 3e-311j])
    for op, values in (("sinh", big), ("exp", big), ("sqrt", huge), ("log", huge)):
        with mpmath.workprec(200):
            wanted = np.array([complex(MPMATH[op](mpmath.mpc(z))) for z in values.tolist()])
        got = np.asarray(getattr(fe, op)(fe.asarray(values)))
        np.testing.assert_allclose(got.real, wanted.real, rtol=1e-13)
        np.testing.assert_allclose(got.imag, wanted.imag, rtol=1e-13)
    assert np.isfinite(np.asarray(fe.sign(fe.asarray(huge)))).all()


@each("shapes", [((3, 4), (4, 5)), ((4,), (4,)), ((4,), (4, 2)), ((2, 3, 4), (4,)), ((1, 1), (1, 1))])
def test_matrix_products_of_any_layout(shapes: tuple[tuple[int, ...], ...], dtype: str) -> None:
    rng = np.random.default_rng(1)
    x, y = ((rng.normal(size=s) + 1j * rng.normal(size=s)).astype(dtype) for s in shapes)
    tolerance = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(np.asarray(fe.asarray(x) @ fe.asarray(y)), x @ y, rtol=tolerance, atol=tolerance)
    if x.ndim == 2 and y.ndim == 2:
        turned = fe.asarray(np.ascontiguousarray(y.T)).T
        np.testing.assert_allclose(
            np.asarray(fe.asarray(x)[::-1] @ turned), x[::-1] @ y, rtol=tolerance, atol=tolerance
        )
        mixed = fe.asarray(x.real.copy()) @ fe.asarray(y)
        np.testing.assert_allclose(np.asarray(mixed), x.real @ y, rtol=tolerance, atol=tolerance)


def test_parts_of_real_numbers() -> None:
    x = fe.asarray([1, -2])
    assert (fe.real(x).tolist(), fe.imag(x).tolist(), fe.conj(x).tolist()) == ([1, -2], [0, 0], [1, -2])
    assert fe.real(x).dtype == fe.imag(x).dtype == fe.int64
    with pytest.raises(fe.DTypeError, match="real: x is bool"):
        fe.real(fe.asarray([True]))


def test_arithmetic_promotes_and_traces(dtype: str) -> None:
    def f(x: fe.Array, y: fe.Array) -> fe.Array:
        return fe.abs(x * y - 2j) + fe.real(x / (y + 1))

    rng = np.random.default_rng(2)
    x = (rng.normal(size=(50, 3)) + 1j * rng.normal(size=(50, 3))).astype(dtype)
    y = rng.normal(size=3).astype(PARTS[dtype])
    wanted = np.abs(x * y - dtype_of(dtype)(2j)) + (x / (y + 1)).real
    for run in (f, fe.graph(f)):
        got = np.asarray(run(fe.asarray(x), fe.asarray(y)))
        assert got.dtype == PARTS[dtype]
        np.testing.assert_allclose(got, wanted, rtol=50 * np.finfo(dtype).eps)
    assert (fe.asarray([1, 2]) * 1j).dtype == fe.complex64
    assert (fe.asarray([1.0], dtype="float64") + 1j).dtype == fe.complex128


def dtype_of(name: str) -> Any:
    return np.dtype(name).type


@each(
    ("left", "right", "result"),
    [
        ("complex64", "complex128", "complex128"),
        ("complex64", "float32", "complex64"),
        ("complex64", "float64", "complex128"),
        ("complex128", "float32", "complex128"),
        ("complex64", "float16", "complex64"),
        ("complex64", "int64", "complex64"),
        ("bool", "complex64", "complex64"),
    ],
)
def test_promotion_follows_the_standard(left: str, right: str, result: str) -> None:
    for a, b in ((left, right), (right, left)):
        joined = fe.concat([fe.zeros((1,), dtype=a), fe.zeros((1,), dtype=b)])
        assert joined.dtype == np.dtype(result)


def test_python_complex_numbers_are_operands() -> None:
    assert fe.asarray([1j, 2]).dtype == fe.complex64
    assert fe.asarray([np.complex128(1j)]).dtype == fe.complex128
    assert fe.full((2,), 1 + 2j).tolist() == [1 + 2j, 1 + 2j]
    assert fe.full((), 2, dtype="complex128").item() == 2 + 0j
    x = fe.asarray(np.array([1, 1j, 2], "complex64"))
    assert (x == 1j).tolist() == [False, True, False]
    assert (x == 1).tolist() == [True, False, False]
    assert (fe.asarray([1.0, 2.0]) == 1 + 0j).tolist() == [True, False]
    holds = fe.asarray([True, False])
    assert fe.where(holds, fe.ones(2), 2j).dtype == fe.complex64
    assert fe.where(holds, fe.ones(2, dtype="float64"), 2j).dtype == fe.complex128
    assert fe.where(holds, x[:2], 0.5).dtype == fe.complex64
    assert complex(fe.asarray(2j)) == 2j


def test_complex_number_is_refused_as_a_real_number() -> None:
    with pytest.raises(fe.DTypeError, match="1j is complex"):
        fe.full((2,), 1j, dtype="float32")
    with pytest.raises(TypeError):
        float(fe.asarray(1j))


def test_traced_functions_accept_complex_arrays_and_numbers() -> None:
    chosen = fe.graph(lambda x, other: fe.where(x == 1j, x, other))
    x = fe.asarray(np.array([1j, 3], "complex64"))
    assert chosen(x, 2j).tolist() == [1j, 2j]
    assert chosen(x, -2j).tolist() == [1j, -2j]


def test_complex_arrays_are_exchanged_by_dlpack(dtype: str) -> None:
    values = hard_numbers(dtype)
    same_bits(fe.from_dlpack(values), values)
    np.testing.assert_array_equal(np.from_dlpack(fe.asarray(values)), values)


def test_repr_and_format_match_numpy(dtype: str) -> None:
    x = fe.asarray(np.array([1 + 2j, -0.5j], dtype))
    assert repr(x).startswith("Array([ 1.+2.j , -0.-0.5j]")
    assert dtype in repr(x)
    assert f"{x[0]:.2f}" == "1.00+2.00j"


def test_saved_graph_keeps_complex_constants(tmp_path: Any, dtype: str) -> None:
    constant = np.array([1 + 2j, 3], dtype)
    graph = fe.Graph("cpu")
    graph.output(fe.concat([graph.input((2,), dtype), fe.asarray(constant)]))
    graph.save(tmp_path / "complex.npz")
    again = fe.Graph.load(tmp_path / "complex.npz", "cpu").compile()
    assert again.compute(fe.asarray(constant * 2)).tolist() == [*(constant * 2), *constant]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("traced", [False, True])
def test_complex_number_can_be_assigned(dtype: str, traced: bool) -> None:
    def assigned(x: fe.Array, i: int) -> fe.Array:
        y = +x
        y[i] = 1 / 3 + 1j / 3
        y[0] = 2
        return y

    wanted = np.asarray([2, 0, 1 / 3 + 1j / 3], dtype)
    run = fe.graph(assigned) if traced else assigned
    np.testing.assert_array_equal(np.asarray(run(fe.zeros(3, dtype=dtype), 2)), wanted)

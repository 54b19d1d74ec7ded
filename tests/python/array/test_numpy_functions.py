"""NumPy's functions on ferrule arrays: methods with NumPy's arguments, universal functions, and what is refused."""

from __future__ import annotations

import inspect
import operator
import warnings
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from ferrule.functions import array_function

from tests.python.each import each

RNG = np.random.default_rng(0)
FLOATS = RNG.standard_normal((4, 5)).astype(np.float32)
INTEGERS = RNG.integers(-9, 9, (4, 5)).astype(np.int64)
MASK = RNG.random((4, 5)) < 0.6
NP: Any = np  # type checkers do not know what NumPy's functions return for other arrays

Call = Callable[[Any], Any]
CALLS: dict[str, Call] = {
    "sum": lambda x: NP.sum(x),
    "sum axis": lambda x: NP.sum(x, axis=1, keepdims=True),
    "sum dtype": lambda x: NP.sum(x, axis=0, dtype=np.float64),
    "sum initial": lambda x: NP.sum(x, initial=3),
    "sum where": lambda x: NP.sum(x, axis=1, where=MASK),
    "sum where row": lambda x: NP.sum(x, axis=0, where=MASK[0]),
    "prod": lambda x: NP.prod(x, axis=1),
    "prod where": lambda x: NP.prod(x, axis=1, where=MASK, initial=2),
    "mean": lambda x: NP.mean(x, axis=0),
    "mean dtype": lambda x: NP.mean(x, dtype=np.float64),
    "mean where": lambda x: NP.mean(x, axis=0, where=MASK),
    "mean where all": lambda x: NP.mean(x, where=MASK),
    "max": lambda x: NP.max(x, axis=1),
    "max initial": lambda x: NP.max(x, axis=1, initial=1),
    "max where": lambda x: NP.max(x, axis=1, initial=-100, where=MASK),
    "min": lambda x: NP.min(x, keepdims=True),
    "min where": lambda x: NP.min(x, initial=100, where=MASK),
    "max of nothing": lambda x: NP.max(x[:, :0], axis=1, initial=7),
    "any": lambda x: NP.any(x > 1, axis=0),
    "all": lambda x: NP.all(x > -2),
    "any where": lambda x: NP.any(x > 1, axis=0, where=MASK),
    "all where": lambda x: NP.all(x > -1, axis=1, where=MASK),
    "argmax": lambda x: NP.argmax(x),
    "argmin": lambda x: NP.argmin(x, axis=1, keepdims=True),
    "std": lambda x: NP.std(x, axis=1),
    "std ddof": lambda x: NP.std(x, ddof=1, dtype=np.float64),
    "var": lambda x: NP.var(x, axis=0, keepdims=True),
    "var correction": lambda x: NP.var(x, axis=0, correction=2),
    "var where": lambda x: NP.var(x, axis=1, where=MASK, ddof=1),
    "std where": lambda x: NP.std(x, where=MASK),
    "var mean": lambda x: NP.var(x, axis=1, mean=NP.mean(x, axis=1, keepdims=True)),
    "clip": lambda x: NP.clip(x, -1, 1),
    "clip below": lambda x: NP.clip(x, 0, None),
    "round": lambda x: NP.round(x),
    "ravel": lambda x: x.ravel(),
    "transpose": lambda x: NP.transpose(x),
    "transpose axes": lambda x: NP.transpose(x[None], (2, 0, 1)),
    "squeeze": lambda x: NP.squeeze(x[None, :, None]),
    "squeeze axis": lambda x: NP.squeeze(x[None, :, None], axis=0),
    "swapaxes": lambda x: NP.swapaxes(x, 0, -1),
    "take": lambda x: NP.take(x, [2, 0, 2], axis=1),
    "take all": lambda x: NP.take(x, [[2, 0], [19, -1]]),
    "take none": lambda x: NP.take(x, [], axis=0),
    "add": lambda x: NP.add(x, 1),
    "multiply": lambda x: NP.multiply(INTEGERS.astype(x.dtype), x),
    "from the left": lambda x: INTEGERS.astype(x.dtype) * x,
    "with a list": lambda x: NP.maximum(x, [0, 1, 2, 3, 4]),
    "absolute": lambda x: NP.abs(x),
    "sign": lambda x: NP.sign(x),
    "equal": lambda x: NP.equal(x, x),
    "less": lambda x: x > INTEGERS,
    "negative": lambda x: NP.negative(x),
    "floor_divide": lambda x: NP.floor_divide(x, 3),
    "logical_not": lambda x: NP.logical_not(x > 0),
    "concatenate": lambda x: NP.concatenate([x, INTEGERS.astype(x.dtype)], 1),
    "concatenate dtype": lambda x: NP.stack((x, x), axis=-1),
    "vstack": lambda x: NP.vstack([x, x]),
    "where": lambda x: NP.where(x > 1, x, x - 1),
    "pad": lambda x: NP.pad(x, ((1, 2), (0, 3)), "constant", constant_values=7),
    "where of numbers": lambda x: NP.where(x, 1, 0),
    "nanargmax": lambda x: NP.nanargmax(NP.where(x > 1, np.nan, x), axis=1),
    "nanargmin": lambda x: NP.nanargmin(x),
    "einsum dtype": lambda x: NP.einsum("ij->i", x, dtype=np.float64, optimize=True),
    "pad reflect": lambda x: NP.pad(x, 2, mode="reflect"),
    "pad wrap": lambda x: NP.pad(x, 9, mode="wrap"),
    "pad symmetric": lambda x: NP.pad(x, (0, 7), mode="symmetric"),
    "pad edge": lambda x: NP.pad(x, ((0, 0), (2, 0)), mode="edge"),
    "cumsum": lambda x: NP.cumsum(x),
    "cumsum axis": lambda x: NP.cumsum(x, 1, dtype=np.float64),
    "cumprod": lambda x: NP.cumprod(x[:, :2], axis=1),
    "nancumsum": lambda x: NP.nancumsum(x, axis=0),
    "nanmax": lambda x: NP.nanmax(x, 0, keepdims=True),
    "nansum": lambda x: NP.nansum(x, axis=1, dtype=np.float64),
    "median": lambda x: NP.median(x, 1),
    "diff": lambda x: NP.diff(x, 2, 0),
    "roll": lambda x: NP.roll(x, 2, 1),
    "flip": lambda x: NP.flip(x, 0),
    "repeat": lambda x: NP.repeat(x, 2, 0),
    "tile": lambda x: NP.tile(x, (2, 1)),
    "expand_dims": lambda x: NP.expand_dims(x, 1),
    "broadcast_to": lambda x: NP.broadcast_to(x, (2, 4, 5)),
    "sort": lambda x: NP.sort(x, 0),
    "argsort": lambda x: NP.argsort(x[0] * 7 % 3, kind="stable"),
    "searchsorted": lambda x: NP.searchsorted(NP.sort(x[0]), x, side="right"),
    "take_along_axis": lambda x: NP.take_along_axis(x, MASK.astype(np.int64), 1),
    "tril": lambda x: NP.tril(x, -1),
    "outer": lambda x: NP.outer(x[0], x[1]),
    "tensordot": lambda x: NP.tensordot(x, x, axes=[[1], [1]]),
    "einsum": lambda x: NP.einsum("ij,kj->ik", x, x),
    "atleast_3d": lambda x: NP.atleast_3d(x),
    "full_like": lambda x: NP.full_like(x, 3),
    "asarray like": lambda x: NP.asarray([[1, 2]], dtype=x.dtype, like=x),
    "arange like": lambda x: NP.arange(3, dtype=x.dtype, like=x),
    "real": lambda x: NP.real(x),
    "imag": lambda x: NP.imag(x),
    "copy": lambda x: x.copy(),
    "conj": lambda x: x.conj() + x.conjugate(),
    "add.reduce": lambda x: NP.add.reduce(x),
    "maximum.reduce": lambda x: NP.maximum.reduce(x, axis=None),
    "logical_or.reduce": lambda x: NP.logical_or.reduce(x > 2, axis=1),
}
ONLY_FLOATS: dict[str, Call] = {
    "round decimals": lambda x: NP.round(x, 2),
    "round tens": lambda x: NP.round(x * 100, -1),
    "sin": lambda x: NP.sin(x),
    "arctan2": lambda x: NP.arctan2(x, 2.0),
    "divide": lambda x: NP.divide(1.0, x),
    "sqrt": lambda x: NP.sqrt(NP.square(x)),
    "power": lambda x: NP.power(x, 2),
    "rint": lambda x: NP.rint(x),
    "matmul": lambda x: NP.matmul(x, np.float32(FLOATS.T)),
    "matmul from the left": lambda x: FLOATS.T @ x,
    "add dtype": lambda x: NP.add(x, x, dtype=np.float64),
    "linalg.svd": lambda x: NP.linalg.svd(x, full_matrices=False)[1],
    "linalg.solve": lambda x: NP.linalg.solve(x[:, :4] + 50 * np.eye(4, dtype=x.dtype), x),
    "linalg.norm": lambda x: NP.linalg.norm(NP.linalg.qr(x[:, :3])[1]) * NP.ones_like(x),
    "fft.rfft": lambda x: NP.abs(NP.fft.rfft(x, 8, axis=0)),
    "fft.fftn": lambda x: NP.abs(NP.fft.fftn(x, axes=(0, 1))),
    "sum of halves": lambda x: NP.sum(NP.sin(x), axis=0, dtype=np.float16),
}


@each("name", [*CALLS, *ONLY_FLOATS])
@each("given", [FLOATS, INTEGERS])
def test_numpys_functions_give_arrays_with_numpys_values(name: str, given: Any) -> None:
    if name in ONLY_FLOATS and given is INTEGERS:
        return
    call = {**CALLS, **ONLY_FLOATS}[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted, got = call(given), call(fe.asarray(given))
    assert type(got) is fe.Array
    assert got.shape == np.shape(wanted)
    # ferrule computes means of integers in float32, and float32 with int64 too
    if name != "with a list" and (given is FLOATS or wanted.dtype.kind != "f"):
        assert got.dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-2 if "halves" in name else 2e-5, atol=1e-6)


@each("name", ["sum where", "mean where", "max where", "var where", "clip", "add", "sin", "transpose"])
def test_numpys_functions_are_traced(name: str) -> None:
    call = {**CALLS, **ONLY_FLOATS}[name]
    x = fe.asarray(FLOATS)
    np.testing.assert_allclose(np.asarray(fe.graph(call)(x)), np.asarray(call(x)), rtol=1e-6)


def test_results_have_never_dtype_object() -> None:
    x = fe.asarray(FLOATS)
    for name in sorted({name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}):
        ufunc = getattr(np, name)
        operands = [x > 0 if name.startswith("logical") else x] * ufunc.nin
        try:
            results = ufunc(*operands)
        except (TypeError, ValueError):  # not of these dtypes, as in NumPy or ferrule
            continue
        for result in results if isinstance(results, tuple) else (results,):
            assert result.dtype != np.dtype(object), name


def namesakes() -> dict[str, Any]:
    """NumPy's functions that the functions of ferrule of the same names compute."""
    functions = {
        f"{own}{name}": f for own, module in array_function._MODULES.items() for name, f in vars(module).items()
    }
    return {name: f for name, f in functions.items() if hasattr(f, "_implementation") and array_function._namesake(f)}


def test_arguments_of_namesakes_have_numpys_defaults() -> None:
    """An argument that has NumPy's default is not passed on."""
    assert {"quantile", "diff", "swapaxes", "fft.rfft", "linalg.solve"} <= namesakes().keys()
    for name, function in namesakes().items():
        namesake = array_function._namesake(function)
        assert namesake is not None
        own = inspect.signature(namesake.function).parameters
        for argument in namesake.by_name & namesake.defaults.keys():
            numpys = namesake.defaults[argument]
            if numpys not in (None, inspect.Parameter.empty) and "no value" not in repr(numpys):
                assert own[argument].default == numpys, (name, argument)


def test_functions_that_are_left_to_numpy_exist() -> None:
    for path in array_function._NUMPYS_OWN:
        assert callable(operator.attrgetter(path)(fe)), path
    assert type(NP.interp(fe.asarray([0.5]), [0.0, 1.0], [0.0, 2.0])) is np.ndarray


def test_arguments_with_numpys_defaults_make_no_difference() -> None:
    x = fe.asarray(FLOATS)
    for result in (NP.quantile(x, 0.5, 1, None, False), NP.median(x, axis=1, overwrite_input=False)):
        assert type(result) is fe.Array
        np.testing.assert_allclose(np.asarray(result), np.median(FLOATS, 1), rtol=1e-6)
    assert type(NP.quantile(x, 0.5, weights=np.ones(FLOATS.shape), method="inverted_cdf")) is not fe.Array
    assert type(NP.sort(x, kind="stable")) is type(NP.broadcast_to(x, shape=(2, 4, 5))) is fe.Array


def test_a_function_that_ferrule_lacks_is_computed_by_numpy() -> None:
    x = fe.asarray(FLOATS)
    for result, wanted in (
        (NP.cbrt(x), np.cbrt(FLOATS)),
        (NP.unwrap(x), np.unwrap(FLOATS)),
        (NP.pad(x, 1, constant_values=(1, 2)), np.pad(FLOATS, 1, constant_values=(1, 2))),
        (NP.where(x > 1)[0], np.where(FLOATS > 1)[0]),
        (NP.add.accumulate(x), np.add.accumulate(FLOATS)),
        (NP.hypot(x, x, dtype=np.float64), np.hypot(FLOATS, FLOATS, dtype=np.float64)),
    ):
        assert type(result) is np.ndarray
        np.testing.assert_array_equal(result, wanted)
    with pytest.raises(fe.TracingError, match="asarray"):
        fe.graph(lambda x: NP.cbrt(x))(x)


def test_functions_that_ferrule_lacks_never_give_dtype_object() -> None:
    x = fe.asarray(FLOATS)
    for result in (
        np.array([x, x]),
        np.array([x[0, 0], 1.0, x[1, 1]]),
        np.full((2,), x[0, 0]),
        NP.block([[x], [x]]),
        NP.unique(x),
        NP.linspace(x[0, 0], x[1, 1], 3),
        NP.vectorize(lambda value: value + 1)(x),
        NP.select([x > 1], [x], 0),
        NP.meshgrid(x[0], x[1])[0],
    ):
        assert type(result) is np.ndarray
        assert result.dtype.kind == "f"


def test_numpy_arrays_can_be_updated_at_indices() -> None:
    total = np.zeros(3, np.float32)
    np.add.at(total, fe.asarray([0, 0, 2]), fe.asarray(FLOATS[0, :3]))
    wanted = np.zeros(3, np.float32)
    np.add.at(wanted, [0, 0, 2], FLOATS[0, :3])
    np.testing.assert_array_equal(total, wanted)


def test_numpy_arrays_can_be_updated_in_place() -> None:
    total = np.zeros((4, 5), np.float32)
    total += fe.asarray(FLOATS)
    NP.multiply(total, fe.asarray(FLOATS), out=total)
    np.testing.assert_array_equal(total, FLOATS * FLOATS)


@each(
    ("call", "message"),
    [
        (lambda x: x.sum(out=np.zeros(())), "sum: out= cannot be given, because arrays never change"),
        (lambda x: x.max(axis=0, out=np.zeros(5)), "max: out= cannot be given"),
        (lambda x: NP.add(x, x, out=x), "numpy.add: out= is a ferrule array, which never changes; use the result"),
        (lambda x: NP.add(x, x, where=MASK), "numpy.add: where= leaves elements undefined; use ferrule.where"),
        (lambda x: NP.add.at(x, [0], 1), r"numpy.add.at: ferrule arrays never change; use x\[key\] = value"),
        (lambda x: NP.max(x, where=MASK), "max: where= needs initial="),
        (lambda x: x.take([1], mode="wrap"), "take: mode is"),
        (lambda x: x.ravel(order="F"), "ravel: order is"),
        (lambda x: x.swapaxes(0, 2), "swapaxes: axis 2 is out of range for 2 dimensions"),
        (lambda x: NP.sum(x, dtype="flaot32"), "dtype"),
    ],
)
def test_what_cannot_be_done_is_refused_by_a_sentence(call: Call, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call(fe.asarray(FLOATS))


def test_a_type_with_ufuncs_of_its_own_is_asked_first() -> None:
    class Other:
        def __array_ufunc__(self, *args: Any, **kwargs: Any) -> str:
            return "other"

    assert NP.add(fe.ones(2), Other()) == "other"


def test_a_type_with_array_functions_of_its_own_is_asked_first() -> None:
    class Other:
        def __array_function__(self, *args: Any, **kwargs: Any) -> str:
            return "other"

    assert NP.concatenate([fe.ones(2), Other()]) == "other"


def test_arrays_made_like_another_are_on_its_device(null_device: Any) -> None:
    x = fe.ones(3, device=null_device)
    for made in (NP.zeros((2,), like=x), NP.asarray([1, 2], like=x), NP.asarray(fe.ones(2, device="cpu"), like=x)):
        assert type(made) is fe.Array
        assert made.device == null_device


def test_numpys_functions_of_functions_are_traced() -> None:
    x = fe.asarray(FLOATS)
    for name in ("concatenate", "where", "pad reflect", "cumsum", "einsum", "roll", "copy"):
        np.testing.assert_allclose(np.asarray(fe.graph(CALLS[name])(x)), CALLS[name](FLOATS), rtol=1e-5)
    with pytest.raises(fe.TracingError, match="asarray"):
        fe.graph(lambda x: NP.unwrap(x))(x)


def test_a_donated_array_is_refused_by_a_sentence() -> None:
    x = fe.asarray(FLOATS, copy=True)
    fe.graph(donate=(0,))(lambda x: x + 1)(x)
    with pytest.raises(fe.InvalidArgumentError, match="was donated to"):
        np.asarray(NP.concatenate([x, x]))


def test_a_copy_keeps_its_value() -> None:
    x = fe.asarray(FLOATS, copy=True)
    y = x.copy()
    x[0] = 9
    np.testing.assert_array_equal(np.asarray(y), FLOATS)
    borrowed = FLOATS.copy()
    y = fe.asarray(borrowed).copy()
    borrowed[0] = 9
    np.testing.assert_array_equal(np.asarray(y), FLOATS)
    with pytest.raises(fe.InvalidArgumentError, match="copy: order is C, A or K, not 'F'"):
        x.copy("F")


def test_parts_of_bools_and_complex_numbers() -> None:
    numbers = np.array([1 + 2j, 3 - 1j])
    x = fe.asarray(numbers)
    for name in ("real", "imag"):
        np.testing.assert_array_equal(np.asarray(getattr(x, name)), getattr(numbers, name))
        np.testing.assert_array_equal(np.asarray(getattr(fe.asarray(MASK), name)), getattr(MASK, name))
    np.testing.assert_array_equal(np.asarray(x.conj()), numbers.conj())


def test_padding_with_elements_is_refused_by_a_sentence() -> None:
    for call, message in (
        (lambda: fe.pad(fe.ones(3), 1, mode="mean"), "pad: mode must be 'constant', 'edge', .*, not 'mean'"),
        (lambda: fe.pad(fe.ones(3), -1, mode="edge"), "pad: widths must not be negative with mode='edge'"),
        (lambda: fe.pad(fe.ones(0), 1, mode="wrap"), "pad: axis 0 has length 0, and so no elements for mode='wrap'"),
    ):
        with pytest.raises(fe.InvalidArgumentError, match=message):
            call()


def test_one_element_is_a_number() -> None:
    x = fe.asarray(np.float32([[1.25, -2.5]]))
    assert f"{x[0, 0]:.1f} {x[:, 1]:>6}" == "1.2   -2.5"
    assert (round(x[0, 1]), round(x[0, 0], 1), complex(x[0, 0]), int(x[0, 1]), float(x[0, 1])) == (
        -2,
        1.2,
        1.25,
        -2,
        -2.5,
    )
    assert operator.index(fe.asarray([3])[0]) == 3
    assert [10, 20, 30][fe.asarray([1, 2])[1]] == 30


def test_repr_follows_numpys_print_options() -> None:
    x = fe.asarray(np.float32([[1 / 3, 1e-9, 12345.678]]))
    for options in ({}, {"precision": 2}, {"suppress": True}, {"floatmode": "fixed"}, {"linewidth": 20}, {"sign": "+"}):
        with np.printoptions(**options):
            values = np.array2string(np.asarray(x), separator=", ", prefix="Array(")
            assert repr(x).startswith(f"Array({values},"), options
    long = fe.asarray(np.arange(40))
    assert "..." not in repr(long)
    with np.printoptions(threshold=10, edgeitems=2):
        assert repr(long).startswith("Array([ 0,  1, ..., 38, 39],")


def test_names_of_calls_and_near_misses() -> None:
    with pytest.raises(ValueError, match="stack: there are no arrays"):
        fe.stack([])
    with pytest.raises(AttributeError, match="did you mean 'softmax'"):
        fe.sofmax  # noqa: B018


def test_a_mask_of_ferrule_limits_what_numpy_writes() -> None:
    x, y = fe.asarray([1.0, 2.0]), fe.asarray([0.0, 2.0])
    assert np.divide(x, y, out=np.zeros(2), where=y != 0).tolist() == [0.0, 1.0]
    assert np.add(np.ones(2), 1, out=np.zeros(2), where=fe.asarray([True, False])).tolist() == [2.0, 0.0]
    assert np.sum(np.ones(3), where=fe.asarray([True, False, True])) == 2.0


def test_numpy_arrays_are_written_as_out() -> None:
    x = fe.asarray([[1.0, 2.0], [3.0, 4.0]])
    for function in (np.sum, np.max, np.mean, np.prod):
        out = np.zeros(2)
        assert function(x, axis=0, out=out) is out
        assert out.tolist() == function(np.asarray(x), axis=0).tolist()
    rounded = np.zeros((2, 2))
    np.round(x / 3, 1, out=rounded)
    np.testing.assert_allclose(rounded, [[0.3, 0.7], [1.0, 1.3]], rtol=1e-6)


def test_complex_numbers_are_rounded_to_decimals() -> None:
    z = np.array([1.234 + 5.678j, -0.05 + 2.349j])
    np.testing.assert_allclose(np.asarray(np.round(fe.asarray(z), 1)), np.round(z, 1), rtol=1e-12)
    np.testing.assert_array_equal(np.asarray(np.round(fe.asarray(z))), np.round(z))


def test_shapes_and_conjugates_stay_arrays_of_ferrule() -> None:
    x = fe.asarray([[1 + 2j, 2], [3, 4 - 1j]])
    host = np.asarray(x)
    for function in (
        lambda y: np.reshape(y, (4,)),
        lambda y: np.reshape(y, -1),
        lambda y: np.ravel(y),
        lambda y: np.conj(y),
        lambda y: np.vdot(y, y),
    ):
        found = function(x)
        assert isinstance(found, fe.Array)
        np.testing.assert_allclose(np.asarray(found), function(host), rtol=1e-6)
        np.testing.assert_allclose(np.asarray(fe.graph(function)(x)), function(host), rtol=1e-6)
    assert isinstance(np.append(x, x[0, 0]), fe.Array)
    assert np.ravel(x, order="F").tolist() == host.ravel(order="F").tolist()


def test_quotient_and_remainder_are_computed_together() -> None:
    for x, y in ((np.array([7, -8, 9]), 3), (np.array([7.5, -8.5]), 2.0), (10, np.array([3, 4]))):
        given = [fe.asarray(v) if isinstance(v, np.ndarray) else v for v in (x, y)]
        for one, expected in zip(divmod(*given), divmod(x, y), strict=True):
            np.testing.assert_array_equal(np.asarray(one), expected)


@each(
    "call",
    [
        lambda x: fe.linalg.matrix_power(x, 1),
        lambda x: fe.fft.fftshift(x, axes=()),
        lambda x: fe.clip(x),
        lambda x: fe.roll(x, 0),
        lambda x: fe.tile(x, (1,)),
        lambda x: fe.pad(x, 0),
        lambda x: fe.tril(x, k=9),
        lambda x: fe.positive(x),
        lambda x: x.copy(),
    ],
)
def test_an_assignment_to_a_result_does_not_change_the_argument(call: Callable[[Any], Any]) -> None:
    x = fe.ones((2, 2))
    result = call(x)
    result[0] = 7
    assert x.tolist() == [[1.0, 1.0], [1.0, 1.0]]

"""Statistics of integers and halves, rounded once, against NumPy in float64; and arguments of traced calls."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ferrule as fe
import ml_dtypes
import numpy as np
import pytest

from tests.python.each import each

FE: Any = fe
RNG = np.random.default_rng(0)
Values = np.ndarray[Any, Any]
HALVES = ["float16", "bfloat16"]
NP: Any = np  # type checkers do not know what NumPy's functions return for other arrays


def double(x: object) -> Any:
    return np.asarray(x).astype(np.float64)


def rounded(x: object, dtype: str) -> Values:
    """Round to a dtype once, by NumPy and ml_dtypes."""
    with np.errstate(over="ignore"):
        return np.asarray(x).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def eagerly_and_traced(call: Callable[..., Any], *arrays: Any) -> list[Any]:
    return [call(*arrays), fe.graph(lambda *x: call(*x))(*arrays)]


STATISTICS: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda m, x: m.mean(x, axis=1),
    "mean of all": lambda m, x: m.mean(x),
    "var": lambda m, x: m.var(x, axis=1, correction=1),
    "std": lambda m, x: m.std(x, axis=0),
    "median": lambda m, x: m.median(x, axis=1),
    "median of one": lambda m, x: m.median(x[:, 0]),
    "nanmedian": lambda m, x: m.nanmedian(x, axis=1),
    "quantile": lambda m, x: m.quantile(x, [0.2, 0.5, 0.77], axis=1),
    "nanmean": lambda m, x: m.nanmean(x, axis=1),
    "nanvar": lambda m, x: m.nanvar(x, axis=1, ddof=1),
    "nanstd": lambda m, x: m.nanstd(x),
    "average": lambda m, x: m.average(x, axis=1, weights=x),
    "average of slices": lambda m, x: m.average(x, axis=0, weights=x[:, 0]),
    "mean where": lambda m, x: x.mean(axis=1, where=np.arange(6) % 3 > 0),
    "var where": lambda m, x: x.var(axis=1, where=np.arange(6) % 3 > 0),
    "std where": lambda m, x: x.std(axis=1, where=np.arange(6) % 3 > 0, ddof=1),
}
INTEGERS = {"int32": 2**31 - 100, "uint32": 2**32 - 100, "int64": 2**44, "uint64": 2**44, "int16": 2**15 - 100}


@each("name", STATISTICS)
@each("dtype", INTEGERS)
def test_statistics_of_large_integers_are_those_of_float64(name: str, dtype: str) -> None:
    x = (INTEGERS[dtype] + RNG.integers(0, 90, (5, 6))).astype(dtype)
    wanted = STATISTICS[name](np, x.astype(np.float64)).astype(np.float32)
    for got in eagerly_and_traced(lambda x: STATISTICS[name](FE, x), fe.asarray(x)):
        assert got.dtype == np.dtype("float32")
        np.testing.assert_array_max_ulp(np.asarray(got), wanted, 1 if dtype != "int16" else 2000)


def test_the_variance_of_neighbouring_integers_is_not_zero() -> None:
    x = fe.asarray([100000001, 100000002, 100000003])
    for function in (fe.std, NP.std):
        assert function(x).item() == np.float32(np.std([1.0, 2.0, 3.0]))
    assert fe.var(x).item() == np.float32(2 / 3)
    assert fe.median(x).item() == np.float32(100000002)


@each("dtype", ["bool", "int8", "uint8", "int16", "uint16"])
def test_statistics_of_narrow_integers_need_no_float64(dtype: str) -> None:
    """Devices without float64 compute them."""
    traced = fe.graph(lambda x: (fe.mean(x), fe.var(x), fe.std(x), fe.median(x), fe.nanmedian(x), fe.average(x)))
    assert "float64" not in str(traced.trace(fe.zeros(4, dtype=dtype)))
    assert "float64" in str(traced.trace(fe.zeros(4, dtype="int32")))


@each("name", STATISTICS)
@each("dtype", HALVES)
@each("offset", [0.0, 30000.0])
def test_statistics_of_halves_are_rounded_once(name: str, dtype: str, offset: float) -> None:
    x = rounded(RNG.random((5, 6)) * 30000 + offset, dtype)
    wanted = rounded(STATISTICS[name](np, double(x)), dtype)
    for got in eagerly_and_traced(lambda x: STATISTICS[name](FE, x), fe.asarray(x)):
        assert got.dtype == np.dtype(wanted.dtype)
        assert_within_one_unit(np.asarray(got), wanted)


def assert_within_one_unit(got: Values, wanted: Values) -> None:
    """The float32 between may fall on the other side of a tie: at most one unit in the last place."""
    assert got.shape == wanted.shape
    bits = got.view(np.int16).astype(int) - wanted.view(np.int16).astype(int)
    assert np.abs(bits).max(initial=0) <= 1, (got, wanted)


@each("dtype", ["float32", "float64"])
@each("name", STATISTICS)
def test_statistics_of_floats_keep_their_dtype(name: str, dtype: str) -> None:
    x = RNG.random((5, 6)).astype(dtype)
    for got in eagerly_and_traced(lambda x: STATISTICS[name](FE, x), fe.asarray(x)):
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_allclose(np.asarray(got), STATISTICS[name](np, double(x)), rtol=1e-5)


def test_interpolation_between_large_integers_is_that_of_float64() -> None:
    places, values = np.array([2**30 + 1, 2**30 + 4, 2**30 + 8]), np.array([0, 300, 1000])
    at = 2**30 + np.arange(10)
    got = fe.interp(fe.asarray(at), fe.asarray(places), fe.asarray(values))
    assert got.dtype == np.dtype("float32")
    np.testing.assert_array_equal(np.asarray(got), np.interp(at, places, values).astype(np.float32))


@pytest.mark.parametrize("dtype", HALVES)
def test_the_density_of_many_halves_is_finite(dtype: str) -> None:
    x = rounded(np.repeat([0.25, 0.75, 0.8], 60_000), dtype)
    density, edges = fe.histogram(fe.asarray(x), 2, (0.0, 1.0), density=True)
    wanted, _ = np.histogram(double(x), 2, (0.0, 1.0), density=True)
    assert density.dtype == edges.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(density), rounded(wanted, dtype))


EINSUMS = ["i,i,i", "i,i,i->i", "ij,jk,kl->il", "ij,j->", "ij,k->ik", "ij,j->i"]
SIZES = {"i": 3, "j": 70, "k": 5, "l": 4}


@each("dtype", HALVES)
@each("subscripts", EINSUMS)
def test_einsum_of_halves_is_rounded_once(subscripts: str, dtype: str) -> None:
    terms = subscripts.partition("->")[0].split(",")
    # Products of the first two overflow float16, and the last operand makes them small again.
    scales = [2000.0] * (len(terms) - 1) + [1e-4]
    parts = [
        rounded((RNG.random([SIZES[letter] for letter in term]) + 0.5) * scale, dtype)
        for term, scale in zip(terms, scales, strict=True)
    ]
    wanted = rounded(np.einsum(subscripts, *map(double, parts)), dtype)
    for got in eagerly_and_traced(lambda *x: fe.einsum(subscripts, *x), *map(fe.asarray, parts)):
        assert got.dtype == np.dtype(wanted.dtype)
        assert_within_one_unit(np.asarray(got), wanted)


def test_einsum_of_halves_and_other_dtypes_has_their_common_dtype() -> None:
    half, single, whole = fe.full((3,), 300, dtype="float16"), fe.full((3,), 0.001), fe.full((3,), 2, dtype="int32")
    got = fe.einsum("i,i,i", half, half, single)
    assert got.dtype == np.dtype("float32")
    np.testing.assert_allclose(got.item(), 3 * 90000 * 0.001, rtol=1e-6)
    got = fe.einsum("i,i,i", half, half, whole)
    assert got.dtype == np.dtype("float16")
    assert got.item() == np.inf
    assert fe.einsum("i,i,i", whole, whole, whole).dtype == np.dtype("int32")


def test_quantiles_in_the_place_of_an_element_are_that_element() -> None:
    assert fe.quantile(fe.asarray([1.0, fe.inf]), 0).item() == 1.0
    x = fe.asarray([1.0, 2.0, fe.inf])
    assert fe.quantile(x, 0.5).item() == fe.median(x).item() == 2.0
    assert fe.quantile(fe.asarray([-fe.inf, 3.0, 4.0]), [0, 0.5, 1]).tolist() == [-np.inf, 3.0, 4.0]


INF = np.inf
BESIDE_INFINITIES: list[tuple[list[float], list[float], list[float]]] = [
    ([1, INF], [0, 0.25, 0.5, 0.75, 1], [1, INF, INF, INF, INF]),
    ([-INF, 1], [0, 0.25, 0.5, 0.75, 1], [-INF, -INF, -INF, -INF, 1]),
    ([-INF, 1, INF], [0.25, 0.5, 0.75], [-INF, 1, INF]),
    ([-INF, INF], [0, 0.25, 0.5, 0.75, 1], [-INF, np.nan, np.nan, np.nan, INF]),
    ([INF, INF, 2], [0, 0.25, 0.5, 0.75, 1], [2, INF, INF, INF, INF]),
]


@each("dtype", ["float16", "bfloat16", "float32", "float64"])
@each(("elements", "probabilities", "wanted"), BESIDE_INFINITIES)
def test_an_infinity_fills_the_way_to_the_other_element(
    elements: list[float], probabilities: list[float], wanted: list[float], dtype: str
) -> None:
    x = fe.asarray(elements, dtype=dtype)
    percentages = [100 * q for q in probabilities]
    for got in (
        *eagerly_and_traced(lambda x: fe.quantile(x, probabilities), x),
        *eagerly_and_traced(lambda x: fe.percentile(x, percentages), x),
        *eagerly_and_traced(lambda x, q: fe.quantile(x, q), x, fe.asarray(probabilities)),
    ):
        np.testing.assert_array_equal(double(got), wanted)
    if len(elements) == 2:
        places = fe.asarray(probabilities, dtype="float64")
        np.testing.assert_array_equal(double(fe.interp(places, fe.asarray([0.0, 1.0]), x)), wanted)


@pytest.mark.parametrize(("function", "whole"), [(fe.quantile, 1), (fe.percentile, 100)])
def test_traced_calls_check_the_probability(function: Callable[..., Any], whole: int) -> None:
    x = fe.asarray(RNG.standard_normal(9).astype(np.float32))
    traced = fe.graph(lambda x, q: function(x, q))
    for q in (0.1 * whole, 0.0, 0.7 * whole, float(whole)):
        np.testing.assert_array_equal(np.asarray(traced(x, q)), np.asarray(function(x, q)))
    for wrong in (-0.5, 1.001 * whole, np.nan):
        with pytest.raises(fe.OutOfRangeError, match=rf"{function.__name__}: q is from 0 to {whole}, not {wrong}"):
            traced(x, float(wrong))
    assert traced.cache_info().misses == 1


def test_a_saved_graph_checks_the_probability(tmp_path: Path) -> None:
    x = fe.asarray([1.0, 2.0, 4.0])
    fe.graph(lambda x, q: fe.quantile(x, q)).trace(x, 0.5).save(tmp_path / "graph.npz")
    graph = fe.Graph.load(tmp_path / "graph.npz")
    assert graph.compute(x, 0.75).item() == 3.0
    with pytest.raises(fe.OutOfRangeError, match=r"quantile: q is from 0 to 1, not 3\.0$"):
        graph.compute(x, 3.0)


def test_a_traced_array_of_wrong_probabilities_gives_nan() -> None:
    x, q = np.array([0.0, 1.0, 2.0], np.float32), np.array([-1.0, 0.5, np.nan, 2.0])
    traced = fe.graph(lambda x, q: fe.quantile(x, q))
    np.testing.assert_array_equal(np.asarray(traced(fe.asarray(x), fe.asarray(q))), [np.nan, 1, np.nan, np.nan])
    np.testing.assert_array_equal(
        np.asarray(traced(fe.asarray(x.astype(np.int32)), fe.asarray(q))), [np.nan, 1, np.nan, np.nan]
    )
    lower = fe.graph(lambda x, q: fe.quantile(x, q, method="lower"))
    assert lower(fe.asarray(x.astype(np.int32)), fe.asarray(q)).tolist() == [0, 1, 0, 2]
    np.testing.assert_array_equal(np.asarray(lower(fe.asarray(x), fe.asarray(q))), [np.nan, 1, np.nan, np.nan])


def test_the_histogram_of_a_traced_array_with_nan_has_no_counts() -> None:
    x = fe.asarray([1.0, fe.nan, 2.0, 3.0])
    with pytest.raises(fe.InvalidArgumentError, match="histogram: range is two finite numbers"):
        fe.histogram(x, bins=2)
    counts, edges = fe.graph(lambda x: tuple(fe.histogram(x, bins=2)))(x)
    assert counts.tolist() == [0, 0]
    assert np.isnan(np.asarray(edges)).all()
    counts, _ = fe.histogram(x, bins=2, range=(0.0, 4.0))
    assert counts.tolist() == np.histogram(np.asarray(x), bins=2, range=(0.0, 4.0))[0].tolist()


@each("dtype", ["float16", "float32", "float64", "int64", "bool"])
def test_medians_of_no_elements_are_nan(dtype: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for shape, axis in (((0,), None), ((3, 0), 1), ((0, 3), 0), ((0, 3), 1), ((2, 0, 4), (1, 2))):
            x = np.zeros(shape, dtype)
            for function in ("median", "nanmedian"):
                wanted = getattr(np, function)(double(x), axis=axis)
                got = getattr(FE, function)(fe.asarray(x), axis=axis)
                np.testing.assert_array_equal(np.asarray(got), wanted)
                assert got.dtype == np.dtype(dtype if "float" in dtype else "float32")

"""Functions beyond the array API standard, which have NumPy's names, signatures and results. NumPy is the oracle."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

FE: Any = fe
NP: Any = np
RNG = np.random.default_rng(3)
X = RNG.standard_normal((4, 6)).astype(np.float32)
CUBE = RNG.standard_normal((3, 4, 5)).astype(np.float32)
HOLES = np.where(RNG.random((4, 6)) < 0.3, np.nan, X).astype(np.float32)
HOLES[1] = np.nan
HOLES[2, :3] = [np.inf, -np.inf, np.nan]
INTEGERS = RNG.integers(-9, 9, (4, 6))
SPECIAL = np.float32([1.0, np.nan, np.inf, -np.inf, 0.0, 1.00001])
COMPLEX = np.array(
    [1 + 1j, complex(np.nan, 1), complex(1, np.inf), complex(np.inf, np.nan), 1, 1.00001 + 1j], "complex64"
)
KEYS = RNG.integers(0, 9, 50)

# Each is called with the functions of ferrule and with those of NumPy, and with a function that makes arrays.
Call = Callable[[Any, Callable[[Any], Any]], Any]
CALLS: dict[str, Call] = {
    "concatenate": lambda m, a: m.concatenate([a(X), a(X[:2])]),
    "concatenate flat": lambda m, a: m.concatenate([a(X), a(CUBE)], axis=None),
    "hstack": lambda m, a: m.hstack([a(X), a(X[:, :2])]),
    "hstack vectors": lambda m, a: m.hstack([a(X[0]), a(X[1, :2]), a(X[0, 0])]),
    "vstack": lambda m, a: m.vstack([a(X[0]), a(X)]),
    "dstack": lambda m, a: m.dstack([a(X), a(X)]),
    "dstack vectors": lambda m, a: m.dstack([a(X[0]), a(X[1])]),
    "atleast_1d": lambda m, a: m.atleast_1d(a(X[0, 0]), a(X)),
    "atleast_2d": lambda m, a: m.atleast_2d(a(X[0, 0]), a(X[0]), a(CUBE)),
    "atleast_3d": lambda m, a: m.atleast_3d(a(X[0, 0]), a(X[0]), a(X), a(CUBE)),
    "ravel": lambda m, a: m.ravel(a(CUBE)),
    "ravel nothing": lambda m, a: m.ravel(a(CUBE[:, :0])),
    "swapaxes": lambda m, a: m.swapaxes(a(CUBE), 0, -1),
    "isclose": lambda m, a: m.isclose(a(SPECIAL[:, None]), a(SPECIAL)),
    "isclose nan": lambda m, a: m.isclose(a(SPECIAL[:, None]), a(SPECIAL), rtol=1e-7, equal_nan=True),
    "isclose integers": lambda m, a: m.isclose(a(INTEGERS), a(INTEGERS + 1), atol=1),
    "allclose": lambda m, a: m.allclose(a(X), a(X + 1e-9)),
    "allclose not": lambda m, a: m.allclose(a(X), a(X + 1)),
    "array_equal": lambda m, a: m.array_equal(a(X), a(X.copy())),
    "array_equal shapes": lambda m, a: m.array_equal(a(X), a(X[:1])),
    "isclose complex": lambda m, a: m.isclose(a(COMPLEX[:, None]), a(COMPLEX)),
    "isclose complex nan": lambda m, a: m.isclose(a(COMPLEX[:, None]), a(COMPLEX), equal_nan=True),
    "isclose complex and real": lambda m, a: m.isclose(a(COMPLEX[:, None]), a(SPECIAL)),
    "allclose complex": lambda m, a: m.allclose(a(X * 1j), a(X * 1j + 1e-9j)),
    "array_equal complex nan": lambda m, a: m.array_equal(a(COMPLEX), a(COMPLEX), equal_nan=True),
    "array_equal nan": lambda m, a: m.array_equal(a(SPECIAL), a(SPECIAL), equal_nan=True),
    "nansum": lambda m, a: m.nansum(a(HOLES), axis=1),
    "nanprod": lambda m, a: m.nanprod(a(HOLES[:2])),
    "nanmean": lambda m, a: m.nanmean(a(HOLES), axis=1, keepdims=True),
    "nanmean of NumPy's axis": lambda m, a: m.nanmean(a(HOLES), axis=np.int64(1)),
    "nanmean columns": lambda m, a: m.nanmean(a(HOLES), axis=0),
    "nanmax": lambda m, a: m.nanmax(a(HOLES), axis=1),
    "nanmin": lambda m, a: m.nanmin(a(HOLES), axis=(0, 1), keepdims=True),
    "nanmax integers": lambda m, a: m.nanmax(a(INTEGERS), axis=1),
    "nanvar": lambda m, a: m.nanvar(a(HOLES[[0, 1, 3]]), axis=1),
    "nanvar ddof": lambda m, a: m.nanvar(a(HOLES[[0, 1, 3]]), axis=1, ddof=1, keepdims=True),
    "nanstd": lambda m, a: m.nanstd(a(HOLES[[0, 1, 3]])),
    "nanstd too few": lambda m, a: m.nanstd(a(HOLES[[0, 1, 3]]), axis=0, ddof=3),
    "nanmedian": lambda m, a: m.nanmedian(a(HOLES), axis=1),
    "nanmedian all": lambda m, a: m.nanmedian(a(HOLES[[0, 3]])),
    "nanmedian columns": lambda m, a: m.nanmedian(a(HOLES), axis=0, keepdims=True),
    "median": lambda m, a: m.median(a(X)),
    "median axis": lambda m, a: m.median(a(CUBE), axis=1, keepdims=True),
    "median axes": lambda m, a: m.median(a(CUBE), axis=(0, 2)),
    "median nan": lambda m, a: m.median(a(HOLES), axis=0),
    "median of nothing": lambda m, a: m.median(a(CUBE[:, :0]), axis=1),
    "nanmedian of nothing": lambda m, a: m.nanmedian(a(HOLES[:, :0]), axis=1, keepdims=True),
    "median infinite": lambda m, a: m.median(a(np.float32([np.inf, np.inf, -np.inf, np.inf]))),
    "quantile": lambda m, a: m.quantile(a(X), 0.3),
    "quantile several": lambda m, a: m.quantile(a(CUBE), [[0.0, 0.1], [0.55, 1.0]], axis=1),
    "quantile axes": lambda m, a: m.quantile(a(CUBE), [0.25, 0.75], axis=(0, -1), keepdims=True),
    "quantile nan": lambda m, a: m.quantile(a(HOLES), 0.5, axis=0),
    "quantile 0 beside infinity": lambda m, a: m.quantile(a(np.float32([np.inf, 1.0])), 0),
    "quantile infinite": lambda m, a: m.quantile(a(np.float32([np.inf, 3.0, 1.0, 2.0])), [0.1, 0.6]),
    "percentile": lambda m, a: m.percentile(a(X), [5, 50, 95], axis=0),
    "percentile integers": lambda m, a: m.percentile(a(INTEGERS), 30, axis=0),
    **{
        f"quantile {method}": lambda m, a, method=method: m.quantile(
            a(CUBE), [0, 0.1, 0.25, 1 / 3, 0.5, 0.875, 1], axis=2, method=method
        )
        for method in (
            *("lower", "higher", "midpoint", "nearest", "hazen", "weibull"),
            *("median_unbiased", "normal_unbiased", "interpolated_inverted_cdf"),
        )
    },
    "quantile lower of integers": lambda m, a: m.quantile(a(INTEGERS), 0.4, axis=0, method="lower"),
    "outer": lambda m, a: m.outer(a(X), a(X[0])),
    "dot vectors": lambda m, a: m.dot(a(X[0]), a(X[1])),
    "dot matrix": lambda m, a: m.dot(a(X), a(X.T)),
    "dot number": lambda m, a: m.dot(a(X), 3.0),
    "dot many": lambda m, a: m.dot(a(CUBE), a(CUBE.transpose(1, 2, 0))),
    "dot vector many": lambda m, a: m.dot(a(CUBE[0, 0]), a(CUBE.transpose(1, 2, 0))),
    "dot nothing": lambda m, a: m.dot(a(X[:, :0]), a(CUBE[:, :0])),
    "bincount": lambda m, a: m.bincount(a(KEYS)),
    "bincount minlength": lambda m, a: m.bincount(a(KEYS), minlength=20),
    "bincount weights": lambda m, a: m.bincount(a(KEYS), weights=a(np.linspace(0, 1, 50))),
    "bincount bytes": lambda m, a: m.bincount(a(KEYS.astype(np.uint8)), minlength=3),
    "bincount nothing": lambda m, a: m.bincount(a(KEYS[:0])),
    "histogram": lambda m, a: m.histogram(a(X)),
    "histogram range": lambda m, a: m.histogram(a(X), 7, (-1.0, 1.0)),
    "histogram edges": lambda m, a: m.histogram(a(X), a(np.float32([-1, 0, 0.5, 2]))),
    "histogram integers": lambda m, a: m.histogram(a(INTEGERS), 4),
    "histogram on edges": lambda m, a: m.histogram(a(np.float32([0, 1, 1, 2, 3, 4, 4])), 4),
    "histogram density": lambda m, a: m.histogram(a(X), 5, density=True),
    "histogram weights": lambda m, a: m.histogram(a(X), 5, weights=a(X * X)),
    "histogram one value": lambda m, a: m.histogram(a(np.float32([2, 2])), 3),
    "histogram nothing": lambda m, a: m.histogram(a(X[:0]), 3),
    "flatnonzero": lambda m, a: m.flatnonzero(a(X > 0)),
    "argwhere": lambda m, a: m.argwhere(a(CUBE > 1)),
    "average": lambda m, a: m.average(a(X), axis=0),
    "average weights": lambda m, a: m.average(a(X), weights=a(X * X)),
    "average of slices": lambda m, a: m.average(a(X), axis=-1, weights=a(np.float32([1, 2, 3, 4, 5, 6]))),
    "ptp": lambda m, a: m.ptp(a(X), axis=1),
    "interp": lambda m, a: m.interp(a(np.linspace(-2, 7, 40)), a(np.arange(6.0)), a(np.float64(X[0]))),
    "interp bounds": lambda m, a: m.interp(
        a(np.linspace(-2, 7, 40)), a(np.arange(6.0)), a(np.float64(X[0])), -9.0, 9.0
    ),
    "interp at the bounds": lambda m, a: m.interp(
        a(np.array([0.0, 2.0, 2.5])), a(np.arange(3.0)), a(np.arange(3.0) + 5), left=-1, right=-2
    ),
    "interp nan": lambda m, a: m.interp(a(np.array([[np.nan, 1.5]])), a(np.arange(3.0)), a(np.arange(3.0))),
    "interp period": lambda m, a: m.interp(
        a(np.linspace(-400, 400, 33)), a(np.array([190.0, -190, 350, -350])), a(np.array([5.0, 10, 3, 4])), period=360
    ),
    "interp of one point": lambda m, a: m.interp(a(np.array([0.0, 1.0, 2.0])), a(np.array([1.0])), a(np.array([5.0]))),
}
BY_VALUES = {
    "bincount",
    "bincount minlength",
    "bincount weights",
    "bincount bytes",
    "bincount nothing",
    "flatnonzero",
    "argwhere",
}


def parts_of(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


@each("name", CALLS)
def test_results_are_numpys(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = parts_of(CALLS[name](np, lambda x: x))
    got = parts_of(CALLS[name](fe, fe.asarray))
    for one, other in zip(got, map(np.asarray, wanted), strict=True):
        assert type(one) is fe.Array
        assert one.shape == other.shape
        if other.dtype.kind != "f":
            assert one.dtype == other.dtype
        np.testing.assert_allclose(np.asarray(one), other, rtol=2e-5, atol=1e-6)


@each("name", [name for name in CALLS if name not in BY_VALUES])
def test_traced_results_are_the_same(name: str) -> None:
    given: list[Any] = []
    plain = parts_of(CALLS[name](fe, lambda x: given.append(x) or fe.asarray(x)))  # type: ignore[func-returns-value]

    def call(*arrays: Any) -> Any:
        each = iter(arrays)
        return tuple(parts_of(CALLS[name](fe, lambda _: next(each))))

    traced = fe.graph(call)(*map(fe.asarray, given))
    for one, other in zip(traced, plain, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-6)


def test_a_length_that_depends_on_values_needs_one_in_a_graph() -> None:
    keys = fe.asarray(KEYS)
    with pytest.raises(fe.TracingError, match="bincount without length="):
        fe.graph(fe.bincount)(keys)
    np.testing.assert_array_equal(
        np.asarray(fe.graph(lambda x: fe.bincount(x, length=5))(keys)), np.bincount(KEYS, minlength=9)[:5]
    )
    with pytest.raises(fe.TracingError, match="size="):
        fe.graph(fe.flatnonzero)(keys)
    assert fe.graph(lambda x: fe.argwhere(x, size=3, fill_value=-1))(fe.asarray([0, 5])).tolist() == [[1], [-1], [-1]]


SUBSCRIPTS = {
    "ij,jk->ik": ((3, 4), (4, 5)),
    "ij,jk": ((3, 4), (4, 5)),
    "ij,kj->ki": ((3, 4), (5, 4)),
    "bij,bjk->bik": ((2, 3, 4), (2, 4, 5)),
    "bhqd,bhkd->bhqk": ((2, 3, 4, 5), (2, 3, 6, 5)),
    "bij,bjk->ik": ((2, 3, 4), (2, 4, 5)),
    "i,i": ((4,), (4,)),
    "i,j": ((4,), (3,)),
    "i,i->i": ((4,), (4,)),
    "ij->ji": ((3, 4),),
    "ij->": ((3, 4),),
    "ij->j": ((3, 4),),
    "ba": ((3, 4),),
    "ii": ((4, 4),),
    "ii->i": ((4, 4),),
    "iij->ij": ((4, 4, 3),),
    "iji->j": ((4, 3, 4),),
    "iii->i": ((3, 3, 3),),
    "...ij->...ji": ((2, 5, 3, 4),),
    "...ij,...jk->...ik": ((2, 1, 3, 4), (6, 4, 5)),
    "...i,...i": ((2, 3), (3,)),
    "i...->...": ((3, 2, 4),),
    "...,...": ((2, 3), (3,)),
    "ij,jk,kl->il": ((3, 4), (4, 5), (5, 2)),
    "ij,jk,kl,lm->im": ((10, 2), (2, 10), (10, 2), (2, 10)),
    "a,b,c->abc": ((2,), (3,), (4,)),
    "ij,ij,ij->i": ((3, 4), (3, 4), (3, 4)),
    "ij,kl->ij": ((3, 4), (2, 5)),
    "abc,cd,bd->a": ((2, 3, 4), (4, 5), (3, 5)),
    "ij,jk->ik ": ((3, 0), (0, 5)),
    " i j , j k -> i k": ((3, 4), (4, 5)),
    "ij,j->i": ((3, 1), (4,)),
    ",ij->ji": ((), (3, 4)),
    "->": ((),),
    "aB,Bc": ((2, 3), (3, 4)),
}


@each("subscripts", SUBSCRIPTS)
@each("dtype", ["float32", "int32"])
def test_einsum_is_numpys(subscripts: str, dtype: str) -> None:
    operands = [RNG.integers(-5, 5, shape).astype(dtype) for shape in SUBSCRIPTS[subscripts]]
    wanted = np.einsum(subscripts, *operands)
    arrays = [fe.asarray(x) for x in operands]
    for got in (fe.einsum(subscripts, *arrays), fe.graph(lambda *x: fe.einsum(subscripts, *x))(*arrays)):
        np.testing.assert_array_equal(np.asarray(got), wanted)
        assert got.dtype == np.dtype(dtype)


def test_einsum_promotes_before_it_sums() -> None:
    for subscripts, *operands in (
        ("ab,a->", np.full((4, 100), 200, np.uint8), np.ones(4, np.float32)),
        ("ab,a->", np.ones((4, 3), bool), np.ones(4, np.int64)),
        ("ij,jk->k", np.full((5, 2), 100, np.int8), np.ones((2, 3), np.int64)),
        ("ab,a->", np.full((4, 100), 2**30, np.int32), np.ones(4, np.int64)),
        ("a,->", np.full(3000, 0.1, np.float32), np.float64(1)),
    ):
        np.testing.assert_allclose(
            np.asarray(fe.einsum(subscripts, *map(fe.asarray, operands))), np.einsum(subscripts, *operands), rtol=1e-9
        )


@each("subscripts", ["ij,jk->ik", "ij->i", "ij,ij->ij", "ij,jk,kl->il", "ij,j->", "bij,bjk->bik", "ii->i"])
def test_einsum_of_bools_is_numpys(subscripts: str) -> None:
    operands = [RNG.random([4] * len(word)) < 0.3 for word in subscripts.partition("->")[0].split(",")]
    got = fe.einsum(subscripts, *map(fe.asarray, operands))
    assert got.dtype == np.dtype("bool")
    np.testing.assert_array_equal(np.asarray(got), np.einsum(subscripts, *operands))


def test_einsum_takes_lists_of_axes_as_numpys() -> None:
    x, y = RNG.integers(0, 9, (3, 4)), RNG.integers(0, 9, (4, 5))
    for xs, ys, result in (([0, 1], [1, 30], ()), ([0, 1], [1, 2], ([2, 0],)), ([..., 1], [1, 2], ([..., 2],))):
        wanted = np.einsum(x, xs, y, ys, *result)
        np.testing.assert_array_equal(np.asarray(fe.einsum(fe.asarray(x), xs, fe.asarray(y), ys, *result)), wanted)
    assert isinstance(NP.einsum(fe.asarray(x), [0, 1], [1, 0]), fe.Array)


def test_einsum_follows_the_path_of_opt_einsum(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def contract_path(words: str, *shapes: Any, shapes_given: bool = True, **options: Any) -> Any:
        asked.append((words, shapes))
        return [(0, 2), (0, 1)], None

    module: Any = types.ModuleType("opt_einsum")
    module.contract_path, module.get_symbol = contract_path, lambda place: "xyzw"[place]
    monkeypatch.setitem(sys.modules, "opt_einsum", module)
    parts = [RNG.standard_normal(shape) for shape in ((3, 4), (4, 5), (5, 2))]
    got = fe.einsum("ij,jk,kl->li", *map(fe.asarray, parts))
    np.testing.assert_allclose(np.asarray(got), np.einsum("ij,jk,kl->li", *parts))
    assert asked == [("xy,yz,zw->wx", ((3, 4), (4, 5), (5, 2)))]


@each(
    ("call", "message"),
    [
        (lambda x: FE.einsum(x, x), "einsum: subscripts is a text such as 'ij,jk->ik', not Array"),
        (lambda x: FE.einsum("ii", FE.ones((3, 1))), r"those of 'i' in shape \(3, 1\) have the lengths 3 and 1"),
        (lambda x: FE.einsum(x, [0, 52]), "einsum: labels of axes are from 0 to 51, not 52"),
        (lambda x: FE.einsum("ij"), "einsum: there are no operands"),
        (lambda x: FE.einsum("ij,jk", x), "einsum: 'ij,jk' is for 2 operands, and 1 are given"),
        (lambda x: FE.einsum("ijk", x), "einsum: 'ijk': 'ijk' is for 3 axes, and there are 2"),
        (lambda x: FE.einsum("i", x), "einsum: 'i': 'i' is for 1 axes, and there are 2"),
        (lambda x: FE.einsum("ij->k", x), "einsum: 'ij->k': 'k' of the result is in no operand"),
        (lambda x: FE.einsum("ij->ii", x), "einsum: 'ij->ii': a letter is twice in the result"),
        (lambda x: FE.einsum("ij,ik", x, FE.ones((3, 2))), "einsum: 'ij,ik': axis 'i' has the lengths 4 and 3"),
        (lambda x: FE.einsum("i1", x), "einsum: 'i1': 'i1' has other characters than letters"),
        (lambda x: FE.bincount(FE.asarray([1, -1])), "bincount: x has a negative integer, -1"),
        (lambda x: FE.bincount(x), "bincount: x consists of integers, not float32"),
        (lambda x: FE.bincount(FE.ones((2, 2), dtype="int64")), "bincount: x has one dimension"),
        (lambda x: FE.bincount(FE.arange(3), FE.ones(2)), r"bincount: x has the shape \(3,\), and weights have \(2,\)"),
        (lambda x: FE.bincount(FE.arange(3), length=-1), "bincount: the length is -1"),
        (lambda x: FE.histogram(x, 0), "histogram: there is no bin in 0"),
        (lambda x: FE.histogram(x, 3, (2.0, 1.0)), "histogram: range is two finite numbers in ascending order"),
        (lambda x: FE.histogram(x, [1, [2, 3]]), r"histogram: bins is a number or numbers, not \[1, \[2, 3\]\]"),
        (lambda x: FE.histogram(x, [3.0, 1.0]), "histogram: the edges are not in ascending order"),
        (lambda x: FE.quantile(x, 1.5), "quantile: q is from 0 to 1, not 1.5"),
        (lambda x: FE.percentile(x, "a"), "percentile: q is numbers from 0 to 100, not 'a'"),
        (lambda x: FE.quantile(x, 0.5, method="best"), "quantile: method must be 'linear', "),
        (lambda x: FE.nanvar(x, keepdims=np.ones((2, 3))), "nanvar: var: keepdims must be True or False"),
        (lambda x: FE.median(x, axis=2), "median: axis 2 is out of range for 2 dimensions"),
        (lambda x: FE.median(x, axis=(0, 0)), "median: an axis is named twice"),
        (lambda x: FE.quantile(x[:0], 0.5), r"quantile: \(0, 6\) has no elements along the axes"),
        (lambda x: FE.average(x, weights=FE.ones(3)), "average: weights have the shape"),
        (lambda x: FE.interp(x, FE.ones(2), FE.ones(3)), "interp: xp and fp are vectors of one length"),
        (lambda x: FE.dot(x, x), r"dot: inner sizes differ: \(4, 6\) and \(4, 6\)"),
        (lambda x: FE.hstack([]), "hstack: there are no arrays"),
        (lambda x: FE.vstack("ab"), "vstack: takes arrays, not str"),
        (lambda x: FE.swapaxes(x, 0, 2), "swapaxes: axis 2 is out of range"),
    ],
)
def test_wrong_arguments_are_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(fe.asarray(X))


@each("values", [(3, np.inf, 4), (np.inf, 3, 4), (-np.inf, 3, 4), (np.inf, np.inf, 4), (-np.inf, np.inf, 4)])
def test_interpolation_beside_infinities_is_numpys(values: tuple[float, ...]) -> None:
    xp, fp = np.array([1.0, 2.0, 3.0]), np.array(values, dtype=float)
    x = np.array([1.0, 1.2, 1.5, 1.8, 2.0, 2.2, 2.8, 3.0, 0.0, 9.0])
    got = fe.interp(fe.asarray(x), fe.asarray(xp), fe.asarray(fp))
    np.testing.assert_allclose(np.asarray(got), np.interp(x, xp, fp), rtol=1e-15)


def test_values_between_large_numbers_of_opposite_signs_are_finite() -> None:
    for dtype in ("float32", "float64", "float16"):
        large = float(np.finfo(dtype).max)
        both = fe.asarray([large, -large], dtype=dtype)
        np.testing.assert_allclose(
            np.asarray(fe.quantile(both, [0.0, 0.25, 0.5, 1.0])) / large, [-1, -0.5, 0, 1], rtol=1e-3
        )
        assert fe.median(both * fe.asarray([1, -1], dtype=dtype)).item() == large
        assert fe.nanmedian(fe.asarray([large, np.nan, large], dtype=dtype)).item() == large
        spaced = fe.linspace(-large, large, 5, dtype=dtype)
        np.testing.assert_allclose(np.asarray(spaced) / large, [-1, -0.5, 0, 0.5, 1])
    ends = fe.asarray([-1e308, 1e308], dtype="float64")
    assert fe.interp(fe.asarray([0.0], dtype="float64"), fe.asarray([-1.0, 1.0]), ends).tolist() == [0.0]
    assert fe.interp(fe.asarray([0.0], dtype="float64"), ends, fe.asarray([0.0, 1.0])).tolist() == [0.5]
    assert fe.arange(-1e308, 1e308, 5e307, dtype="float64").tolist() == [-1e308, -5e307, 0.0, 5e307]
    counts, edges = fe.histogram(ends, 4)
    assert counts.tolist() == [1, 0, 0, 1]
    assert edges.tolist() == fe.graph(lambda x: fe.histogram(x, 4))(ends).bin_edges.tolist()
    assert edges.tolist() == [-1e308, -5e307, 0.0, 5e307, 1e308]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_traced_histograms_count_as_eager_ones(dtype: str) -> None:
    rng = np.random.default_rng(11)
    for values in ([0.0, 0.6, 1.0], [1.0, 1.0], [-3.0, 0.1, 0.2, 0.3, 0.7], rng.integers(0, 30, 200) / 10):
        x = np.asarray(values, dtype)
        for bins in (1, 3, 5, 7, 10, 31):
            eager = fe.histogram(fe.asarray(x), bins)
            traced = fe.graph(lambda y, bins=bins: fe.histogram(y, bins), static_argnames="bins")(fe.asarray(x))
            assert traced.hist.tolist() == eager.hist.tolist()
            assert traced.bin_edges.tolist() == eager.bin_edges.tolist()
            if dtype == "float64":
                assert eager.hist.tolist() == np.histogram(x, bins)[0].tolist()

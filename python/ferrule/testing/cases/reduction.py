"""Reductions: sum, prod, mean, var, sums of squares, max, min, argmax, argmin, all and any."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ferrule.testing.model.bounds import gamma, reduced_axes, reduced_count, total
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import (
    BOOL,
    COMPLEX,
    FLOATS,
    FORMATS,
    INTEGERS,
    NUMERIC,
    REALS,
    UNSIGNED,
    Values,
    accumulator_roundoff,
    is_floating,
    numpy_dtype,
)
from ferrule.testing.model.exactness import EXACT, Tolerance
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import Domain, Shape, float_edges
from ferrule.testing.problems import along, reduction

REDUCTION = reduction()
NONEMPTY = reduction(over_empty=False)
ALONG = along(keepdims=True)


def sum_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    count = reduced_count(inputs[0], attributes["axis"])
    return gamma(count, dtype) * total(np.abs(inputs[0]), attributes["axis"], attributes["keepdims"])


def product_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    return np.asarray(gamma(reduced_count(inputs[0], attributes["axis"]), dtype) * np.abs(truth))


SUM = Tolerance("gamma_n times the sum of absolute values, in any order: Higham (4.4), (3.13)", bound=sum_bound)
PRODUCT = Tolerance("n roundings in a row, in any order: gamma_n, Higham lemma 3.1", bound=product_bound)


class Factors(Domain):
    """Factors near 1, closer the more there are, so that no partial product overflows or underflows."""

    def ordinary(self, rng: np.random.Generator, shape: Shape, dtype: str) -> Values:
        if not is_floating(dtype) and dtype not in COMPLEX:
            return super().ordinary(rng, shape, dtype)
        exponents = rng.uniform(-1, 1, shape) * 4 / math.sqrt(max(1, math.prod(shape)))
        if dtype in COMPLEX:
            return np.asarray(np.exp(exponents + 1j * rng.uniform(0, 2 * np.pi, shape))).astype(dtype)
        return np.asarray(np.exp(exponents) * rng.choice([-1, 1], shape)).astype(numpy_dtype(dtype))


UNORDERED = "a product of them overflows or vanishes on its way, or does not, as the order has it"
FACTORS = Factors(only=(0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan")))  # others: UNORDERED

# A product of infinities and zeros has NaN in the parts that the order of the products says.
COMPLEX_FACTORS = Factors(only=(1.0, -1.0))


def wide_integer(dtype: str) -> str:
    """The dtype of sums and products of integers."""
    return "uint64" if dtype in UNSIGNED else "int64"


def sums(x: Values, axis: Sequence[int], keepdims: bool) -> Values:
    wide = None if x.dtype.kind in "fc" else wide_integer(x.dtype.name)
    return np.asarray(np.sum(x, axis=reduced_axes(x, axis), keepdims=keepdims, dtype=wide))


def products(x: Values, axis: Sequence[int], keepdims: bool) -> Values:
    wide = None if x.dtype.kind in "fc" else wide_integer(x.dtype.name)
    return np.asarray(np.prod(x, axis=reduced_axes(x, axis), keepdims=keepdims, dtype=wide))


def greatest(x: Values, axis: Sequence[int], keepdims: bool) -> Values:
    return np.asarray(np.max(x, axis=reduced_axes(x, axis), keepdims=keepdims))


def lowest(x: Values, axis: Sequence[int], keepdims: bool) -> Values:
    return np.asarray(np.min(x, axis=reduced_axes(x, axis), keepdims=keepdims))


def all_hold(x: Values, axis: Sequence[int], keepdims: bool) -> Values:
    return np.asarray(np.all(x, axis=reduced_axes(x, axis), keepdims=keepdims))


def any_holds(x: Values, axis: Sequence[int], keepdims: bool) -> Values:
    return np.asarray(np.any(x, axis=reduced_axes(x, axis), keepdims=keepdims))


def rare(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """A few False among many True, or the reverse: evenly mixed values would give the same result everywhere."""
    seldom = rng.random(drawn.shape) < 0.1
    return seldom if rng.random() < 0.5 else ~seldom


def with_edges(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Replace 2 % of the elements by edge values, so that they do not decide every result. Large arrays are unchanged:
    each of their long rows would contain a NaN."""
    if not is_floating(drawn.dtype.name) or drawn.size > 10_000:
        return drawn
    edges = rng.choice(np.array(float_edges(drawn.dtype.name)), drawn.shape).astype(drawn.dtype)
    return np.where(rng.random(drawn.shape) < 0.02, edges, drawn)


def complex_product_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    """A product of two complex numbers has a relative error of sqrt(5) u (Brent, Percival & Zimmermann 2007)."""
    return np.asarray(gamma(3 * reduced_count(inputs[0], attributes["axis"]), dtype) * np.abs(truth))


COMPLEX_PRODUCT = Tolerance("n complex products in a row, in any order: gamma_(3 n)", bound=complex_product_bound)


def adding_complex(d: str) -> list[Case]:
    return [
        Case("sum", (d,), d, REDUCTION, sums, SUM, signed_zeros=False),
        Case("prod", (d,), d, REDUCTION, products, COMPLEX_PRODUCT, (COMPLEX_FACTORS,), signed_zeros=False),
        Case("mean", (d,), d, REDUCTION, mean, MEAN, signed_zeros=False),
    ]


def adding(d: str) -> list[Case]:
    floating = is_floating(d)
    result = d if floating else wide_integer(d)
    product, left_out = (PRODUCT, {"numbers of all sizes": UNORDERED}) if floating else (EXACT, {})
    return [
        # The sign of a zero sum depends on the order.
        Case("sum", (d,), result, REDUCTION, sums, SUM if floating else EXACT, signed_zeros=False),
        Case("prod", (d,), result, REDUCTION, products, product, (FACTORS,), left_out=left_out),
    ]


def extremes(d: str) -> list[Case]:
    return [
        Case("max", (d,), d, NONEMPTY, greatest, signed_zeros=False, fill=with_edges),
        Case("min", (d,), d, NONEMPTY, lowest, signed_zeros=False, fill=with_edges),
    ]


# Odd factors: their product is never zero modulo 2^64, as that of a few large even ones is.
ODD = Domain(integer_low=-3, integer_high=3)


def odd(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    return np.asarray(drawn | drawn.dtype.type(1))


CORRECTED = tuple(reduction().with_attributes(correction=correction) for correction in (0.0, 1.0))


def mean(x: Values, axis: Sequence[int], keepdims: bool) -> Values:
    """The mean; for no elements 0 / 0, which is NaN."""
    return np.asarray(total(x, axis, keepdims) / x.dtype.type(reduced_count(x, axis)))


def distances(x: Values, axis: Sequence[int]) -> Values:
    return np.asarray(x - mean(x, axis, True))


def var(x: Values, axis: Sequence[int], correction: float, keepdims: bool) -> Values:
    """NaN if there are no more elements than `correction`, as the standard requires; NumPy has infinity."""
    squares, count = total(distances(x, axis) ** 2, axis, keepdims), reduced_count(x, axis) - correction
    return np.asarray(squares / x.dtype.type(count if count > 0 else np.nan))


def mean_error(x: Values, axis: Sequence[int], dtype: str) -> Values:
    """gamma_(n + 1) times the mean of absolute values: Higham (4.4), and the rounding of the quotient."""
    return gamma(reduced_count(x, axis) + 1, dtype) * mean(np.abs(x), axis, True)


def squares_error(x: Values, axis: Sequence[int], dtype: str) -> Values:
    """Error of the sum S of squared distances to the mean. An error d of the mean changes S by n d^2.

    Each square has three roundings and the sum n: gamma_(n + 4) S for a two-pass algorithm. The error of one-pass
    algorithms (Welford; Chan, Golub & LeVeque 1983, table 2) is larger by sqrt(1 + n mean^2 / S), and S times this
    factor is sqrt(S sum(x^2)).
    """
    n = reduced_count(x, axis)
    squares = total(distances(x, axis) ** 2, axis, True)
    merged = np.sqrt(squares * total(x * x, axis, True))
    return np.asarray(gamma(n + 4, dtype) * merged + n * mean_error(x, axis, dtype) ** 2)


def mean_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    return mean_error(inputs[0], attributes["axis"], dtype).reshape(truth.shape)


def var_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    x, axis = inputs[0], attributes["axis"]
    error = squares_error(x, axis, dtype).reshape(truth.shape)
    count = max(0.0, reduced_count(x, axis) - attributes["correction"])
    return np.asarray(error / np.float64(count) + accumulator_roundoff(dtype) * truth)


MEAN = Tolerance("gamma_(n + 1) times the mean of absolute values: Higham (4.4), one division", bound=mean_bound)
VARIANCE = Tolerance(
    "that of the sum of squared distances (squares_error), divided; Chan, Golub & LeVeque 1983", bound=var_bound
)


def sum_of_squares(x: Values, axis: Sequence[int], keepdims: bool, divisor: float, root: bool) -> Values:
    result = total(x * x, axis, keepdims) / x.dtype.type(divisor)
    return np.asarray(np.sqrt(result) if root else result)


def squares_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    least = np.where(truth > 0, 2 * FORMATS[dtype].least, 0)
    return np.asarray(gamma(reduced_count(inputs[0], attributes["axis"]) + 5, dtype) * np.abs(truth) + least)


SQUARES = Tolerance(
    "gamma_(n + 5): n additions, the square, the quotient, the root and two roundings; and two of the least number, "
    "to which a result may be rounded twice",
    bound=squares_bound,
)
SQUARED = {
    "": reduction().with_attributes(divisor=1.0, root=False),
    "root": reduction().with_attributes(divisor=3.0, root=True),
}


def argmax(x: Values, axis: int, keepdims: bool = False) -> Values:
    return np.asarray(np.argmax(x, axis=axis, keepdims=keepdims))


def argmin(x: Values, axis: int, keepdims: bool = False) -> Values:
    return np.asarray(np.argmin(x, axis=axis, keepdims=keepdims))


def equals(rng: np.random.Generator, number: int, problem: Problem, drawn: Values) -> Values:
    """Round the values, so that extremes occur several times: the first one counts, or the first NaN if any."""
    if is_floating(drawn.dtype.name):
        drawn = np.round(drawn.astype(np.float64)).astype(drawn.dtype)
    else:
        drawn = drawn // drawn.dtype.type(np.iinfo(drawn.dtype).max // 3)
    return with_edges(rng, number, problem, drawn)


CASES = [
    *(case for d in (*BOOL, *INTEGERS, *FLOATS) for case in adding(d)),
    *(case for d in COMPLEX for case in adding_complex(d)),
    *(
        Case("prod", (d,), wide_integer(d), REDUCTION, products, domains=(ODD,), variant="odd", fill=odd)
        for d in INTEGERS
    ),
    *(case for d in REALS for case in extremes(d)),
    Case("all", BOOL, "bool", REDUCTION, all_hold, fill=rare),
    Case("any", BOOL, "bool", REDUCTION, any_holds, fill=rare),
    *(Case("mean", (d,), d, REDUCTION, mean, MEAN, signed_zeros=False) for d in FLOATS),
    *(
        Case("var", (d,), d, family, var, VARIANCE, variant=variant, signed_zeros=False)
        for d in FLOATS
        for variant, family in zip(("", "corrected"), CORRECTED, strict=True)
    ),
    *(
        Case("sum_of_squares", (d,), d, family, sum_of_squares, SQUARES, variant=variant)
        for d in FLOATS
        for variant, family in SQUARED.items()
    ),
    *(Case("argmax", (d,), "int64", ALONG, argmax, fill=equals) for d in NUMERIC),
    *(Case("argmin", (d,), "int64", ALONG, argmin, fill=equals) for d in NUMERIC),
]

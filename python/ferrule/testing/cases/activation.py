"""Activation functions. gelu is exact, or the tanh approximation of Hendrycks & Gimpel (2016)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule.testing.cases.error_function import erfc
from ferrule.testing.model.bounds import FUNCTION
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import FLOATS, FORMATS, NUMERIC, Values
from ferrule.testing.model.exactness import Tolerance
from ferrule.testing.model.values import Domain
from ferrule.testing.problems import elementwise
from ferrule.testing.problems.elementary import ELEMENTARY, tolerance_of, unary

UNARY = elementwise(1)


def sigmoid(x: Values) -> Values:
    return np.asarray(1 / (1 + np.exp(-x)))


def gated(x: Values, share: Values) -> Values:
    """x times a share of it, which vanishes where x is minus infinity."""
    return np.asarray(np.where(x == -np.inf, -x.dtype.type(0), x * share))


def silu(x: Values) -> Values:
    return gated(x, sigmoid(x))


def relu(x: Values) -> Values:
    return np.asarray(np.maximum(x, x.dtype.type(0)))


def exponent(x: Values) -> Values:
    """2 u of the tanh approximation x / (1 + e^(-2 u))."""
    return np.asarray(2 * x.dtype.type("0.79788456080286535588") * (x + x.dtype.type("0.044715") * x**3))


def exact_square(x: Values) -> tuple[Values, Values]:
    """Two numbers whose sum is the square (T. J. Dekker, "A floating-point technique", 1971)."""
    square = x * x
    scaled = x * (2 ** (np.finfo(x.dtype).nmant // 2 + 1) + 1)
    high = scaled - (scaled - x)
    low = x - high
    return square, ((high * high - square) + 2 * high * low) + low * low


def gelu(x: Values, approximate: str) -> Values:
    """x times the normal distribution function, as erfc(-x / sqrt 2) / 2, which is accurate in the lower tail, too."""
    if approximate == "tanh":
        return gated(x, sigmoid(exponent(x)))
    root = np.sqrt(x.dtype.type(0.5))
    argument = -x * root
    # erfc multiplies the relative error of its argument by 2 argument^2, which is 150 at the end of its range: the
    # derivative adds what the rounded argument lacks. Where long double is as wide as double, this decides.
    tail = np.where((x < -1) & (x > -40), x, -x.dtype.type(2))
    square, below = exact_square(tail)
    rounded, below_rounded = exact_square(-tail * root)
    lacks = ((square / 2 - rounded) + (below / 2 - below_rounded)) / (-2 * tail * root)
    change = lacks * 2 / np.sqrt(x.dtype.type(np.pi)) * np.exp(-rounded)
    return gated(x, (erfc(argument) - np.where(tail == x, change, 0)) / 2)


def tanh_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    form, u = FORMATS[dtype], exponent(inputs[0])
    relative = (6 * np.abs(u) * sigmoid(-u) + FUNCTION + 4) * form.unit_roundoff
    return np.where(truth == 0, 0, np.abs(truth) * relative + 4 * form.least)


EXACT_FORM = Tolerance(
    "ten roundings meet in its negative half, where x - x erfc(x / sqrt 2) / 2 cancels: the CPU module's is 4.9 ULP "
    "with FMA and 5.5 without, measured (csrc/backends/cpu/kernels/activation.cpp)",
    ulp=6,
)
WIDE_TANH = Tolerance(
    "2 u comes of six roundings in float64 itself, which e^(-2 u) turns into a relative error of 6 |2 u| of them; its "
    "own 4 ULP, a sum, a quotient. float32 may use float64 inside, this has nothing wider",
    bound=tanh_bound,
)


def cases(approximate: str, single: Tolerance, double: Tolerance) -> list[Case]:
    family, domain = UNARY.with_attributes(approximate=approximate), Domain(-12, 12)
    return [
        Case(
            "gelu",
            (d,),
            d,
            family,
            gelu,
            tolerance_of(d, double if d == "float64" else single),
            (domain,),
            variant=approximate,
        )
        for d in FLOATS
    ]


CASES = [
    *unary("sigmoid", sigmoid, Domain(-90, 90, edges=(-88.0, -104.0, -709.0, -715.0, -745.0))),
    *unary("silu", silu, Domain(-90, 90, edges=(-88.0, -104.0, -709.0, -715.0, -750.0))),
    *(Case("relu", (d,), d, UNARY, relu, signed_zeros=False) for d in NUMERIC),
    *cases("none", EXACT_FORM, EXACT_FORM),
    *cases("tanh", ELEMENTARY, WIDE_TANH),
]

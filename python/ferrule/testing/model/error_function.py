"""erf and erfc in long double precision; NumPy has neither.

NIST Digital Library of Mathematical Functions, 7.6.2 (a series with positive terms only: no cancellation) and 7.9.1 (a
continued fraction). Both have a relative error below 2^-58; tests/python/kit compares them with mpmath.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ferrule.testing.model.dtypes import Values


def _series(x: Values) -> Values:
    """erf(x) for 0 <= x < 7."""
    square = 2 * x * x
    term = 2 * x * np.exp(-x * x) / ROOT_OF_PI
    total, n = term, 0
    while (term > total * 2.0**-68).any():
        n += 1
        term = term * square / (2 * n + 1)
        total = total + term
    return np.asarray(total)


def _fraction(x: Values) -> Values:
    """erfc(x) for x >= 1."""
    tail = np.zeros_like(x)
    for n in range(400 if (x < 2).any() else 100, 0, -1):
        tail = (n / np.longdouble(2)) / (x + tail)
    return np.asarray(np.exp(-x * x) / (x + tail) / ROOT_OF_PI)


def _piecewise(x: Values, *pieces: tuple[Values, Callable[[Values], Values]]) -> Values:
    """Apply each function where its condition holds; the result is NaN where none does."""
    out = np.full(x.shape, np.nan, x.dtype)
    for holds, function in pieces:
        if holds.any():
            out[holds] = function(x[holds])
    return out


ROOT_OF_PI = np.sqrt(np.longdouble("3.14159265358979323846264338328"))


def erf(x: Values) -> Values:
    a = np.abs(x)
    return np.copysign(_piecewise(a, (a < 7, _series), (a >= 7, np.ones_like)), x)


def erfc(x: Values) -> Values:
    low, middle = x < 1, (x >= 1) & (x < 2)
    return _piecewise(x, (low, lambda v: 1 - erf(v)), (middle, _fraction), (x >= 2, _fraction))

"""The dtypes in NumPy, and the wider ones in which oracles compute."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ferrule import _ferrule

TABLE = dict(sorted(_ferrule.DTYPES.items(), key=lambda item: item[1].block_bytes))


def _of_class(*classes: str) -> tuple[str, ...]:
    return tuple(name for name, row in TABLE.items() if row.dtype_class in classes)


BOOL, SIGNED, UNSIGNED, COMPLEX = map(_of_class, ("bool", "signed", "unsigned", "complex"))
INTEGERS = SIGNED + UNSIGNED
FLOATS = tuple(name for name in _of_class("float") if TABLE[name].computed)
NUMERIC = INTEGERS + FLOATS
REALS = BOOL + NUMERIC
# These dtypes are only moved, cast and compared for equality.
FLOAT8S = tuple(name for name in _of_class("float") if not TABLE[name].computed)
# The dtype of the real and the imaginary part.
PARTS = {name: f"float{4 * TABLE[name].block_bytes}" for name in COMPLEX}
ALL = REALS + FLOAT8S + COMPLEX
# Elements and bytes of a block (https://github.com/ggml-org/ggml). In NumPy a block is one value: a structure whose
# only field has the name of the dtype and holds the bytes.
BLOCKS = {name: (TABLE[name].block_elements, TABLE[name].block_bytes) for name in _of_class("block")}

Values = NDArray[Any]


@cache
def numpy_dtype(name: str) -> np.dtype[Any]:
    """The dtype of that name in NumPy or ml_dtypes; for a block dtype, a structure with the size of a block."""
    if name in BLOCKS:
        return np.dtype([(name, np.void, BLOCKS[name][1])])
    if TABLE[name].package == "ml_dtypes":
        import ml_dtypes

        brought: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return brought
    return np.dtype(name)


@cache
def name_of(dtype: np.dtype[Any]) -> str:
    """The name of a NumPy dtype, including block dtypes."""
    return dtype.name if dtype.names is None else dtype.names[0]


def is_floating(name: str) -> bool:
    return name in FORMATS


def parts_of(values: Values) -> Values:
    """The real and imaginary parts of complex numbers, along a new last axis."""
    return np.stack([values.real, values.imag], axis=-1)


class Format:
    """A binary floating-point format (IEEE 754-2019, 3.3).

    `digits` is the precision of the significand. `low` and `high` are the exponents of the least normal number and of
    the first power of two that overflows. In a format without infinities the greatest bit pattern is NaN, and numbers
    that round above the pattern below it become NaN.
    """

    def __init__(self, digits: int, low: int, high: int, infinite: bool = True) -> None:
        self.digits, self.low, self.high, self.infinite = digits, low, high, infinite

    @property
    def unit_roundoff(self) -> float:
        return 2.0**-self.digits

    @property
    def greatest(self) -> float:
        return (2.0 - 2.0 ** (1 - self.digits) * (1 if self.infinite else 2)) * 2.0 ** (self.high - 1)

    @property
    def least_normal(self) -> float:
        return 2.0**self.low

    @property
    def least(self) -> float:
        return 2.0 ** (self.low - self.digits + 1)


def _format_of(row: _ferrule.DType) -> Format:
    bias = 2 ** (row.exponent_bits - 1) - 1
    return Format(row.mantissa_bits + 1, 1 - bias, bias + (1 if row.has_infinity else 2), row.has_infinity)


FORMATS = {name: _format_of(TABLE[name]) for name in FLOATS + FLOAT8S}
# The dtype in which a device accumulates sums.
ACCUMULATORS = {**{name: TABLE[name].computed for name in FLOATS}, **PARTS}


def accumulator_roundoff(dtype: str) -> float:
    return FORMATS[ACCUMULATORS[dtype]].unit_roundoff


def wide_of(dtype: str) -> np.dtype[Any]:
    """The dtype in which oracles compute: float64 for narrower dtypes, C's long double for float64.

    Where long double is no wider than float64 (Windows, macOS on Arm), the oracle's error is as large as a device's.
    """
    return np.dtype(np.longdouble if dtype == "float64" else np.float64)


def narrow(values: Values) -> Values:
    """Convert to what LAPACK computes in: float64 or complex128."""
    narrowed: Values = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
    return narrowed


def widen(values: Values) -> Values:
    """Widen floating-point and complex values for the oracle; other values are returned unchanged."""
    name = name_of(values.dtype)
    if name in PARTS:
        return values.astype(np.clongdouble if name == "complex128" else np.complex128)
    return values.astype(wide_of(name)) if is_floating(name) else values

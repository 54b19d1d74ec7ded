"""The ops, one function each.

Generated from csrc/ops by ferrule-generate-ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ferrule.array.array import Array

Operand = Any

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "any",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "floor_divide",
    "fmod",
    "frexp",
    "gelu",
    "greater",
    "greater_equal",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "layer_norm",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "log_softmax",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "prod",
    "reciprocal",
    "relu",
    "remainder",
    "rms_norm",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "signbit",
    "silu",
    "sin",
    "sinh",
    "softmax",
    "sqrt",
    "square",
    "subtract",
    "sum",
    "tan",
    "tanh",
    "topk",
    "trunc",
    "where",
]

def abs(x: Operand, /) -> Array:
    """Absolute value of x: the magnitude of a complex number, which is real."""

def acos(x: Operand, /) -> Array:
    """Arc cosine of x, from 0 to pi; NaN outside of [-1, 1]."""

def acosh(x: Operand, /) -> Array:
    """Inverse hyperbolic cosine of x; NaN below 1."""

def add(x1: Operand, x2: Operand, /) -> Array:
    """x1 + x2."""

def all(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Whether all elements hold."""

def any(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Whether any element holds."""

def argmax(x: Operand, /, *, axis: int = -1, keepdims: bool = False) -> Array:
    """Index of the greatest element along an axis, the first of equals; NaN counts as greatest."""

def argmin(x: Operand, /, *, axis: int = -1, keepdims: bool = False) -> Array:
    """Index of the least element along an axis, the first of equals; NaN counts as least."""

def asin(x: Operand, /) -> Array:
    """Arc sine of x, from -pi/2 to pi/2; NaN outside of [-1, 1]."""

def asinh(x: Operand, /) -> Array:
    """Inverse hyperbolic sine of x."""

def atan(x: Operand, /) -> Array:
    """Arc tangent of x, from -pi/2 to pi/2."""

def atan2(x1: Operand, x2: Operand, /) -> Array:
    """The angle of the point (x2, x1), from -pi to pi: arc tangent of x1 / x2 in its quadrant."""

def atanh(x: Operand, /) -> Array:
    """Inverse hyperbolic tangent of x; NaN outside of [-1, 1]."""

def bitwise_and(x1: Operand, x2: Operand, /) -> Array:
    """x1 & x2."""

def bitwise_invert(x: Operand, /) -> Array:
    """~x; logical not for bool."""

def bitwise_left_shift(x1: Operand, x2: Operand, /) -> Array:
    """x1 << x2: shifted by as many bits, zeros follow; a negative count, as one of at least the width, gives 0."""

def bitwise_or(x1: Operand, x2: Operand, /) -> Array:
    """x1 | x2."""

def bitwise_right_shift(x1: Operand, x2: Operand, /) -> Array:
    """x1 >> x2: shifted by as many bits, the sign is repeated; a negative count, as one of at least the width, gives 0, or -1 of a negative number."""

def bitwise_xor(x1: Operand, x2: Operand, /) -> Array:
    """x1 ^ x2."""

def ceil(x: Operand, /) -> Array:
    """The least integer not below x."""

def clip(x: Operand, minimum: Operand, maximum: Operand, /) -> Array:
    """x limited to [minimum, maximum]."""

def copysign(x1: Operand, x2: Operand, /) -> Array:
    """The magnitude of x1 with the sign of x2."""

def cos(x: Operand, /) -> Array:
    """Cosine of x, in radians."""

def cosh(x: Operand, /) -> Array:
    """Hyperbolic cosine of x."""

def divide(x1: Operand, x2: Operand, /) -> Array:
    """x1 / x2, floating-point."""

def equal(x1: Operand, x2: Operand, /) -> Array:
    """x1 == x2."""

def erf(x: Operand, /) -> Array:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""

def erfc(x: Operand, /) -> Array:
    """1 - erf(x), exact where erf(x) is near 1."""

def exp(x: Operand, /) -> Array:
    """e to the power x."""

def exp2(x: Operand, /) -> Array:
    """2 to the power x."""

def expm1(x: Operand, /) -> Array:
    """exp(x) - 1, exact near zero."""

def floor(x: Operand, /) -> Array:
    """The greatest integer not above x."""

def floor_divide(x1: Operand, x2: Operand, /) -> Array:
    """floor(x1 / x2); an integer divided by zero gives 0."""

def fmod(x1: Operand, x2: Operand, /) -> Array:
    """The rest of x1 / x2 with the sign of x1, exactly; NaN where x2 is 0."""

class FrexpResult(NamedTuple):
    """What frexp gives."""

    mantissa: Array
    exponent: Array

def frexp(x: Operand, /) -> FrexpResult:
    """The mantissa m, from 0.5 up to 1 in magnitude, and the exponent e of x = m * 2^e. Zeros, infinities and NaN are their own mantissas, with the exponent 0."""

def gelu(x: Operand, /, *, approximate: str = "none") -> Array:
    """x times the normal distribution function of x (Hendrycks & Gimpel 2016); approximate is 'none' (erf) or 'tanh'."""

def greater(x1: Operand, x2: Operand, /) -> Array:
    """x1 > x2."""

def greater_equal(x1: Operand, x2: Operand, /) -> Array:
    """x1 >= x2."""

def hypot(x1: Operand, x2: Operand, /) -> Array:
    """sqrt(x1^2 + x2^2), without overflow in between."""

def isfinite(x: Operand, /) -> Array:
    """Whether x is neither NaN nor an infinity."""

def isinf(x: Operand, /) -> Array:
    """Whether x is an infinity."""

def isnan(x: Operand, /) -> Array:
    """Whether x is NaN."""

def layer_norm(
    x: Operand, /, weight: Operand | None = None, bias: Operand | None = None, *, epsilon: float = 1e-05
) -> Array:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis (Ba, Kiros & Hinton 2016)."""

def less(x1: Operand, x2: Operand, /) -> Array:
    """x1 < x2."""

def less_equal(x1: Operand, x2: Operand, /) -> Array:
    """x1 <= x2."""

def log(x: Operand, /) -> Array:
    """Natural logarithm of x."""

def log10(x: Operand, /) -> Array:
    """Logarithm of x to base 10."""

def log1p(x: Operand, /) -> Array:
    """log(1 + x), exact near zero."""

def log2(x: Operand, /) -> Array:
    """Logarithm of x to base 2."""

def log_softmax(x: Operand, /, *, axis: int = -1) -> Array:
    """log(softmax(x)) along an axis."""

def logaddexp(x1: Operand, x2: Operand, /) -> Array:
    """log(exp(x1) + exp(x2)), without overflow."""

def logical_and(x1: Operand, x2: Operand, /) -> Array:
    """x1 and x2."""

def logical_not(x: Operand, /) -> Array:
    """not x."""

def logical_or(x1: Operand, x2: Operand, /) -> Array:
    """x1 or x2."""

def logical_xor(x1: Operand, x2: Operand, /) -> Array:
    """Whether exactly one of x1 and x2 holds."""

def matmul(x1: Operand, x2: Operand, /) -> Array:
    """Matrix product over the last two axes; the leading axes broadcast."""

def max(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Greatest element over axes; NaN if any is NaN."""

def maximum(x1: Operand, x2: Operand, /) -> Array:
    """The greater of x1 and x2; NaN if either is NaN."""

def mean(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Arithmetic mean over axes."""

def min(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Least element over axes; NaN if any is NaN."""

def minimum(x1: Operand, x2: Operand, /) -> Array:
    """The lesser of x1 and x2; NaN if either is NaN."""

def multiply(x1: Operand, x2: Operand, /) -> Array:
    """x1 * x2."""

def negative(x: Operand, /) -> Array:
    """-x."""

def nextafter(x1: Operand, x2: Operand, /) -> Array:
    """The number next to x1 towards x2; x2 where they are equal."""

def not_equal(x1: Operand, x2: Operand, /) -> Array:
    """x1 != x2."""

def positive(x: Operand, /) -> Array:
    """x."""

def pow(x1: Operand, x2: Operand, /) -> Array:
    """x1 to the power x2; integers wrap, and a negative power of integers is an error."""

def prod(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Product over axes; integers in 64 bits."""

def reciprocal(x: Operand, /) -> Array:
    """1 / x."""

def relu(x: Operand, /) -> Array:
    """max(x, 0), elementwise."""

def remainder(x1: Operand, x2: Operand, /) -> Array:
    """x1 - floor_divide(x1, x2) * x2, with the sign of x2; integers modulo zero give 0."""

def rms_norm(x: Operand, /, weight: Operand | None = None, *, epsilon: float = 1e-05) -> Array:
    """x / sqrt(mean(x ** 2) + epsilon) * weight over the last axis (Zhang & Sennrich 2019)."""

def round(x: Operand, /) -> Array:
    """The integer nearest to x, ties to even."""

def rsqrt(x: Operand, /) -> Array:
    """1 / sqrt(x)."""

def sigmoid(x: Operand, /) -> Array:
    """1 / (1 + exp(-x))."""

def sign(x: Operand, /) -> Array:
    """-1, 0 or 1 by the sign of x; x / abs(x) of a complex number, 0 of zero; NaN stays NaN."""

def signbit(x: Operand, /) -> Array:
    """Whether the sign of x is negative, also of -0 and NaN."""

def silu(x: Operand, /) -> Array:
    """x * sigmoid(x), elementwise."""

def sin(x: Operand, /) -> Array:
    """Sine of x, in radians."""

def sinh(x: Operand, /) -> Array:
    """Hyperbolic sine of x."""

def softmax(x: Operand, /, *, axis: int = -1) -> Array:
    """exp(x) / sum(exp(x)) along an axis."""

def sqrt(x: Operand, /) -> Array:
    """Square root of x, correctly rounded."""

def square(x: Operand, /) -> Array:
    """x * x."""

def subtract(x1: Operand, x2: Operand, /) -> Array:
    """x1 - x2."""

def sum(x: Operand, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """Sum over axes; integers in 64 bits."""

def tan(x: Operand, /) -> Array:
    """Tangent of x, in radians."""

def tanh(x: Operand, /) -> Array:
    """Hyperbolic tangent of x."""

class TopkResult(NamedTuple):
    """What topk gives."""

    values: Array
    indices: Array

def topk(x: Operand, /, k: int, *, axis: int = -1, largest: bool = True) -> TopkResult:
    """The k greatest elements of x along an axis, or the k least, sorted, and their indices. Of equals the first comes first; NaN counts as greatest."""

def trunc(x: Operand, /) -> Array:
    """The integer nearest to x towards zero."""

def where(condition: Operand, x1: Operand, x2: Operand, /) -> Array:
    """x1 where the condition holds, else x2."""

"""The ops, one function each.

Generated from csrc/ops by ferrule-generate-ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ferrule.array import Array

Operand = Any

__all__ = [
    "abs",
    "add",
    "all",
    "any",
    "argmax",
    "argmin",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_or",
    "bitwise_xor",
    "ceil",
    "clip",
    "cos",
    "divide",
    "equal",
    "erf",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "gelu",
    "greater",
    "greater_equal",
    "isfinite",
    "isinf",
    "isnan",
    "layer_norm",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log_softmax",
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
    "not_equal",
    "pow",
    "prod",
    "reciprocal",
    "relu",
    "remainder",
    "round",
    "rsqrt",
    "scaled_dot_product_attention",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "softmax",
    "sqrt",
    "square",
    "subtract",
    "sum",
    "tanh",
    "trunc",
    "var",
    "where",
]

def abs(x: Operand, /) -> Array:
    """Absolute value of x."""

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

def bitwise_and(x1: Operand, x2: Operand, /) -> Array:
    """x1 & x2."""

def bitwise_invert(x: Operand, /) -> Array:
    """~x; logical not for bool."""

def bitwise_or(x1: Operand, x2: Operand, /) -> Array:
    """x1 | x2."""

def bitwise_xor(x1: Operand, x2: Operand, /) -> Array:
    """x1 ^ x2."""

def ceil(x: Operand, /) -> Array:
    """The least integer not below x."""

def clip(x: Operand, minimum: Operand, maximum: Operand, /) -> Array:
    """x limited to [minimum, maximum]."""

def cos(x: Operand, /) -> Array:
    """Cosine of x, in radians."""

def divide(x1: Operand, x2: Operand, /) -> Array:
    """x1 / x2, floating-point."""

def equal(x1: Operand, x2: Operand, /) -> Array:
    """x1 == x2."""

def erf(x: Operand, /) -> Array:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""

def exp(x: Operand, /) -> Array:
    """e to the power x."""

def expm1(x: Operand, /) -> Array:
    """exp(x) - 1, exact near zero."""

def floor(x: Operand, /) -> Array:
    """The greatest integer not above x."""

def floor_divide(x1: Operand, x2: Operand, /) -> Array:
    """floor(x1 / x2); an integer divided by zero gives 0."""

def gelu(x: Operand, /, *, approximate: str = "none") -> Array:
    """x times the normal distribution function of x (Hendrycks & Gimpel 2016); approximate is 'none' (erf) or
    'tanh'."""

def greater(x1: Operand, x2: Operand, /) -> Array:
    """x1 > x2."""

def greater_equal(x1: Operand, x2: Operand, /) -> Array:
    """x1 >= x2."""

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

def log1p(x: Operand, /) -> Array:
    """log(1 + x), exact near zero."""

def log_softmax(x: Operand, /, *, axis: int = -1) -> Array:
    """log(softmax(x)) along an axis."""

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

def not_equal(x1: Operand, x2: Operand, /) -> Array:
    """x1 != x2."""

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

def round(x: Operand, /) -> Array:
    """The integer nearest to x, ties to even."""

def rsqrt(x: Operand, /) -> Array:
    """1 / sqrt(x)."""

def scaled_dot_product_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    /,
    mask: Operand | None = None,
    *,
    scale: float = 0.0,
    causal: bool = False,
) -> Array:
    """softmax(query @ key^T * scale + mask) @ value over the last two axes, (length, head size) (Vaswani et al.
    2017). A bool mask keeps where it holds; a row that keeps nothing gives zeros. scale 0 means 1 / sqrt(head size).
    causal keeps key j for query i where j <= i + (key length - query length)."""

def sigmoid(x: Operand, /) -> Array:
    """1 / (1 + exp(-x))."""

def sign(x: Operand, /) -> Array:
    """-1, 0 or 1 by the sign of x; NaN stays NaN."""

def silu(x: Operand, /) -> Array:
    """x * sigmoid(x), elementwise."""

def sin(x: Operand, /) -> Array:
    """Sine of x, in radians."""

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

def tanh(x: Operand, /) -> Array:
    """Hyperbolic tangent of x."""

def trunc(x: Operand, /) -> Array:
    """The integer nearest to x towards zero."""

def var(
    x: Operand, /, *, axis: int | Sequence[int] | None = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """Variance over axes: the squared distances to the mean, over their number less `correction`."""

def where(condition: Operand, x1: Operand, x2: Operand, /) -> Array:
    """x1 where the condition holds, else x2."""

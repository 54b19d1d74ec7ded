"""Matrix products."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ferrule.testing.cases.conversion import FINITE, dequantized, quantized
from ferrule.testing.model.bounds import gamma
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import BLOCKS, COMPLEX, FLOATS, FORMATS, INTEGERS, Values
from ferrule.testing.model.exactness import EXACT, Tolerance
from ferrule.testing.model.values import ANY, complex_of
from ferrule.testing.problems.linear_algebra import matrix_products, products_with_rows

PRODUCTS = matrix_products()


def matmul(x1: Values, x2: Values) -> Values:
    """Compute complex products from real ones: BLAS multiplies the result by 1 + 0 i, which makes infinities NaN."""
    if x1.dtype.kind != "c":
        return np.asarray(np.matmul(x1, x2))
    return complex_of(
        matmul(x1.real, x2.real) - matmul(x1.imag, x2.imag), matmul(x1.real, x2.imag) + matmul(x1.imag, x2.real)
    )


def matmul_bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
    """Bound the error. Each part of a complex result is a sum of twice as many products."""
    x1, x2 = (np.abs(x).astype(np.float64) for x in inputs)
    return gamma(x1.shape[-1] * (2 if dtype in COMPLEX else 1), dtype) * matmul(x1, x2)


def matmul_integer(x1: Values, x2: Values) -> Values:
    """Compute in int32, as NumPy does, which wraps."""
    return np.asarray(np.matmul(x1.astype(np.int32), x2.astype(np.int32)))


MATMUL = Tolerance("gamma_n |x1| @ |x2| in any order, Higham (3.13)", bound=matmul_bound)


def linear(block_dtype: str, x: Values, w: Values) -> Values:
    weights = dequantized(block_dtype, w, "float32").astype(x.dtype) if block_dtype else w
    return np.asarray(np.matmul(x, np.swapaxes(weights, -1, -2)))


def linear_bound(
    block_dtype: str, inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str
) -> Values:
    x, w = inputs
    weights = dequantized(block_dtype, w, "float32") if block_dtype else w
    sums = linear("", np.abs(x).astype(np.float64), np.abs(weights).astype(np.float64))
    return np.asarray(gamma(x.shape[-1], dtype) * sums + x.shape[-1] * FORMATS[dtype].least)  # products may underflow


def linear_case(dtype: str, block_dtype: str = "") -> Case:
    return Case(
        "linear",
        (dtype, block_dtype or dtype),
        dtype,
        products_with_rows(BLOCKS[block_dtype][0] if block_dtype else 1),
        partial(linear, block_dtype),
        Tolerance("gamma_n |x| @ |w.T| in any order, Higham (3.13)", bound=partial(linear_bound, block_dtype)),
        signed_zeros=False,
    )


def rounded(x: Values) -> Values:
    return dequantized("q8_0", quantized(x, "q8_0"), "float32").astype(x.dtype)


def q8_case(block_dtype: str) -> Case:
    given = linear_case("float32", block_dtype)

    def oracle(x: Values, w: Values, activation: str) -> Values:
        return linear(block_dtype, rounded(x), w)

    def bound(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
        return linear_bound(block_dtype, [rounded(inputs[0]), inputs[1]], attributes, truth, dtype)

    return replace(
        given,
        family=given.family.with_attributes(activation="q8"),
        oracle=oracle,
        tolerance=replace(given.tolerance, bound=bound),
        variant="q8",
        domains=(FINITE, ANY),
        left_out=dict.fromkeys(("infinities of both signs",), "what they become is left open"),
    )


CASES = [
    *(
        Case("matmul", (d, d), d, PRODUCTS, matmul, EXACT if d in INTEGERS else MATMUL, signed_zeros=False)
        for d in (*INTEGERS, *FLOATS, *COMPLEX)
    ),
    *(
        Case("matmul_integer", dtypes, "int32", PRODUCTS, matmul_integer, EXACT)
        for dtypes in (*((d, d) for d in INTEGERS), ("int8", "uint8"), ("uint8", "int8"))
    ),
    *map(linear_case, FLOATS),
    *(linear_case("float32", blocks) for blocks in BLOCKS),
    *map(q8_case, BLOCKS),
    *(linear_case(d, blocks) for d in FLOATS if d != "float32" for blocks in ("q4_0", "q8_0")),
]

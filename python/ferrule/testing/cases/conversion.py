"""astype between all dtypes. The truth of block dtypes comes from the package that reads and writes GGUF files
(https://pypi.org/project/gguf)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import ALL, BLOCKS, FORMATS, PARTS, TABLE, Values, is_floating, numpy_dtype, wide_of
from ferrule.testing.model.exactness import EXACT, ROUNDED
from ferrule.testing.model.values import Domain
from ferrule.testing.problems import elementwise
from ferrule.testing.problems.blocks import rows_of_blocks

UNARY = elementwise(1)
# The ends of the integer ranges and numbers that round to them; numbers that overflow in narrower formats.
ENDS = [s * v for n in (7, 8, 15, 16, 31, 32, 63, 64) for v in (2.0**n, 2.0**n - 1, 2.0**n - 0.5) for s in (1, -1)]
NARROW = [65519.0, 65519.99, 65520.0, 3.39e38, 3.4e38, 3.5e38, 2.0**-25, 2.0**-24 * 1.5, 1e-40, 1 + 2.0**-8]
# Halfway between two numbers of each format: the even one is the lower, then the upper.
TIES = [s * (2.0**digits + by) for digits in (8, 11, 24) for by in (1, 3) for s in (1, -1)]
SMALL_TIES = [1 + by * 2.0**-digits for digits in (8, 11, 24) for by in (1, 3)]
# So close to a tie that rounding to float32 first gives the tie, and rounding again the wrong number.
BESIDE_TIES = [
    s * (1 + by * 2.0**-digits + off)
    for digits in (8, 11, 24)
    for by in (1, 3)
    for off in (2.0**-40, -(2.0**-40))
    for s in (1, -1)
]
FLOATING = Domain(-300, 300, edges=(*ENDS, *NARROW, *TIES, *SMALL_TIES, *BESIDE_TIES), signalling=True)
# Integers next to a tie of each format. From 2^53 on they are no float64, so they are written as integers.
BESIDE_LARGE_TIES = [
    s * (2**power + by * 2 ** (power - digits) + off)
    for power in (53, 54, 62)
    for digits in (8, 24, 53)
    for by in (1, 3)
    for off in (1, -1)
    for s in (1, -1)
]
INTEGER = Domain(edges=(*TIES, *(s * (2**53 + by) for by in (1, 3) for s in (1, -1)), *BESIDE_LARGE_TIES))


def to_integer(x: Values, dtype: str) -> Values:
    """Truncate and saturate; NaN becomes 0. The bounds are powers of two, which every format has."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    whole = np.trunc(x)
    inside = (whole >= float(low)) & (whole < float(high) + (1.0 if high < 2**53 else 0.0))
    found = np.where(inside, whole, 0).astype(dtype)
    found = np.where(~inside & (x > 0), np.array(high, dtype), found)
    return np.where(~inside & (x < 0), np.array(low, dtype), found)


def astype(x: Values, dtype: str) -> Values:
    if dtype in PARTS:
        return x.astype(dtype)
    if dtype in FORMATS and not FORMATS[dtype].infinite:
        # Numbers beyond halfway to the number after the greatest become NaN; at the tie, the greatest is even.
        form, wide = FORMATS[dtype], np.asarray(x, wide_of(dtype))
        half_way = form.greatest + 2.0 ** (form.high - 1 - form.digits)
        return np.where(np.abs(wide) > half_way, np.nan, wide)
    if is_floating(dtype):
        # Integers of 64 bits are exact in long double, where it has 64 digits, and so are rounded once.
        return x.astype(np.longdouble if x.dtype.itemsize == 8 and x.dtype.kind in "iu" else wide_of(dtype))
    if dtype == "bool":
        return np.asarray(x != 0)
    return to_integer(x, dtype) if x.dtype.kind == "f" else x.astype(dtype)  # integers wrap


def conversion(source: str, target: str) -> Case:
    return Case(
        "astype",
        (source,),
        target,
        UNARY.with_attributes(dtype=target),
        astype,
        ROUNDED if is_floating(target) else EXACT,
        (FLOATING if is_floating(source) or source in PARTS else INTEGER,),
    )


# The package does not define the result for numbers that are not finite.
FINITE = Domain(-300, 300, within=True)


def _kind_of(name: str) -> Any:
    import gguf

    return gguf.GGMLQuantizationType(TABLE[name].gguf)


def dequantized(name: str, x: Values, dtype: str) -> Values:
    import gguf

    elements, size = BLOCKS[name]
    if x.size == 0:
        return np.empty((*x.shape[:-1], x.shape[-1] * elements), dtype)
    packed = np.ascontiguousarray(x).view(np.uint8).reshape(-1, size)  # the package needs rows
    numbers = gguf.quants.dequantize(packed, _kind_of(name))
    return np.asarray(numbers).reshape(*x.shape[:-1], x.shape[-1] * elements)


def quantized(x: Values, dtype: str) -> Values:
    import gguf

    elements, _ = BLOCKS[dtype]
    shape = (*x.shape[:-1], x.shape[-1] // elements)
    if x.size == 0:
        return np.empty(shape, numpy_dtype(dtype))
    rows = x.astype(np.float32).reshape(-1, elements)
    packed = gguf.quants.quantize(rows, _kind_of(dtype))
    if dtype == "mxfp4":  # It has no NaN: numbers of the greatest scale that overflow stand for it.
        lost = np.isnan(rows).any(axis=-1)
        numbers = np.where(rows[lost] < 0, 15, 7).astype(np.uint8)
        packed[lost, 0], packed[lost, 1:] = 255, numbers[:, :16] | numbers[:, 16:] << 4
    return np.ascontiguousarray(packed).view(numpy_dtype(dtype)).reshape(shape)


def dequantizing(name: str) -> Case:
    rows = rows_of_blocks(BLOCKS[name][0], counts_elements=False)
    return Case("astype", (name,), "float32", rows.with_attributes(dtype="float32"), partial(dequantized, name))


def quantizing(name: str) -> Case:
    rows = rows_of_blocks(BLOCKS[name][0], counts_elements=True)
    left_out = dict.fromkeys(("infinities of both signs",), "what they become is left open")
    return Case(
        "astype", ("float32",), name, rows.with_attributes(dtype=name), quantized, domains=(FINITE,), left_out=left_out
    )


CASES = [
    *map(dequantizing, BLOCKS),
    *(quantizing(name) for name in BLOCKS if TABLE[name].is_encoded),
    *(
        conversion(source, target)
        for source in ALL
        for target in ALL
        if source not in PARTS or target in PARTS or target == "bool"  # an imaginary part is never dropped
    ),
]

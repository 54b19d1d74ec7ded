"""Values of inputs: ordinary values of a domain, and the edge values of a dtype."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ferrule.testing.model.dtypes import BLOCKS, FORMATS, PARTS, Values, is_floating, numpy_dtype

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Domain:
    """The values of one input.

    Ordinary floating-point values are uniform in [low, high]; with `spread`, half of them are scaled down by random
    powers of two, so that small magnitudes occur. Ordinary integers are uniform in [integer_low, integer_high], by
    default the whole range of the dtype.

    `edges` are added to the edge values of the dtype, and `only` replaces them. With `within`, edge values outside of
    [low, high] are left out. `signalling` adds signalling NaNs with the smallest payload.
    """

    low: float = -10.0
    high: float = 10.0
    spread: bool = True
    edges: Sequence[float] = ()
    only: Sequence[float] = ()
    within: bool = False
    signalling: bool = False
    integer_low: int | None = None
    integer_high: int | None = None

    def ordinary(self, rng: np.random.Generator, shape: Shape, dtype: str) -> Values:
        if dtype == "bool":
            return rng.integers(0, 2, shape).astype(bool)
        if dtype in BLOCKS:
            return blocks_with_scales(rng, dtype, rng.uniform(-2, 2, (*shape, 2)))
        if dtype in PARTS:
            return complex_of(*(self.ordinary(rng, shape, PARTS[dtype]) for _ in range(2)))
        if not is_floating(dtype):
            low, high = self._integers(dtype)
            return rng.integers(low, high, shape, numpy_dtype(dtype), endpoint=True)
        greatest = FORMATS[dtype].greatest
        values = rng.uniform(max(self.low, -greatest), min(self.high, greatest), shape)
        if self.spread:
            bits = FORMATS[dtype].digits
            values = np.where(rng.random(shape) < 0.5, values * np.exp2(-rng.uniform(0, bits, shape)), values)
            values = np.clip(values, self.low, self.high)
        return np.asarray(values).astype(numpy_dtype(dtype))

    def edge_values(self, dtype: str) -> Values:
        if dtype == "bool":
            return np.array([False, True])
        if dtype in BLOCKS:
            scales = np.array(float_edges("float16"))
            return blocks_with_scales(np.random.default_rng(0), dtype, np.stack([scales, scales[::-1]], axis=-1))
        if dtype in PARTS:
            parts = self.edge_values(PARTS[dtype])
            return complex_of(np.concatenate([parts, parts]), np.concatenate([parts[::-1], parts]))
        if not is_floating(dtype):
            low, high = self._integers(dtype)
            known = {0, 1, -1, 2, -2, 3, 7, 10, 31, 32, 63, 64, low, low + 1, high, high - 1, low // 2, high // 2}
            known.update(int(value) for value in self.edges if np.isfinite(value))
            return np.array(sorted(v for v in known if low <= v <= high), numpy_dtype(dtype))
        values = np.array(self.only or [*float_edges(dtype), *self.edges], np.float64)
        if self.within:
            values = values[np.isnan(values) | ((values >= self.low) & (values <= self.high))]
        with np.errstate(over="ignore"):
            edges = values.astype(numpy_dtype(dtype))
        return np.concatenate([edges, least_nans(dtype)]) if self.signalling else edges

    def _integers(self, dtype: str) -> tuple[int, int]:
        info = np.iinfo(dtype)
        low = info.min if self.integer_low is None else max(self.integer_low, info.min)
        high = info.max if self.integer_high is None else min(self.integer_high, info.max)
        return int(low), int(high)


ANY = Domain()


def complex_of(real: Values, imaginary: Values) -> Values:
    """Combine both parts. real + 1j * imaginary would turn infinities into NaN."""
    values = np.empty(real.shape, np.result_type(real, np.complex64))
    values.real, values.imag = real, imaginary
    return values


# The byte offsets of the float16 scales and minima within a block. `set_scales` knows the dtypes with other scales.
SCALES = {
    "q8_0": (0,),
    "q4_0": (0,),
    "q4_1": (0, 2),
    "q5_0": (0,),
    "q5_1": (0, 2),
    "q2_K": (80, 82),
    "q3_K": (108,),
    "q4_K": (0, 2),
    "q5_K": (0, 2),
    "q6_K": (208,),
    "iq1_s": (0,),
    "iq2_xxs": (0,),
    "iq2_xs": (0,),
    "iq2_s": (0,),
    "iq3_xxs": (0,),
    "iq3_s": (0,),
    "iq4_nl": (0,),
    "iq4_xs": (0,),
    "tq1_0": (52,),
    "tq2_0": (64,),
}


def set_scales(dtype: str, blocks: Values, scales: Values) -> None:
    """Write scales to the bytes of blocks. Both have one more axis at the end: the bytes, and one or two scales."""
    with np.errstate(over="ignore", invalid="ignore"):
        halves = np.ascontiguousarray(scales.astype(np.float16))
    last = scales.shape[-1] - 1
    if dtype == "mxfp4":  # the exponent of a power of two
        exponents = np.frexp(np.abs(halves[..., 0]).astype(np.float32))[1] + 126
        blocks[..., 0] = np.where(np.isfinite(halves[..., 0]), exponents, 255)
    elif dtype == "nvfp4":  # four numbers of 8 bits, without sign
        with np.errstate(invalid="ignore"):
            numbers = np.abs(halves).astype(numpy_dtype("float8_e4m3fn")).view(np.uint8)
        for place in range(4):
            blocks[..., place] = numbers[..., min(place % 2, last)]
    elif dtype == "iq1_m":  # 4 bits in each of four words
        bits = halves[..., 0].view(np.uint16)
        for place in range(4):
            byte = 49 + 2 * place
            blocks[..., byte] = (blocks[..., byte] & 15) | (bits >> 4 * place & 15) << 4
    else:
        for number, place in enumerate(SCALES[dtype]):
            blocks[..., place : place + 2] = halves[..., min(number, last), np.newaxis].view(np.uint8)


def blocks_with_scales(rng: np.random.Generator, dtype: str, scales: Values) -> Values:
    """Blocks of random bits with the given scales, which lie along the last axis."""
    block = numpy_dtype(dtype)
    blocks = rng.integers(0, 256, (*scales.shape[:-1], block.itemsize), np.uint8)
    set_scales(dtype, blocks, scales)
    return blocks.view(block)[..., 0]


def float_edges(dtype: str) -> list[float]:
    form = FORMATS[dtype]
    epsilon = 2.0 ** (1 - form.digits)
    positive = [
        0.0,
        form.least,
        form.least * 3,
        form.least_normal,
        form.least_normal * (1 - epsilon),
        epsilon,
        0.5,
        1 - epsilon / 2,
        1.0,
        1 + epsilon,
        1.5,
        2.0,
        2.5,
        3.0,
        float(np.pi / 2),
        float(np.pi),
        float(np.e),
        100.0,
        2.0 ** (form.digits - 1) - 0.5,
        2.0 ** (form.digits - 1) + 1,
        2.0**form.digits,
        form.greatest / 2,
        form.greatest,
        float("inf"),
    ]
    return [*positive, *(-value for value in positive), float("nan")]


def least_nans(dtype: str) -> Values:
    """NaNs of both signs with only the last payload bit set: truncating the payload would leave an infinity."""
    wanted = numpy_dtype(dtype)
    if not FORMATS[dtype].infinite:
        return np.array([np.nan, -np.nan]).astype(wanted)
    infinities = np.array([np.inf, -np.inf]).astype(wanted)
    return (infinities.view(f"uint{8 * wanted.itemsize}") + 1).view(wanted)


def patterns(rng: np.random.Generator, count: int, dtype: str) -> Values:
    """Values of random bits, which include every exponent, NaN and infinity."""
    wanted = numpy_dtype(dtype)
    return np.frombuffer(rng.bytes(count * wanted.itemsize), wanted).copy()


def every_pattern(dtype: str) -> Values:
    """All bit patterns of a dtype of one or two bytes."""
    bits = 8 * numpy_dtype(dtype).itemsize
    return np.arange(1 << bits, dtype=f"uint{bits}").view(numpy_dtype(dtype))


def poison(shape: Shape, dtype: str) -> Values:
    """Values that no kernel may read: NaN, or numbers that change any result."""
    wanted = numpy_dtype(dtype)
    if dtype in BLOCKS:  # the scales become NaN
        return np.frombuffer(b"\x7e" * (int(np.prod(shape)) * wanted.itemsize), wanted).reshape(shape).copy()
    if dtype == "bool":
        return np.ones(shape, bool)
    if is_floating(dtype) or dtype in PARTS:
        return np.full(shape, np.nan).astype(wanted)
    return np.full(shape, np.iinfo(wanted).max // 2 + 3, wanted)

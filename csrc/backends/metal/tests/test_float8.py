"""float8 in conversions: the values of ml_dtypes, ties and subnormal numbers among them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

PRELUDE = """
import warnings
import ml_dtypes
warnings.simplefilter("error")  # an op that runs on the CPU instead

def on_metal(x):
    return fe.asarray(x, device="metal:0")
def bits(x):
    x = np.asarray(x)
    return x.view(np.uint8) if x.dtype.itemsize == 1 else x
# NaN is compared as such: NumPy's and ours may have other signs.
def show(one, other):
    one, other = np.asarray(one), np.asarray(other)
    nan = np.isnan(other.astype(np.float32))
    print(one.dtype == other.dtype and np.array_equal(np.isnan(one.astype(np.float32)), nan)
          and np.array_equal(bits(one)[~nan], bits(other)[~nan]))
"""

DTYPES = pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])


@DTYPES
def test_each_value_is_widened_and_each_float16_rounded(dtype: str, run: Run) -> None:
    program = f"""
dtype = ml_dtypes.{dtype}
every = np.arange(256, dtype=np.uint8).view(dtype)
for wider in ("float32", "float16", "bfloat16"):
    show(on_metal(every).astype(wider), every.astype(np.float32).astype(getattr(ml_dtypes, wider, wider)))
halves = np.arange(1 << 16, dtype=np.uint16)
for kind in (np.float16, ml_dtypes.bfloat16):
    with np.errstate(all="ignore"):
        show(on_metal(halves.view(kind)).astype("{dtype}"), halves.view(kind).astype(np.float32).astype(dtype))
"""
    assert run(PRELUDE + program).split() == ["True"] * 5


@DTYPES
@pytest.mark.parametrize("flush", ["0", "1"])
def test_float32_is_rounded_to_the_nearest_and_ties_to_even(dtype: str, flush: str, run: Run) -> None:
    # The neighbours of each number and of each tie between two numbers, and subnormal float32 numbers.
    program = f"""
dtype = ml_dtypes.{dtype}
every = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
numbers = np.sort(every[np.isfinite(every)])
ties = (numbers[1:] + numbers[:-1]) / 2
ends = np.float32([464, 61440, 3e38, 1e-40, 1e-45, np.inf, np.nan])
x = np.concatenate([numbers, ties, ends, -ends])
with np.errstate(all="ignore"):
    x = np.concatenate([x, np.nextafter(x, np.float32(np.inf)), np.nextafter(x, -np.float32(np.inf))])
    show(on_metal(x).astype("{dtype}"), x.astype(dtype))
"""
    assert run(PRELUDE + program, FERRULE_EMULATION_METAL_FLUSH=flush) == "True\n"

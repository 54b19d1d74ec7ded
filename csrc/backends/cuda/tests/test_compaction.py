"""nonzero and compress: items of all sizes, at any address, in chunks that are full, empty, or not whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

# A chunk has 4096 items. Parts of an array begin at no multiple of 16 bytes.
NONZERO = """
rng = np.random.default_rng(0)
def nonzero(x): return np.stack([np.asarray(indices) for indices in fe.nonzero(x)], axis=1)
for length in (1, 31, 4095, 4096, 4097, 3 * 4096 + 17):
    for share in (0, 0.02, 0.5, 1):
        values = (rng.uniform(0, 1, length) < share).astype(dtype)
        if dtype.startswith(("float", "complex")): values[values == 0] = -0.0
        if dtype == "complex128": values[::3] *= 1j
        if "int" in dtype: values *= np.iinfo(dtype).max // 2 + 1  # the highest bits alone
        # The least number: its lowest bit alone is set, in the real part, the imaginary one, or both.
        if dtype in ("float32", "float64", "complex64", "complex128"):
            parts = values.view("float32" if dtype in ("float32", "complex64") else "float64")
            parts[(parts != 0) & (rng.uniform(0, 1, parts.shape) < 0.7)] = np.finfo(parts.dtype).smallest_subnormal
        x = fe.asarray(values, device="cuda")
        fe.eval(x)
        for begin in (0, 1, 3):
            part = values[begin:]
            assert np.array_equal(nonzero(x[begin:])[:, 0], np.flatnonzero(part)), (length, share, begin)
        if length % 17 == 0:
            want = np.argwhere(values.reshape(17, -1))
            assert np.array_equal(nonzero(fe.reshape(x, (17, -1))), want)
"""
DTYPES = ("bool", "int8", "uint16", "float16", "float32", "int32", "float64", "int64", "complex64", "complex128")


@pytest.mark.parametrize("dtype", DTYPES)
def test_items_that_are_not_zero_are_found_in_order(dtype: str, run: Run) -> None:
    run(f"dtype = {dtype!r}\n" + NONZERO)


MANY_CHUNKS = """
mask = np.zeros(2 * 4096 * 4096 + 5000, dtype="bool")
mask[::1001] = mask[-2:] = True
(got,) = fe.nonzero(fe.asarray(mask, device="cuda"))
assert np.array_equal(np.asarray(got), np.flatnonzero(mask))
"""


def test_more_chunks_than_a_round_of_their_sums_has(run: Run) -> None:
    run(MANY_CHUNKS)


SLICES = """
rng = np.random.default_rng(0)
mask = rng.uniform(0, 1, 9001) < 0.4
values = rng.integers(0, 100, (2, 9001, 3)).astype("int16")
keep, x = fe.asarray(mask, device="cuda"), fe.asarray(values, device="cuda")
for begin in (0, 1, 4096):
    got = fe.compress(keep[begin:], x[:, begin:], axis=1)
    assert np.array_equal(np.asarray(got), values[:, begin:][:, mask[begin:]])
"""


def test_slices_are_kept_by_a_mask_at_any_address(run: Run) -> None:
    run(SLICES)

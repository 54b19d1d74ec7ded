"""Reductions of rows that begin at no multiple of 16 bytes: the bits are those of aligned rows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

# Rows of 16 bytes or less, within a leaf of 4096 bytes, and of several leaves. An array of one row is aligned.
PROGRAM = """
rng = np.random.default_rng(0)
item = np.dtype(getattr(np, dtype, np.uint16)).itemsize
functions = [fe.max, fe.min, fe.argmax, fe.argmin]
if dtype.startswith(("float", "bfloat")) or item == 8: functions += [fe.sum, fe.prod]
for bytes_of_row in (13, 70, 1111, 4096 + 29, 3 * 4096 + 1):
    width = max(2, bytes_of_row // item) | 1
    values = rng.uniform(-100, 100, (6, width)).astype("float32")
    def there(values): return fe.asarray(np.ascontiguousarray(values), device="cuda").astype(dtype)
    x = there(values)
    fe.eval(x)
    for function in functions:
        got = np.asarray(fe.astype(function(x, axis=1), "float64"))
        shifted = np.asarray(fe.astype(function(x[:, 1:], axis=1), "float64"))
        for i in range(6):
            row, part = there(values[i]), there(values[i, 1:])
            fe.eval(row, part)
            want = np.asarray(fe.astype(fe.stack([function(row), function(part)]), "float64"))
            assert np.array_equal([got[i], shifted[i]], want), (function.__name__, width, i)
"""
DTYPES = ("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32", "int64")


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_have_the_same_bits_at_any_address(dtype: str, run: Run) -> None:
    run(f"dtype = {dtype!r}\n" + PROGRAM)

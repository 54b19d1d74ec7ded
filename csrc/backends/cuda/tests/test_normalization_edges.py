"""Rows of minus infinity, of widths at which threads have no elements: what stands for an absent element must not be
the greatest of the row."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

PROGRAM = """
for width in (1, 2, 3, 5, 20, 33, 100, 300, 600, 4097, 9001):
    x = np.full((3, width), -np.inf, "float32")
    x[1, width // 2] = -3e38 if dtype == "float32" else -6e4
    x[2, width // 2] = np.nan
    there = fe.asarray(x, device="cuda").astype(dtype)
    shares, logarithms = (np.asarray(f(there, axis=-1).astype("float32")) for f in (fe.softmax, fe.log_softmax))
    one = np.arange(width) == width // 2
    for got, of_one, of_others in ((shares, 1, 0), (logarithms, 0, -np.inf)):
        assert np.isnan(got[[0, 2]]).all(), (width, got)
        assert (got[1] == np.where(one, of_one, of_others)).all(), (width, got[1])
"""


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_rows_without_a_number_are_nan(dtype: str, run: Run) -> None:
    run(f"dtype = {dtype!r}\n" + PROGRAM)

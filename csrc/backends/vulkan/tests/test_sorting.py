"""Sorts, sets and chosen elements of arrays that take many dispatches."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

PRELUDE = """
rng = np.random.default_rng(3)
def put(x): return fe.asarray(x, device="vulkan")
def bits(x): return np.asarray(x).tobytes()
"""


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64"])
def test_sorts_are_stable_in_rows_of_any_length(run: Run, dtype: str) -> None:
    program = f"""
for rows, length in ((1, 1), (9, 7), (5, 8), (3, 9), (2, 1000), (1, 100_003)):
    x = (rng.standard_normal((rows, length)) * 90).astype(np.int64).astype("{dtype}")
    there, order = put(x), np.argsort(x, axis=1, kind="stable")
    assert bits(fe.argsort(there, axis=1)) == bits(order), (rows, length)
    assert bits(fe.sort(there, axis=1)) == bits(np.take_along_axis(x, order, 1)), (rows, length)
    behind = length - 1 - np.flip(np.argsort(np.flip(x, 1), axis=1, kind="stable"), 1)
    assert bits(fe.argsort(there, axis=1, descending=True)) == bits(behind), (rows, length)
    assert bits(fe.sort(put(x.T.copy()), axis=0)) == bits(np.sort(x, axis=1).T.copy()), (rows, length)
    assert bits(fe.sort(there[:, ::-2], axis=1)) == bits(np.sort(x[:, ::-2], axis=1)), (rows, length)
print("ok")
"""
    assert run(PRELUDE + program) == "ok\n"


def test_zeros_keep_their_signs_and_order_and_nan_comes_last(run: Run) -> None:
    program = """
x = np.array([0.0, np.nan, -0.0, np.inf, -np.inf, 0.0, -np.nan, -1.0] * 500, np.float32)
assert bits(fe.sort(put(x))) == bits(x[np.argsort(x, kind="stable")])
values, indices, inverse, counts = fe.unique_all(put(x))
assert np.asarray(values)[:4].tolist() == [-np.inf, -1, 0, np.inf] and np.isnan(np.asarray(values)[4:]).all()
assert np.asarray(counts).tolist() == [500, 500, 1500, 500] + [1] * 1000
assert np.asarray(indices)[:5].tolist() == [4, 7, 0, 3, 1]
print("ok")
"""
    assert run(PRELUDE + program) == "ok\n"


def test_sets_of_long_arrays(run: Run) -> None:
    program = """
for length in (0, 1, 255, 257, 200_003):
    x = rng.integers(0, max(1, length // 3), length).astype(np.int32)
    want = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    values, indices, inverse, counts = fe.unique_all(put(x))
    for a, b in zip((values, indices, inverse, counts), want, strict=True):
        assert (np.asarray(a) == b).all(), length
    assert bits(fe.unique_values(put(x)[::-1])) == bits(want[0])
print("ok")
"""
    assert run(PRELUDE + program) == "ok\n"


def test_chosen_elements_of_long_arrays(run: Run) -> None:
    """20 million elements are more segments than lavapipe's loops have iterations."""
    program = """
for length in (0, 1, 256, 70_001, 20_000_003):
    mask = rng.random(length) < 0.01
    there = put(mask)
    assert bits(fe.nonzero(there)[0]) == bits(np.flatnonzero(mask)), length
    x = np.arange(length, dtype=np.int32)
    assert bits(put(x)[there]) == bits(x[mask]), length
    written = put(x)
    written[there] = put(np.arange(mask.sum(), dtype=np.int32))
    x[mask] = np.arange(mask.sum())
    assert bits(written) == bits(x), length
print("ok")
"""
    assert run(PRELUDE + program) == "ok\n"

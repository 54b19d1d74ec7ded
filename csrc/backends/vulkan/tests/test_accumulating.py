"""Cumulative sums and products, whose order is fixed, and values that are written at indices."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

PRELUDE = """
rng = np.random.default_rng(3)
def put(x): return fe.asarray(x, device="vulkan")
def bits(x): return np.asarray(x).tobytes()
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sum_adds_in_segments_of_256_elements_in_any_layout(run: Run, dtype: str) -> None:
    """NumPy's cumsum adds in order. Of the last row, one dispatch does not accumulate all totals."""
    program = f"""
def expected(x):
    rows = np.zeros((x.shape[0], -(-x.shape[1] // 256) * 256), x.dtype)
    rows[:, : x.shape[1]] = x
    segments = np.cumsum(rows.reshape(x.shape[0], -1, 256), axis=2, dtype=x.dtype)
    totals = np.cumsum(segments[:, :-1, -1], axis=1, dtype=x.dtype)
    segments[:, 1:] = totals[:, :, None] + segments[:, 1:]
    return np.ascontiguousarray(segments.reshape(rows.shape)[:, : x.shape[1]])

for rows, length in ((3, 1), (2, 255), (5, 256), (7, 257), (2, 70_001), (1, 5_000_003)):
    x = rng.standard_normal((rows, length)).astype("{dtype}")
    want = expected(x)
    assert bits(fe.cumulative_sum(put(x), axis=1)) == bits(want), (rows, length)
    assert bits(fe.cumulative_sum(put(np.ascontiguousarray(x.T)), axis=0)) == bits(np.ascontiguousarray(want.T))
    assert bits(fe.cumulative_sum(put(x[:, ::-1].copy())[:, ::-1], axis=1)) == bits(want)
    assert bits(fe.cumulative_sum(put(x[-1]))) == bits(want[-1]), "the same row alone"
print("ok")
"""
    assert run(PRELUDE + program) == "ok\n"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_product_is_computed_from_the_first_element_to_the_last(run: Run, dtype: str) -> None:
    """Its partial results neither overflow nor vanish where NumPy's do not."""
    program = f"""
x = (1 + rng.uniform(-1e-3, 1e-3, (3, 100_003))).astype("{dtype}")
if x.dtype != np.float16:
    x[:, 10], x[:, 30_000:30_003] = 2.0**-100, (2.0**100, 2.0**60, 2.0**-60)
wide = x.astype(np.float32 if x.dtype == np.float16 else x.dtype)
with np.errstate(over="ignore"):
    want = np.cumprod(wide, axis=1).astype(x.dtype)
assert bits(fe.cumulative_prod(put(x), axis=1)) == bits(want)
assert bits(fe.cumulative_prod(put(np.ascontiguousarray(x.T)), axis=0)) == bits(np.ascontiguousarray(want.T))
print("ok")
"""
    assert run(PRELUDE + program) == "ok\n"


def test_integers_wrap_in_rows_of_any_length(run: Run) -> None:
    # 17 million elements are more than 65,535 segments.
    program = """
for length in (0, 1, 300, 17_000_003):
    x = rng.integers(-2**63, 2**63, length)
    assert bits(fe.cumulative_sum(put(x))) == bits(np.cumsum(x)), length
    x = rng.integers(-4, 4, min(length, 300_000), dtype=np.int8) * 2 + 1
    want = np.cumprod(x, dtype=np.int64)
    assert bits(fe.cumulative_prod(put(x))) == bits(want)
    assert bits(fe.cumulative_prod(put(x), include_initial=True)) == bits(np.insert(want, 0, 1))
print("ok")
"""
    assert run(PRELUDE + program) == "ok\n"


def test_of_values_at_equal_indices_the_last_one_stays(run: Run) -> None:
    program = """
for shape, count in (((7,), 100_000), ((100_003,), 200_000), ((5, 3), 70_000)):
    x = np.zeros(shape, np.int64)
    places, values = rng.integers(-shape[0], shape[0], count), rng.integers(0, 10**6, (count, *shape[1:]))
    there = put(x)
    there[put(places)] = put(values)
    x[places] = values
    assert bits(there) == bits(x), shape
print("ok")
"""
    assert run(PRELUDE + program) == "ok\n"


def test_an_index_out_of_bounds_writes_nothing_and_the_device_goes_on(run: Run) -> None:
    program = """
def put_at(x, places, values):
    x = x * 1
    x[places] = values
    return x
x = put(np.arange(5, dtype=np.float32))
for wrong in (5, -6):
    for attempt in (lambda p: put_at(x, p, put(np.ones(3, np.float32))), lambda p: fe.take_along_axis(x, p)):
        try:
            print(np.asarray(attempt(put(np.array([1, wrong, 2])))))
        except fe.Error as error:
            assert f"index {wrong} is out of bounds for axis 0 with size 5" in str(error), error
print(np.asarray(x + 1).tolist())
"""
    assert run(PRELUDE + program) == "[1.0, 2.0, 3.0, 4.0, 5.0]\n"

"""Matrix products at edges that the kit does not reach: sums that are split, and rows inside of longer ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

# Few rows have few tiles, so that each segment of K has blocks of its own; for many rows a block computes all segments.
PROGRAM = """
rng = np.random.default_rng(0)
def random(*shape):
    x = fe.asarray(rng.uniform(-9, 9, shape).astype("float32"), device="cuda").astype(dtype)
    fe.eval(x)
    return x
for k, n in ((1300, 20), (1029, 130), (4096, 3)):
    x, w, columns = random(300, k), random(k, n), random(n, k)
    for weights in (w, columns.T):
        whole = np.asarray(x @ weights).astype("float64")
        want = np.asarray(x).astype("float64") @ np.asarray(weights).astype("float64")
        if exact: want = want.astype(dtype)
        np.testing.assert_allclose(whole, want, rtol=tolerance, atol=0 if exact else tolerance * 81 * k ** 0.5)
        for m in (1, 4, 5, 16, 17, 70):
            assert np.array_equal(np.asarray(x[:m] @ weights), whole[:m]), (m, n, k)
"""
TOLERANCES = {"float32": 1e-5, "float16": 1e-3, "bfloat16": 8e-3, "float64": 1e-14, "int32": 0.0}


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_rows_have_the_same_bits_in_any_batch(dtype: str, run: Run) -> None:
    run(f"dtype, tolerance, exact = {dtype!r}, {TOLERANCES[dtype]}, {dtype == 'int32'}\n" + PROGRAM)


# NaN lies beside what is multiplied, or 77 for integers.
INSIDE = """
rng = np.random.default_rng(0)
product = fe.graph(lambda x, w: x[:, :k] @ w[:, :k].T)
sizes = (40, 40, 100, 128), (5, 70, 100, 112), (70, 5, 17, 32), (70, 130, 250, 256), (3, 3, 9, 16)
for rows, columns, k, length in sizes:
    a, b = (rng.integers(-9, 9, (n, length)).astype("float32") for n in (rows, columns))
    want = a[:, :k] @ b[:, :k].T
    for each in (a, b): each[:, k:] = 77 if "int" in dtype else np.nan
    x, w = (fe.asarray(each, device="cuda").astype(dtype) for each in (a, b))
    fe.eval(x, w)
    got = np.asarray(product(x, w).astype("float32"))
    if "int" in dtype: want = want.astype(dtype).astype("float32")
    np.testing.assert_allclose(got, want, rtol=1e-2, atol=0, err_msg=str((rows, columns, k)))
"""


@pytest.mark.parametrize("dtype", [*TOLERANCES, "int8", "int64"])
def test_nothing_beside_the_rows_enters_the_sums(dtype: str, run: Run) -> None:
    run(f"dtype = {dtype!r}\n" + INSIDE)


# Tiles are numbered by groups of eight rows of them: here nine rows of tiles, the last one of a group of its own, and
# several columns. With few multiprocessors the tiles are large ones, of 128 rows.
GROUPS = """
rng = np.random.default_rng(0)
for m, n, k in ((1030, 140, 64), (580, 140, 64), (270, 70, 40), (140, 16, 40)):
    a, b = (rng.integers(-4, 5, shape).astype("float32") for shape in ((m, k), (k, n)))
    x, w = (fe.asarray(each, device="cuda").astype(dtype) for each in (a, b))
    want = (a @ b).astype(dtype if "int" in dtype else "float32")
    got = np.asarray((x @ w).astype("float32"))
    np.testing.assert_allclose(got, want, rtol=8e-3 if dtype == "bfloat16" else 1e-3, atol=0, err_msg=str((m, n, k)))
"""


@pytest.mark.parametrize("capability", ["8.0", "9.0"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int8"])
def test_tiles_of_the_last_group_of_rows_are_computed(dtype: str, capability: str, run: Run) -> None:
    variables = {"FERRULE_EMULATION_MULTIPROCESSORS": "2", "FERRULE_EMULATION_CAPABILITY": capability}
    run(f"dtype = {dtype!r}\n" + GROUPS, **variables)

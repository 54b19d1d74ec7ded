"""Copies of arrays that are contiguous along another axis than the last: in tiles, bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

# `check` compares the copy of a view, alone and in a graph, with NumPy's.
PRELUDE = """
rng = np.random.default_rng(5)

def drawn(dtype, *shape):
    dtype = np.dtype(dtype)
    bits = rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8)
    return (bits % 2 if dtype == bool else bits).view(dtype)[..., 0]

def kernels_of(function, *arrays):
    graph = fe.graph(function).trace(*arrays)
    return [node["kernel"] for step in graph.plan["steps"] if "nodes" in step for node in step["nodes"]]

def check(x, view):
    there = fe.asarray(x, device="vulkan")
    want = np.ascontiguousarray(view(x))
    got = np.asarray(fe.asarray(view(there), copy=True))
    assert got.shape == want.shape
    assert got.tobytes() == want.tobytes(), (x.dtype, want.shape)
    flat = fe.graph(lambda x: fe.reshape(view(x), (-1,)))(there)
    assert np.asarray(flat).tobytes() == want.tobytes(), (x.dtype, want.shape)

def permuted(axes):
    return lambda x: x.transpose(axes) if isinstance(x, np.ndarray) else fe.permute_dims(x, axes)
"""


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "float32", "int64"])
def test_matrices_of_any_size_are_transposed(run: Run, dtype: str) -> None:
    program = f"""
sizes = 1, 7, 8, 31, 32, 33, 64, 100, 257
for shape in [*((m, n) for m in sizes for n in sizes if m * n < 4000), (100, 257), (257, 100), (8, 5000), (5000, 8)]:
    check(drawn("{dtype}", *shape), permuted((1, 0)))
"""
    run(PRELUDE + program)


def test_axes_are_permuted_in_any_way(run: Run) -> None:
    program = """
from itertools import permutations
for shape in (9, 33, 40), (8, 31, 3, 10), (33, 2, 9, 1, 8):
    for number, axes in enumerate(permutations(range(len(shape)))):
        check(drawn(("uint8", "uint16", "float32", "int64")[number % 4], *shape), permuted(axes))
check(drawn("float32", 9, 2, 3, 2, 2, 3, 2, 9), permuted((7, 1, 3, 5, 4, 2, 6, 0)))
"""
    run(PRELUDE + program)


def test_tiles_may_exceed_one_row_of_the_grid(run: Run) -> None:
    run(PRELUDE + 'check(drawn("uint8", 70000, 9, 8), permuted((0, 2, 1)))')


def test_axes_may_be_sliced_reversed_and_broadcast(run: Run) -> None:
    program = """
for dtype in "uint8", "float16", "float32", "int64":
    x = drawn(dtype, 70, 131)
    turned = permuted((1, 0))
    for cut in (np.s_[::-1], np.s_[:, ::-1], np.s_[::-1, ::-1], np.s_[3:, 5:100], np.s_[:, ::2], np.s_[60:2:-3, 7::-1]):
        check(x, lambda x: turned(x[cut]))
        check(x, lambda x: turned(x)[cut])
    check(x, lambda x: permuted((2, 0, 1))((np if isinstance(x, np.ndarray) else fe).broadcast_to(x, (3, 70, 131))))
    check(x, lambda x: permuted((0, 2, 1))((np if isinstance(x, np.ndarray) else fe).broadcast_to(x, (3, 70, 131))))
"""
    run(PRELUDE + program)


def test_the_plan_names_the_tiles(run: Run) -> None:
    program = """
turned = lambda x: fe.reshape(fe.permute_dims(x, (1, 0)), (-1,))
for dtype in "int8", "bfloat16", "float32", "float64":
    print(*kernels_of(turned, fe.zeros((40, 33), dtype=dtype, device="vulkan")))
print(kernels_of(turned, fe.zeros((40, 7), device="vulkan")))
print(kernels_of(lambda x: fe.reshape(fe.exp(fe.permute_dims(x, (1, 0))), (-1,)), fe.zeros((40, 33), device="vulkan")))
"""
    assert run(PRELUDE + program).splitlines() == [
        "transpose.u8",
        "transpose.u16",
        "transpose.u32",
        "transpose.u64",
        "['']",
        "['']",
    ]

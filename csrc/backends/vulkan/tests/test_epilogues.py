"""Elementwise ops that are fused to a matrix product or a reduction: one node, with the bits of single ops."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

# `check` compares a graph with NumPy in float64 and with the single ops in sequence on the device, and checks its plan.
PRELUDE = """
from math import erf
rng = np.random.default_rng(7)
erf = np.vectorize(erf, otypes=[np.float64])

def normal(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)

def gelu(x):
    return x / 2 * (1 + erf(x / np.sqrt(2)))

def nodes_of(function, *arrays):
    graph = fe.graph(function).trace(*arrays)
    return [node["op"] for step in graph.plan["steps"] if "nodes" in step for node in step["nodes"]]

def check(function, truth, tolerance, *arrays, ops=("matmul",)):
    there = [fe.asarray(x, device="vulkan") for x in arrays]
    assert tuple(nodes_of(function, *there)) == ops, nodes_of(function, *there)
    got = fe.graph(function)(*there)
    alone = fe.graph(function, fuse=False)(*there)
    want = truth(*(x.astype(np.float64) for x in arrays))
    for a, b, c in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, alone, want)), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.tobytes() == b.tobytes(), (a, b)
        assert (np.abs(a.astype(np.float64) - c) <= tolerance * (1 + np.abs(c))).all(), (a, c)
"""


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-6), ("float16", 4e-3)])
def test_a_layer_is_one_node_in_any_size(run: Run, dtype: str, tolerance: float) -> None:
    program = f"""
def layer(x, w, bias):
    return fe.gelu(fe.matmul(x, w) + bias) * 2

for m, n, k in ((1, 1, 1), (17, 65, 130), (65, 1, 17), (130, 130, 1), (3, 17, 1500)):
    x, w, bias = normal(m, k, dtype="{dtype}"), normal(k, n, dtype="{dtype}") / np.sqrt(k), normal(n, dtype="{dtype}")
    check(layer, lambda x, w, bias: 2 * gelu(x @ w + bias), {tolerance}, x, w.astype("{dtype}"), bias)
"""
    run(PRELUDE + program)


def test_batches_broadcast_and_a_residual_may_have_any_strides(run: Run) -> None:
    program = """
x, w = normal(3, 1, 17, 9), normal(5, 9, 33)
for residual in (normal(33, 5, 3, 17).transpose(2, 1, 3, 0), normal(3, 5, 17, 66)[..., ::-2], normal(5, 1, 33),
                 normal(17, 1), np.float32(3).reshape(())):
    check(lambda x, w, y: y - fe.matmul(x, w), lambda x, w, y: y - x @ w, 4e-6, x, w, residual)
"""
    run(PRELUDE + program)


def test_epilogues_cast_results_and_may_have_several(run: Run) -> None:
    program = """
x, w, bias = normal(33, 20), normal(20, 40), normal(40)
def many(x, w, bias):
    y = fe.matmul(x, w) + bias
    return fe.astype(y, fe.float16), y > 0, y * y, fe.astype(y, fe.int32)
def truth(x, w, bias):
    y = x @ w + bias
    return y, y > 0, y * y, np.trunc(y)
check(many, truth, 1e-3, x, w, bias)
y = rng.integers(-9, 9, (17, 5)).astype(np.int8), rng.integers(-9, 9, (5, 65)).astype(np.int8)
check(lambda a, b: fe.abs(fe.matmul(a, b)), lambda a, b: np.abs((a @ b).astype(np.int8)), 0, *y)
wide = normal(17, 700, dtype=np.float64), normal(700, 3, dtype=np.float64)
check(lambda a, b: fe.astype(fe.matmul(a, b) + 1, fe.float32), lambda a, b: a @ b + 1, 1e-6, *wide)
"""
    run(PRELUDE + program)


def test_ops_that_a_product_cannot_fuse_run_after_it(run: Run) -> None:
    program = """
x, w = normal(17, 20), normal(20, 40)
def widened(a, b):
    return fe.astype(fe.matmul(a, b), fe.float64) * 2
check(widened, lambda a, b: (a @ b) * 2, 4e-6, x, w, ops=("matmul", "fused"))
# Functions that only the shader of elementwise ops has.
w /= 20
check(lambda a, b: fe.sinh(fe.matmul(a, b)) + 1, lambda a, b: np.sinh(a @ b) + 1, 4e-6, x, w, ops=("matmul", "fused"))
check(lambda a, b: fe.atan(fe.matmul(a, b)), lambda a, b: np.arctan(a @ b), 4e-6, x, w, ops=("matmul", "atan"))
check(lambda a: fe.hypot(fe.sum(a, axis=1), 3), lambda a: np.hypot(a.sum(axis=1), 3), 4e-6, x, ops=("sum", "hypot"))
check(lambda a, b: fe.copysign(fe.matmul(a, b), a[:, :1]), lambda a, b: np.copysign(a @ b, a[:, :1]), 4e-6, x, w)
"""
    run(PRELUDE + program)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-6), ("float16", 2e-3)])
def test_ops_after_a_reduction_are_its_epilogue(run: Run, dtype: str, tolerance: float) -> None:
    program = f"""
def inverse_root(x):
    return 1 / fe.sqrt(fe.max(x, axis=axis) + 1)

def mean(x, y):
    return fe.astype(fe.sum(x, axis=axis) / 8 - y, fe.float32)

for shape, axis in (((1, 1), 1), ((17, 65), 1), ((130, 65), 0), ((3, 9000), 1), ((2000, 70), 0), ((5, 17, 6), (0, 2))):
    x = normal(*shape, dtype="{dtype}") / np.sqrt(np.prod(shape))
    x = np.abs(x).astype("{dtype}")
    y = normal(*np.sum(x, axis=axis).shape, dtype="{dtype}")
    check(inverse_root, lambda x: 1 / np.sqrt(np.max(x, axis=axis) + 1), {tolerance}, x, ops=("max",))
    check(mean, lambda x, y: np.sum(x, axis=axis) / 8 - y, {tolerance}, x, y, ops=("sum",))
"""
    run(PRELUDE + program)

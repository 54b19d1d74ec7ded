"""Elementwise ops that are fused to a matrix product: the bits of separate ops, in the product's own launches."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

# `check` compares a graph with NumPy in float64 and with the ops that are not fused. If the number of launches is
# given, it checks that, and the nodes of the plan. Tiles of larger products depend on the number of multiprocessors.
PRELUDE = """
from math import erf
rng = np.random.default_rng(7)
erf = np.vectorize(erf, otypes=[np.float64])

def made(x):
    fe.eval(x)
    return x

def normal(*shape, dtype="float32"):
    return made(fe.asarray(rng.standard_normal(shape).astype("float32"), device="cuda").astype(dtype))

def numbers(x):
    return np.asarray(x.astype("float64"))

def gelu(x):
    return x / 2 * (1 + erf(x / np.sqrt(2)))

def nodes_of(graph, *arrays):
    plan = graph.trace(*arrays).plan
    return [node["op"] for step in plan["steps"] if "nodes" in step for node in step["nodes"]]

def launches():
    with open(os.environ["FERRULE_EMULATION_LOG"]) as file:
        return sum(line.startswith("cudaLaunchKernel") for line in file)

def launches_of(graph, *arrays):
    fe.eval(graph(*arrays))
    before = launches()
    fe.eval(graph(*arrays))
    return launches() - before

def check(function, truth, tolerance, *arrays, ops=("matmul",), launches=None):
    graph, alone = fe.graph(function), fe.graph(function, fuse=False)
    if launches is not None:
        assert tuple(nodes_of(graph, *arrays)) == ops, nodes_of(graph, *arrays)
        assert launches_of(graph, *arrays) == launches, launches_of(graph, *arrays)
    want = truth(*(numbers(x) for x in arrays))
    results = (x if isinstance(x, tuple) else (x,) for x in (graph(*arrays), alone(*arrays), want))
    for got, single, exact in zip(*results, strict=True):
        assert got.dtype == single.dtype and np.asarray(got).tobytes() == np.asarray(single).tobytes(), (got, single)
        exact = np.asarray(exact, np.float64)
        assert (np.abs(numbers(got) - exact) <= tolerance * (1 + np.abs(exact))).all(), (got, exact)
"""


@pytest.fixture
def run_checks(run: Run) -> Run:
    return lambda program, **variables: run(PRELUDE + program, FERRULE_CUDA_GRAPHS="0", **variables)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 4e-6), ("float16", 4e-3), ("bfloat16", 3e-2)])
def test_a_layer_of_few_rows_or_little_work_is_one_launch(run_checks: Run, dtype: str, tolerance: float) -> None:
    run_checks(f"""
def layer(x, w, bias):
    return fe.gelu(fe.matmul(x, w) + bias) * 2

def truth(x, w, bias):
    return 2 * gelu(x @ w + bias)

# The last columns of a row are 1 to 7 of 8 that a thread has.
for m, n, k in ((1, 1, 1), (1, 130, 40), (3, 64, 200), (16, 33, 17), (17, 65, 130), (65, 1, 17), (40, 9, 70),
                (130, 60, 33), (18, 31, 20), (5, 22, 9)):
    x, x_t = normal(m, k, dtype="{dtype}"), normal(k, m, dtype="{dtype}")
    w, w_t, bias = normal(k, n, dtype="{dtype}"), normal(n, k, dtype="{dtype}"), normal(n, dtype="{dtype}")
    scale = {tolerance} * np.sqrt(k)
    as_it_is, turned = lambda x: x, lambda x: x.T
    for a, left in ((x, as_it_is), (x_t, turned)):
        for b, right in ((w, as_it_is), (w_t, turned)):
            check(lambda a, b, bias: layer(left(a), right(b), bias), lambda a, b, bias: truth(left(a), right(b), bias),
                  scale, a, b, bias, launches=1)
""")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "int32"])
def test_split_segments_are_finished_by_the_last_launch(run_checks: Run, dtype: str) -> None:
    run_checks(f"""
# Sums are added four at once where their number is a multiple of four.
for m, n, k, count in ((1, 30, 1500, 2), (4, 32, 1500, 2), (14, 29, 1024, 2), (30, 31, 1100, 2),
                       (129, 130, 1030, None)):
    if "{dtype}".startswith("int"):
        x, w, y = (fe.asarray(rng.integers(-3, 4, shape).astype("{dtype}"), device="cuda")
                   for shape in ((m, k), (k, n), (m, n)))
        truth = lambda x, w, y: np.abs((x @ w).astype("int64").astype("{dtype}") - y.astype("{dtype}"))
    else:
        x, w, y = (normal(*shape, dtype="{dtype}") for shape in ((m, k), (k, n), (m, n)))
        truth = lambda x, w, y: np.abs(x @ w - y)
    tolerance = 0 if "{dtype}".startswith("int") else 1e-4 if "{dtype}" == "float32" else 0.5
    check(lambda x, w, y: fe.abs(x @ w - y), truth, tolerance, x, w, y, launches=count)
""")


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_rows_and_columns_are_broadcast_over_split_segments(run_checks: Run, dtype: str) -> None:
    run_checks(f"""
# Four sums that are finished at once are of two rows where a row is no multiple of four elements.
for m, n, k in ((3, 30, 1500), (5, 29, 1024), (9, 3, 2000), (4, 32, 1500)):
    if "{dtype}" == "int32":
        x, w, row, column = (fe.asarray(rng.integers(-3, 4, shape).astype("int32"), device="cuda")
                             for shape in ((m, k), (k, n), (n,), (m, 1)))
    else:
        x, w, row, column = (normal(*shape, dtype="{dtype}") for shape in ((m, k), (k, n), (n,), (m, 1)))
    tolerance = {{"float32": 1e-4, "float16": 0.5, "int32": 0}}["{dtype}"]
    layer = lambda x, w, row, column: (x @ w + row) * column
    check(layer, layer, tolerance, x, w, row, column, launches=2)
""")


def test_batches_broadcast_and_a_residual_may_have_any_strides(run_checks: Run) -> None:
    run_checks("""
for dtype, tolerance in (("float32", 4e-6), ("bfloat16", 3e-2)):
    x, w = normal(3, 1, 17, 9, dtype=dtype), normal(5, 9, 33, dtype=dtype)
    for view, *shape in ((lambda y: y.transpose(2, 1, 3, 0), 33, 5, 3, 17), (lambda y: y[..., ::-2], 3, 5, 17, 66),
                         (lambda y: y, 5, 1, 33), (lambda y: y, 17, 1), (lambda y: y,)):
        there = lambda y: fe.permute_dims(y, (2, 1, 3, 0)) if len(shape) == 4 and shape[0] == 33 else view(y)
        check(lambda x, w, y: there(y) - fe.matmul(x, w), lambda x, w, y: view(y) - x @ w, tolerance, x, w,
              normal(*shape, dtype=dtype), launches=1)
""")


def test_epilogues_cast_results_and_may_have_several(run_checks: Run) -> None:
    run_checks("""
def many(x, w, bias):
    y = fe.matmul(x, w) + bias
    return fe.astype(y, fe.float16), y > bias, fe.astype(y * y, fe.int32)

def truth(x, w, bias):
    y = x @ w + bias
    return y, y > bias, np.trunc(y * y)

for m, n in ((33, 40), (2, 129), (130, 3)):
    check(many, truth, 1e-3, normal(m, 20), normal(20, n), normal(n), launches=1)
x, w, bias = normal(20, 30, dtype="float16"), normal(30, 50, dtype="float16"), normal(50)
check(lambda x, w, y: fe.astype(x @ w, "float32") + y, lambda x, w, y: x @ w + y, 4e-3, x, w, bias, launches=1)
""")


def test_a_program_that_is_too_long_runs_after_the_product(run_checks: Run) -> None:
    run_checks("""
def long(x, w):
    y = x @ w
    for i in range(12): y = fe.sin(y) + i
    return y

def truth(x, w):
    y = x @ w
    for i in range(12): y = np.sin(y) + i
    return y

x, w = normal(17, 20), normal(20, 40)
check(long, truth, 1e-4, x, w, ops=("matmul", "fused"), launches=2)
check(lambda x, w: fe.astype(x @ w, "float64") * 2, lambda x, w: x @ w * 2, 4e-6, x, w, ops=("matmul", "fused"),
      launches=2)
""")


# Tails of M and N; rows, columns and matrices as other operands; one segment, and several that one block adds up.
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_tiles_of_mma_sync_of_128_rows_run_fused_ops(run_checks: Run, dtype: str) -> None:
    run_checks(
        f"""
as_it_is, turned = lambda x: x, lambda x: x.T
scale = 0.005 if "{dtype}" == "float16" else 0.04
for m, n, k, tile, lefts, rights in ((150, 264, 40, "large", (as_it_is, turned), (as_it_is, turned)),
                                     (200, 72, 24, "medium", (as_it_is, turned), (as_it_is, turned)),
                                     (250, 264, 1030, "large", (as_it_is,), (turned,))):
    row, column, matrix = normal(n), normal(m, 1, dtype="{dtype}"), normal(n, m, dtype="{dtype}")
    for left in lefts:
        for right in rights:
            a = normal(*((m, k) if left is as_it_is else (k, m)), dtype="{dtype}")
            b = normal(*((k, n) if right is as_it_is else (n, k)), dtype="{dtype}")
            layer = lambda a, b, row, matrix: fe.relu(left(a) @ right(b) + row) - matrix.T
            truth = lambda a, b, row, matrix: np.maximum(left(a) @ right(b) + row, 0) - matrix.T
            check(layer, truth, scale * np.sqrt(k), a, b, row, matrix, launches=1)
            check(lambda a, b, column: fe.abs(left(a) @ right(b)) * column,
                  lambda a, b, column: np.abs(left(a) @ right(b)) * column,
                  scale * np.sqrt(k), a, b, column, launches=1)
            nodes = fe.graph(layer).trace(a, b, row, matrix).placement()["nodes"]
            assert any(f"matmul_{{tile}}_epilogue" in str(node["kernel"]) for node in nodes), nodes
""",
        FERRULE_EMULATION_CAPABILITY="10.0",
        FERRULE_EMULATION_MULTIPROCESSORS="2",
    )


def test_wide_tiles_leave_fused_ops_to_a_second_launch_below_9_0(run_checks: Run) -> None:
    run_checks(
        """
a, b, row = normal(150, 40, dtype="float16"), normal(40, 264, dtype="float16"), normal(264, dtype="float16")
layer, truth = lambda a, b, row: fe.relu(a @ b + row), lambda a, b, row: np.maximum(a @ b + row, 0)
check(layer, truth, 0.03, a, b, row, ops=("matmul", "fused"), launches=2)
nodes = fe.graph(layer).trace(a, b, row).placement()["nodes"]
assert not any("_epilogue" in str(node["kernel"]) for node in nodes), nodes
""",
        FERRULE_EMULATION_CAPABILITY="8.0",
        FERRULE_EMULATION_MULTIPROCESSORS="2",
    )


def test_wgmma_and_large_tiles_of_float32_leave_the_ops_to_a_second_launch(run_checks: Run) -> None:
    run_checks(
        """
for dtype in ("float16", "float32"):
    x, w = normal(300, 72, dtype=dtype), normal(72, 264, dtype=dtype)
    check(lambda x, w: fe.abs(x @ w), lambda x, w: np.abs(x @ w), 1e-2, x, w, ops=("matmul", "abs"), launches=2)
""",
        FERRULE_EMULATION_MULTIPROCESSORS="2",
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_weights_in_blocks_take_fused_ops(run_checks: Run, dtype: str) -> None:
    # 256 elements along K are one segment; 1024 elements are several.
    run_checks(f"""
for k in (256, 1024):
    for m in (1, 5, 40):
        w = made(normal(70, k).astype("q8_0"))
        x, y = normal(m, k, dtype="{dtype}"), normal(m, 70, dtype="{dtype}")
        product = lambda x, w, y: fe.relu(x @ w.astype("float32").astype("{dtype}").T + y)
        alone = made(w.astype("float32").astype("{dtype}"))
        want = fe.graph(lambda x, w, y: fe.relu(x @ w.T + y), fuse=False)(x, alone, y)
        assert np.asarray(fe.graph(product)(x, w, y)).tobytes() == np.asarray(want).tobytes(), (k, m)
        if "{dtype}" == "bfloat16" or m <= 16:
            assert launches_of(fe.graph(product), x, w, y) == 2, (k, m)
""")


def test_gpus_without_matrix_instructions_give_the_same_bits_fused(run_checks: Run) -> None:
    run_checks(
        """
x, w, y = (normal(*shape, dtype="float16") for shape in ((17, 40), (40, 33), (33,)))
check(lambda x, w, y: x @ w + y, lambda x, w, y: x @ w + y, 1e-2, x, w, y, ops=("matmul", "add"), launches=2)
x, w, y = (normal(*shape) for shape in ((17, 40), (40, 33), (33,)))
check(lambda x, w, y: x @ w + y, lambda x, w, y: x @ w + y, 1e-5, x, w, y, launches=1)
""",
        FERRULE_EMULATION_CAPABILITY="7.5",
    )

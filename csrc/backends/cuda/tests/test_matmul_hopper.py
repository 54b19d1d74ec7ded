"""Products of halves by wgmma and TMA, which GPUs of compute capability 9.0 have (the emulator's default).

Their bits are those of the products by mma.sync, so that the kernel may depend on the number of rows. The emulator adds
in order in both, so these tests show that segments and tails agree, not that the instructions of a GPU do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., str]

DTYPES = ("float16", "bfloat16")
LAYOUTS = ("kk", "kn", "mk", "mn")


# How many tiles fill a device depends on its multiprocessors.
@pytest.fixture
def on_device(run: Run) -> Run:
    return lambda program, **variables: run(PRELUDE + program, **{"FERRULE_EMULATION_MULTIPROCESSORS": "2"} | variables)


PRELUDE = """
import hashlib
rng = np.random.default_rng(0)
ROUNDING = {"float16": 2.0**-11, "bfloat16": 2.0**-8}

def matrix(dtype, *shape):
    x = put(rng.standard_normal(shape)).astype(dtype)
    fe.eval(x)
    return x

def exact(x):
    return np.asarray(x.astype("float32")).astype("float64")

# The letters of a layout are the axes along which the operands are contiguous.
def operands(dtype, layout, m, n, k, batches=()):
    a = matrix(dtype, *batches, *((m, k) if layout[0] == "k" else (k, m)))
    b = matrix(dtype, *batches, *((n, k) if layout[1] == "k" else (k, n)))
    return a, b

def product(layout):
    return fe.graph(lambda a, b: (a if layout[0] == "k" else a.mT) @ (b.mT if layout[1] == "k" else b))

def kernel(graph, *arrays):
    return graph.trace(*arrays).placement()["nodes"][-1]["kernel"]

# Rounding of the result, and of each sum in float32.
def check(got, a, b):
    a, b = (x if isinstance(x, np.ndarray) else exact(x) for x in (a, b))
    want = a @ b
    bound = ROUNDING[str(got.dtype)] * np.abs(want) + a.shape[-1] * 2.0**-23 * (np.abs(a) @ np.abs(b)) + 2.0**-24
    assert got.shape == want.shape
    assert (np.abs(exact(got) - want) <= bound).all(), np.abs(exact(got) - want).max()
"""


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_are_right_in_each_layout(on_device: Run, dtype: str, layout: str) -> None:
    # Tails of M, N and K; one segment, several, and several that blocks share.
    program = f"""
dtype, layout = "{dtype}", "{layout}"
for m, n, k, tile in ((304, 264, 200, "large"), (136, 72, 80, "medium"), (264, 136, 1096, "large"),
                      (72, 520, 2304, "large"), (256, 128, 64, "medium"), (600, 80, 1280, "medium")):
    a, b = operands(dtype, layout, m, n, k)
    graph = product(layout)
    name = f"matmul_hopper_{{tile}}.{{dtype.replace('float', 'f')}}_{{layout}}"
    assert kernel(graph, a, b) == name, (m, n, k, kernel(graph, a, b))
    check(graph(a, b), exact(a) if layout[0] == "k" else exact(a).T, exact(b).T if layout[1] == "k" else exact(b))
"""
    on_device(program)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_has_the_same_bits_for_each_number_of_rows(on_device: Run, dtype: str) -> None:
    program = f"""
kernels = set()
for n, k in ((264, 200), (72, 1096), (1024, 2304)):
    a, b = operands("{dtype}", "kk", 300, n, k)
    alone = None
    for m in (300, 1, 7, 17, 65, 129, 250):
        rows = fe.asarray(a[:m])
        fe.eval(rows)
        graph = product("kk")
        kernels.add(kernel(graph, rows, b).split(".")[0])
        got = exact(graph(rows, b))
        alone = got if alone is None else alone
        assert got.tobytes() == alone[:m].tobytes(), (m, n, k)
    batch = fe.graph(lambda a, b: fe.broadcast_to(a, (3, *a.shape)) @ b.mT)
    assert exact(batch(a, b))[2].tobytes() == alone.tobytes(), (n, k)
assert {{"matmul_hopper_large", "matmul_hopper_medium", "matmul_rows"}} <= kernels, kernels
"""
    on_device(program)


def test_the_bits_are_those_of_mma_sync(on_device: Run) -> None:
    program = f"""
found = {{}}
for dtype in {DTYPES}:
    for layout in {LAYOUTS}:
        for m, n, k in ((304, 264, 200), (136, 72, 80), (72, 136, 4160), (264, 136, 1096)):
            a, b = operands(dtype, layout, m, n, k)
            graph = product(layout)
            digest = hashlib.sha256(exact(graph(a, b)).tobytes()).hexdigest()
            found[f"{{dtype}} {{layout}} {{m}} {{n}} {{k}}"] = (digest, "hopper" in kernel(graph, a, b))
print(json.dumps(found))
"""
    hopper = json.loads(on_device(program))
    ampere = json.loads(on_device(program, FERRULE_EMULATION_CAPABILITY="8.0"))
    assert all(is_hopper for _, is_hopper in hopper.values())
    assert not any(is_hopper for _, is_hopper in ampere.values())
    assert {case: digest for case, (digest, _) in hopper.items()} == {
        case: digest for case, (digest, _) in ampere.items()
    }


def test_batches_are_a_third_axis_of_the_tensor_maps(on_device: Run) -> None:
    program = """
for layout in ("kk", "kn", "mk", "mn"):
    a, b = operands("float16", layout, 136, 136, 72, batches=(3,))
    graph = product(layout)
    assert "hopper" in kernel(graph, a, b)
    want_a, want_b = (exact(a) if layout[0] == "k" else exact(a).transpose(0, 2, 1),
                      exact(b).transpose(0, 2, 1) if layout[1] == "k" else exact(b))
    check(graph(a, b), want_a, want_b)
    one = fe.asarray(b[1])
    fe.eval(one)
    assert "hopper" in kernel(graph, a, one)
    check(graph(a, one), want_a, want_b[1])
# Two axes that one stride serves, and heads beside each other in a row.
a, b = matrix("float16", 2, 3, 136, 72), matrix("float16", 2, 3, 136, 72)
graph = fe.graph(lambda a, b: a @ b.mT)
assert "hopper" in kernel(graph, a, b)
check(graph(a, b), exact(a), exact(b).swapaxes(2, 3))
q, k = matrix("float16", 136, 3, 72), matrix("float16", 136, 3, 72)
heads = fe.graph(lambda q, k: fe.permute_dims(q, (1, 0, 2)) @ fe.permute_dims(k, (1, 2, 0)))
assert "hopper" in kernel(heads, q, k)
check(heads(q, k), exact(q).transpose(1, 0, 2), exact(k).transpose(1, 2, 0))
"""
    on_device(program)


def test_operands_without_a_tensor_map_use_mma_sync(on_device: Run) -> None:
    program = """
def large(function, *arrays, wants=False):
    graph = fe.graph(function)
    assert ("hopper" in kernel(graph, *arrays)) == wants, kernel(graph, *arrays)
    return graph(*arrays)

a, b = matrix("float16", 136, 208), matrix("float16", 264, 208)
check(large(lambda a, b: a @ b.mT, a, b, wants=True), a, exact(b).T)
check(large(lambda a, b: a[:, 8:] @ b[:, 8:].mT, a, b, wants=True), exact(a)[:, 8:], exact(b)[:, 8:].T)
# The first element, the stride of rows, a stride within rows, rows in reverse, one row for all.
check(large(lambda a, b: a[:, 4:] @ b[:, 4:].mT, a, b), exact(a)[:, 4:], exact(b)[:, 4:].T)
odd = matrix("float16", 136, 204)
check(large(lambda a, b: a @ b[:, :204].mT, odd, b), odd, exact(b)[:, :204].T)
check(large(lambda a, b: a[:, ::2] @ b[:, :104].mT, a, b), exact(a)[:, ::2], exact(b)[:, :104].T)
check(large(lambda a, b: a[::-1] @ b.mT, a, b), exact(a)[::-1], exact(b).T)
row = lambda a, b: fe.broadcast_to(a[:1], a.shape) @ b.mT
check(large(row, a, b), np.broadcast_to(exact(a)[:1], a.shape), exact(b).T)
check(large(lambda a, b: a[:, :40] @ b[:, :40].mT, a, b), exact(a)[:, :40], exact(b)[:, :40].T)  # a short K
"""
    on_device(program)


@pytest.mark.parametrize(
    "variables",
    [
        {"FERRULE_EMULATION_CAPABILITY": "8.9"},
        {"FERRULE_EMULATION_CAPABILITY": "10.0"},
        {"FERRULE_EMULATION_CALL_FAILS": "cudaGetDriverEntryPointByVersion:*:cudaErrorSymbolNotFound"},
    ],
)
def test_other_gpus_and_drivers_use_mma_sync(on_device: Run, variables: dict[str, str]) -> None:
    program = """
a, b = operands("bfloat16", "kk", 136, 264, 200)
graph = product("kk")
assert kernel(graph, a, b) == "matmul_large.bf16_kk", kernel(graph, a, b)
check(graph(a, b), a, exact(b).T)
"""
    on_device(program, **variables)


def test_slices_that_move_use_mma_sync(on_device: Run) -> None:
    # Where a slice begins is known only at execution. Its copy by TMA needs a multiple of 8 elements, and a copy
    # without TMA would be slower than mma.sync.
    program = """
m, n, k = 264, 136, 200
for layout in ("kk", "kn", "mk", "mn"):
    a_shape, b_shape = (m, k) if layout[0] == "k" else (k, m), (n, k) if layout[1] == "k" else (k, n)
    a, b = (matrix("float16", shape[0], shape[1] + 16) for shape in (a_shape, b_shape))
    def slices(a, b, i, j):
        a, b = fe.dynamic_slice(a, (0, i), a_shape), fe.dynamic_slice(b, (0, j), b_shape)
        return (a if layout[0] == "k" else a.mT) @ (b.mT if layout[1] == "k" else b)
    graph = fe.graph(slices)
    assert "hopper" not in kernel(graph, a, b, 0, 0)
    for i, j in ((8, 16), (1, 0), (0, 3), (4, 7), (8, 2), (0, 0)):
        want_a, want_b = exact(a)[:, i : i + a_shape[1]], exact(b)[:, j : j + b_shape[1]]
        check(graph(a, b, i, j), want_a if layout[0] == "k" else want_a.T, want_b.T if layout[1] == "k" else want_b)
"""
    on_device(program)


def test_operands_that_are_aligned_to_their_items_alone_are_copied_without_tma(on_device: Run) -> None:
    # Memory of another library may begin anywhere, which is known only at execution. What is behind the rows and
    # columns is NaN.
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[4])!r})
from csrc.backends.cuda.tests.dlpack_objects import at_item

for layout in ("kk", "kn", "mk", "mn"):
    for m, n, k in ((136, 72, 80), (136, 264, 200), (264, 136, 1096)):
        a, b = (rng.integers(-4, 5, shape).astype("float16") for shape in ((m, k), (k, n)))
        there_a, there_b = a if layout[0] == "k" else a.T.copy(), b.T.copy() if layout[1] == "k" else b
        graph = product(layout)
        # Replays, too: a tensor map that was encoded before must not be used.
        for first_a, first_b in ((8, 8), (3, 8), (8, 1), (5, 7), (16, 0)):
            x, y = at_item(there_a, page, first_a), at_item(there_b, page, first_b)
            assert "hopper" in kernel(graph, x, y), (layout, m, n, k)
            assert (exact(graph(x, y)) == a.astype("float64") @ b.astype("float64")).all(), (layout, m, n, k, first_a)
"""
    on_device(program)


def test_replays_read_the_arrays_of_each_call(on_device: Run) -> None:
    program = """
def steps(a, b, c):
    return fe.exp((a @ b.mT) * 0.01) @ c
graph = fe.graph(steps)
c = matrix("float16", 264, 136)
arrays = [operands("float16", "kk", 136, 264, 200) for _ in range(3)]
separate = [exact(steps(a, b, c)).tobytes() for a, b in arrays]
assert len(set(separate)) == 3
for i in (0, 0, 0, 1, 1, 2, 0, 1, 1, 1, 2, 2):
    assert exact(graph(*arrays[i], c)).tobytes() == separate[i], i
"""
    on_device(program)


@pytest.mark.parametrize("order", ["reverse", "5"])
def test_the_order_of_threads_changes_nothing(on_device: Run, order: str) -> None:
    program = """
for layout in ("kk", "kn", "mk", "mn"):
    for m, n, k in ((264, 136, 1096), (136, 72, 520)):
        a, b = operands("float16", layout, m, n, k)
        got = product(layout)(a, b)
        check(got, exact(a) if layout[0] == "k" else exact(a).T, exact(b).T if layout[1] == "k" else exact(b))
"""
    on_device(program, FERRULE_EMULATION_ORDER=order)


def test_nan_and_infinities_reach_their_row_and_column_alone(on_device: Run) -> None:
    program = """
a, b = np.ones((136, 200), "float32"), np.ones((264, 200), "float32")
a[5, 199] = np.nan
b[131, 0] = np.inf
got = exact(product("kk")(put(a).astype("float16"), put(b).astype("float16")))
want = np.full((136, 264), 200.0)
want[:, 131] = np.inf
want[5] = np.nan
np.testing.assert_array_equal(got, want)
"""
    on_device(program)

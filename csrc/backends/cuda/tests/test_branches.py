"""Kernels of a replayed graph that need not follow each other, and those that must.

With FERRULE_EMULATION_ORDER the emulator runs kernels without a dependency between them in another order.
"""

from __future__ import annotations

import pytest

from csrc.backends.cuda.tests.processes import Done, Processes

ORDERS = ("reverse", "1", "2", "3", "4")


def dependencies(done: Done) -> list[int]:
    """The number of kernels that each kernel of the first graph follows."""
    begin = done.calls.index("cudaGraphCreate")
    end = done.calls.index("cudaGraphInstantiate", begin)
    lines = done.calls[begin:end]
    return [int(line.removeprefix("dependencies ")) for line in lines if line.startswith("dependencies ")]


# Results are released at once: the next execution has the same memory then, and replays the graph.
HOST = "def host(arrays): return [np.asarray(array) for array in arrays]\n"

PRODUCTS = """
rng = np.random.default_rng(0)
x, *weights = (rng.integers(-9, 9, (8, 8)).astype("float32") for _ in range(4))
there, *ws = (put(each) for each in (x, *weights))
f = fe.graph(lambda x, a, b, c: (x @ a, x @ b, fe.sum(x @ c, axis=0)))
for _ in range(4):
    got = host(f(there, *ws))
    want = (x @ weights[0], x @ weights[1], (x @ weights[2]).sum(axis=0))
    for a, b in zip(got, want): assert np.array_equal(a, b)
"""


def test_kernels_of_disjoint_memory_are_branches(start: Processes) -> None:
    assert sorted(dependencies(start(HOST + PRODUCTS))) == [0, 0, 0, 1]


# Results that are used at once and never again: the next ones get their memory in the workspace. Each must wait until
# the last reader of the bytes is done, though it uses none of its results.
REUSES = """
rng = np.random.default_rng(0)
def numbers(): return rng.integers(-9, 9, (8, 8)).astype("float32")
x, weights = numbers(), [numbers() for _ in range(8)]
there, ws = put(x), [put(w) for w in weights]
def f(x, *ws):
    totals = []
    for w in ws:
        y = np.sign(x @ w) if isinstance(x, np.ndarray) else fe.sign(x @ w)
        totals.append((y @ w).sum(axis=0))
    return tuple(totals)
want, graph = f(x, *weights), fe.graph(f)
for turn in range(4):
    for a, b in zip(host(graph(there, *ws)), want): assert np.array_equal(a, b), turn
"""


@pytest.mark.parametrize("order", ORDERS)
def test_memory_of_temporaries_is_written_after_its_last_reader(order: str, start: Processes) -> None:
    done = start(HOST + REUSES, FERRULE_EMULATION_ORDER=order)
    assert "cudaGraphLaunch" in done.calls
    assert max(dependencies(done)) > 1, "a node waits for a reader, too"


# Temporaries of different sizes: one may have some bytes of several earlier ones, and begin within one of them.
OVERLAPS = """
rng = np.random.default_rng(0)
def numbers(*shape): return rng.integers(-9, 9, shape).astype("float32")
widths = (8, 24, 40, 16, 64, 8, 48, 32, 8, 56)
x, weights = numbers(8, 8), [numbers(8, width) for width in widths]
there, ws = put(x), [put(w) for w in weights]
def f(x, *ws):
    totals = []
    for w in ws:
        y = np.sign(x @ w) if isinstance(x, np.ndarray) else fe.sign(x @ w)
        totals.append((y @ w.T).sum(axis=0))
    return tuple(totals)
want, graph = f(x, *weights), fe.graph(f)
for turn in range(4):
    for a, b in zip(host(graph(there, *ws)), want): assert np.array_equal(a, b), turn
"""


@pytest.mark.parametrize("order", ORDERS)
def test_memory_of_temporaries_of_other_sizes_is_written_after_its_last_reader(order: str, start: Processes) -> None:
    assert "cudaGraphLaunch" in start(HOST + OVERLAPS, FERRULE_EMULATION_ORDER=order).calls


# An output that takes over the memory of an input, which other kernels read before.
DONATED = """
rng = np.random.default_rng(0)
table, rows, w = (rng.integers(-9, 9, shape).astype("float32") for shape in ((8, 8), (2, 8), (8, 8)))
there, ws = put(rows), put(w)
f = fe.graph(lambda t, r, w: (fe.sum(fe.sign(t @ w), axis=0), fe.update_slice(t, r, (3, 0))), donate=(0,))
cache = put(table)
for turn in range(6):
    before = table
    table = table.copy()
    table[3:5] = rows
    total, cache = f(cache, there, ws)
    assert np.array_equal(np.asarray(total), np.sign(before @ w).sum(axis=0)), turn
    rows = rows + 1
    there = put(rows)
assert np.array_equal(np.asarray(cache), table)
"""


@pytest.mark.parametrize("order", ORDERS)
def test_donated_input_is_written_after_its_last_reader(order: str, start: Processes) -> None:
    assert "cudaGraphLaunch" in start(DONATED, FERRULE_EMULATION_ORDER=order).calls


# The launches of each product share the scratch memory of the graph with those of the other.
SCRATCH = """
rng = np.random.default_rng(0)
x, *weights = (rng.integers(-2, 3, shape).astype("float32") for shape in ((4, 4096), (4096, 8), (4096, 8)))
there, *ws = (put(each) for each in (x, *weights))
f = fe.graph(lambda x, a, b: (x @ a, x @ b))
for _ in range(4):
    for got, w in zip(host(f(there, *ws)), weights): assert np.array_equal(got, x @ w)
"""


@pytest.mark.parametrize("order", ORDERS)
def test_nodes_share_scratch_memory_one_after_the_other(order: str, start: Processes) -> None:
    done = start(HOST + SCRATCH, FERRULE_EMULATION_ORDER=order)
    assert len(dependencies(done)) > 2, "sums are split"


# Nodes of several launches, which pass their results on in scratch memory. A number that changes makes other results,
# so that those of the execution before are seen.
SEVERAL_LAUNCHES = """
rng = np.random.default_rng(0)
levels, values = rng.uniform(0, 1, 9001).astype("float32"), rng.integers(-99, 99, (3, 9001)).astype("float32")
w = rng.integers(-9, 9, (9001, 5)).astype("float32")
q, k, v = (rng.integers(-2, 3, shape).astype("float32") for shape in ((2, 64), (300, 64), (300, 64)))
arrays = [put(array) for array in (levels, values, w, q, k, v)]
def shares(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
def filled(kept): return np.pad(kept, [*[(0, 0)] * (kept.ndim - 1), (0, 9001 - kept.shape[-1])])
functions = {
    "compress": (lambda s, levels, x, *_: fe.compress(levels < s, x, axis=1, size=9001),
                 lambda s: filled(values[:, levels < s])),
    "nonzero": (lambda s, levels, *_: fe.nonzero(levels < s, size=9001)[0],
                lambda s: filled(np.flatnonzero(levels < s))),
    "topk": (lambda s, levels, x, *_: fe.topk(abs(x - s * 99), 300, axis=1)[1],
             lambda s: np.argsort(-abs(values - np.float32(s) * 99), axis=1, kind="stable")[:, :300]),
    "sum": (lambda s, levels, x, *_: fe.sum(x * s, axis=1), lambda s: s * values.sum(axis=1)),
    "matmul": (lambda s, levels, x, w, *_: (x * s) @ w, lambda s: s * values @ w),
    "fused": (lambda s, levels, x, w, *_: fe.abs((x * s) @ w), lambda s: abs(s * values @ w)),
    "attention": (lambda s, levels, x, w, q, k, v: fe.scaled_dot_product_attention(q * s, k, v, scale=1.0),
                  lambda s: shares(s * q.astype("float64") @ k.T) @ v),
}
function, want = functions[name]
ones = put(np.ones((8, 8)))
def steps(s, ones, *arrays):
    y = ones
    for _ in range(5): y = fe.sign(y @ ones)  # launches that do not change: the graph is replayed
    return function(s, *arrays), fe.sum(y, axis=0)
graph = fe.graph(steps)
for s in (0.5, 0.25, 0.25, 0.75, 0.5, 0.125):
    np.testing.assert_allclose(host(graph(s, ones, *arrays))[0], want(s), rtol=1e-4, atol=1e-4, err_msg=str(s))
"""


@pytest.mark.parametrize("order", ["reverse", "1"])
@pytest.mark.parametrize("name", ["compress", "nonzero", "topk", "sum", "matmul", "fused", "attention"])
def test_launches_of_a_node_follow_each_other(name: str, order: str, start: Processes) -> None:
    done = start(HOST + f"name = {name!r}\n" + SEVERAL_LAUNCHES, FERRULE_EMULATION_ORDER=order)
    assert "cudaGraphLaunch" in done.calls


# A number that a kernel reads in memory, where the first launch of the graph stores it.
NUMBERS = """
x, ones = put(np.arange(64).reshape(8, 8)), put(np.ones((8, 8)))
def steps(x, ones, i):
    y = ones
    for _ in range(5): y = fe.sign(y @ ones)
    return fe.take(x, i, axis=0), fe.sum(y, axis=0)
f = fe.graph(steps)
for number in (1, 3, 3, 7, 0):
    assert np.asarray(f(x, ones, number)[0]).tolist() == list(range(8 * number, 8 * number + 8)), number
"""


@pytest.mark.parametrize("order", ORDERS)
def test_numbers_are_stored_before_they_are_read(order: str, start: Processes) -> None:
    assert "cudaGraphLaunch" in start(HOST + NUMBERS, FERRULE_EMULATION_ORDER=order).calls


# If two nodes fail, the error is that of the first node, in replays too.
FAULTS = """
x = put(np.arange(8))
f = fe.graph(lambda x, i, j: fe.take(x, i, axis=0) + fe.take(x * 2, j, axis=0))
i, j = put([9], np.int64), put([77], np.int64)
for turn in range(4): print(attempt(lambda: f(x, i, j)))
"""


@pytest.mark.parametrize("order", ORDERS)
def test_the_first_of_two_faults_is_reported(order: str, start: Processes) -> None:
    done = start(HOST + FAULTS, FERRULE_EMULATION_ORDER=order)
    assert "cudaGraphLaunch" in done.calls
    assert all("index 9 " in line for line in done.output.splitlines()), done.output

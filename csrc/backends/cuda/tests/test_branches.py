"""Kernels of a replayed graph that need not follow each other, and those that must.

With FERRULE_EMULATION_ORDER the emulator runs kernels without a dependency between them in another order.
"""

from __future__ import annotations

import pytest

from csrc.backends.cuda.tests.processes import Done, Processes

ORDERS = ("reverse", "1", "2", "3", "4")


def dependencies(done: Done) -> list[int]:
    """How many kernels each one of the first graph follows."""
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

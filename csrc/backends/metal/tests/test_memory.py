"""Host memory that is borrowed, copies beside work that runs, and the end of all objects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]


def test_pages_of_the_host_are_borrowed_and_read_where_they_are(run: Run) -> None:
    program = """
import mmap
pages = mmap.mmap(-1, 3 * 16384)
x = np.frombuffer(pages, np.float32)
x[:] = 3
start = -x.ctypes.data % 16384 // 4
device = fe.device("metal:0")
for part in (x[start : start + 4096], x[start + 5 : start + 13]):
    borrowed = fe.buffer_from_host_ptr(part, device=device, copy=False)
    print(borrowed.placement, int(np.asarray(fe.sum(borrowed))))
copied = fe.asarray(np.ones(3, np.float32), device=device)
print(int(np.asarray(fe.sum(copied))))
"""
    assert run(program) == f"borrowed {3 * 4096}\nborrowed 24\n3\n"


def test_copies_beside_running_work_see_what_they_should(run: Run) -> None:
    program = """
x = fe.asarray(np.ones((64, 64), np.float32), device="metal:0")
for turn in range(8):
    y = x @ x
    fe.eval(y, wait=False)
    x = fe.asarray(np.full((64, 64), turn + 1, np.float32), device="metal:0")
    assert np.array_equal(np.asarray(y), np.full((64, 64), 64 * max(turn, 1) ** 2, np.float32)), turn
print("right")
"""
    assert run(program) == "right\n"


@pytest.mark.parametrize("order", ["forward", "reverse", "7"])
def test_dispatches_that_nothing_orders_may_run_in_any_order(order: str, run: Run) -> None:
    program = """
@fe.graph
def branches(x, w):
    parts = [fe.softmax(x @ w + i, axis=-1) for i in range(4)]
    total = parts[0]
    for part in parts[1:]:
        total = total + fe.sum(part, axis=0, keepdims=True) * part
    return total, fe.concat(parts, axis=0)

rng = np.random.default_rng(0)
x, w = rng.standard_normal((9, 33)).astype(np.float32), rng.standard_normal((33, 17)).astype(np.float32)
there = [np.asarray(part) for part in branches(fe.asarray(x, device="metal:0"), fe.asarray(w, device="metal:0"))]
here = [np.asarray(part) for part in branches(fe.asarray(x, device="cpu"), fe.asarray(w, device="cpu"))]
print(all(np.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(there, here)))
"""
    assert run(program, FERRULE_EMULATION_METAL_ORDER=order, FERRULE_EMULATION_ORDER=order) == "True\n"


def test_no_object_of_metal_is_left_when_the_backend_is_unloaded(run: Run) -> None:
    program = """
import gc
x = fe.asarray(np.ones((50, 50), np.float32), device="metal:0")
y = np.asarray(fe.exp(x) @ x)
del x
gc.collect()
fe.unload("metal")
print(y.shape)
"""
    # The log, which must be empty, has each object that is left.
    assert run(program, FERRULE_EMULATION_METAL_LEAKS="1") == "(50, 50)\n"

"""Several threads use the same arrays and traced functions; each test has its own process, which may crash."""

from __future__ import annotations

import sys
import threading
from typing import Any

import ferrule as fe
import numpy as np
import pytest

PRELUDE = """
import io, pickle, sys, threading, time
import ferrule as fe, numpy as np
sys.setswitchinterval(1e-5)
x = fe.asarray(np.ones((600, 600), "f4"))
failures, end = [], time.monotonic() + {seconds}
def repeat(work):
    def run():
        try:
            while time.monotonic() < end:
                work()
        except BaseException as error:
            failures.append(repr(error))
    return threading.Thread(target=run)
def run(*works):
    threads = [repeat(work) for work in works]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert not failures, failures
def assign():
    x[0] = 1.0
"""

READERS = {
    "call": "f = fe.graph(lambda a: a.sum())\ndef read(): assert f(x).item() == 360000",
    "call_with_numbers": "f = fe.graph(lambda a, s: (a * s).sum())\ndef read(): assert f(x, 2).item() == 720000",
    "op": "def read(): assert (x + x)[3, 5].item() == 2",
    "evaluate": "def read(): fe.eval(x, x * 2)",
    "asarray": "def read(): assert np.asarray(x)[599, 599] == 1",
    "repr": "def read(): assert '600' in repr(x)",
    "dlpack": "def read(): assert np.from_dlpack(x)[0, 0] == 1",
    "pickle": "def read(): assert pickle.loads(pickle.dumps(x)).shape == (600, 600)",
    "index": "def read(): assert x[0, 3].item() == 1",
    "graph": (
        "g = fe.Graph('cpu'); g.output(g.input((600, 600)) * 2)\ndef read(): assert g.compute(x)[0, 0].item() == 2"
    ),
}


@pytest.mark.parametrize("reader", READERS)
def test_an_array_may_be_assigned_to_while_other_threads_read_it(run_python: Any, reader: str) -> None:
    seconds = 1.5 if reader == "call" else 0.5
    run_python(PRELUDE.format(seconds=seconds) + READERS[reader] + "\nrun(assign, read, read, read)\n")


def test_arguments_may_be_dropped_while_a_call_computes(run_python: Any) -> None:
    run_python(
        PRELUDE.format(seconds=0.5) + "f = fe.graph(lambda a, b: (a @ b).sum())\n"
        "held = [x, x]\n"
        "def drop(): held[:] = [fe.asarray(np.ones((600, 600), 'f4')), fe.asarray(np.ones((600, 600), 'f4'))]\n"
        "def read(): assert f(*held).item() == 600.0**3\n"
        "run(drop, read, read)\n"
    )


def test_call_of_another_structure_never_uses_a_cached_graph(run_python: Any) -> None:
    """Structures are evicted repeatedly while other threads hold their numbers."""
    run_python(
        PRELUDE.format(seconds=1) + "import itertools\n"
        "f = fe.graph(lambda a, tag: a + int(tag), cache_size=1)\n"
        "counters = [itertools.count(k * 37) for k in range(4)]\n"
        "one = fe.zeros(2)\n"
        "def worker(counter):\n"
        "    def work():\n"
        "        k = next(counter) % 113\n"
        "        got = f(one, str(k))[0].item()\n"
        "        assert got == k, (got, k)\n"
        "    return work\n"
        "run(*map(worker, counters), f.cache_clear)\n"
    )


def test_result_is_right_when_the_cache_is_cleared_during_a_call(run_python: Any) -> None:
    run_python(
        PRELUDE.format(seconds=1) + "f = fe.graph(lambda a, tag: a + 1, cache_size=1)\n"
        "y = fe.zeros(2)\n"
        "def read():\n"
        "    for tag in 'ab': assert f(y, tag).shape == (2,)\n"
        "run(read, read, f.cache_clear)\n"
    )


def test_a_callback_that_runs_when_an_entry_ends_may_call_the_function(run_python: Any) -> None:
    """Destroying a cached graph runs Python code of a result's owner in the middle of a cache change."""
    run_python(
        "import weakref, ferrule as fe\n"
        "calls = []\n"
        "def ended():\n"
        "    if len(calls) < 50:\n"
        "        calls.append(1)\n"
        "        f(fe.zeros(2), str(len(calls)))\n"
        "        f.cache_clear()\n"
        "def owner():\n"
        "    made = lambda: None\n"
        "    weakref.finalize(made, ended).atexit = False\n"
        "    return made\n"
        "f = fe.graph(lambda a, tag: (a + 1, owner()), cache_size=1)\n"
        "for k in range(20): f(fe.zeros(2), 'tag %d' % k)\n"
        "f.cache_clear()\n"
        "assert calls\n"
    )


def test_a_signal_handler_may_compute_in_the_middle_of_a_computation(run_python: Any) -> None:
    run_python(
        "import signal, ferrule as fe, numpy as np\n"
        "x = fe.asarray(np.ones((900, 900), 'f4'))\n"
        "f, g = fe.graph(lambda a: (a @ a @ a @ a).sum()), fe.graph(lambda a: a + 1)\n"
        "calls = [g(fe.ones(3))[0].item()]; x[0] = 1.0  # what is imported at first use is imported\n"
        "def handler(*_):\n"
        "    calls.append(g(fe.ones(3))[0].item()); x[0] = 1.0; f.cache_clear(); arm()\n"
        "def arm(): signal.setitimer(signal.ITIMER_REAL, 0.01)  # once: a slow handler would be all that runs\n"
        "signal.signal(signal.SIGALRM, handler); arm()\n"
        "for _ in range(20): f(x).item()\n"
        "signal.setitimer(signal.ITIMER_REAL, 0); assert len(calls) > 1\n"
    )


@pytest.mark.parametrize(
    ("change", "kind"),
    [("del x._handle", "AttributeError"), ("x._handle = None", "Exception"), ("x._handle = 5", "Exception")],
)
def test_an_array_without_its_handle_is_an_error(run_python: Any, change: str, kind: str) -> None:
    run_python(
        "import ferrule as fe\n"
        "f = fe.graph(lambda a: a + 1)\n"
        f"x = fe.ones(3); f(x); {change}\n"
        f"try: f(x)\nexcept {kind}: pass\nelse: raise SystemExit('no error')\n"
    )


@pytest.mark.parametrize("make", [lambda kind: kind(), lambda kind: object.__new__(kind)])
def test_handles_are_made_by_ferrule_alone(make: Any) -> None:
    with pytest.raises(TypeError):
        make(type(fe.zeros(3)._handle))


def test_no_result_leaks_when_there_is_no_memory_for_its_object(run_python: Any) -> None:
    """Each Python allocation in a call fails once. (With several results, CPython 3.11 itself leaks frames.)"""
    pytest.importorskip("_testcapi")
    run_python(
        "import ferrule as fe, numpy as np, _testcapi\n"
        "f = fe.graph(lambda a, b: a + b)\n"
        "x = fe.asarray(np.ones(100_000, 'f4'), copy=True); f(x, x)\n"
        "before = fe.memory_stats('cpu').live\n"
        "failures = 0\n"
        "for number in range(60):\n"
        "    _testcapi.set_nomemory(number, number + 1)\n"
        "    try: f(x, x)\n"
        "    except MemoryError: failures += 1\n"
        "    finally: _testcapi.remove_mem_hooks()\n"
        "assert failures >= 2, failures\n"
        "assert fe.memory_stats('cpu').live == before, (fe.memory_stats('cpu'), before)\n"
    )


def test_threads_computing_one_array_keep_no_intermediates() -> None:
    size = 1 << 20
    x = fe.asarray(np.ones(size // 4, "float32"), copy=True)

    def chain() -> fe.Array:
        y = x
        for _ in range(50):
            y = fe.sin(y)
        return y

    fe.eval(chain())
    compiles = fe.stats()["compiles"]
    for _ in range(5):
        y = chain()
        barrier = threading.Barrier(2)

        def work(y: fe.Array = y, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            fe.eval(y)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert fe.stats()["compiles"] == compiles


def test_shapes_are_read_while_another_thread_donates() -> None:
    f = fe.graph(lambda x, v: fe.update_slice(x, v, (3,)), donate=0)
    v = fe.asarray(np.zeros(8, "float32"))
    current = [fe.zeros(64) + 1]
    is_over = threading.Event()
    seen = set()

    def look() -> None:
        while not is_over.is_set():
            x = current[0]
            for _ in range(20):
                seen.add((x.shape, str(x.dtype)))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(3000):
            x = fe.zeros(64) + 1
            fe.eval(x)
            current[0] = x
            f(x, v)
    finally:
        is_over.set()
        thread.join()
    assert seen == {((64,), "float32")}


def test_array_computed_by_another_thread_is_not_updated_in_place(run_python: Any) -> None:
    """One thread compiles a graph that updates x; another computes the update and then drops x."""
    run_python(
        PRELUDE.format(seconds=0) + "for k in range(5):\n"
        "    x = fe.asarray(np.zeros((100, 100), 'f4')) + 1\n"
        "    fe.eval(x)\n"
        "    double = x * 2\n"
        "    x[0] = 5.0\n"
        "    slow = fe.zeros(4)\n"
        "    for _ in range(3000 + k): slow = slow + 1\n"
        "    compiling = threading.Thread(target=fe.eval, args=(slow, x))\n"
        "    compiling.start()\n"
        "    time.sleep(0.005)\n"
        "    fe.eval(x)\n"
        "    compiling.join()\n"
        "    assert np.asarray(x)[:2, 0].tolist() == [5, 1]\n"
        "    assert (np.asarray(double) == 2).all()\n"
    )


@pytest.mark.parametrize("kind", ["rows", "one row", "all at once"])
def test_assignments_of_threads_to_one_array_are_all_kept(kind: str) -> None:
    threads, rounds = 4, 100
    x = fe.zeros((threads * rounds, 2))

    def assign(number: int) -> None:
        for i in range(rounds):
            if kind == "rows":
                x[i * threads + number] = number + 1.0
            elif kind == "one row":
                x[number] = i + 1.0
            else:
                x[number::threads] = number + 1.0

    running = [threading.Thread(target=assign, args=(number,)) for number in range(threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    got = np.asarray(x)[:, 0]
    if kind == "one row":
        np.testing.assert_array_equal(got, [rounds] * threads + [0] * (threads * rounds - threads))
    else:
        np.testing.assert_array_equal(got, np.tile(np.arange(1, threads + 1), rounds))

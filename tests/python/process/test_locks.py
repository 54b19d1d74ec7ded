"""Traced functions that call each other in several threads, and forks while another thread is busy, do not deadlock.
Each test runs in a process with a time limit, which prints the stacks of its threads on timeout."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LIMIT = "import faulthandler; faulthandler.dump_traceback_later(120, exit=True)\n"
FORK = """
import os, signal, threading, time
import numpy as np, ferrule as fe

def in_child(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(100)  # as the limit, whose thread is gone
        try:
            work()
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert status == 0, status
"""

Run = Callable[..., object]


def test_traced_functions_may_call_each_other_from_two_threads(run_python: Run) -> None:
    run_python(
        LIMIT
        + """
import threading
import ferrule as fe
known, both = fe.ones(3), threading.Barrier(2)
def of(other, factor):
    def function(x):
        if x.shape == (4,):
            both.wait(60)
            return x + fe.sum(functions[other](known))
        return x * factor
    return fe.graph(function)
functions = {"f": of("g", 2), "g": of("f", 3)}
results = {}
def call(name):
    results[name] = functions[name](fe.ones(4)).tolist()
threads = [threading.Thread(target=call, args=(name,)) for name in functions]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert results == {"f": [10.0] * 4, "g": [7.0] * 4}, results
"""
    )


def test_two_threads_may_trace_one_signature_and_one_graph_is_kept(run_python: Run) -> None:
    run_python(
        LIMIT
        + """
import threading
import ferrule as fe
both, traces = threading.Barrier(2), []
@fe.graph
def f(x):
    number = len(traces)
    traces.append(number)
    if number < 2: both.wait(60)
    return x + 1, number
results = []
threads = [threading.Thread(target=lambda: results.append(f(fe.ones(2))[1])) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert f(fe.ones(2))[1] == results[0] == results[1] and traces == [0, 1], (results, traces)
info = f.cache_info()
assert (info.hits, info.misses, info.currsize) == (1, 2, 1), info
"""
    )


@pytest.mark.skipif(sys.platform != "linux", reason="finds libferrule by its name on Linux")
def test_a_call_that_waits_for_a_callback_lets_it_run(run_python: Run) -> None:
    """A Python callback runs while the core holds the lock of a backend, for which another thread waits."""
    run_python(
        LIMIT
        + """
import ctypes, sys, threading
from pathlib import Path
import ferrule as fe
get_proc = ctypes.CDLL(Path(fe.__file__).parent / "libferrule.so").fe_get_proc
get_proc.restype = ctypes.c_void_p
Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
set_callback = ctypes.CFUNCTYPE(None, Callback, ctypes.c_void_p)(get_proc(b"fe_set_load_step_callback"))
backend, lists, asked = fe.device("cpu").backend, threading.Event(), threading.Event()
@Callback
def callback(argument, step):
    lists.set()
    asked.wait()
set_callback(callback, None)
refreshing = threading.Thread(target=fe.refresh)
refreshing.start()
lists.wait()
sys.setswitchinterval(1000)  # the callback runs only when this thread waits without the GIL
asked.set()
assert backend.proc("features_text")
refreshing.join()
"""
    )


def test_a_fork_while_another_thread_traces(run_python: Run) -> None:
    run_python(
        LIMIT
        + FORK
        + """
tracing, forked = threading.Event(), threading.Event()
@fe.graph
def f(x):
    if x.shape == (5,):
        tracing.set()
        forked.wait(20)
    return x * 2
f(fe.ones(4))
thread = threading.Thread(target=f, args=(fe.ones(5),))
thread.start()
tracing.wait()
def work():
    assert f(fe.ones(4)).tolist() == [2.0] * 4
    assert f(fe.ones(6)).tolist() == [2.0] * 6
in_child(work)
forked.set()
thread.join()
"""
    )


def test_a_fork_while_another_thread_first_uses_a_device(run_python: Run) -> None:
    run_python(
        LIMIT
        + FORK
        + """
from ferrule.loading import load as loading
load_all, begun, forked = loading.load_all, threading.Event(), threading.Event()
def slow():
    begun.set()
    forked.wait(20)
    return load_all()
loading.load_all = slow
thread = threading.Thread(target=fe.devices)
thread.start()
begun.wait()
def work():
    loading.load_all = load_all
    assert str(fe.devices()[-1]) == "cpu:0"
in_child(work)
forked.set()
thread.join()
"""
    )


def test_a_fork_while_another_thread_records(run_python: Run) -> None:
    run_python(
        LIMIT
        + FORK
        + """
g, held, forked = fe.Graph("cpu"), threading.Event(), threading.Event()
x = g.input((2,))
def hold():
    with g._lock:
        held.set()
        forked.wait(20)
thread = threading.Thread(target=hold)
thread.start()
held.wait()
def work():
    g.output(x * 2)
    assert g.compute(fe.ones(2)).tolist() == [2.0, 2.0]
in_child(work)
forked.set()
thread.join()
with g._lock:  # what the thread that forks holds, it holds in the child
    pid = os.fork()
if pid == 0:
    with g._lock: os._exit(7)
assert os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == 7
"""
    )


def test_first_use_of_a_device_is_retried_after_an_error(run_python: Run) -> None:
    run_python(
        """
import ferrule as fe
from ferrule.loading import load as loading
load_all = loading.load_all
def fail(): raise fe.OutOfMemoryError("no memory just now")
loading.load_all = fail
try: fe.devices()
except fe.OutOfMemoryError: pass
else: raise SystemExit("no error")
loading.load_all = load_all
assert fe.devices()
"""
    )


def test_environment_may_change_during_the_search_for_backends(run_python: Run) -> None:
    """getenv concurrent with setenv reads freed memory, so loads read a copy made under the GIL."""
    run_python(
        LIMIT
        + """
import os, threading, time
import ferrule as fe
fe.load_all()
end = time.monotonic() + 1
def change(name):
    while time.monotonic() < end:
        for number in range(400): os.environ[f"Z{name}_{number}"] = "x" * 50
        for number in range(400): del os.environ[f"Z{name}_{number}"]
threads = [threading.Thread(target=change, args=(name,)) for name in "ab"]
for thread in threads: thread.start()
while time.monotonic() < end: fe.load_all()
for thread in threads: thread.join()
"""
    )


@pytest.mark.parametrize("question", ["device.memory", "device.info", "fe.memory_stats(device)"])
def test_device_queries_release_the_gil(
    run_python: Run, build_module: Callable[..., Path], tmp_path: Path, question: str
) -> None:
    """A query that waits for the core releases the GIL: otherwise the thread that lets the core go on never runs."""
    held = tmp_path / "held"
    held.touch()
    run_python(
        LIMIT
        + f"""
import os, threading, time
import ferrule as fe
fe.load({str(build_module("t_a"))!r}, as_name="t_a")
device = fe.device("t_a")
opening = threading.Thread(target=device.open)
opening.start()
time.sleep(0.1)  # the device is being opened by then; if not, the query opens it or does not wait
threading.Timer(0.1, os.unlink, ({str(held)!r},)).start()
{question}
opening.join()
""",
        FERRULE_TEST_OPEN_HELD=held,
    )

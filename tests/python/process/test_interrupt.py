"""Ctrl-C while ferrule computes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

# A shell that starts the tests in the background makes its children ignore Ctrl-C.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import ferrule as fe, numpy as np
a = fe.ones((2048, 2048)); fe.eval(a)
{prepare}
try:
    print("ready", flush=True)
    {compute}
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(fe.sum(a[:2, :2]).item(), flush=True)
"""
CASES = {
    # Many minutes of work.
    "evaluating": (
        "x = a\nfor _ in range(4000): x = fe.matmul(x, a) * 0.001",
        "fe.eval(x)",
    ),
    "a compiled graph": (
        "def f(x):\n    for _ in range(5000): x = fe.matmul(x, a) * 0.001\n    return x\n"
        "g = fe.Graph('cpu'); s = g.input((2048, 2048)); g.output(f(s)); g.compile()",
        "g.compute(a)",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_ends_a_computation_and_ferrule_still_works(case: str) -> None:
    prepare, compute = CASES[case]
    program = PROGRAM.format(prepare=prepare, compute=compute)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)  # an interrupt before the computation begins ends it, too
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=100)
    assert printed == "interrupted\n4.0\n"
    assert process.returncode == 0


def test_other_threads_run_during_a_computation() -> None:
    program = """
import threading, time
import ferrule as fe, numpy as np
a = fe.ones((1024, 1024)); fe.eval(a)
x = a
for _ in range(60): x = fe.matmul(x, a) * 0.001
ticks = 0
done = False
def tick():
    global ticks
    while not done:
        ticks += 1
        time.sleep(0.001)
thread = threading.Thread(target=tick); thread.start()
fe.eval(x)
done = True; thread.join()
assert ticks > 5, ticks
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_ctrl_c_while_a_log_line_is_delivered_is_raised(run_python: Any) -> None:
    run_python("""
import logging, signal
import ferrule as fe
signal.signal(signal.SIGINT, signal.default_int_handler)
class Handler(logging.Handler):
    def emit(self, record):
        if not seen:
            seen.append(record)
            signal.raise_signal(signal.SIGINT)
seen = []
logging.getLogger("ferrule").addHandler(Handler())
fe.set_log_level("debug")
try:
    for i in range(1, 50):
        (fe.ones(i) + 1).tolist()
except KeyboardInterrupt:
    assert seen
else:
    raise SystemExit("it was lost")
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_child_that_another_thread_forked_is_interrupted(run_python: Any) -> None:
    run_python("""
import os, signal, threading
import ferrule as fe
a = fe.ones((1024, 1024)); fe.eval(a)
def child():
    def stop(*_): raise TimeoutError
    x = a
    for _ in range(4000): x = fe.matmul(x, a) * 0.001  # many minutes of work
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try: fe.eval(x)
    except TimeoutError: os._exit(5)
    os._exit(1)
def fork():
    number = os.fork()
    if number == 0: child()
    assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 5
    ended.append(number)
ended = []
thread = threading.Thread(target=fork); thread.start(); thread.join()
assert ended
""")


# Each is one kernel or function of a minute or more on a slow machine; `borrowed` is computed while it is recorded.
KERNELS = {
    "sum": "fe.eval(many.sum())",
    "sum of rows": "fe.eval(many.sum(axis=1))",
    "argmax": "fe.eval(fe.argmax(many))",
    "matmul": "fe.eval(many[:12_000, :12_000] @ many[:12_000, :12_000])",
    "long products": "fe.eval(fe.broadcast_to(many[0, 0], (4, 10**10)) @ fe.broadcast_to(many[0, 0], (10**10, 16)))",
    "recording": "borrowed.sum()",
    "long transforms": "fe.eval(fe.fft.fft(fe.ones((30, 3_000_017))))",
    "topk": "fe.eval(fe.topk(fe.arange(60_000_000, dtype='float32'), 20_000_000))",  # each element enters the heap
    "linspace": "fe.linspace(0, 1, 2 * 10**9)",
    "decomposition": "fe.eval(fe.linalg.svd(fe.random.uniform(fe.random.key(1), (3000, 3000))))",
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("threads", ["1", "3"])
def test_ctrl_c_ends_one_kernel(run_python: Any, kernel: str, threads: str) -> None:
    """A kernel takes a minute; the interrupt a tenth of a second, longer on a loaded machine."""
    run_python(
        f"""
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import ferrule as fe, numpy as np
many = fe.broadcast_to(fe.ones((1, 1)), (10**6, 10**5))
borrowed = fe.asarray(np.broadcast_to(np.ones((1, 1), np.float32), (10**6, 10**5)))
fe.eval(many)
def interrupt():
    global sent
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(1, interrupt).start()
try:
    {KERNELS[kernel]}
except KeyboardInterrupt:
    waited = time.monotonic() - sent
    assert waited < 10, waited
else:
    raise AssertionError("not interrupted")
assert (fe.ones(3) + 1).tolist() == [2, 2, 2]
""",
        FERRULE_THREADS=threads,
    )

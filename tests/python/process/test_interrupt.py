"""Ctrl-C while ferrule computes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

# A shell that starts the tests in the background makes its children ignore Ctrl-C.
PROGRAM = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import ferrule as fe, numpy as np
a = fe.ones((512, 512)); fe.eval(a)
{prepare}
print("ready", flush=True)
start = time.perf_counter()
try:
    {compute}
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("finished", time.perf_counter() - start, flush=True)
print(fe.sum(a[:2, :2]).item(), flush=True)
"""
CASES = {
    "evaluating": (
        "x = a\nfor _ in range(4000): x = fe.matmul(x, a) * 0.001",
        "fe.eval(x)",
    ),
    "a compiled graph": (
        "def f(x):\n    for _ in range(5000): x = fe.matmul(x, a) * 0.001\n    return x\n"
        "g = fe.Graph('cpu'); s = g.input((512, 512)); g.output(f(s)); g.compile()",
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
    time.sleep(0.5)
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert time.perf_counter() - start < 2
    assert process.stdout.readline() == "4.0\n"
    assert process.wait(60) == 0


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
start = time.perf_counter(); fe.eval(x); took = time.perf_counter() - start
done = True; thread.join()
print(took, ticks)
assert ticks > 20 * took, (ticks, took)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)

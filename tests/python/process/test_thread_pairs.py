"""Two threads use one object: every pair of Python operations, including each with itself, in its own process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]

# `operations` maps names to functions of one object; `make` creates the object of a pair, `check` inspects it
# afterwards.
PAIRS = """
import itertools, sys, threading, time
import numpy as np
import ferrule as fe

def run(make, operations, check=lambda thing: None, times=6, may_lose=()):
    sys.setswitchinterval(1e-6)
    for pair in itertools.combinations_with_replacement(operations, 2):
        thing, problems, gate = make(), [], threading.Barrier(2)
        def work(name):
            gate.wait()
            for _ in range(times):
                try:
                    operations[name](thing)
                except may_lose:
                    pass
                except BaseException as error:
                    problems.append(f"{pair}: {name}: {type(error).__name__}: {error}")
        print(*pair, sep=" and ", file=sys.stderr, flush=True)  # the last one, should the process end
        threads = [threading.Thread(target=work, args=(name,)) for name in pair]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert not problems, problems[0]
        check(thing)
"""

GRAPH = """
ones = np.ones((2, 3), "float32")
constants = [fe.asarray(ones * number) for number in range(4)]

class Thing:
    def __init__(self):
        self.graph = fe.Graph()
        self.x = self.graph.input((2, 3))
        self.graph.output(self.x + 1)

def compute(thing):
    inputs = len(thing.graph.inputs)
    made = thing.graph.compute(*[ones] * inputs)
    assert np.asarray(made[0] if isinstance(made, tuple) else made)[0, 0] == 2

def saved_is_what_there_is(thing):
    graph = thing.graph
    assert fe.Graph.from_bytes(graph.to_bytes()).text() == graph.text()
    assert len(graph.inputs) == sum(step[0] == "input" for step in graph._steps)

run(Thing, {
    "input": lambda thing: thing.graph.input((2, 3)),
    "constant": lambda thing: [thing.graph.constant(constant) for constant in constants],
    "pending constant": lambda thing: thing.graph.constant(constants[0] + 1),
    "operator": lambda thing: thing.x * 2 + 1,
    "mixed operator": lambda thing: thing.x + constants[3],
    "apply": lambda thing: thing.graph.apply("add", thing.x, ones),
    "output": lambda thing: thing.graph.output(thing.x - 1),
    "compile": lambda thing: thing.graph.compile(),
    "text": lambda thing: thing.graph.text(),
    "plan": lambda thing: thing.graph.plan,
    "repr": lambda thing: repr(thing.graph),
    "save": lambda thing: fe.Graph.from_bytes(thing.graph.to_bytes()),
}, saved_is_what_there_is)
run(Thing, {
    "compute": compute,
    "operator": lambda thing: thing.x * 2 + 1,
    "output": lambda thing: thing.graph.output(thing.x - 1),
    "compile": lambda thing: thing.graph.compile(),
}, saved_is_what_there_is)
"""

ARRAY = """
class Thing:
    def __init__(self):
        base = fe.asarray(np.zeros((4, 4), "float32"), copy=True)
        self.x = base + 1  # pending

def assign(thing):
    thing.x[...] = np.full((4, 4), 3, "float32")

def assign_one(thing):
    thing.x[0] = 3.0

def compute(thing):
    values = np.asarray(thing.x + thing.x)
    assert np.isin(values, (2, 6)).all(), values

run(Thing, {
    "assign": assign,
    "assign one": assign_one,
    "look": lambda thing: np.asarray(thing.x).sum(),
    "compute": compute,
    "eval": lambda thing: fe.eval(thing.x),
    "reshape": lambda thing: fe.reshape(thing.x, (2, 8)),
    "repr": lambda thing: repr(thing.x),
    "item": lambda thing: thing.x[0, 0].item(),
    "placement": lambda thing: thing.x.placement,
    "to_device": lambda thing: thing.x.to_device("cpu"),
    "dlpack": lambda thing: np.from_dlpack(thing.x),
    "copy": lambda thing: thing.x.astype("float64"),
}, times=8)
"""

TRACED = """
wide = fe.asarray(np.ones((4, 8), "float32"))

class Thing:
    def __init__(self):
        self.f = fe.graph(lambda a, scale=1.0: fe.sum(a * 2) * scale, cache_size=2)
        self.x = fe.asarray(np.ones((4, 4), "float32"), copy=True)

def assign(thing):
    thing.x[0] = 1.0

def expect(value, wanted):
    assert float(value) == wanted, (float(value), wanted)

run(Thing, {
    "call": lambda thing: expect(thing.f(thing.x), 32),
    "call with another shape": lambda thing: expect(thing.f(wide), 64),
    "call with a number": lambda thing: expect(thing.f(thing.x, 3.0), 96),
    "call with a keyword": lambda thing: expect(thing.f(thing.x, scale=3.0), 96),
    "cache_clear": lambda thing: thing.f.cache_clear(),
    "cache_info": lambda thing: thing.f.cache_info(),
    "assign": assign,
    "trace": lambda thing: thing.f.trace(thing.x).text(),
})
"""

DEVICE = """
run(lambda: fe.device("cpu"), {
    "name": lambda device: str(device),
    "info": lambda device: device.info["capabilities"],
    "kind": lambda device: device.kind,
    "memory": lambda device: device.memory,
    "backend": lambda device: device.backend.features["variant"],
    "backends": lambda device: device.backends,
    "proc": lambda device: device.backend.proc("set_n_threads"),
    "open": lambda device: device.open(),
    "supports": lambda device: device.supports("add", "float32", "float32"),
    "trim": lambda device: device.trim(),
    "reset": lambda device: device.reset(),
    "hash": lambda device: (hash(device), device == fe.device("cpu")),
    "best_device": lambda device: fe.best_device(),
    "compute": lambda device: np.asarray(fe.ones((8,), device=device) + 1),
})
"""

LIFE = """
null = {null!r}
def compute_on(name):
    np.asarray(fe.ones((8,), device=name) + 1)

def unload(name):
    fe.unload(name)

run(lambda: fe.load_all(), {{
    "load_all": lambda _: fe.load_all(),
    "load": lambda _: fe.load(null),
    "unload": lambda _: fe.unload("null"),
    "reload": lambda _: fe.reload("null"),
    "unload the cpu": lambda _: fe.unload("cpu"),
    "shutdown": lambda _: fe.shutdown(),
    "refresh": lambda _: fe.refresh(),
    "backends": lambda _: [(backend.name, backend.features) for backend in fe.backends()],
    "devices": lambda _: [device.info for device in fe.devices()],
    "device": lambda _: fe.device("null").memory,
    "best_device": lambda _: fe.best_device(),
    "explain": lambda _: fe.explain("gpu"),
    "compute": lambda _: compute_on("cpu"),
    "compute somewhere": lambda _: compute_on(None),
    "compute elsewhere": lambda _: compute_on("null"),
}}, times=2, may_lose=(fe.NotFoundError, fe.InvalidArgumentError, fe.UnsupportedError))
fe.load_all()
compute_on(None)
"""


def test_graph_is_recorded_compiled_and_saved_by_two_threads(run_python: Run) -> None:
    run_python(PAIRS + GRAPH)


def test_array_is_assigned_and_read_by_two_threads(run_python: Run) -> None:
    run_python(PAIRS + ARRAY)


def test_traced_function_is_called_and_cleared_by_two_threads(run_python: Run) -> None:
    run_python(PAIRS + TRACED)


def test_device_is_used_by_two_threads(run_python: Run) -> None:
    run_python(PAIRS + DEVICE)


def test_backends_are_loaded_and_unloaded_by_two_threads(run_python: Run, null_module: Path) -> None:
    run_python(PAIRS + LIFE.format(null=str(null_module)))

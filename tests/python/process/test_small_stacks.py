"""Everything works on threads with small stacks, as servers use them: each function runs in a child, which may
crash."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ferrule.testing.cases import all_cases

STACKS = (262144, 65536)  # the second is near Python's own minimum

# Calls `work` on a thread of each size; an exception ends the process.
ON_SMALL_STACKS = """
import threading

def on_small_stacks(work):
    for stack in {stacks}:
        raised = []
        def run():
            try:
                work()
            except BaseException as error:
                raised.append(error)
        threading.stack_size(stack)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if raised:
            raise raised[0]
"""

KERNELS = """
import numpy as np
import ferrule as fe
from ferrule.testing.cases import all_cases
from ferrule.testing.running.execution import prepare

device = fe.device("cpu")
ops = {ops!r}

def work():
    for case, problem, inputs in tried:
        prepare(device, case, problem, inputs).compute()

for op in ops:
    tried = []
    for case in all_cases().values():
        if case.op == op:
            for problem in (case.family.plain[0], *case.family.large[:1]):
                inputs = case.inputs(problem, np.random.default_rng(0))
                tried.append((case, problem, inputs))
    print(op, flush=True)  # the last one is shown if the process crashes
    work()  # Python's own imports and caches need a deeper stack
    on_small_stacks(work)
"""

PROGRAMS: dict[str, str] = {
    "attention": """
shapes = [(2, 64, 64, 64), (1, 300, 16, 16), (1, 33, 256, 256), (1, 20, 300, 300), (3, 5, 8, 200)]
def work():
    for dtype in FLOATS:
        for batch, length, head, value in shapes:
            q, v = fe.ones((batch, length, head), dtype=dtype), fe.ones((batch, length, value), dtype=dtype)
            for causal in (False, True):
                np.asarray(fe.scaled_dot_product_attention(q, q, v, causal=causal))
            np.asarray(fe.scaled_dot_product_attention(q, q, v, fe.ones((length, length), dtype="bool")))
""",
    "few rows": """
def work():
    for dtype in FLOATS:
        b = fe.ones((700, 1030), dtype=dtype)
        for rows in (1, 2, 3, 8, 28, 29, 100):
            np.asarray(fe.ones((rows, 700), dtype=dtype) @ b)
            np.asarray(fe.tanh(fe.ones((rows, 700), dtype=dtype) @ b + 1))
            np.asarray(fe.ones((rows, 1030), dtype=dtype) @ b.T)
""",
    "prepared constants": """
def work():
    for dtype in FLOATS:
        w = np.ones((700, 1030)).astype(fe.asarray(np.zeros(1)).astype(dtype).dtype)
        w.flags.writeable = False
        f = fe.graph(lambda x: fe.relu(x @ fe.asarray(w)))
        for rows in (1, 7, 50):
            np.asarray(f(fe.ones((rows, 700), dtype=dtype)))
""",
    "rows": """
def work():
    for dtype in FLOATS:
        for width in (7, 4096, 5000):
            x = fe.ones((9, width), dtype=dtype)
            w = fe.ones((width,), dtype=dtype)
            for axis in (0, 1):
                np.asarray(fe.softmax(x, axis=axis)), np.asarray(fe.log_softmax(x, axis=axis))
            np.asarray(fe.layer_norm(x, w, w))
            np.asarray(fe.layer_norm(x.T))
""",
    "reductions": """
def work():
    for dtype in (*FLOATS, "int64", "uint8", "bool"):
        x = fe.ones((130, 70, 60), dtype=dtype)
        for y in (x, fe.permute_dims(x, (2, 1, 0)), x[::-1, ::2, 1:], x[:, :1]):
            for axis in (None, 0, 1, 2, (0, 2)):
                names = ["sum", "prod", "max", "min", "any", "all"]
                for name in names + (["mean", "var", "std"] if dtype in FLOATS else []):
                    np.asarray(getattr(fe, name)(y, axis=axis))
            if dtype != "bool":
                for axis in (None, 0, 1, 2):
                    np.asarray(fe.argmax(y, axis=axis)), np.asarray(fe.argmin(y, axis=axis))
""",
    "fused bodies": """
def chain(x, y):
    kept = [x * i + y for i in range(30)]
    for left in list(kept):
        kept.append(fe.tanh(left) * kept[len(kept) // 2])
    total = kept[0]
    for one in kept:
        total = total + one
    return total, kept[-1], kept[7]

def work():
    for dtype in FLOATS:
        for shape in ((3, 5), (300, 200)):
            x, y = fe.ones(shape, dtype=dtype), fe.ones(shape[1:], dtype=dtype)
            for result in fe.graph(chain)(x, y):
                np.asarray(result)
            for result in chain(x.T[::2], y[0]):
                np.asarray(result)
""",
    "many operands": """
def work():
    for dtype in FLOATS:
        parts = [fe.ones((3, i % 5 + 1), dtype=dtype) * i for i in range(1000)]
        np.asarray(fe.concat(parts, axis=1))
        np.asarray(fe.stack([part[:, :1] for part in parts]))
        for part in fe.split(fe.ones((500, 3), dtype=dtype), list(range(1, 500))):
            np.asarray(part)
""",
    "conversation with Python": """
def work():
    x = fe.ones((50, 60))
    repr(x), str(fe.devices()), fe.explain("cpu"), repr(fe.load_all())
    x.tolist(), x.item if x.ndim == 0 else x.sum().item()
    try:
        fe.reshape(x, (7, -1))
    except fe.InvalidArgumentError as error:
        str(error)
    np.from_dlpack(x), fe.from_dlpack(np.ones(3))
    fe.memory_stats(), fe.stats()
""",
}

DEEP: dict[str, str] = {
    "a chain of lazy ops": """
def work():
    x = fe.ones(3)
    for _ in range(100_000):
        x = x + 1
    assert x[0].item() == 100_001
""",
    "a chain that is dropped": """
def work():
    x = fe.ones(3)
    for _ in range(100_000):
        x = fe.sin(x)
    del x
""",
    "a chain that is traced, compiled and printed": """
def chain(x):
    for i in range(20_000):
        x = x + 1 if i % 3 else fe.reshape(x, (3,) if x.ndim == 2 else (1, 3))
    return x

def work():
    graph = fe.graph(chain).trace(fe.ones(3))
    assert len(str(graph)) > 100_000
    np.asarray(graph.compute(fe.ones(3)))
    again = fe.Graph.from_bytes(graph.to_bytes())
    del graph
    np.asarray(again.compile(fuse=False).compute(fe.ones(3)))
    again.plan
    del again
""",
    "views of views": """
def work():
    x = fe.ones((4, 4))
    for i in range(20_000):
        x = x.T if i % 2 else x[::-1]
    np.asarray(x)
    y = fe.ones(20_001)
    for _ in range(20_000):
        y = y[1:]
    assert np.asarray(y).shape == (1,)
    del x, y
""",
    "a chain of graphs": """
def work():
    @fe.graph
    def step(x):
        return fe.tanh(x) + 1
    x = fe.ones(3)
    for _ in range(20_000):
        x = step(x)
    np.asarray(x)
""",
    "a wide tree": """
def work():
    level = [fe.ones(3) * i for i in range(16_384)]
    while len(level) > 1:
        level = [a + b for a, b in zip(level[::2], level[1::2])]
    np.asarray(level[0])
""",
}


Run = Callable[..., object]


def on_small_stacks(run_python: Run, program: str, warm: str = "work()") -> None:
    head = 'import numpy as np\nimport ferrule as fe\nFLOATS = ("float32", "float64", "float16", "bfloat16")\n'
    tail = f"{warm}  # Python's own imports and caches need a deeper stack\non_small_stacks(work)\n"
    run_python(ON_SMALL_STACKS.format(stacks=STACKS) + head + program + tail)


PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_every_kernel_runs_on_a_small_stack(part: int, run_python: Run) -> None:
    ops = sorted({case.op for case in all_cases().values()})[part::PARTS]
    run_python(ON_SMALL_STACKS.format(stacks=STACKS) + KERNELS.format(ops=ops))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_on_a_small_stack(name: str, run_python: Run) -> None:
    on_small_stacks(run_python, PROGRAMS[name])


@pytest.mark.parametrize("name", DEEP)
def test_long_graphs_cause_no_recursion(name: str, run_python: Run) -> None:
    on_small_stacks(run_python, DEEP[name], warm="np.asarray(fe.ones(3) + 1)")


NESTED = """
import threading
from collections import OrderedDict
import ferrule as fe
x = fe.ones(3)
makers = {
    "tuple": lambda part: (part,),
    "list": lambda part: [part],
    "dict": lambda part: {"a": part},
    "ordered": lambda part: OrderedDict(a=part),
    "slice": lambda part: slice(part),
    "frozenset": lambda part: frozenset([part]),
}
def nested(make, depth):
    value = 1.0
    for _ in range(depth): value = make(value)
    return value
def work():
    for make in makers.values():
        for depth in (100, 400, 900):
            try: fe.graph(lambda argument: x * 2)(nested(make, depth))
            except (RecursionError, fe.Error): pass
        try: fe.graph(lambda a: nested(lambda part: (part, a * 2), 400))(x)
        except RecursionError: pass
fe.graph(lambda argument: x * 2)((1.0,))
threading.stack_size(262144)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def test_arguments_may_be_nested_deeply(run_python: Run) -> None:
    run_python(NESTED)

"""Programs in which several threads use one device, for the tests of a backend that start them by `Processes`.

Each is to follow `head`; where it ends, `END` unloads the module.
"""

from __future__ import annotations

from backend_processes import THREADS


def head(backend: str, turns: int) -> str:
    """The functions of all programs. `compute` runs a graph of several kernels with the numbers of a turn, and
    compares with NumPy; each thread has about that many turns."""
    return (
        THREADS
        + f"""
import gc, json, mmap, os, random, tempfile, time
backend, turns = "{backend}", {turns}
"""
        + """
fixed = np.random.default_rng(7).integers(-3, 3, (24, 24)).astype(np.float32)
f = fe.graph(lambda x, w: fe.sum(fe.relu(x @ w) @ w, axis=-1) + x[:, 0])
def put(values, dtype=np.float32, device=f"{backend}:0"):
    return fe.asarray(np.array(values, dtype), device=device)
def right(x):
    return (np.maximum(x @ fixed, 0) @ fixed).sum(axis=-1) + x[:, 0]
def numbers(seed, rows=9):
    return np.random.default_rng(seed).integers(-9, 9, (rows, 24)).astype(np.float32)
def compute(seed, w, device=f"{backend}:0", rows=9):
    x = numbers(seed, rows)
    assert np.array_equal(np.asarray(f(put(x, device=device), w)), right(x)), seed
"""
    )


END = """
del f
gc.collect()
fe.unload(backend)
"""

SHARE_GRAPHS = """
w = put(fixed)
def work(number):
    for turn in range(turns): compute(100 * number + turn, w, rows=1 + turn % 4)
in_threads(6, work)
del w
"""

TRIM = """
w = put(fixed)
def work(number):
    kept = []
    for turn in range(turns):
        if number == 0:
            fe.trim(f"{backend}:0")
            fe.synchronize(f"{backend}:0")
            continue
        compute(100 * number + turn, w)
        kept.append(put(np.full(5000, turn)) + number)
        if len(kept) > 5: assert np.asarray(kept.pop(0))[-1] == turn - 5 + number
in_threads(4, work)
del w
"""

# Prints how many arrays were right, and how many found no memory.
RUN_OUT_OF_MEMORY = """
outcomes = []
def work(number):
    generator = random.Random(number)
    kept = []
    for turn in range(40):
        size = generator.choice([1000, 100_000, 300_000])
        try:
            x = put(np.full(size, turn)) + number
            fe.eval(x)
        except fe.OutOfMemoryError:
            outcomes.append("memory")
            kept.clear()
            continue
        outcomes.append("right")
        kept.append((x, turn))
        x, of = generator.choice(kept)
        try:
            assert np.asarray(x)[[0, -1]].tolist() == [of + number] * 2
        except fe.OutOfMemoryError:
            outcomes.append("memory")
in_threads(4, work)
print(json.dumps({outcome: outcomes.count(outcome) for outcome in outcomes}))
assert np.asarray(put(np.ones(1000)) + 1)[7] == 2
"""

TRACE = """
w = put(fixed)
def work(number):
    for turn in range(turns):
        if number == 0:
            with fe.trace(os.path.join(tempfile.mkdtemp(dir="."), "run.json")): compute(turn, w)
        else:
            compute(100 * number + turn, w)
in_threads(4, work)
del w
"""

TWO_DEVICES = """
weights = [put(fixed, device=f"{backend}:{i}") for i in range(2)]
def work(number):
    own = number % 2
    for turn in range(turns):
        compute(100 * number + turn, weights[own], f"{backend}:{own}")
        if turn % 5 == 0:
            moved = put(numbers(turn), device=f"{backend}:{own}").to_device(f"{backend}:{1 - own}")
            assert np.array_equal(np.asarray(f(moved, weights[1 - own])), right(numbers(turn)))
in_threads(4, work)
del weights
"""

# Unloads the module by itself.
LOAD_AGAIN = """
def work(number):
    for turn in range(turns):
        if number == 0: attempt(lambda: fe.unload(backend))
        w = None
        try:
            fe.load_all()
            w = put(fixed)
            compute(100 * number + turn, w)
        except (fe.Error, KeyError) as error:
            assert backend in str(error), error
        del w
        gc.collect()
in_threads(3, work)
del f
gc.collect()
attempt(lambda: fe.unload(backend))
assert (fe.arange(3, device="cpu") * 2).tolist() == [0, 2, 4]
"""

# Prints which threads lost the device.
LOSE_DEVICE = """
lost = []
w = put(fixed)
def work(number):
    for turn in range(60):
        try:
            compute(100 * number + turn, w)
        except fe.DeviceLostError:
            lost.append(number)
            return
in_threads(4, work)
print(sorted(lost))
assert (fe.arange(3, device="cpu") * 2).tolist() == [0, 2, 4]
"""

# Prints "ends" while three threads compute.
END_OF_PROCESS = """
w = put(fixed)
compute(1, w)
def work(number):
    turn = 0
    while True:
        turn += 1
        compute(turn, w)
for number in range(3): threading.Thread(target=work, args=(number,), daemon=True).start()
time.sleep(0.5)
print("ends")
"""

"""Another library in the process, with a CUDA runtime of its own: streams that it captures, and its current device."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from csrc.backends.cuda.tests.processes import Processes

Run = Callable[..., str]

# Things that a program does with ferrule, by name: each may change the state of the thread that does it.
USES = f"""
import gc, sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[4])!r})
from csrc.backends.cuda.tests.dlpack_objects import LIBRARY, Stream

f = fe.graph(lambda x: fe.sum(fe.exp(x * 0) + x, axis=0))
x, weights = put(np.ones((4, 4))), put(np.ones((64, 64)))
fe.eval(x), fe.eval(weights), np.asarray(f(x))

def pending():
    y = weights @ weights
    fe.eval(y, wait=False)
    y.is_ready
    fe.synchronize("cuda:0")
def borrowed():
    memory = page(1024)
    y = fe.buffer_from_host_ptr(memory, "cuda:0", copy=False)
    assert np.asarray(y + 1)[5] == 1
def traced():
    with fe.trace(os.path.join(tempfile.mkdtemp(), "run.json")): np.asarray(f(x))
def exported():
    stream = Stream()
    class Wrapped:
        def __dlpack_device__(self): return x.__dlpack_device__()
        def __dlpack__(self, **arguments): return x.__dlpack__(**arguments)
    assert fe.from_dlpack(Wrapped()).tolist() == np.ones((4, 4)).tolist()
    x.__dlpack__(max_version=(1, 0), stream=stream.number)
USES = {{
    "graph": lambda: np.asarray(f(x)),
    "new graph": lambda: np.asarray(fe.graph(lambda x: fe.sin(x) * 3 + fe.sum(x))(x)),
    "pending": pending,
    "array": lambda: put(np.arange(1000)).tolist(),
    "error": lambda: attempt(lambda: fe.take(x, put([9], np.int64), axis=0)),
    "pinned": lambda: fe.host_empty((1 << 18,), device="cuda:0"),
    "borrowed": borrowed,
    "moved": lambda: (x + 1).to_device("cuda:1").tolist(),
    "memory": lambda: (fe.device("cuda:0").memory, gc.collect(), fe.trim("cuda:0")),
    "traced": traced,
    "exported": exported,
}}
"""


def test_capture_by_another_thread_goes_on(run: Run) -> None:
    program = """
found = {}
other = Stream()
for name, call in USES.items():
    stream = Stream()
    assert LIBRARY.other_begin_capture(stream.number) == 0
    in_threads(1, lambda _: call())
    call()
    found[name] = LIBRARY.other_end_capture(stream.number)
stream = Stream()
assert LIBRARY.other_begin_capture(stream.number) == 0
in_threads(1, lambda _: (np.asarray(f(x)), found.update(mode=LIBRARY.other_synchronize(other.number))))
found["ended"] = LIBRARY.other_end_capture(stream.number)
print(json.dumps(found))
"""
    found = json.loads(run(USES + program, FERRULE_EMULATION_DEVICES="2"))
    # The thread has its own mode again: what the other library then does there is an error, which ends the capture.
    assert (found.pop("mode"), found.pop("ended")) == (900, 901)
    assert found
    assert {name: error for name, error in found.items() if error != 0} == {}


def test_threads_keep_their_current_device_or_none(run: Run) -> None:
    program = """
found = {}
def work(name, device, call):
    if device >= 0: assert LIBRARY.other_set_device(device) == 0
    before = LIBRARY.other_current_device()
    call()
    found[f"{name} {device}"] = before == device == LIBRARY.other_current_device()
for name, call in USES.items():
    if name in ("exported",): continue  # the other library itself chooses a device
    for device in (-1, 0, 1): in_threads(1, lambda _: work(name, device, call))
print(json.dumps(found))
"""
    found = json.loads(run(USES + program, FERRULE_EMULATION_DEVICES="2"))
    assert len(found) > 20
    assert [name for name, is_kept in found.items() if not is_kept] == []


def test_unloading_keeps_the_current_device(start: Processes) -> None:
    program = """
assert LIBRARY.other_set_device(1) == 0
np.asarray(f(x))
del f, x, weights, USES
gc.collect()
fe.unload("cuda")
print(LIBRARY.other_current_device())
"""
    done = start(USES + program, FERRULE_EMULATION_DEVICES="2")
    assert done.output == "1\n"

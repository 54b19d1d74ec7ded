"""Exchange of device memory with another library, which has a CUDA runtime of its own: pointers, waits, owners."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.cuda.tests.processes import PRELUDE, Processes

Run = Callable[..., str]

# `own` is the number of the device's stream. `pending` gives x + 1, which is computed when the gate is opened: the
# other library lets the device's stream wait for its own one.
OBJECTS = f"""
import gc, sys, time
sys.path.insert(0, {str(Path(__file__).resolve().parents[4])!r})
from csrc.backends.cuda.tests.dlpack_objects import *

def exported(array, **arguments):
    return Consumer(array.__dlpack__(max_version=(1, 0), **arguments))
# The memory is the array's as long as it lives.
def address_of(array):
    one = exported(array)
    one.release()
    return one.address
class Wrapped:
    def __init__(self, array): self.array = array
    def __dlpack_device__(self): return self.array.__dlpack_device__()
    def __dlpack__(self, **arguments): return self.array.__dlpack__(**arguments)
def device_stream():
    x = put([0]) + 0
    producer = Producer(address_of(x), 1)
    assert fe.from_dlpack(producer).tolist() == [0]
    return producer.asked[0]["stream"]
def pending(values):
    x = put(values)
    fe.eval(x)
    gate = other.hold()
    other.keeps_waiting(own)
    y = x + 1
    fe.eval(y, wait=False)
    assert not y.is_ready
    return y, gate
other = Stream()
own = device_stream()
"""


class ExchangingProcesses(Processes):
    PRELUDE = PRELUDE + OBJECTS


@pytest.fixture
def start(module: Path, tmp_path: Path) -> Processes:
    return ExchangingProcesses(tmp_path)


# ---- export
def test_export_names_the_device_and_shares_the_memory(run: Run) -> None:
    program = """
x = put(np.arange(12).reshape(3, 4)) + 1
assert x.__dlpack_device__() == (2, 0)
one, two = exported(x), exported(x, stream=other.number)
assert (one.place, one.shape, one.flags) == ((2, 0), (3, 4), READ_ONLY)
again = fe.from_dlpack(Wrapped(x))
assert again.placement == "borrowed"
assert one.address == two.address == address_of(again)
assert address_of(x[1:, 2:]) == one.address + 24
assert np.array_equal(one.read(other), np.arange(1, 13).reshape(3, 4))
for each in (one, two): each.release()
"""
    run(program)


def test_memory_of_the_second_device_has_its_number(run: Run) -> None:
    program = """
x = put([1, 2, 3], device="cuda:1")
fe.eval(x)
assert x.__dlpack_device__() == (2, 1)
one = exported(x)
assert one.place == (2, 1)
there = fe.from_dlpack(Wrapped(x))
assert there.device.name == "cuda:1" and address_of(there) == one.address
print(attempt(lambda: fe.from_dlpack(Producer(one.address, 3, place=(2, 0)))))
print(attempt(lambda: fe.from_dlpack(Producer(one.address, 3, place=(2, 7)))))
print(attempt(lambda: exported(x, dl_device=(2, 0))))
"""
    wrong, unknown, elsewhere = run(program, FERRULE_EMULATION_DEVICES="2").splitlines()
    assert wrong.startswith("InvalidArgumentError: ")
    assert "the pointer is not memory that emulated can use" in wrong
    assert unknown.startswith("UnsupportedError: ")
    assert "DLPack's device (2, 7), which no loaded device has" in unknown
    assert elsewhere.startswith("BufferError: ")
    assert "not of (2, 0)" in elsewhere


def test_consumer_of_an_older_dlpack_gets_its_own_copy(run: Run) -> None:
    program = """
class Old(Wrapped):
    def __dlpack__(self, stream=None): return self.array.__dlpack__(stream=stream)
x = put([1, 2, 3])
fe.eval(x)
capsule = x.__dlpack__(stream=other.number)
assert 'dltensor"' in repr(capsule)
copied = fe.from_dlpack(Old(x))
assert copied.tolist() == [1, 2, 3]
assert address_of(copied) != address_of(x)
assert exported(x, copy=True).flags == IS_COPIED
print(attempt(lambda: x.__dlpack__(copy=False)))
"""
    assert run(program).startswith("BufferError: __dlpack__: the array is read-only")


@pytest.mark.parametrize("stream", ["other.number", "own", "1", "2", "-1"])
def test_export_for_a_stream_does_not_wait_on_the_host(stream: str, run: Run) -> None:
    run(
        f"""
y, gate = pending([1, 2, 3])
one = exported(y, stream={stream})
assert not y.is_ready
del y
gate.open()
one.release()
"""
    )


def test_stream_of_the_consumer_waits_for_pending_work(run: Run) -> None:
    program = """
for size in (3, 3000):
    reader = Stream()
    y, gate = pending(np.arange(size))
    one = exported(y, stream=reader.number)
    out = one.start_reading(reader)
    time.sleep(0.1)  # without the wait, the copy is done by then
    assert not y.is_ready
    gate.open()
    reader.synchronize()
    assert np.array_equal(out, np.arange(size) + 1)
    one.release()
    reader.destroy()
"""
    run(program)


def test_consumer_that_asks_for_no_wait_reads_what_is_there(run: Run) -> None:
    """This shows that the wait in the test above is one: the values are not there without it."""
    program = """
reader = Stream()
y, gate = pending(np.arange(100003))
one = exported(y, stream=-1)
assert not np.array_equal(one.read(reader), np.arange(100003) + 1)
gate.open()
one.release()
reader.destroy()
"""
    run(program)


def test_consumer_without_a_stream_gets_computed_memory(run: Run) -> None:
    program = """
y, gate = pending([1, 2, 3])
threading.Timer(0.1, gate.open).start()
one = exported(y)
assert y.is_ready
reader = Stream()
assert one.read(reader).tolist() == [2, 3, 4]
one.release()
reader.destroy()
"""
    run(program)


@pytest.mark.parametrize("stream", ["0", "-2", "True", "1.5", "'1'", "1 << 64"])
def test_other_streams_are_refused(stream: str, run: Run) -> None:
    output = run(f"print(attempt(lambda: exported(put([1]), stream={stream})))\n")
    assert output.startswith("BufferError: __dlpack__: stream")


def test_exported_memory_lives_until_it_is_released(run: Run) -> None:
    program = """
device = fe.device("cuda")
fe.synchronize(device); gc.collect(); fe.trim(device)
before = fe.memory_stats(device).live
reader = Stream()
taken = []
for turn in range(10):
    y = put(np.arange(4096)) + turn
    taken.append(exported(y, stream=reader.number))
    del y
gc.collect()
fe.trim(device)
filled = [fe.eval(put(np.full(4096, -1)) + 0) for _ in range(10)]  # would take memory that is free
for turn, one in enumerate(taken):
    assert np.array_equal(one.read(reader), np.arange(4096) + turn), turn
del filled
for one in taken: one.release()
fe.synchronize(device); gc.collect(); fe.trim(device)
assert fe.memory_stats(device).live == before
reader.destroy()
"""
    run(program)


def test_unused_capsules_give_their_memory_back(start: Processes) -> None:
    program = """
for turn in range(10):
    y = put(np.arange(100)) + turn
    for arguments in ({}, {"stream": other.number}, {"stream": 1}, {"copy": True}):
        y.__dlpack__(max_version=(1, 0), **arguments)
        y.__dlpack__(**arguments)
del y
other.destroy()
gc.collect()
fe.unload("cuda")
"""
    assert start(program).leaks() == {}


# ---- import
def test_import_borrows_the_memory_and_passes_the_stream_of_the_device(run: Run) -> None:
    program = """
x = put(np.arange(6))
fe.eval(x)
at = address_of(x)
producer = Producer(at, 2, 3)
y = fe.from_dlpack(producer)
assert (y.placement, y.device.name, y.shape) == ("borrowed", "cuda:0", (2, 3))
assert producer.asked == [{"max_version": (1, 0), "stream": own}]
assert address_of(y) == at
assert (y * 2).tolist() == [[0, 2, 4], [6, 8, 10]]
copied = fe.from_dlpack(Producer(at, 6), copy=True)
assert copied.tolist() == list(range(6)) and address_of(copied) != at
old = fe.from_dlpack(Producer(at, 6, versioned=False))
assert old.tolist() == list(range(6)) and address_of(old) == at
"""
    run(program)


def test_kernels_wait_for_work_of_the_producer(run: Run) -> None:
    program = """
class Late(Producer):
    def __init__(self, address, count, waits):
        super().__init__(address, count)
        self.waits = waits
    def __dlpack__(self, **arguments):
        if self.waits: other.keeps_waiting(arguments["stream"])
        return super().__dlpack__(**arguments)
for waits in (True, False):
    x = put(np.zeros(1000))
    fe.eval(x)
    at, values = address_of(x), np.arange(1000, dtype=np.float32)
    gate = other.hold()
    other.copy(at, values.ctypes.data, values.nbytes)
    if waits: threading.Timer(0.1, gate.open).start()
    found = np.asarray(fe.from_dlpack(Late(at, 1000, waits)) + 1)
    gate.open()
    # A producer that does not let the stream wait shows that nothing else waits.
    assert np.array_equal(found, values + 1 if waits else np.ones(1000)), waits
    other.synchronize()
"""
    run(program)


@pytest.mark.parametrize("versioned", [True, False])
def test_memory_is_given_back_once_after_the_last_use(versioned: bool, run: Run) -> None:
    program = f"""
x = put(np.arange(1000))
fe.eval(x)
producer = Producer(address_of(x), 1000, versioned={versioned}, flags=IS_COPIED)
y = fe.from_dlpack(producer)
shared = exported(y, stream=other.number)
gate = other.hold()
other.keeps_waiting(own)
if not {versioned}: gate.open()  # kernels that read memory which its owner may change are waited for
z = y + 1
fe.eval(z, wait=False)
assert z.is_ready != {versioned}
del y
gc.collect()
assert producer.given_back == 0  # the kernel and the other library use it
gate.open()
assert z.tolist() == list(range(1, 1001))
del z
def settle():
    fe.synchronize("cuda"); gc.collect(); fe.trim("cuda")
    put([1]).tolist()
settle()
assert producer.given_back == 0
shared.release()
settle()
assert producer.given_back == 1
del x
settle()
assert producer.given_back == 1
"""
    run(program)


def test_pointers_that_are_no_device_memory_are_an_error_and_given_back(run: Run) -> None:
    program = """
host = np.zeros(100, np.float32)
for address in (host.ctypes.data, 0x1000, 0):
    producer = Producer(address, 100)
    print(attempt(lambda: fe.from_dlpack(producer)))
    assert put([1]).tolist() == [1]
    assert producer.given_back == 1
assert (put([1]) + 1).tolist() == [2]
"""
    lines = run(program).splitlines()
    assert all(line.startswith("InvalidArgumentError: ") for line in lines)
    assert all("the pointer is not memory that emulated can use" in line for line in lines[:2])
    assert "is null" in lines[2]


def test_memory_of_another_process_or_device_type_is_unsupported(run: Run) -> None:
    program = """
x = put([1, 2, 3])
fe.eval(x)
at = address_of(x)
places = (10, 0), (2, 1), (7, 0)
print(json.dumps([attempt(lambda: fe.from_dlpack(Producer(at, 3, place=place))) for place in places]))
"""
    for sentence in json.loads(run(program)):
        assert sentence.startswith("UnsupportedError: ")
        assert "which no loaded device has" in sentence


# ---- threads
def test_threads_export_what_others_still_compute(start: Processes) -> None:
    program = """
f = fe.graph(lambda x, w: fe.relu(x @ w) + x)
weights = np.random.default_rng(1).integers(-3, 3, (16, 16)).astype(np.float32)
w = put(weights)
def work(number):
    reader = Stream()
    generator = np.random.default_rng(number)
    for turn in range(25):
        x = generator.integers(-9, 9, (16, 16)).astype(np.float32)
        y = f(put(x), w)
        fe.eval(y, wait=False)
        one = exported(y, stream=reader.number)
        z = fe.from_dlpack(Wrapped(y)) * 2
        del y
        right = np.maximum(x @ weights, 0) + x
        assert np.array_equal(one.read(reader), right), (number, turn)
        one.release()
        assert np.array_equal(np.asarray(z), 2 * right), (number, turn)
    reader.destroy()
in_threads(4, work)
del w, f
other.destroy()
gc.collect()
fe.unload("cuda")
"""
    assert start(program).leaks() == {}


def test_memory_of_the_host_that_kernels_use_by_its_addresses_is_not_exported(run: Run) -> None:
    """Consumers ask the driver about the pointer, which it does not know."""
    program = """
memory = np.arange(3, dtype=np.float32)
x = fe.buffer_from_host_ptr(memory, "cuda")
print(x.placement, "|", attempt(lambda: exported(x)))
one = exported(x + 1)
print(one.read(other).tolist())
one.release()
"""
    variables = {"FERRULE_EMULATION_PAGEABLE": "1", "FERRULE_EMULATION_INTEGRATED": "1"}
    refused, copied = run(program, **variables).splitlines()
    assert refused.startswith("borrowed | ")
    assert "it is memory of the host that emulated uses by the host's addresses" in refused
    assert copied == "[1.0, 2.0, 3.0]"

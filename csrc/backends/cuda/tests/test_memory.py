"""Memory of the device, pinned memory, borrowed memory, and copies between devices."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from csrc.backends.cuda.tests.processes import Processes

Run = Callable[..., str]

# Arrays of a megabyte until there is no memory; then half of them are freed, and there is room again.
FILL_UP = """
def fill_up():
    arrays = []
    while True:
        try:
            array = put(np.full(1 << 18, len(arrays)))
            fe.eval(array)
        except fe.OutOfMemoryError as error:
            return arrays, str(error)
        arrays.append(array)
        assert len(arrays) < 100
arrays, sentence = fill_up()
first = len(arrays)
assert all(np.asarray(array)[-1] == number for number, array in enumerate(arrays))
del arrays[::2]
fe.trim("cuda")
more, again = fill_up()
assert all(np.asarray(array)[-1] == number for number, array in enumerate(more))
print(json.dumps([first, len(arrays), len(more), sentence, again]))
del arrays, more
fe.unload("cuda")
"""


@pytest.mark.parametrize(
    ("variables", "most", "sentence"),
    [
        (
            {"FERRULE_CUDA_MEMORY_LIMIT": str(8 << 20)},
            8,
            "bytes left of the 8388608 that its option memory_limit allows",
        ),
        ({"FERRULE_EMULATION_MEMORY": str(8 << 20)}, 8, "emulated has no 1048576 bytes left"),
    ],
    ids=["limit", "memory"],
)
def test_full_memory_is_an_error_and_freed_memory_is_available_again(
    variables: dict[str, str], most: int, sentence: str, start: Processes
) -> None:
    done = start(FILL_UP, **variables)
    first, kept, more, *sentences = json.loads(done.output)
    assert first in (most - 1, most)
    assert more == first - kept
    assert all(sentence in each for each in sentences), sentences
    assert done.leaks() == {}


def test_limit_is_the_total_and_what_is_left_is_the_free_memory(run: Run) -> None:
    program = """
device = fe.device("cuda")
x = put(np.zeros(1 << 18)); fe.eval(x)
print(*device.memory)
"""
    free, total = map(int, run(program, FERRULE_CUDA_MEMORY_LIMIT=str(4 << 20)).split())
    assert total == 4 << 20
    assert 2 << 20 <= free <= 3 << 20


def test_freed_memory_is_used_again_without_asking_the_driver(start: Processes) -> None:
    program = """
x = put(np.arange(1 << 16))
for turn in range(50): assert np.asarray(x + turn)[1] == 1 + turn
"""
    assert start(program).calls.count("cudaMallocAsync") < 20


def test_trim_gives_memory_back_to_the_driver(run: Run) -> None:
    program = """
device = fe.device("cuda")
x = put(np.zeros(1 << 18)); fe.eval(x)
before = device.memory[0]
del x
fe.trim("cuda"); fe.synchronize("cuda")
print(device.memory[0] - before)
"""
    assert int(run(program)) == 1 << 20


def test_pinned_memory_is_copied_without_another_copy_and_freed(start: Processes) -> None:
    program = """
host = fe.host_empty((1 << 18,), device="cuda")
host[:] = np.arange(1 << 18)
assert host.ctypes.data % 4096 == 0
x = fe.asarray(host, device="cuda", copy=True) + 1
host[:] = -1
assert np.array_equal(np.asarray(x), np.arange(1 << 18) + 1)
del host, x
fe.unload("cuda")
"""
    assert start(program).leaks() == {}


# ---- memory of the host that kernels access themselves: that of integrated GPUs is the host's, too

INTEGRATED = {"FERRULE_EMULATION_INTEGRATED": "1"}

FILE = """
header = {
    "first": {"dtype": "F32", "shape": [1000], "data_offsets": [0, 4000]},
    "second": {"dtype": "BF16", "shape": [100, 50], "data_offsets": [4000, 14000]},
    "bools": {"dtype": "BOOL", "shape": [3], "data_offsets": [14000, 14003]},
    "odd": {"dtype": "F32", "shape": [2], "data_offsets": [14003, 14011]},
}
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
first = np.arange(1000, dtype=np.float32)
odd = np.array([5, 7], np.float32)
with open("weights", "wb") as file:
    file.write(len(text).to_bytes(8, "little") + text + first.tobytes() + np.full(5000, 0x3F80, np.uint16).tobytes())
    file.write(bytes([1, 0, 1]) + odd.tobytes())
def used():
    stats = fe.memory_stats("cuda")
    return stats.live, stats.borrowed
fe.eval(fe.ones(3, device="cuda"))
weights = fe.io.open_safetensors("weights", "cuda")
"""
OWN = "copied: cuda:0 has memory of its own, which it reads faster"


def test_discrete_gpu_copies_tensors_of_mapped_files_when_they_are_first_looked_up(start: Processes) -> None:
    program = """
before = used()
x = weights["first"]
placement, after = x.placement, used()
print(placement, "|", after[0] - before[0], after[1] - before[1])
again = weights["first"]
again[0] = 9
print(used()[0] - after[0] <= again.nbytes, np.array_equal(np.asarray(x), first), np.asarray(weights["first"])[0])
second = weights["second"].astype("float32").tolist()
print(second == [[1] * 50] * 100, weights["bools"].tolist(), weights["odd"].tolist())
del x, again, weights
fe.unload("cuda")
"""
    done = start(FILE + program)
    placement, *lines = done.output.splitlines()
    assert placement == f"{OWN} | 4096 0"  # in multiples of 256
    assert lines == ["True True 0.0", "True [True, False, True] [5.0, 7.0]"]
    assert "cudaHostRegister" not in done.calls
    assert done.leaks() == {}


def test_integrated_gpu_borrows_a_mapped_file_once(start: Processes) -> None:
    program = """
x, y = weights["first"], weights["second"]
print(x.placement, y.placement, np.array_equal(np.asarray(x + 1), first + 1), weights["odd"].tolist())
del x, y, weights
fe.unload("cuda")
"""
    done = start(FILE + program, **INTEGRATED)
    assert done.output == "borrowed borrowed True [5.0, 7.0]\n"
    assert done.calls.count("cudaHostRegister") == 1
    assert done.leaks() == {}


@pytest.mark.parametrize("pageable", ["0", "1"])
def test_discrete_gpu_borrows_only_if_the_caller_insists(pageable: str, start: Processes) -> None:
    program = """
memory = page(2048)
memory[:] = np.arange(2048)
with open("values", "wb") as file: file.write(memory.tobytes())
mapped = np.memmap("values", np.float32, "r")
print("borrows" in fe.device("cuda").info["capabilities"])
for x in (memory, mapped):
    for make in (fe.asarray, fe.buffer_from_host_ptr):
        for copy in (None, False):
            y = make(x, device="cuda", copy=copy)
            print(y.placement, np.array_equal(np.asarray(y + 1), memory + 1), sep="|")
            del y
            fe.synchronize("cuda")
"""
    lines = start(program, FERRULE_EMULATION_PAGEABLE=pageable).output.splitlines()
    assert lines == ["False"] + [f"{OWN}|True", "borrowed|True"] * 4


def test_pages_are_borrowed_and_seen_by_kernels(start: Processes) -> None:
    program = """
memory = page(2048)
memory[:] = np.arange(2048)
x = fe.buffer_from_host_ptr(memory, "cuda")
y = fe.buffer_from_host_ptr(page(2048), "cuda", access="r")
print(x.placement, y.placement)
print(np.array_equal(np.asarray(x * 2), 2 * memory), not np.asarray(y + 0).any())
del x, y
fe.unload("cuda")
"""
    done = start(program, **INTEGRATED)
    assert done.output.split() == ["borrowed", "borrowed", "True", "True"]
    assert done.leaks() == {}
    assert done.calls.count("cudaHostRegister") == 2


@pytest.mark.parametrize("part", ["[1:1025]", "[:1000]", "[5:6]", "[::-2]", "[1030:1040]"])
def test_part_of_pages_is_borrowed_with_the_pages_around_it(part: str, start: Processes) -> None:
    program = f"""
whole = page(2048)
whole[:] = np.arange(2048)
x = fe.buffer_from_host_ptr(whole{part}, "cuda")
print(x.placement, np.array_equal(np.asarray(x + 1), whole{part} + 1))
del x
fe.unload("cuda")
"""
    done = start(program, **INTEGRATED)
    assert done.output == "borrowed True\n"
    assert done.leaks() == {}


@pytest.mark.parametrize(
    ("memory", "reason"),
    [
        ("np.zeros(1001, np.float32)[1:]", "pointer is not a multiple of 4096"),
        ("page(1024, np.uint8)[3:99].view(np.float32)", "pointer is not a multiple of the item's 4 bytes"),
    ],
)
def test_memory_of_odd_alignment_is_copied(memory: str, reason: str, start: Processes) -> None:
    program = f"""
memory = {memory}
memory[:] = np.arange(len(memory))
x = fe.buffer_from_host_ptr(memory, "cuda")
print(x.placement)
assert np.array_equal(np.asarray(x + 1), memory + 1)
print(attempt(lambda: fe.buffer_from_host_ptr(memory, "cuda", copy=False)))
"""
    done = start(program, **INTEGRATED)
    placement, error = done.output.splitlines()
    assert placement == f"copied: {reason}"
    assert error.startswith("InvalidArgumentError: ")
    assert "cudaHostRegister" not in done.calls


def test_device_that_uses_all_memory_of_the_process_borrows_it_without_the_driver(start: Processes) -> None:
    program = """
memory = np.arange(1001, dtype=np.float32)[1:]
fixed = np.arange(7.0)
fixed.flags.writeable = False
x, y = fe.buffer_from_host_ptr(memory, "cuda"), fe.buffer_from_host_ptr(fixed, "cuda")
print(x.placement, y.placement)
print(np.array_equal(np.asarray(x * 2), 2 * memory), np.array_equal(np.asarray(y + 1), fixed + 1))
odd = fe.buffer_from_host_ptr(page(1024, np.uint8)[3:99].view(np.float32), "cuda")
print(odd.placement, "|", np.asarray(odd + 1).tolist() == [1] * 24)
del x, y, odd
fe.unload("cuda")
"""
    done = start(program, FERRULE_EMULATION_PAGEABLE="1", **INTEGRATED)
    placements, are_equal, of_odd = done.output.splitlines()
    assert (placements, are_equal) == ("borrowed borrowed", "True True")
    assert of_odd == "copied: pointer is not a multiple of the item's 4 bytes | True"
    assert "cudaHostRegister" not in done.calls
    assert done.leaks() == {}


def test_borrowed_memory_lives_until_the_work_that_uses_it_is_done(start: Processes) -> None:
    """The program drops all references at once; the last result shows that no page was unregistered too early."""
    program = """
import gc, weakref
for turn in range(20):
    memory = page(1 << 16)
    memory[:] = turn
    x = fe.buffer_from_host_ptr(memory, "cuda", copy=False)
    y = x @ fe.ones((1 << 16,), device="cuda")
    fe.eval(y, wait=False)
    del memory, x
    gc.collect()
    assert float(y) == turn * 65536
del y
fe.unload("cuda")
"""
    done = start(program)
    assert done.calls.count("cudaHostRegister") == 20
    assert done.leaks() == {}


def test_device_that_cannot_register_memory_copies_it(run: Run) -> None:
    program = """
x = fe.buffer_from_host_ptr(page(1024) , "cuda")
print(x.placement, np.asarray(x + 1)[0])
"""
    output = run(program, FERRULE_EMULATION_CALL_FAILS="cudaHostRegister:1:cudaErrorNotPermitted", **INTEGRATED)
    assert output.startswith("copied: the driver does not register this memory (cudaErrorNotPermitted")
    assert output.endswith("1.0\n")


# ---- two devices


def test_arrays_move_between_devices_in_the_order_of_the_work(run: Run) -> None:
    program = """
x = put(np.arange(5000), device="cuda:0")
for turn in range(20):
    there = (x + turn).to_device("cuda:1")
    back = (there * 2).to_device("cuda:0")
    assert np.array_equal(np.asarray(back - x), 2 * (np.arange(5000) + turn) - np.arange(5000)), turn
print(there.device, back.device)
"""
    assert run(program, FERRULE_EMULATION_DEVICES="2") == "cuda:1 cuda:0\n"


def test_copies_between_devices_are_peer_copies(start: Processes) -> None:
    program = """
there = put(np.arange(5000), device="cuda:0").to_device("cuda:1")
assert np.array_equal(np.asarray(there), np.arange(5000))
"""
    done = start(program, FERRULE_EMULATION_DEVICES="2")
    assert "cudaMemcpyPeerAsync" in done.calls


def test_memory_of_one_device_is_not_that_of_another(run: Run) -> None:
    program = """
def fill(device):
    arrays = []
    try:
        while len(arrays) < 100: arrays.append(put(np.ones(1 << 18), device=device)); fe.eval(arrays[-1])
    except fe.OutOfMemoryError: pass
    return arrays
first = fill("cuda:0")
second = fill("cuda:1")
print(len(first) == len(second), len(first) in (3, 4), attempt(lambda: put([1], device="cuda:1") + 1))
"""
    same, few, _ = run(program, FERRULE_EMULATION_DEVICES="2", FERRULE_EMULATION_MEMORY=str(4 << 20)).split(" ", 2)
    assert (same, few) == ("True", "True")


def test_execution_allocates_nothing_from_the_driver(run: Run) -> None:
    """All memory is ferrule's, in its cache: a record of faults or stored scalars would not find any."""
    program = """
x, index = put(np.arange(8)), put([1], np.int64)
scaled = fe.graph(lambda x, s: x * s + s)
fe.eval(x + 1, index)
arrays = []
for size in (1 << 20, 1 << 16, 1 << 12, 1 << 8):
    try:
        while True:
            arrays.append(put(np.zeros(size // 4)))
            fe.eval(arrays[-1])
    except fe.OutOfMemoryError:
        pass
free = fe.device("cuda").memory[0]
del arrays
print(json.dumps([free, attempt(lambda: fe.take(x, index, axis=0)), attempt(lambda: scaled(x, 3.0))]))
"""
    free, taken, scaled = json.loads(run(program, FERRULE_EMULATION_MEMORY=str(4 << 20)))
    assert free < 256
    assert taken == [1]
    assert scaled == [3 * x + 3 for x in range(8)]


def test_memory_without_pages_is_copied_by_a_device_that_reads_all_others(run: Run) -> None:
    """Such as a device's registers, or the clock's page that Linux shows to each process."""
    program = """
def flags_of(name):
    lines = open("/proc/self/smaps").read().splitlines()
    [at] = [i for i, line in enumerate(lines) if line.endswith(name)]
    return int(lines[at].split("-")[0], 16), next(line for line in lines[at:] if line.startswith("VmFlags:")).split()
try: address, flags = flags_of("[vvar]")
except (OSError, ValueError): address, flags = 0, []
if "pf" not in flags and "io" not in flags: print("no such memory")
else: print(fe.buffer_from_host_ptr((address, 4096), "cuda", access="r").placement)
memory = np.arange(4.0)
print(fe.buffer_from_host_ptr(memory, "cuda").placement)
"""
    special, ordinary = run(program, FERRULE_EMULATION_PAGEABLE="1", **INTEGRATED).splitlines()
    if special == "no such memory":
        pytest.skip("the system shows no such memory")
    assert special.startswith("copied: ")
    assert "memory of a device" in special
    assert ordinary == "borrowed"

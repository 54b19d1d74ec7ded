"""Memory of the host that several arrays, devices or libraries use at once: each page is registered once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.cuda.tests.processes import Processes

Run = Callable[..., str]

INTEGRATED = {"FERRULE_EMULATION_INTEGRATED": "1"}
# `borrow` borrows pages of an array; `check` computes with what is borrowed, and copies it to the host and back.
PRELUDE = f"""
import gc, random, sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[4])!r})
whole = page(16 * 1024)
whole[:] = np.arange(16 * 1024)
def borrow(begin, end, device="cuda", **options):
    return fe.buffer_from_host_ptr(whole[begin * 1024 : end * 1024], device, copy=False, **options)
def check(x, begin, end):
    want = np.arange(begin * 1024, end * 1024, dtype=np.float32)
    assert x.placement == "borrowed", x.placement
    assert np.array_equal(np.asarray(x), want)
    assert np.array_equal(np.asarray(x + 1), want + 1)
    assert np.array_equal(np.asarray(fe.graph(lambda x: fe.concat([x[1:], x[:1]]))(x)), np.roll(want, -1))
"""


def test_memory_is_borrowed_twice_whole_and_in_parts(start: Processes) -> None:
    program = """
first, second, part = borrow(0, 8), borrow(0, 8), borrow(2, 3)
check(first, 0, 8); check(second, 0, 8); check(part, 2, 3)
print(np.asarray(first + second)[-1])
del first; fe.synchronize("cuda")
check(second, 0, 8); check(part, 2, 3)
del second; fe.synchronize("cuda")
check(part, 2, 3)
check(borrow(0, 8), 0, 8)
del part
fe.unload("cuda")
"""
    done = start(PRELUDE + program)
    assert done.output == "16382.0\n"
    assert done.calls.count("cudaHostRegister") == done.calls.count("cudaHostUnregister") == 1
    assert done.leaks() == {}


def test_ranges_that_overlap_share_their_pages(start: Processes) -> None:
    """A copy that spans two registrations is an error of the driver, and so of the emulator."""
    program = """
left, right = borrow(0, 6), borrow(4, 12)
check(left, 0, 6); check(right, 4, 12)
middle, all = borrow(5, 7), borrow(0, 16)
del left; fe.synchronize("cuda")
for x, begin, end in ((right, 4, 12), (middle, 5, 7), (all, 0, 16)): check(x, begin, end)
del right, middle; fe.synchronize("cuda")
check(all, 0, 16)
del all, x
fe.unload("cuda")
"""
    done = start(PRELUDE + program)
    assert done.calls.count("cudaHostRegister") == done.calls.count("cudaHostUnregister") == 3
    assert done.leaks() == {}


@pytest.mark.parametrize("devices", ["1", "2"])
def test_ranges_end_in_any_order_on_any_thread(devices: str, start: Processes) -> None:
    program = f"""
def work(number):
    draw = random.Random(number)
    held = []
    for turn in range(60):
        begin = draw.randrange(15)
        end = draw.randrange(begin + 1, 17)
        held.append((borrow(begin, end, f"cuda:{{draw.randrange({devices})}}"), begin, end))
        check(*draw.choice(held))
        while len(held) > draw.randrange(6): held.pop(draw.randrange(len(held)))
in_threads(4, work)
gc.collect()
fe.unload("cuda")
"""
    done = start(PRELUDE + program, FERRULE_EMULATION_DEVICES=devices)
    assert done.calls.count("cudaHostRegister") == done.calls.count("cudaHostUnregister") > 4
    assert done.leaks() == {}


def test_two_devices_share_a_registration(start: Processes) -> None:
    program = """
first, second = borrow(0, 8, "cuda:0"), borrow(0, 8, "cuda:1")
del first; fe.synchronize("cuda:0")
check(second, 0, 8)
del second
fe.unload("cuda")
"""
    done = start(PRELUDE + program, FERRULE_EMULATION_DEVICES="2")
    assert done.calls.count("cudaHostRegister") == 1
    assert done.leaks() == {}


@pytest.mark.parametrize("pageable", ["0", "1"])
def test_pinned_memory_is_borrowed_as_it_is(pageable: str, start: Processes) -> None:
    program = """
host = fe.host_empty((3000,), device="cuda")
host[:] = np.arange(3000)
x, y = fe.buffer_from_host_ptr(host, "cuda", copy=False), fe.asarray(host[7:90], device="cuda", copy=False)
print(x.placement, y.placement, np.array_equal(np.asarray(x + 1), host + 1), np.array_equal(np.asarray(y), host[7:90]))
print(x.__dlpack_device__()[0])
host[:] = 5
print(np.asarray(x)[-1], np.asarray(y * 2)[0])
del host, y; gc.collect()
print(np.asarray(x + 1)[0])
del x
fe.unload("cuda")
"""
    done = start(PRELUDE + program, FERRULE_EMULATION_PAGEABLE=pageable)
    assert done.output.splitlines() == ["borrowed borrowed True True", "2", "5.0 10.0", "6.0"]
    assert "cudaHostRegister" not in done.calls
    assert done.leaks() == {}


@pytest.mark.parametrize("pageable", ["0", "1"])
def test_memory_that_another_library_has_pinned_is_borrowed(pageable: str, start: Processes) -> None:
    program = """
import ctypes
from csrc.backends.cuda.tests.dlpack_objects import LIBRARY
address = ctypes.c_void_p()
assert LIBRARY.other_allocate(ctypes.byref(address), 4096) == 0
memory = np.frombuffer((ctypes.c_float * 750).from_address(address.value), np.float32)
memory[:] = np.arange(750)
x = fe.buffer_from_host_ptr((address.value, 4096), "cuda")
y = fe.buffer_from_host_ptr((address.value, 4096), "cuda")
print(x.placement, y.placement, np.asarray(x).view(np.float32)[:750].tolist() == memory.tolist())
del x, y; fe.synchronize("cuda")
assert LIBRARY.other_register(ctypes.c_void_p(whole.ctypes.data), 4 * 4096) == 0
z = borrow(1, 4)
check(z, 1, 4)
del z; fe.synchronize("cuda")
assert LIBRARY.other_unregister(ctypes.c_void_p(whole.ctypes.data)) == 0
check(borrow(0, 4), 0, 4)
assert LIBRARY.other_free(address) == 0
"""
    done = start(PRELUDE + program, FERRULE_EMULATION_PAGEABLE=pageable, **INTEGRATED)
    assert done.output == "borrowed borrowed True\n"


def test_memory_that_another_library_has_registered_in_part_is_copied(run: Run) -> None:
    program = """
import ctypes
from csrc.backends.cuda.tests.dlpack_objects import LIBRARY
assert LIBRARY.other_register(ctypes.c_void_p(whole.ctypes.data + 4096), 4096) == 0
x = fe.buffer_from_host_ptr(whole[: 4 * 1024], "cuda")
print(x.placement, np.array_equal(np.asarray(x), whole[: 4 * 1024]))
own = borrow(3, 5)
print(fe.buffer_from_host_ptr(whole[1024 : 4 * 1024], "cuda").placement)
check(own, 3, 5)
check(borrow(2, 8), 2, 8)
"""
    first, second = run(PRELUDE + program, **INTEGRATED).splitlines()
    assert first == "copied: another library has registered a part of it True"
    assert second == "copied: another library has registered a part of it"


def test_read_only_mappings_share_their_registration(start: Processes) -> None:
    program = """
whole.tofile("values")
whole = np.memmap("values", np.float32, "r")
first, second, part = borrow(0, 8), borrow(0, 8), borrow(2, 3)
check(first, 0, 8); check(part, 2, 3)
del first, second, part
fe.unload("cuda")
"""
    done = start(PRELUDE + program)
    assert done.calls.count("cudaHostRegister") == 1
    assert done.leaks() == {}


def test_failing_registration_of_a_part_leaves_the_others(start: Processes) -> None:
    program = """
middle = borrow(4, 8)
print(fe.buffer_from_host_ptr(whole, "cuda").placement)
check(middle, 4, 8)
del middle
fe.unload("cuda")
"""
    failing = "cudaHostRegister:3:cudaErrorNotPermitted"  # the pages behind the middle
    done = start(PRELUDE + program, FERRULE_EMULATION_CALL_FAILS=failing, **INTEGRATED)
    assert done.output.startswith("copied: the driver does not register this memory (cudaErrorNotPermitted")
    assert done.leaks() == {}

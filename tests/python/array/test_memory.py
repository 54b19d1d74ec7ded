"""Ownership of array memory: borrowed, copied, kept alive, unchanged."""

from __future__ import annotations

import gc
import mmap
import sys
import weakref
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each


def address(array: object) -> int:
    return int(np.asarray(array).__array_interface__["data"][0])


def test_asarray_borrows_the_same_bytes() -> None:
    a = np.arange(1000, dtype="float32")
    x = fe.asarray(a)
    assert address(x) == address(a)
    assert x.placement == "borrowed"


def test_exported_memory_is_shared_and_read_only() -> None:
    x = fe.asarray(np.arange(10, dtype="float32")) + 1
    first, second = np.asarray(x), np.asarray(x)
    assert address(first) == address(second)
    assert not first.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        first.flags.writeable = True


def test_the_array_outlives_the_numpy_object() -> None:
    a = np.arange(100_000, dtype="float32")
    expected = a.sum(dtype="float64")
    x = fe.asarray(a)
    del a
    gc.collect()
    junk = [np.full(100_000, 7, "float32") for _ in range(5)]
    assert np.asarray(x).sum(dtype="float64") == expected
    del junk


def test_owner_is_released_when_the_array_is_freed() -> None:
    class Lender(np.ndarray[Any, Any]):
        pass

    a = np.arange(100, dtype="float32").view(Lender)
    seen = weakref.ref(a)
    x = fe.asarray(a)
    y = x + 1
    del a
    fe.eval(y)
    gc.collect()
    assert seen() is not None
    export = np.asarray(x)
    del x, y
    gc.collect()
    assert seen() is not None, "the export reads its bytes"
    del export
    gc.collect()
    fe.memory_stats("cpu")  # runs deferred releases
    assert seen() is None


def test_copy_true_always_copies() -> None:
    a = np.arange(10, dtype="float32")
    x = fe.asarray(a, copy=True)
    assert address(x) != address(a)
    a[:] = 0
    assert np.asarray(x)[9] == 9


def test_buffer_from_host_ptr_accepts_all_kinds_of_memory(tmp_path: Path) -> None:
    a = np.arange(16, dtype="float32")
    file = tmp_path / "bytes"
    file.write_bytes(a.tobytes())
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    x = fe.buffer_from_host_ptr(a)
    assert address(x) == address(a)
    assert fe.buffer_from_host_ptr(memoryview(a)).tolist() == a.tolist()
    assert bytes(np.asarray(fe.buffer_from_host_ptr(mapped))) == a.tobytes()
    by_address = fe.buffer_from_host_ptr((address(a), a.nbytes))
    assert by_address.dtype == np.uint8
    assert address(by_address) == address(a)
    assert bytes(np.asarray(by_address)) == a.tobytes()
    assert fe.buffer_from_host_ptr(b"abc").tolist() == [97, 98, 99]


def test_borrowed_mmap_cannot_be_closed(tmp_path: Path) -> None:
    file = tmp_path / "bytes"
    file.write_bytes(bytes(4096))
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    x = fe.buffer_from_host_ptr(mapped)
    with pytest.raises(BufferError):
        mapped.close()
    del x
    gc.collect()
    fe.memory_stats("cpu")
    mapped.close()


@each("memory", [(0, 10), (16, -1), (1, 2, 3), "text", 5, (1 << 63, 1 << 63)])
def test_buffer_from_host_ptr_refuses_invalid_arguments(memory: Any) -> None:
    with pytest.raises(fe.InvalidArgumentError):
        fe.buffer_from_host_ptr(memory)


def test_requested_access_is_checked_against_the_memory() -> None:
    with pytest.raises(fe.InvalidArgumentError, match="read-only"):
        fe.buffer_from_host_ptr(b"abc", access="rw")
    with pytest.raises(fe.InvalidArgumentError, match="access"):
        fe.buffer_from_host_ptr(b"abc", access="w")


def test_device_that_cannot_borrow_copies_with_a_reason(null_device: fe.Device) -> None:
    x = fe.buffer_from_host_ptr(np.ones(4, "float32"), null_device)
    assert x.placement.startswith("copied: ")
    with pytest.raises(fe.Error):
        fe.buffer_from_host_ptr(np.ones(4, "float32"), null_device, copy=False)


def test_export_without_a_copy_is_refused_for_device_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    x = fe.ones(3)
    assert np.asarray(x, copy=False).tolist() == [1, 1, 1]
    monkeypatch.setattr("ferrule._ferrule.host_view", lambda array: None)  # as of Vulkan: its test_computing.py
    monkeypatch.setattr("ferrule._ferrule.view_plain", lambda array: NotImplemented)
    with pytest.raises(ValueError, match=r"cpu.*needs a copy, which copy=False forbids") as caught:
        np.asarray(x, copy=False)
    assert isinstance(caught.value, fe.InvalidArgumentError)
    with pytest.raises(fe.InvalidArgumentError, match="copy=False forbids"):
        memoryview(x)  # type: ignore[arg-type]
    assert np.asarray(x).tolist() == np.array(x, copy=True).tolist() == [1, 1, 1]


def test_parts_of_mapped_files_are_borrowed(tmp_path: Path) -> None:
    values = np.arange(3000, dtype="float32")
    values.tofile(tmp_path / "values")
    mapped = np.memmap(tmp_path / "values", "float32", "r")
    for part in (mapped, mapped[5:], mapped[::-3], mapped[2999:], mapped.reshape(30, 100)[3:, ::7]):
        x = fe.asarray(part)
        assert x.placement == "borrowed"
        assert address(x) == address(part)
        assert (np.asarray(x) == part).all()


def test_host_empty_is_memory_that_the_device_copies_from(null_device: fe.Device) -> None:
    for device in ("cpu", null_device):
        memory = fe.host_empty((300, 500), "float64", device)
        memory[...] = np.arange(150000).reshape(300, 500)
        x = fe.asarray(memory, device=device, copy=True)
        memory[...] = 0
        assert (np.asarray(x) == np.arange(150000).reshape(300, 500)).all()


def test_backend_stays_loaded_while_its_host_memory_is_used(null_device: fe.Device) -> None:
    memory = fe.host_empty(10, device=null_device)
    with pytest.raises(fe.InvalidArgumentError, match=r"host memory of \d+ bytes"):
        fe.unload("null")
    memory[:] = 1
    del memory
    gc.collect()
    fe.unload("null")


def test_free_memory_of_the_cpu_includes_file_caches() -> None:
    table = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    available = int(table["MemAvailable"].split()[0]) * 1024
    np.asarray(fe.ones(1))  # opens the device
    free, total = fe.device("cpu").memory
    assert total is not None
    assert free == pytest.approx(available, abs=total / 20)


def test_trim_releases_cached_memory() -> None:
    (fe.ones(1000) + 1).tolist()
    assert fe.memory_stats("cpu").cached > 0
    fe.trim("cpu")
    assert fe.memory_stats("cpu").cached == 0
    (fe.ones(1000) + 1).tolist()
    fe.trim()
    assert fe.memory_stats("cpu").cached == 0


def test_host_empty_is_page_aligned() -> None:
    for shape in ((3, 4), (0,), (), 7):
        a = fe.host_empty(shape, "float64")
        assert a.size == 0 or a.ctypes.data % 4096 == 0
        assert a.shape == (shape if isinstance(shape, tuple) else (shape,))
        assert a.flags.writeable
        assert address(fe.asarray(a)) == address(a) or a.size == 0
    with pytest.raises(fe.InvalidArgumentError):
        fe.host_empty((-1,))


def test_memory_stats_count_borrowed_and_live_memory() -> None:
    gc.collect()  # frees cycles of earlier tests
    before = fe.memory_stats("cpu")
    a = np.zeros(1 << 20, dtype="float32")
    x = fe.asarray(a)
    assert fe.memory_stats("cpu").borrowed - before.borrowed == a.nbytes
    y = x + 1
    fe.eval(y)
    assert fe.memory_stats("cpu").live - before.live >= a.nbytes
    assert fe.memory_stats("cpu").peak >= fe.memory_stats("cpu").live
    del x, y
    gc.collect()
    after = fe.memory_stats("cpu")
    assert after.borrowed == before.borrowed
    assert after.live == before.live


def test_freed_memory_is_reused_or_released() -> None:
    gc.collect()
    fe.device("cpu").trim()  # frees the cache of earlier tests
    for _ in range(50):
        fe.eval(fe.zeros((1 << 18,)) + 1)
    gc.collect()
    assert fe.memory_stats("cpu").cached < 64 << 20
    fe.device("cpu").trim()
    assert fe.memory_stats("cpu").cached == 0


def test_out_may_be_an_input() -> None:
    graph = fe.Graph("cpu")
    x, w = graph.input((8, 8)), graph.input((8, 8))
    graph.output(fe.matmul(x, w))
    a, b = np.random.default_rng(1).normal(size=(2, 8, 8)).astype("float32")
    expected = a @ b
    graph.compute(a, b, out=a)
    np.testing.assert_allclose(a, expected, rtol=1e-5, atol=1e-5)


@each(
    "out",
    [
        np.empty((3, 4), "float64"),
        np.empty((4, 3), "float32"),
        np.empty((4, 3), "float32").T,
        np.frombuffer(bytes(48), "float32").reshape(3, 4),
        np.empty((3, 4), np.dtype("float32").newbyteorder()),
        [np.empty((3, 4), "float32")] * 2,
        fe.zeros((3, 4)),
    ],
)
def test_a_wrong_out_is_refused_before_anything_runs(out: Any) -> None:
    graph = fe.Graph("cpu")
    graph.output(graph.input((3, 4)) + 1)
    with pytest.raises(fe.InvalidArgumentError, match="out"):
        graph.compute(np.ones((3, 4), "float32"), out=out)


def test_too_much_memory_is_a_memory_error() -> None:
    with pytest.raises((MemoryError, ValueError)) as caught:
        fe.eval(fe.zeros((1 << 45,)) + 1)
    assert isinstance(caught.value, fe.Error)


def test_out_of_memory_of_a_device_is_a_memory_error(run_python: Any, null_module: Path) -> None:
    run_python(
        "import ferrule as fe, numpy as np\n"
        "fe.load_all(); d = fe.device('null'); d.open(out_of_memory_at=1)\n"
        "try: fe.eval(fe.asarray(np.ones(4, 'f4'), device=d) + 1)\n"
        "except MemoryError as e: assert isinstance(e, fe.OutOfMemoryError) and 'allocation 1' in str(e), e\n"
        "else: raise AssertionError",
        FERRULE_BACKEND_PATH=null_module,
    )


def test_lost_device_is_an_error_when_waiting(run_python: Any, null_module: Path) -> None:
    run_python(
        "import ferrule as fe, numpy as np\n"
        "fe.load_all(); d = fe.device('null'); d.open(device_lost_at=1)\n"
        "x = fe.asarray(np.ones(4, 'f4'), device=d)\n"
        "try: np.asarray(x + 1)\n"
        "except fe.DeviceLostError as e: print(e)\n"
        "else: raise AssertionError\n",
        FERRULE_BACKEND_PATH=null_module,
    )


def test_placement_says_borrowed_only_of_the_callers_memory() -> None:
    a = np.ones(3, "f4")
    made: list[Any] = [[1], 1.5, np.float32(2), (np.float64(1),)]
    arrays = [*map(fe.asarray, made), fe.asarray(a, dtype="f8"), fe.arange(3), fe.eye(2), fe.linspace(0, 1, 3)]
    assert {x.placement for x in arrays} == {"owned"}
    assert fe.asarray([1, 2])[1:].placement == "owned"
    assert fe.asarray(a).placement == "borrowed"
    assert fe.asarray(a, dtype="f4").placement == "borrowed"


@pytest.mark.parametrize("function", [fe.asarray, fe.from_dlpack])
def test_a_refused_borrow_keeps_no_reference(function: Any) -> None:
    source = np.ones(100, bool)
    before = sys.getrefcount(source)
    for _ in range(5):
        with pytest.raises(fe.Error, match="cannot be borrowed"):
            function(source, copy=False)
    gc.collect()  # of the tracebacks
    assert sys.getrefcount(source) == before

"""Writes: those of a lender change no recorded result; ferrule's own go to the given memory or raise."""

from __future__ import annotations

import array
import ctypes
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

Floats = np.ndarray[Any, np.dtype[np.float32]]
OPS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: x + 1,
    "two operands": lambda x: x * x,
    "what is pending before it": lambda x: (fe.ones((8, 8)) + 1) * x,
    "second operand": lambda x: fe.ones((8, 8)) - x,
    "comparison": lambda x: x < 30,
    "sum": lambda x: x.sum(axis=0),
    "softmax": lambda x: fe.softmax(x / 64),
    "matmul": lambda x: x @ fe.ones((8, 3)),
    "matmul on the right": lambda x: fe.ones((3, 8)) @ x,
    "where": lambda x: fe.where(fe.ones((8, 8)) > 0, x, 0),
    "concat": lambda x: fe.concat([x, x], axis=1),
    "stack": lambda x: fe.stack([x, x]),
    "astype": lambda x: x.astype("int64"),
    "take": lambda x: fe.take(x, fe.asarray(np.array([3, 1])), axis=0),
    "op of a transposed view": lambda x: x.T + 1,
    "op of a slice": lambda x: x[2:4, ::-1] * 2,
    "op of a broadcast": lambda x: fe.broadcast_to(x[0], (5, 8)) + 1,
    "reshape that copies": lambda x: x.T.reshape(64),
    "item": lambda x: x[2, 3] + 0,
    "copy": lambda x: fe.asarray(x, copy=True),
}


def assign(x: Any) -> Any:
    x[2:4] = 7
    return x


@each("op", [*OPS.values(), assign])
def test_a_write_after_an_op_was_recorded_does_not_change_its_result(op: Callable[[Any], Any]) -> None:
    values = np.arange(64, dtype="float32").reshape(8, 8)
    borrowed = values.copy()
    expected = np.array(op(fe.asarray(values.copy(), copy=True)))
    result = op(fe.asarray(borrowed))
    borrowed[:] = 1000
    np.testing.assert_array_equal(np.asarray(result), expected)


def test_slice_keeps_old_bytes_and_the_borrowed_array_shows_new_ones() -> None:
    borrowed = np.ones(100, "float32")
    x = fe.asarray(borrowed)
    view = x[10:20]
    borrowed[:] = 5
    assert np.asarray(view).tolist() == [1] * 10
    assert np.asarray(x).tolist() == [5] * 100


def read_only(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    view = values[...]
    view.flags.writeable = False
    return view


def bytes_of_ones() -> bytes:
    return np.ones(64, "float32").tobytes()


def writable_mmap() -> mmap.mmap:
    mapped = mmap.mmap(-1, 256)
    mapped[:] = bytes_of_ones()
    return mapped


# Who owns the memory, and how it is passed to ferrule; read-only where possible.
WAYS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "array": (lambda: np.ones(64, "float32"), fe.asarray),
    "read-only view": (lambda: np.ones(64, "float32"), lambda a: fe.asarray(read_only(a))),
    "view of a view": (lambda: np.ones(64, "float32"), lambda a: fe.asarray(read_only(read_only(a[:])))),
    "windows": (lambda: np.ones(64, "float32"), lambda a: fe.asarray(np.lib.stride_tricks.sliding_window_view(a, 3))),
    "broadcast": (lambda: np.ones(64, "float32"), lambda a: fe.asarray(np.broadcast_to(a, (3, 64)))),
    "access r": (lambda: np.ones(64, "float32"), lambda a: fe.buffer_from_host_ptr(a, access="r")),
    "address": (
        lambda: np.ones(64, "float32"),
        lambda a: fe.buffer_from_host_ptr((a.ctypes.data, a.nbytes), access="r"),
    ),
    "export of an array": (lambda: np.ones(64, "float32"), lambda a: fe.asarray(np.asarray(fe.asarray(a)))),
    "DLPack": (lambda: np.ones(64, "float32"), fe.from_dlpack),
    "read-only DLPack": (lambda: np.ones(64, "float32"), lambda a: fe.from_dlpack(read_only(a))),
    "array from DLPack": (lambda: np.ones(64, "float32"), lambda a: fe.asarray(np.from_dlpack(read_only(a)))),
    "memoryview": (lambda: np.ones(64, "float32"), lambda a: fe.asarray(memoryview(read_only(a)))),
    "bytearray": (lambda: bytearray(bytes_of_ones()), lambda b: fe.asarray(np.frombuffer(b, "float32"))),
    "read-only bytearray": (
        lambda: bytearray(bytes_of_ones()),
        lambda b: fe.asarray(np.frombuffer(memoryview(b).toreadonly(), "float32")),
    ),
    "array.array": (lambda: array.array("f", [1] * 64), fe.buffer_from_host_ptr),
    "ctypes": (lambda: (ctypes.c_float * 64)(*[1] * 64), lambda c: fe.asarray(np.ctypeslib.as_array(c))),
    "mmap": (writable_mmap, lambda m: fe.asarray(np.frombuffer(m, "float32"))),
}


@each(("make", "lend"), WAYS.values())
def test_write_by_the_owner_changes_no_result_for_any_source_of_memory(
    make: Callable[[], Any], lend: Callable[[Any], Any]
) -> None:
    owner = make()
    borrowed = lend(owner)
    assert borrowed.placement == "borrowed"
    before = np.array(borrowed)
    result = borrowed + 0
    writable = np.frombuffer(owner, "uint8")
    writable[:] = 66
    assert not np.array_equal(np.asarray(borrowed), before), "what was written is what was lent"
    np.testing.assert_array_equal(np.asarray(result), before)


def test_ops_on_read_only_memory_stay_lazy(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(bytes_of_ones())
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    for memory in (bytes_of_ones(), mapped):
        x = fe.asarray(np.frombuffer(memory, "float32"))
        assert x.placement == "borrowed"
        assert (x + 1).placement == "lazy: not computed yet"


def test_read_only_memory_stays_read_only(tmp_path: Path) -> None:
    """A write to the mapped file's pages would crash the process."""
    file = tmp_path / "weights"
    file.write_bytes(bytes_of_ones())
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    borrowed = np.frombuffer(mapped, "float32")
    x = fe.asarray(borrowed)
    y = fe.asarray(borrowed)
    y[3:5] = 9
    assert np.asarray(y).tolist() == [1, 1, 1, 9, 9, *[1] * 59]
    np.testing.assert_array_equal(np.asarray(x + x), 2 * borrowed)
    with pytest.raises(fe.InvalidArgumentError, match="read-only"):
        fe.buffer_from_host_ptr(borrowed, access="rw")
    graph = fe.Graph("cpu")
    graph.output(graph.input((64,)) + 1)
    with pytest.raises(fe.InvalidArgumentError, match="writable"):
        graph.compute(borrowed, out=borrowed)
    for export in (np.asarray(x), np.from_dlpack(x), np.asarray(memoryview(np.asarray(x)))):
        assert not export.flags.writeable
        with pytest.raises(ValueError, match="WRITEABLE"):
            export.flags.writeable = True
    assert file.read_bytes() == bytes_of_ones()


def doubled(size: int) -> fe.Graph:
    graph = fe.Graph("cpu")
    graph.output(graph.input((size,)) * 2 + 1)
    return graph


def test_out_is_written_in_place() -> None:
    """It is written directly, without temporary device memory."""
    size = 1 << 20
    graph, a, out = doubled(size), np.arange(size, dtype="float32"), np.zeros(size, "float32")
    view = out[:]
    fe.device("cpu").trim()
    before = fe.memory_stats("cpu")
    assert graph.compute(a, out=out) is out
    after = fe.memory_stats("cpu")
    assert after.live + after.cached - before.live - before.cached < size
    np.testing.assert_array_equal(view, a * 2 + 1)


@pytest.mark.parametrize(
    ("given", "out"),
    [
        (slice(0, 999), slice(0, 999)),
        (slice(0, 999), slice(1, 1000)),
        (slice(1, 1000), slice(0, 999)),
        (slice(998, None, -1), slice(0, 999)),
    ],
    ids=["the same", "one later", "one earlier", "reversed"],
)
def test_out_may_overlap_an_input(given: slice, out: slice) -> None:
    a = np.arange(1000, dtype="float32")
    expected = a[given] * 2 + 1
    doubled(999).compute(a[given], out=a[out])
    np.testing.assert_array_equal(a[out], expected)


def test_out_may_be_the_input_of_the_other_output() -> None:
    graph = fe.Graph("cpu")
    x, y = graph.input((1000,)), graph.input((1000,))
    graph.output(x + y)
    graph.output(x - y)
    a, b = np.arange(1000, dtype="float32"), np.full(1000, 3, "float32")
    expected = a + b, a - b
    graph.compute(a, b, out=[b, a])
    np.testing.assert_array_equal(b, expected[0])
    np.testing.assert_array_equal(a, expected[1])


def test_invalid_out_is_left_unchanged() -> None:
    a = np.ones(999, "float32")
    misaligned = np.frombuffer(bytearray(4000), "uint8")[1:3997].view("float32")
    spread = np.zeros(1998, "float32")[::2]
    for out in (misaligned, spread, spread[::-1]):
        with pytest.raises(fe.InvalidArgumentError, match="out"):
            doubled(999).compute(a, out=out)
        assert not out.any()

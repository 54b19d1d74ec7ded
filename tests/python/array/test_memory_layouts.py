"""NumPy's layouts, dtypes and ranks give the right result, borrowed where possible, or a clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

Numpy = np.ndarray[Any, Any]
Make = Callable[[], Numpy]
SWAPPED = np.dtype("float32").newbyteorder()


def grid() -> Numpy:
    return np.arange(12, dtype="float32").reshape(3, 4)


def misaligned() -> Numpy:
    """float32 values at an odd address."""
    memory = np.zeros(12 * 4 + 1, "uint8")
    view = memory[1 - memory.ctypes.data % 2 :][:48].view("float32").reshape(3, 4)
    view[...] = grid()
    assert not view.flags.aligned
    return view


BORROWED: dict[str, Make] = {
    "contiguous": grid,
    "transposed": lambda: grid().T,
    "negative strides": lambda: grid()[::-1, ::-2],
    "all reversed": lambda: grid()[::-1, ::-1],
    "steps": lambda: np.arange(20, dtype="int64")[1::3],
    "broadcast": lambda: np.broadcast_to(np.arange(3, dtype="float32"), (4, 3)),
    "0-d": lambda: np.array(3.5, dtype="float32"),
    "0-d inside": lambda: grid()[1, 2, ...],
    "part of a record": lambda: np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "<i4"), ("b", "<f4")])["b"],
    "Fortran order": lambda: np.asfortranarray(grid()),
    "read-only": lambda: np.frombuffer(b"abcdefgh", dtype="uint8"),
    "8 dimensions": lambda: np.arange(256, dtype="int32").reshape((2,) * 8).transpose(7, 0, 6, 1, 5, 2, 4, 3),
    "one element, 8 dimensions": lambda: np.ones((1,) * 8, "float64"),
    "overlapping windows": lambda: np.lib.stride_tricks.sliding_window_view(np.arange(9, dtype="int32"), 4),
    "in an odd place of a page": lambda: np.arange(99, dtype="float32")[3:],
}
COPIED: dict[str, Make] = {
    "other byte order": lambda: grid().astype(SWAPPED),
    "other byte order, strided": lambda: grid().astype(SWAPPED)[::-1, ::2],
    "other byte order, 0-d": lambda: np.array(2.5, SWAPPED),
    "misaligned": misaligned,
    "misaligned and strided": lambda: misaligned()[:, ::-2],
    "field of a packed record": lambda: np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "u1"), ("b", "<f4")])["b"],
    "odd strides": lambda: np.array([(2.5, 1), (4.5, 3)], dtype=[("b", "<f4"), ("a", "u1")])["b"],
}
EMPTY: dict[str, Make] = {
    "no elements": lambda: np.zeros((3, 0, 2), "float64"),
    "no elements, reversed": lambda: np.zeros((0, 5), "float32")[::-1, ::-1],
    "no elements of a slice": lambda: grid()[3:],
    "no elements, 8 dimensions": lambda: np.zeros((1, 2, 3, 0, 4, 5, 6, 7), "int64"),
    "no elements of the other byte order": lambda: np.zeros(0, SWAPPED),
}
LAYOUTS = {**BORROWED, **COPIED, **EMPTY}

every_layout = pytest.mark.parametrize("make", LAYOUTS.values(), ids=LAYOUTS.keys())


def native(a: Numpy) -> Numpy:
    return a.astype(a.dtype.newbyteorder("="))


@every_layout
@each("lend", [fe.asarray, fe.buffer_from_host_ptr])
def test_any_numpy_layout_gives_right_values(make: Make, lend: Callable[..., fe.Array]) -> None:
    a = make()
    expected = native(a)
    x = lend(a)
    assert (x.shape, x.dtype) == (a.shape, expected.dtype)
    np.testing.assert_array_equal(np.asarray(x), expected)
    np.testing.assert_array_equal(np.asarray(x + x), expected + expected)
    np.testing.assert_array_equal(np.asarray(x.sum()), expected.sum())
    np.testing.assert_array_equal(np.asarray(lend(a, copy=True)), expected)


@every_layout
def test_any_layout_of_numpy_can_be_the_input_of_a_graph(make: Make) -> None:
    a = make()
    expected = native(a)
    graph = fe.Graph("cpu")
    x = graph.input(expected.shape, expected.dtype)
    graph.output(x + x)
    np.testing.assert_array_equal(np.asarray(graph.compute(a)), expected + expected)
    out = np.full(expected.shape, 77, expected.dtype)
    graph.compute(a, out=out)
    np.testing.assert_array_equal(out, expected + expected)


@each("make", BORROWED.values())
def test_borrowed_pointer_matches_numpys(make: Make) -> None:
    a = make()
    for x in (fe.asarray(a), fe.asarray(a, copy=False), fe.buffer_from_host_ptr(a)):
        view = np.asarray(x)
        assert x.placement == "borrowed"
        assert view.__array_interface__["data"][0] == a.__array_interface__["data"][0]
        assert [stride for stride, size in zip(view.strides, a.shape, strict=True) if size > 1] == [
            stride for stride, size in zip(a.strides, a.shape, strict=True) if size > 1
        ]


@each("make", COPIED.values())
def test_unborrowable_memory_is_copied_or_refused_as_requested(make: Make) -> None:
    a = make()
    x = fe.asarray(a)
    values = native(a)
    if a.flags.writeable:
        a[...] = 0
    np.testing.assert_array_equal(np.asarray(x), values)
    for lend in (fe.asarray, fe.buffer_from_host_ptr):
        with pytest.raises(fe.InvalidArgumentError, match="copy=False forbids: the "):
            lend(a, copy=False)


def test_numbers_and_lists_need_a_copy() -> None:
    for numbers in ([1.0, 2.0], 3, np.float32(4)):
        with pytest.raises(fe.InvalidArgumentError, match="copy=False forbids"):
            fe.asarray(numbers, copy=False)


UNSUPPORTED: dict[str, Make] = {
    "object": lambda: np.array([1, "two", None], dtype=object),
    "object, 0-d": lambda: np.array(None, dtype=object),
    "object, no elements": lambda: np.zeros((0, 3), dtype=object),
    "text": lambda: np.array(["a", "b"]),
    "bytes": lambda: np.array([b"a", b"b"]),
    "record": lambda: np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]),
    "void": lambda: np.zeros(2, "V4"),
    "datetime": lambda: np.zeros(2, "M8[s]"),
    "timedelta": lambda: np.zeros(2, "m8[s]"),
}
if np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant:  # elsewhere it is float64
    UNSUPPORTED |= {
        "long complex": lambda: np.zeros(2, np.clongdouble),
        "longdouble": lambda: np.zeros(2, np.longdouble),
    }


@each("make", UNSUPPORTED.values())
def test_a_dtype_that_ferrule_lacks_is_a_type_error_that_names_it(make: Make) -> None:
    a = make()
    name = "str" if a.dtype.kind == "U" else a.dtype.name if a.dtype.kind in "cg" else str(a.dtype)[:3]
    for lend in (fe.asarray, fe.buffer_from_host_ptr, lambda a: fe.Graph("cpu").input(a.shape, a.dtype)):
        with pytest.raises(fe.DTypeError, match=r"dtype .* is not supported") as caught:
            lend(a)
        assert isinstance(caught.value, TypeError)
        assert name.strip("[<|") in str(caught.value) or a.dtype.kind in "USV"
    with pytest.raises((fe.DTypeError, BufferError)):
        fe.from_dlpack(a)


@pytest.mark.parametrize("shape", [(1,) * 9, (2,) * 9, (0,) * 9, (1,) * 32], ids=str)
def test_nine_dimensions_are_a_clear_error(shape: tuple[int, ...]) -> None:
    a = np.zeros(shape, "float32")
    makers: list[Callable[[], object]] = [
        lambda: fe.asarray(a),
        lambda: fe.asarray(a, copy=True),
        lambda: fe.asarray(np.ones((1,) * len(shape)).tolist()),
        lambda: fe.buffer_from_host_ptr(a),
        lambda: fe.from_dlpack(a),
        lambda: fe.zeros(shape),
        lambda: fe.ones(shape),
        lambda: fe.full(shape, 3),
        lambda: fe.host_empty(shape),
        lambda: fe.Graph("cpu").input(shape),
        lambda: fe.zeros(0 if a.size == 0 else a.size).reshape(shape),
        lambda: fe.broadcast_to(fe.zeros(()), shape),
        lambda: fe.zeros(shape[:8])[None],
        lambda: fe.stack([fe.zeros(shape[:8])]),
    ]
    for make in makers:
        with pytest.raises(fe.InvalidArgumentError, match="at most 8 dimensions"):
            make()


@each("dtype", ["bool", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"])
@each("shift", range(8))
def test_misaligned_elements_are_never_read_in_place(dtype: str, shift: int) -> None:
    size = np.dtype(dtype).itemsize
    memory = bytearray(8 * 16)
    values = np.arange(10).astype(dtype)
    begin = -np.frombuffer(memory, "uint8").ctypes.data % 8 + shift
    memory[begin : begin + values.nbytes] = values.tobytes()
    a = np.frombuffer(memory, dtype, count=10, offset=begin)
    x = fe.asarray(a)
    # Bools in memory that its owner may write are copied, because they could become values other than 0 and 1.
    assert (x.placement == "borrowed") == (shift % size == 0 and dtype != "bool")
    np.testing.assert_array_equal(np.asarray(x), values)
    np.testing.assert_array_equal(np.asarray(fe.concat([x, x])), np.concatenate([values, values]))


@pytest.mark.parametrize(
    "view", [grid()[:, :1], grid()[1:2, ::2], grid().reshape(6, 1, 2)[::2], np.ones((0, 3), "f4")[:, ::2]]
)
def test_the_stride_of_one_element_does_not_matter(view: Numpy) -> None:
    graph = fe.Graph("cpu")
    strides = [stride // view.itemsize for stride in view.strides]
    graph.output(graph.input(view.shape, view.dtype, strides=strides) + 1)
    np.testing.assert_array_equal(graph.compute(view), view + 1)


def test_strides_that_differ_from_the_graphs_are_an_error() -> None:
    graph = fe.Graph("cpu")
    graph.output(graph.input((3, 2), strides=[4, 2]) + 1)
    with pytest.raises(fe.InvalidArgumentError, match=r"with strides \(4, 1\), but the graph .* strides \(4, 2\)"):
        graph.compute(grid()[:, :2])

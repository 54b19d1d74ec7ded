"""Sizes, strides and offsets near the limits of 64 bits are handled or refused with an error; nothing is computed.

`./dev verify address` runs these tests under UndefinedBehaviorSanitizer, which stops at the first overflow.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from tests.python.each import each

POWERS = [sign * 2**power + offset for power in (31, 40, 60, 61, 62, 63) for offset in (-1, 0, 1) for sign in (1, -1)]
SIZES = st.one_of(st.integers(0, 4), st.sampled_from([*POWERS, 2**20, 2**64, 2**70]))
NUMBERS = st.one_of(st.integers(-4, 4), st.sampled_from([*POWERS, 2**64, 2**70]))
DTYPES = st.sampled_from(["bool", "int16", "float32", "float64"])


def holds(shape: Any, item: int) -> bool:
    """Whether NumPy allows an array of this shape: axes of size 0 do not count."""
    return all(size >= 0 for size in shape) and math.prod(max(size, 1) for size in shape) * item < 2**63


def giant(shape: Any, dtype: str) -> fe.Array:
    return fe.broadcast_to(fe.ones((), dtype=dtype), shape)


@each(
    ("make", "words"),
    [
        (lambda: fe.reshape(fe.zeros((0, 3)), (0, -5)), r"\(0, -5\) has a negative size"),
        (lambda: fe.reshape(fe.zeros((0, 3)), (-1, -1)), r"\(-1, -1\)"),
        (lambda: fe.reshape(fe.zeros((4, 3)), (5, -1)), r"\(5, -1\)"),
        (lambda: fe.zeros((0, 2**40, 2**40)), r"\(0, 1099511627776, 1099511627776\)"),
        (lambda: fe.broadcast_to(fe.zeros((0, 1)), (0, 2**62)), str(2**62)),
        (lambda: fe.Graph("cpu").input((3,), strides=(2**62,)), str(2**62)),
        (lambda: fe.Graph("cpu").input((3, 0), strides=(2**62, 1)), str(2**62)),
        (lambda: fe.Graph("cpu").input((2, 2), strides=(-(2**63), 1)), str(2**63)),
        (lambda: fe.Graph("cpu").input((2, 2), strides=(2**60, 2**60)), str(2**60)),
        (lambda: fe.concat([giant((2**61,), "uint8")] * 4), "concat"),
        (lambda: fe.pad(giant((2**61,), "uint8"), 2**62), "pad"),
        (lambda: fe.take(giant((3, 2**50), "float32"), np.zeros(2**12, "int64"), axis=0), "4096"),
        (lambda: giant((2**31, 1), "float32") @ giant((1, 2**31), "float32"), "2147483648"),
    ],
)
def test_shape_larger_than_memory_is_an_error_that_names_it(make: Any, words: str) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=words):
        make()


def test_temporaries_larger_than_memory_are_an_out_of_memory_error() -> None:
    x = giant((2**61 + 2**60,), "uint8")
    many = [fe.concat([x + k])[: 2**60] for k in range(8)]
    with pytest.raises(fe.OutOfMemoryError):
        fe.concat([fe.softmax(fe.astype(part[:4], "float32")) for part in many]).tolist()


@settings(max_examples=100, deadline=None)
@given(st.lists(SIZES, max_size=4), DTYPES)
def test_full_and_broadcast_to_accept_exactly_what_memory_can_hold(shape: list[int], dtype: str) -> None:
    for make in (lambda: fe.zeros(shape, dtype=dtype), lambda: giant(shape, dtype)):
        if holds(shape, np.dtype(dtype).itemsize):
            assert make().shape == tuple(shape)
        else:
            with pytest.raises(fe.InvalidArgumentError):
                make()


@settings(max_examples=100, deadline=None)
@given(st.lists(SIZES, max_size=3), st.lists(NUMBERS, max_size=3), DTYPES)
def test_reshape_accepts_only_shapes_that_memory_can_hold(shape: list[int], wanted: list[int], dtype: str) -> None:
    if not holds(shape, np.dtype(dtype).itemsize):
        return
    x, count = giant(shape, dtype), math.prod(shape)
    try:
        got = fe.reshape(x, wanted)
    except fe.Error:
        known = [size for size in wanted if size != -1]
        assert -1 in wanted or math.prod(wanted) != count or not holds(known, np.dtype(dtype).itemsize)
        return
    assert got.size == count
    assert all(size >= 0 and place in (size, -1) for size, place in zip(got.shape, wanted, strict=True))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(SIZES, NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=3), DTYPES)
def test_slices_of_any_bounds_match_python(axes: list[tuple[int, int, int, int]], dtype: str) -> None:
    shape = [size for size, *_ in axes]
    if not holds(shape, np.dtype(dtype).itemsize):
        return
    key = tuple(slice(start, stop, step or None) for _, start, stop, step in axes)
    got = giant(shape, dtype)[key]
    assert got.shape == tuple(len(range(*part.indices(size))) for part, size in zip(key, shape, strict=True))


@settings(max_examples=100, deadline=None)
@given(st.data(), st.lists(SIZES, min_size=1, max_size=3), DTYPES)
def test_native_attributes_of_any_value_are_safe(data: Any, shape: list[int], dtype: str) -> None:
    """Values that `x[key]` and `pad` would correct first."""
    if not holds(shape, np.dtype(dtype).itemsize):
        return
    numbers = st.lists(NUMBERS, min_size=len(shape), max_size=len(shape))
    starts, sizes, steps = data.draw(numbers), data.draw(numbers), data.draw(numbers)
    graph = fe.Graph("cpu")
    x = graph.input(shape, dtype)
    for op, attributes in (
        ("slice", {"starts": starts, "sizes": sizes, "steps": steps}),
        ("pad", {"before": starts, "after": sizes}),
        ("permute_dims", {"axes": starts}),
        ("take", {"axis": starts[0]}),
        ("concat", {"axis": starts[0]}),
        ("sum", {"axis": starts}),
        ("argmax", {"axis": starts[0]}),
        ("softmax", {"axis": starts[0]}),
    ):
        try:
            inputs = (x, graph.input(sizes[:2], "int64")) if op == "take" else (x, x) if op == "concat" else (x,)
            got = graph.apply(op, *inputs, **attributes)
        except fe.Error:
            continue
        assert holds(got.shape, got.dtype.itemsize)


@settings(max_examples=100, deadline=None)
@example([(2, 1), (2, 2**62)], "bool")
@example([(2, 2**62), (3, 2)], "bool")
@example([(2, -(2**62)), (2, 1)], "bool")
@example([(2, 2**61), (2, 2**61)], "bool")
@given(st.lists(st.tuples(SIZES, NUMBERS), max_size=3), DTYPES)
def test_input_strides_of_any_value_are_safe(axes: list[tuple[int, int]], dtype: str) -> None:
    shape, strides = [size for size, _ in axes], [stride for _, stride in axes]
    graph = fe.Graph("cpu")
    try:
        x = graph.input(shape, dtype, strides=strides)
    except fe.Error:
        return
    reach = sum(max(size - 1, 0) * abs(stride) for size, stride in axes)
    assert (reach + 1) * np.dtype(dtype).itemsize < 2**63
    with contextlib.suppress(fe.Error):
        for view in (x[::-1] if shape else x, x.reshape(-1) if shape else x):
            graph.output(view, fe.sum(view), ~(view == view[...]))
        graph.compile()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(SIZES, NUMBERS), min_size=1, max_size=3), st.data())
def test_dlpack_strides_and_offsets_of_any_value_are_safe(axes: list[tuple[int, int]], data: Any) -> None:
    shape = [size for size, _ in axes]
    strides = [stride if -(2**63) <= stride < 2**63 else 1 for _, stride in axes]
    if any(not 0 <= size < 2**63 for size in shape):
        return
    offset = data.draw(st.sampled_from([0, 8, 2**64 - 8]))
    touched = sum((size - 1) * abs(stride) for size, stride in zip(shape, strides, strict=True) if size > 1)
    is_there = offset < 64 and (0 in shape or (touched < 64 and all(stride >= 0 for stride in strides)))
    if not is_there and touched * 4 < 2**63 and offset < 64:
        return  # a possible address, which must not be read here
    try:
        got = fe.from_dlpack(Capsule(shape, strides, offset))
    except fe.Error:
        assert not is_there or not holds(shape, 4)
        return
    assert is_there
    assert got.shape == tuple(shape)
    if 0 not in shape:
        assert np.asarray(got)[(0,) * len(shape)] == np.asarray(got)[(-1,) * len(shape)] == 0


class Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    )  # fmt: skip


LENT: list[object] = []


class Capsule:
    """A producer of a DLPack tensor over 128 elements, with any shape, strides and offset."""

    def __init__(self, shape: list[int], strides: list[int], offset: int) -> None:
        self.memory = np.zeros(128, "float32")
        self.sizes = (ctypes.c_int64 * len(shape))(*shape)
        self.steps = (ctypes.c_int64 * len(shape))(*strides)
        LENT.append(self)  # no deleter reports when it is no longer used
        data = self.memory.ctypes.data
        self.tensor = Tensor(data, Device(1, 0), len(shape), 2, 32, 1, self.sizes, self.steps, offset)

    def __dlpack__(self, **_: Any) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

"""DLPack import and export, with NumPy as the other library."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each


def address(array: object) -> int:
    return int(np.asarray(array).__array_interface__["data"][0])


class Holder:
    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: object) -> object:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class OnlyArray:
    """Another library's tensor that exports NumPy's memory with `__array__`."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.memory, dtype=dtype)


class Tensor(OnlyArray):
    """A tensor that also supports DLPack."""

    def __dlpack__(self, **arguments: Any) -> object:
        return self.memory.__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class WithGradient(Tensor):
    def __dlpack__(self, **arguments: Any) -> object:
        raise BufferError("it has a gradient")


def test_numpy_imports_a_read_only_view_without_a_copy() -> None:
    x = fe.asarray(np.arange(12, dtype="float32").reshape(3, 4)) + 1
    taken = np.from_dlpack(x)
    np.testing.assert_array_equal(taken, np.asarray(x))
    assert address(taken) == address(x)
    assert not taken.flags.writeable


def test_exported_memory_outlives_the_array() -> None:
    x = fe.asarray(np.arange(1000, dtype="float32")) + 1
    taken = np.from_dlpack(x)
    del x
    gc.collect()
    assert taken[999] == 1000


def test_read_only_array_stays_read_only_through_dlpack() -> None:
    a = np.arange(4, dtype="float32")
    a.flags.writeable = False
    x = fe.from_dlpack(a) if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else fe.asarray(a)
    assert address(x) == address(a)
    assert not np.from_dlpack(x).flags.writeable


def test_consumer_of_old_dlpack_gets_a_copy_or_an_error() -> None:
    x = fe.asarray(np.arange(4, dtype="float32"))

    class Old:
        def __dlpack__(self) -> object:
            return x.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    taken = fe.from_dlpack(Old())
    np.testing.assert_array_equal(np.asarray(taken), np.asarray(x))
    assert address(taken) != address(x)
    with pytest.raises(BufferError, match=r"read-only.*pass max_version=\(1, 0\) or later"):
        x.__dlpack__(copy=False)


def test_consumer_of_old_dlpack_writes_to_its_own_copy() -> None:
    a = np.arange(4, dtype="float32")
    a.flags.writeable = False
    x = fe.asarray(a)

    capsule = x.__dlpack__()
    assert 'dltensor"' in repr(capsule)
    taken = np.from_dlpack(Holder(capsule))
    ctypes.c_float.from_address(address(taken)).value = 9
    assert taken[0] == 9
    assert x.tolist() == a.tolist() == [0, 1, 2, 3]


def test_dlpack_copy_belongs_to_the_consumer() -> None:
    x = fe.asarray(np.arange(4, dtype="float32"))
    copy = np.from_dlpack(x, copy=True)
    copy[0] = 9
    assert np.asarray(x)[0] == 0


@each("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64"])
@each("shape", [(), (0,), (3,), (2, 3)])
def test_every_dtype_and_shape_round_trips(dtype: str, shape: tuple[int, ...]) -> None:
    a = np.ones(shape, dtype)
    x = fe.from_dlpack(a)
    assert x.dtype == a.dtype
    np.testing.assert_array_equal(np.from_dlpack(x), a)


def test_dlpack_preserves_strides() -> None:
    a = np.arange(24, dtype="int32").reshape(4, 6)[::2, ::-1]
    np.testing.assert_array_equal(np.asarray(fe.from_dlpack(a)), a)
    np.testing.assert_array_equal(np.from_dlpack(fe.asarray(a)), a)


def test_from_dlpack_borrows_and_keeps_the_owner_alive() -> None:
    a = np.arange(1000, dtype="float32")
    x = fe.from_dlpack(a)
    assert address(x) == address(a)
    del a
    gc.collect()
    assert np.asarray(x)[999] == 999
    assert address(fe.from_dlpack(x, copy=True)) != address(x)


@pytest.mark.parametrize("thing", [5, "text", object()])
def test_object_without_dlpack_is_refused(thing: Any) -> None:
    with pytest.raises(fe.InvalidArgumentError, match="__dlpack__"):
        fe.from_dlpack(thing)


def tensor_of(capsule: object) -> int:
    """The address of its DLTensor."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    address: int = pointer(capsule, b"dltensor")
    return address


def test_null_data_pointer_is_refused_at_any_offset() -> None:
    capsule = np.ones(4, "float32").__dlpack__()
    ctypes.memset(tensor_of(capsule), 0, 8)  # data
    ctypes.memmove(tensor_of(capsule) + 40, (16).to_bytes(8, "little"), 8)  # byte_offset
    with pytest.raises(fe.InvalidArgumentError, match=r"the address of float32.* is null"):
        fe.from_dlpack(Holder(capsule))


def with_dtype(capsule: object, code: int, bits: int, lanes: int) -> object:
    """The capsule, of a DLManagedTensor (DLPack 0.8), whose dtype lies behind the address, the device and ndim."""
    ctypes.memmove(tensor_of(capsule) + 20, bytes((code, bits, *lanes.to_bytes(2, "little"))), 4)
    return capsule


@each("dtype", [(5, 32, 1), (2, 128, 1), (3, 64, 1), (2, 32, 2), (7, 8, 1), (0, 4, 1)])
def test_unsupported_dtypes_are_refused_and_the_capsule_is_freed(dtype: tuple[int, int, int]) -> None:
    for _ in range(10):
        with pytest.raises(fe.InvalidArgumentError, match="dtype"):
            fe.from_dlpack(Holder(with_dtype(np.ones(3, "float32").__dlpack__(), *dtype)))


def test_unconsumed_capsule_is_freed() -> None:
    x = fe.asarray(np.arange(1 << 20, dtype="float32")) + 1
    fe.eval(x)
    before = fe.memory_stats("cpu").live
    for _ in range(10):
        x.__dlpack__()
        x.__dlpack__(max_version=(1, 0))
    del x
    gc.collect()
    assert fe.memory_stats("cpu").live < before


def test_streams_and_other_devices_are_refused() -> None:
    x = fe.ones(3)
    with pytest.raises(BufferError):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    assert x.__dlpack_device__() == (1, 0)


def test_asarray_borrows_dlpack_objects_and_sees_writes() -> None:
    a = np.zeros(4, dtype="float32")
    x = fe.asarray(Tensor(a))
    assert x.placement == "borrowed"
    a[0] = 7
    assert x.tolist() == [7, 0, 0, 0]
    assert fe.asarray(Tensor(a), copy=False).placement == "borrowed"
    assert fe.asarray(Tensor(a), dtype="float64").dtype == fe.float64
    with pytest.raises(fe.InvalidArgumentError, match="float32 to float64 needs a copy"):
        fe.asarray(Tensor(a), dtype="float64", copy=False)


def test_asarray_imports_bfloat16_by_dlpack() -> None:
    x = fe.asarray(Tensor(fe.asarray([1.5, 2], dtype="bfloat16")))
    assert x.dtype == fe.bfloat16
    assert x.tolist() == [1.5, 2]


@pytest.mark.parametrize("kind", [OnlyArray, WithGradient])
def test_asarray_converts_objects_with_array_only(kind: Any) -> None:
    a = np.zeros(4, dtype="float32")
    x = fe.asarray(kind(a))
    assert x.placement == "owned"
    a[0] = 7
    assert x.tolist() == [0, 0, 0, 0]


def test_asarray_reports_the_dlpack_error_without_alternatives() -> None:
    with pytest.raises(fe.InvalidArgumentError, match="needs a copy"):
        fe.asarray(OnlyArray(np.zeros(4)), copy=False)
    with pytest.raises(BufferError, match="gradient"):
        fe.asarray(WithGradient(np.zeros(4)), copy=False)

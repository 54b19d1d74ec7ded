"""Objects of another library that exchange arrays by DLPack, and its streams.

The other library is emulation-other-library, which has a CUDA runtime of its own and shares the device with the module.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import ferrule as fe
import numpy as np
from numpy.typing import NDArray

CUDA = 2  # kDLCUDA
READ_ONLY, IS_COPIED = 1, 2
VERSIONED, USED_VERSIONED, UNVERSIONED = b"dltensor_versioned", b"used_dltensor_versioned", b"dltensor"


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """DLManagedTensor, before DLPack 1.0."""

    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_rename = ctypes.pythonapi.PyCapsule_SetName
_rename.argtypes = (ctypes.py_object, ctypes.c_char_p)


class Producer:
    """An array at an address. Counts how often its memory is given back, and records the requests."""

    alive: ClassVar[list[Producer]] = []  # for ever: the importer may call the deleter at any time

    def __init__(
        self,
        address: int,
        *shape: int,
        place: tuple[int, int] = (CUDA, 0),
        versioned: bool = True,
        flags: int = READ_ONLY,
        dtype: str = "float32",
        strides: tuple[int, ...] | None = None,
    ) -> None:
        self.place, self.versioned, self.given_back = place, versioned, 0
        self.asked: list[dict[str, Any]] = []
        self.alive.append(self)
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = None if strides is None else (ctypes.c_int64 * len(shape))(*strides)  # in elements
        of = np.dtype(dtype)
        code = {"i": 0, "u": 1, "f": 2, "c": 5}[of.kind]
        tensor = Tensor(address, *place, len(shape), code, 8 * of.itemsize, 1, self._shape, self._strides, 0)
        self._deleter = DELETER(self._give_back)
        self._managed = (
            ManagedVersioned(1, 0, None, self._deleter, flags, tensor)
            if versioned
            else Managed(tensor, None, self._deleter)
        )

    def _give_back(self, _: int) -> None:
        self.given_back += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.place

    def __dlpack__(self, **arguments: Any) -> object:
        self.asked.append(arguments)
        return _new(ctypes.addressof(self._managed), VERSIONED if self.versioned else UNVERSIONED, None)


_registered: list[fe.Array] = []  # for ever, as the arrays of other libraries are


def at_item(x: NDArray[np.float16], page: Callable[..., NDArray[np.float16]], first: int) -> fe.Array:
    """An array like `x` that begins at item `first` of memory that the device reads; what is around it is NaN.

    `page` makes such memory: of a number of items and a dtype.
    """
    rows, width = x.shape
    memory = page(rows * width + 4096, np.float16)
    memory[:] = np.nan
    memory[first : first + rows * width] = x.ravel()
    _registered.append(fe.buffer_from_host_ptr(memory, "cuda", copy=False))
    producer = Producer(memory[first:].ctypes.data, rows, width, dtype="float16", flags=IS_COPIED)
    return fe.from_dlpack(producer, copy=False)


class Consumer:
    """The managed tensor that another library takes out of a capsule, until it releases it."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule
        self._managed = ManagedVersioned.from_address(_pointer(capsule, VERSIONED))
        _rename(capsule, USED_VERSIONED)
        self.flags = self._managed.flags
        tensor = self._managed.tensor
        self.place = (tensor.device_type, tensor.device_id)
        self.shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
        self.address = (tensor.data or 0) + tensor.byte_offset

    def release(self) -> None:
        self._managed.deleter(ctypes.addressof(self._managed))

    def read(self, stream: Stream) -> NDArray[np.float32]:
        """Its elements, which are copied on the stream."""
        out = self.start_reading(stream)
        stream.synchronize()
        return out

    def start_reading(self, stream: Stream) -> NDArray[np.float32]:
        """Memory that has the elements when the stream has done its work."""
        out = np.zeros(self.shape, np.float32)
        stream.copy(out.ctypes.data, self.address, out.nbytes)
        return out


def _library() -> ctypes.CDLL:
    build = Path(os.environ["FERRULE_BACKEND_PATH"]).parents[4]
    library = ctypes.CDLL(str(build / "tests/emulation/cuda/checks/libemulation-other-library.so"))
    pointer = ctypes.c_void_p
    library.other_stream_create.argtypes = (ctypes.POINTER(pointer),)
    library.other_stream_destroy.argtypes = (pointer,)
    library.other_hold.argtypes = (pointer, ctypes.POINTER(ctypes.c_int32))
    library.other_open.argtypes = (ctypes.POINTER(ctypes.c_int32),)
    library.other_copy.argtypes = (pointer, pointer, pointer, ctypes.c_size_t)
    library.other_synchronize.argtypes = (pointer,)
    library.other_wait.argtypes = (pointer, pointer)
    library.other_begin_capture.argtypes = (pointer,)
    library.other_end_capture.argtypes = (pointer,)
    return library


LIBRARY = _library()


class Gate:
    def __init__(self) -> None:
        self.number = ctypes.c_int32(0)

    def open(self) -> None:
        LIBRARY.other_open(self.number)


class Stream:
    """A stream of the other library."""

    def __init__(self) -> None:
        stream = ctypes.c_void_p()
        self._check(LIBRARY.other_stream_create(stream))
        assert stream.value
        self.number: int = stream.value

    def destroy(self) -> None:
        self._check(LIBRARY.other_stream_destroy(self.number))

    def hold(self) -> Gate:
        """The stream does nothing until the gate is opened."""
        gate = Gate()
        self._check(LIBRARY.other_hold(self.number, gate.number))
        return gate

    def copy(self, to: int, source: int, size: int) -> None:
        self._check(LIBRARY.other_copy(self.number, to, source, size))

    def synchronize(self) -> None:
        self._check(LIBRARY.other_synchronize(self.number))

    def keeps_waiting(self, stream: int) -> None:
        """Another stream, given by its number, waits for what this one was given."""
        self._check(LIBRARY.other_wait(stream, self.number))

    @staticmethod
    def _check(error: int) -> None:
        assert error == 0, f"the other library's CUDA error {error}"

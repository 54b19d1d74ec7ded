"""DLPack capsules with false fields: each is refused, and freed once, and none is read."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each


class DLDevice(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = (("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER))


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


MEMORY = np.arange(64, dtype="float32")
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Producer:
    """Another library's float32 array of four elements; `changes` are the fields of its capsule that differ."""

    def __init__(self, **changes: Any) -> None:
        self.changes, self.deleted = changes, 0
        self.place = changes.pop("place", (1, 0))

    def __dlpack_device__(self) -> Any:
        return self.place

    def __dlpack__(self, **_: object) -> object:
        is_versioned = bool({"major", "minor", "flags"} & self.changes.keys())
        given: dict[str, Any] = {
            "data": MEMORY.ctypes.data,
            "device": (1, 0),
            "dtype": (2, 32, 1),
            "shape": (4,),
            "strides": None,
            "byte_offset": 0,
            "major": 1,
            "minor": 0,
            "flags": 0,
        } | self.changes
        sizes, strides = given["shape"], given["strides"]
        self.managed = Versioned(given["major"], given["minor"]) if is_versioned else Managed()
        if is_versioned:
            self.managed.flags = given["flags"]
        self.managed.deleter = self.kept = DELETER(self.delete)
        self.managed.tensor = DLTensor(
            given["data"],
            DLDevice(*given["device"]),
            given.get("ndim", len(sizes or ())),
            DLDataType(*given["dtype"]),
            None if sizes is None else (ctypes.c_int64 * max(1, len(sizes)))(*sizes),
            None if strides is None else (ctypes.c_int64 * len(strides))(*strides),
            given["byte_offset"],
        )
        name = b"dltensor_versioned" if is_versioned else b"dltensor"
        self.capsule = new_capsule(ctypes.addressof(self.managed), name, None)
        return self.capsule

    def delete(self, _: object) -> None:
        self.deleted += 1


FALSE: list[tuple[dict[str, Any], str]] = [
    # offset
    ({"byte_offset": 2**64 - 1}, "byte_offset 18446744073709551615 reaches further than memory"),
    ({"byte_offset": 2**63}, "byte_offset 9223372036854775808 reaches"),
    ({"byte_offset": 2**63 - 1}, "byte_offset"),
    ({"byte_offset": 2**62}, "byte_offset"),
    ({"byte_offset": 2**49}, "byte_offset"),
    ({"byte_offset": 2**47}, "no memory at address 0x[0-9a-f]+: data with byte_offset 140737488355328"),
    ({"byte_offset": 2**46, "flags": 1}, "no memory at address"),
    ({"data": 2**46}, "no memory at address"),
    ({"byte_offset": 2**63, "shape": (), "ndim": 0}, "byte_offset"),
    ({"byte_offset": 2**63, "flags": 0}, "byte_offset"),
    ({"byte_offset": 2**63, "shape": (0,)}, "byte_offset"),
    # data
    ({"data": 0}, r"the address of float32\(4,\) is null"),
    ({"data": 0, "byte_offset": 4096}, "is null"),
    ({"data": 0, "shape": ()}, "is null"),
    ({"data": 0, "flags": 0}, "is null"),
    ({"data": 1}, r"no memory of float32\(4,\) at address 0x1"),
    ({"data": 8}, "no memory"),
    ({"data": 4092}, "no memory"),
    ({"data": 2**64 - 8}, "further than memory"),
    ({"data": 2**64 - 4, "shape": (1,)}, "further than memory"),
    # dimensions and shape
    ({"ndim": -1}, "at most 8 dimensions, not -1"),
    ({"ndim": -(2**31)}, "dimensions"),
    ({"ndim": 9, "shape": (1,) * 9}, "at most 8 dimensions, not 9"),
    ({"ndim": 2**31 - 1}, "dimensions"),
    ({"shape": None, "ndim": 1}, "1 dimensions has no shape"),
    ({"shape": None, "ndim": 8, "flags": 0}, "no shape"),
    ({"shape": None, "ndim": 1, "strides": (1,)}, "no shape"),
    ({"shape": (-4,)}, "negative size"),
    ({"shape": (-(2**63),)}, "negative size"),
    ({"shape": (4, -1)}, "negative size"),
    ({"shape": (-1, 0)}, "negative size"),
    ({"shape": (2**63 - 1,)}, "larger than memory"),
    ({"shape": (2**61,)}, "memory"),
    ({"shape": (2**50,)}, "further than memory"),
    ({"shape": (2**62, 2**62)}, "larger than memory"),
    ({"shape": (2**32, 2**32, 0)}, "larger than memory"),
    ({"shape": (2**40,) * 3}, "larger than memory"),
    # strides
    ({"shape": (2,), "strides": (2**63 - 1,)}, "stride of 9223372036854775807 elements of axis 0"),
    ({"shape": (2,), "strides": (2**62,)}, "stride"),
    ({"shape": (2,), "strides": (2**60,)}, "strides"),
    ({"shape": (2,), "strides": (2**47,)}, "strides"),
    ({"shape": (3,), "strides": (-(2**63),)}, "stride"),
    ({"shape": (3,), "strides": (-(2**60),)}, "strides"),
    ({"shape": (3,), "strides": (-(2**47),)}, "strides"),
    ({"shape": (2, 2), "strides": (2**45, 2**45)}, "strides"),
    ({"shape": (2, 2), "strides": (2**60, -(2**60))}, "strides"),
    ({"shape": (2, 2), "strides": (1, 2**61)}, "axis 1"),
    ({"shape": (2**31, 2), "strides": (2**31, 1)}, "strides"),
    ({"shape": (2,), "strides": (2**36,)}, "strides reach to address 0x"),
    ({"shape": (2,), "strides": (-(2**36),)}, "strides reach to address 0x"),
    ({"shape": (2, 2**36), "strides": (0, 1)}, "strides reach to address 0x"),
    ({"shape": (2**36,), "flags": 0}, "strides reach to address 0x"),
    # dtype
    ({"dtype": (2, 32, 0)}, "0 lanes"),
    ({"dtype": (2, 32, 4)}, "4 lanes"),
    ({"dtype": (2, 32, 65535)}, "65535 lanes"),
    ({"dtype": (2, 0, 1)}, "0 bits"),
    ({"dtype": (2, 7, 1)}, "7 bits"),
    ({"dtype": (2, 128, 1)}, "128 bits"),
    ({"dtype": (3, 64, 1)}, "code 3"),  # an opaque handle
    ({"dtype": (6, 1, 1)}, "1 bits"),
    ({"dtype": (17, 4, 1)}, "code 17"),  # float4
    ({"dtype": (255, 32, 1)}, "code 255"),
    # device
    ({"device": (2, 0)}, r"memory of DLPack's device \(2, 0\), where memory of \(1, 0\) was expected"),
    ({"device": (1, -1)}, r"device \(1, -1\)"),
    ({"device": (0, 0)}, r"device \(0, 0\)"),
    ({"device": (-1, 0)}, r"device \(-1, 0\)"),
    ({"device": (99, 9), "flags": 0}, r"device \(99, 9\)"),
    ({"device": (3, 0)}, r"device \(3, 0\)"),
    ({"place": (2, 77)}, "no loaded device has"),
    ({"place": (2**70, 0)}, "no loaded device has"),
    ({"place": None}, "returns None, not the type and the number"),
    ({"place": (1,)}, "not the type and the number"),
    ({"place": ("cpu", 0)}, "not the type and the number"),
    # version
    ({"major": 0}, "DLPack 0 is not known"),
    ({"major": 2}, "DLPack 2 is not known"),
    ({"major": 2**32 - 1, "shape": None, "ndim": 5}, "DLPack 4294967295 is not known"),
]


@pytest.mark.parametrize("copy", [None, True, False])
def test_false_capsules_are_refused_and_freed_once(copy: bool | None) -> None:
    for changes, reason in FALSE:
        producer = Producer(**dict(changes))
        try:
            with pytest.raises(fe.Error, match=f"from_dlpack: .*{reason}"):
                fe.from_dlpack(producer, copy=copy)
            gc.collect()
            if hasattr(producer, "capsule"):
                was_taken = '"used_dltensor' in repr(producer.capsule)
                assert producer.deleted == was_taken  # the owner of a capsule that was not taken frees it
        except BaseException as error:
            error.add_note(f"with {changes}")
            raise


@each(("value", "shown"), [(None, "None"), (5, "5"), (np.ones(1), r"array\(\[1.\]\)")])
def test_what_is_no_capsule_is_refused_by_name(value: object, shown: str) -> None:
    class Exporter:
        def __dlpack__(self, **_: Any) -> object:
            return value

    with pytest.raises(fe.InvalidArgumentError, match=rf"__dlpack__\(\) of a Exporter returns {shown}, not a capsule"):
        fe.from_dlpack(Exporter())


HONEST: list[tuple[dict[str, Any], list[float]]] = [
    ({}, [0, 1, 2, 3]),
    ({"byte_offset": 8}, [2, 3, 4, 5]),
    ({"minor": 99}, [0, 1, 2, 3]),
    ({"flags": 1}, [0, 1, 2, 3]),
    ({"flags": 2**63}, [0, 1, 2, 3]),  # of a later minor version
    ({"byte_offset": 16, "strides": (-1,)}, [4, 3, 2, 1]),
    ({"strides": (0,)}, [0] * 4),
    ({"shape": (1,), "strides": (2**63 - 1,)}, [0]),
    ({"shape": (0,), "strides": (-(2**63),), "data": 0}, []),
    ({"shape": (0,), "data": 2**46}, []),  # the end of an allocation may be that of the memory
    ({"device": (1, 3)}, [0, 1, 2, 3]),  # host memory of a numbered part of the machine
    ({"place": (1, 3)}, [0, 1, 2, 3]),
]


def test_unusual_capsules_are_imported() -> None:
    for changes, values in HONEST:
        producer = Producer(**dict(changes))
        x = fe.from_dlpack(producer)
        assert x.tolist() == values, changes
        del x
        gc.collect()
        fe.eval(fe.ones(1) + 1)  # releases what is no longer used
        assert producer.deleted == 1, changes

"""`astype`, `can_cast`, `finfo`, `iinfo`, `isdtype`, `result_type`, and what the module says about itself."""

from __future__ import annotations

import itertools
from typing import Any

import ferrule as fe
import ml_dtypes
import numpy as np
import pytest

from tests.python.each import each

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
PLAIN = ("bool", *INTEGERS, "float16", "bfloat16", "float32", "float64", "complex64", "complex128")
# The standard's promotion within a kind, and of mixed integers.
PROMOTIONS = {
    ("int8", "int16"): "int16",
    ("int8", "uint8"): "int16",
    ("int8", "uint32"): "int64",
    ("int64", "uint32"): "int64",
    ("uint8", "uint64"): "uint64",
    ("float32", "float64"): "float64",
    ("float32", "complex64"): "complex64",
    ("float64", "complex64"): "complex128",
    ("complex64", "complex128"): "complex128",
}


@each("pair", PROMOTIONS)
def test_dtypes_promote_as_the_standard_says(pair: tuple[str, str]) -> None:
    for one, other in itertools.permutations(pair):
        assert fe.result_type(one, other) == np.dtype(PROMOTIONS[pair])
        assert fe.result_type(fe.ones(1, dtype=one), other) == np.dtype(PROMOTIONS[pair])
        assert fe.can_cast(one, PROMOTIONS[pair])
        assert fe.can_cast(one, other) == (PROMOTIONS[pair] == other)


@each("dtype", PLAIN)
def test_a_result_type_is_the_dtype_of_an_addition(dtype: str) -> None:
    x = fe.ones(2, dtype=dtype)
    for other in PLAIN:
        y = fe.ones(2, dtype=other)
        if dtype == other == "bool":  # which have no sum
            assert fe.result_type(dtype, y) == fe.bool
            continue
        try:
            wanted = (x + y).dtype
        except fe.DTypeError:
            signed, unsigned = sorted({dtype, other})
            assert (signed[:3], unsigned) == ("int", "uint64")
            with pytest.raises(fe.DTypeError, match=r"^result_type: .* have no common dtype"):
                fe.result_type(x, y)
            assert not fe.can_cast(x, other)
            continue
        assert fe.result_type(dtype, y) == wanted


def test_python_numbers_do_not_widen_the_dtype_of_arrays() -> None:
    assert fe.result_type(fe.ones(1, dtype="int8"), 1) == fe.int8
    assert fe.result_type(fe.int8, 10**6) == fe.int8
    assert fe.result_type(1.0, fe.float16, 1) == fe.float16
    assert fe.result_type(fe.int8, 1.5) == fe.float32
    assert fe.result_type(fe.float64, 1j) == fe.complex128
    assert fe.result_type(fe.bool, 1) == fe.int64
    assert fe.result_type(1, 2.0) == fe.float32
    assert fe.result_type(np.float64(1), fe.float32) == fe.float64


def test_dtypes_without_a_common_one_are_errors() -> None:
    for one, other in (("int64", "uint64"), ("q8_0", "float32")):
        with pytest.raises(fe.DTypeError, match=f"^result_type: {one} and {other} have no common dtype"):
            fe.result_type(one, other)
        assert not fe.can_cast(one, other)


@each("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_finfo_has_numpys_limits(dtype: str) -> None:
    known, wanted = fe.finfo(dtype), np.finfo(dtype)
    for name in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(known, name) == getattr(wanted, name)
        assert type(getattr(known, name)) is (int if name == "bits" else float)
    assert known.dtype == wanted.dtype
    assert fe.finfo(fe.ones(2, dtype=dtype)) == known


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_finfo_of_narrow_dtypes_has_the_limits_of_ml_dtypes(dtype: str) -> None:
    known, wanted = fe.finfo(dtype), ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    assert (known.bits, known.eps, known.max) == (wanted.bits, float(wanted.eps), float(wanted.max))
    assert known.dtype == np.dtype(dtype)
    assert 1 + known.eps == float(np.nextafter(np.ones((), dtype), np.asarray(2, dtype)))


@each("dtype", INTEGERS)
def test_iinfo_has_numpys_limits(dtype: str) -> None:
    known, wanted = fe.iinfo(dtype), np.iinfo(dtype)
    assert (known.bits, known.max, known.min, known.dtype) == (wanted.bits, wanted.max, wanted.min, np.dtype(dtype))


def test_limits_of_other_dtypes_are_errors() -> None:
    for dtype in ("int8", "bool", "q8_0"):
        with pytest.raises(fe.DTypeError, match=f"^finfo: {dtype} is not a floating-point dtype"):
            fe.finfo(dtype)
    for dtype in ("float32", "bool", "complex64"):
        with pytest.raises(fe.DTypeError, match=f"^iinfo: {dtype} is not an integer dtype"):
            fe.iinfo(dtype)


KINDS = {
    "bool": {"bool"},
    "signed integer": {"int8", "int16", "int32", "int64"},
    "unsigned integer": {"uint8", "uint16", "uint32", "uint64"},
    "integral": set(INTEGERS),
    "real floating": {"float16", "bfloat16", "float32", "float64"},
    "complex floating": {"complex64", "complex128"},
    "numeric": set(PLAIN) - {"bool"},
}


@each("kind", KINDS)
def test_a_kind_has_the_dtypes_of_the_standard(kind: str) -> None:
    assert {dtype for dtype in PLAIN if fe.isdtype(dtype, kind)} == KINDS[kind]
    assert fe.isdtype("int8", (kind, fe.int8))
    assert not fe.isdtype("q8_0", kind)
    standard = {name for name in KINDS[kind] if name not in ("float16", "bfloat16")}
    assert fe.__array_namespace_info__().dtypes(kind=kind).keys() == standard


def test_an_unknown_kind_is_an_error() -> None:
    for kind in ("floating", ("integral", "real"), 3):
        with pytest.raises(fe.InvalidArgumentError, match=r"^isdtype: kind "):
            fe.isdtype(fe.int8, kind)
    with pytest.raises(fe.InvalidArgumentError, match="'floating' is not one of"):
        fe.__array_namespace_info__().dtypes(kind="floating")


def test_a_cast_from_complex_to_real_is_an_error() -> None:
    for dtype in ("float64", "int8"):
        with pytest.raises(TypeError, match=r"^astype: complex64"):
            fe.astype(fe.asarray([1j]), dtype)
    assert fe.astype(fe.asarray([0j, 1j]), "bool").tolist() == [False, True]


def test_astype_copies_unless_asked_not_to() -> None:
    memory = np.ones(3, "float32")
    x = fe.asarray(memory)
    same, copied = fe.astype(x, "float32", copy=False), fe.astype(x, "float32")
    memory[0] = 5
    assert copied.tolist() == [1, 1, 1]
    assert same is x  # "the input array must be returned"
    assert x.astype("float32", copy=False) is x
    same[1] = 7
    assert x.tolist()[1] == 7
    assert copied.tolist() == [1, 1, 1]
    assert fe.astype(x, "float64", device="cpu").device == fe.device("cpu")


def test_the_module_describes_itself() -> None:
    info = fe.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}
    assert info.default_device() == fe.zeros(1).device
    assert info.default_dtypes(device=info.default_device()) == {
        "real floating": fe.asarray(1.0).dtype,
        "complex floating": fe.asarray(1j).dtype,
        "integral": fe.asarray(1).dtype,
        "indexing": fe.argmax(fe.ones(2)).dtype,
    }
    assert info.devices() == tuple(fe.devices())
    every: dict[str, Any] = info.dtypes(device="cpu")
    assert len(every) == 13
    assert all(getattr(fe, name) == dtype for name, dtype in every.items())


def test_arrays_can_have_as_many_dimensions_as_the_module_says() -> None:
    most = fe.__array_namespace_info__().capabilities()["max dimensions"]
    assert fe.ones((1,) * most).ndim == most
    with pytest.raises(fe.InvalidArgumentError, match=r"^ones: an array has at most 8 dimensions, not 9"):
        fe.ones((1,) * (most + 1))


def test_a_device_of_an_array_is_a_device_argument() -> None:
    x = fe.ones(2, device="cpu")
    assert x.device == fe.ones(2, device=x.device).device == x.to_device(x.device).device
    assert len({x.device, fe.device("cpu")}) == 1
    for function in (fe.zeros, fe.ones, fe.empty, fe.eye, fe.arange):
        assert function(3, device=x.device).device == x.device
    with pytest.raises(fe.UnsupportedError, match=r"^to_device: takes no stream"):
        x.to_device(x.device, stream=1)

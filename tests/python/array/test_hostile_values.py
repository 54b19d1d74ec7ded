"""Strings with NUL or invalid UTF-8, numbers of thousands of digits, negative counts: each raises an error of
ferrule's."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

HUGE = 10**5000  # Python refuses to print it
BEYOND_FLOATS = 10**400


def floats() -> fe.Array:
    return fe.ones((3,))


def ints() -> fe.Array:
    return fe.asarray([1, 2, 3])


NULS: dict[str, Callable[[], Any]] = {
    "device": lambda: fe.device("cpu\0junk"),
    "a backend's device": lambda: fe.device("cpu", "cpu\0x"),
    "load": lambda: fe.load("/etc/passwd\0x"),
    "load as": lambda: fe.load("/etc/passwd", as_name="a\0b"),
    "load_all dirs": lambda: fe.load_all(dirs=["/tmp\0x"]),
    "load_all only": lambda: fe.load_all(only=["cpu\0x"]),
    "unload": lambda: fe.unload("cpu\0x"),
    "apply": lambda: fe.Graph("cpu").apply("exp\0x", floats()),
    "input": lambda: fe.Graph("cpu").input((2,), name="a\0b"),
    "constant": lambda: fe.Graph("cpu").constant(floats(), name="a\0b"),
    "supports": lambda: fe.device("cpu").supports("exp\0x", "float32"),
    "proc": lambda: fe.device("cpu").backend.proc("set_n_threads\0x"),
    "an option": lambda: fe.device("cpu").open(a="x\0y"),
}


@each("name", NULS)
def test_a_nul_in_a_text_is_an_error(name: str) -> None:
    with pytest.raises(fe.InvalidArgumentError, match="NUL"):
        NULS[name]()


@pytest.mark.skipif(sys.platform == "win32", reason="names of files may have half of a surrogate pair there")
def test_text_that_is_not_utf8_is_an_error() -> None:
    for call in (
        lambda: fe.device("\ud800"),
        lambda: fe.load("/tmp/\ud800.so"),
        lambda: fe.load_all(dirs=["/tmp/\ud800"]),
        lambda: fe.Graph("cpu").input((2,), name="\ud800"),
        lambda: fe.Graph("cpu").apply("exp", floats(), axis="\ud800"),
    ):
        with pytest.raises(fe.InvalidArgumentError, match=r"UTF-8|not a file name"):
            call()


@pytest.mark.skipif(sys.platform == "win32", reason="names of files are text there")
def test_file_with_a_non_utf8_name_is_loaded(tmp_path: Path, null_module: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"strange-\xff.so")
    try:
        shutil.copy(os.fsencode(null_module), path)
    except OSError:
        pytest.skip("the file system has no such names")
    backend = fe.load(path, as_name="strange", probe="never")
    try:
        assert backend.name == "strange"
    finally:
        fe.unload("strange")
    with pytest.raises(fe.NotFoundError):
        fe.load(os.fsdecode(path) + "x")


LARGE: dict[str, Callable[[], Any]] = {
    "an int and ints": lambda: ints() + HUGE,
    "an int and floats": lambda: floats() + HUGE,
    "an int beyond all floats": lambda: floats() + BEYOND_FLOATS,
    "an int beyond all floats, recorded": lambda: fe.Graph("cpu").apply("add", floats(), BEYOND_FLOATS),
    "an int of a traced function": lambda: fe.graph(lambda x, s: x + s * HUGE)(ints(), 2),
    "an index": lambda: ints()[HUGE],
    "a value": lambda: put(ints(), HUGE),
    "a value of floats": lambda: put(floats(), BEYOND_FLOATS),
    "full": lambda: fe.full(3, HUGE),
    "full of floats": lambda: fe.full(3, BEYOND_FLOATS, dtype="float32"),
    "full of uint64": lambda: fe.full(3, HUGE, dtype="uint64"),
    "pad": lambda: fe.pad(ints(), 1, value=HUGE),
    "pad's widths": lambda: fe.pad(ints(), HUGE),
    "zeros": lambda: fe.zeros(HUGE),
    "zeros of less than none": lambda: fe.zeros(-HUGE),
    "reshape": lambda: fe.reshape(ints(), (HUGE,)),
    "an axis": lambda: fe.flip(ints(), axis=HUGE),
    "arange": lambda: fe.arange(HUGE),
    "linspace": lambda: fe.linspace(0, HUGE, 3),
    "linspace's count": lambda: fe.linspace(0, 1, HUGE),
    "eye": lambda: fe.eye(HUGE),
    "host_empty": lambda: fe.host_empty(HUGE),
    "take": lambda: fe.take(ints(), [2**64]),
    "split": lambda: fe.split(ints(), HUGE),
}


def put(x: fe.Array, value: Any) -> None:
    x[0] = value


@each("name", LARGE)
def test_int_out_of_range_raises_a_ferrule_error(name: str) -> None:
    with pytest.raises(fe.Error) as caught:
        LARGE[name]()
    assert "4300 digits" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", ["an int beyond all floats", "a value of floats", "take", "an int and ints"])
def test_number_out_of_range_is_an_overflow_error(name: str) -> None:
    with pytest.raises(fe.NumberOverflowError):
        LARGE[name]()


@each(
    "call",
    [
        lambda: fe.linspace(0, 1, -1),
        lambda: fe.linspace("a", 1, 3),  # type: ignore[arg-type]
        lambda: fe.eye(-1),
        lambda: fe.eye(2, -1),
        lambda: fe.arange(0, float("nan")),
        lambda: fe.arange(0, float("inf")),
        lambda: fe.arange("a"),  # type: ignore[arg-type]
        lambda: fe.take(ints(), ["a"]),
    ],
)
def test_invalid_argument_is_not_reported_as_out_of_memory(call: Callable[[], Any]) -> None:
    with pytest.raises(fe.InvalidArgumentError):
        call()
    assert fe.arange(np.float32(2.5)).tolist() == [0.0, 1.0, 2.0]


def test_native_calls_validate_operands_and_marks() -> None:
    from ferrule import _ferrule

    graph = _ferrule.Graph(fe.device("cpu")._handle)
    graph.input("a", "float32", (2,), None)
    with pytest.raises(fe.InvalidArgumentError, match="1 marks for 60 inputs"):
        graph.apply("concat", [0] * 60, [True], {"axis": 0}, None)
    with pytest.raises(fe.InvalidArgumentError, match="one of the arrays is None"):
        _ferrule.apply("add", [floats()._handle, None], {})
    with pytest.raises(fe.InvalidArgumentError, match="add: it needs an array"):
        _ferrule.apply("add", [1, 2.5], {})
    for wrong in ("x", object(), floats()):
        with pytest.raises(TypeError, match="neither an array nor a number"):
            _ferrule.apply("add", [floats()._handle, wrong], {})
    with pytest.raises(fe.NumberOverflowError, match="does not fit into float64"):
        _ferrule.apply("add", [floats()._handle, 10**400], {})
    with pytest.raises(fe.NumberOverflowError, match="add: an int of about 1e\\+30 does not fit into int8"):
        _ferrule.apply("add", [fe.ones(3, dtype="int8")._handle, 10**30], {})
    with pytest.raises(TypeError):
        _ferrule.number_dtype("add", "x", [])
    with pytest.raises(TypeError):
        _ferrule.Calls(1).add(1, [], [], None, None, None)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
@each("dtype", ["float32", "int8", "bfloat16"])
@each(
    "value",
    [1j, [1j], [1, 2 + 0j], np.ones(2, "c8"), [None], ["1"], [1, "1"], [[1], [{}]], np.asarray([None])],
)
def test_asarray_makes_no_real_numbers_of_other_values(value: Any, dtype: str) -> None:
    with pytest.raises(fe.DTypeError, match=r"^asarray: "):
        fe.asarray(value, dtype=dtype)


@pytest.mark.filterwarnings("error")
def test_asarray_rounds_numbers_to_infinities_without_a_warning() -> None:
    assert fe.asarray([1e300, -1e300]).tolist() == [float("inf"), -float("inf")]
    assert fe.asarray(np.asarray([1e300]), dtype="float16").tolist() == [float("inf")]
    assert fe.asarray([2**63, 1], dtype="float32").tolist() == [2.0**63, 1.0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2", "float32", "complex64"])
def test_asarray_takes_ints_beyond_64_bits_in_floating_dtypes(dtype: str) -> None:
    for value in (2**63, 2**64, -(2**70)):
        expected = np.asarray(float(value)).astype(np.dtype("float32")).astype(fe.zeros(1, dtype=dtype).dtype)
        assert fe.asarray(value, dtype=dtype).item() == expected.item()
        assert fe.asarray([value, 1], dtype=dtype)[0].item() == expected.item()
    with pytest.raises(fe.NumberOverflowError, match=r"^asarray: "):
        fe.asarray(10**400, dtype=dtype)


def test_asarray_names_integers_that_share_no_dtype() -> None:
    with pytest.raises(fe.NumberOverflowError, match="no integer dtype has both -1 and 9223372036854775808"):
        fe.asarray([-1, 2**63])
    with pytest.raises(fe.NumberOverflowError, match="asarray: 9223372036854775808 does not fit into int64"):
        fe.asarray([[1], [2**63]], dtype="int64")
    assert fe.asarray([-1, 2**63], dtype="float64").tolist() == [-1.0, 2.0**63]
    assert fe.asarray([-1.0, 2**63]).dtype == "float32"
    assert fe.asarray(range(3)).tolist() == fe.arange(9)[range(3)].tolist() == [0, 1, 2]


def test_scalars_of_numpy_keep_their_dtypes() -> None:
    value = np.float64(16777217)
    for function in (fe.mean, fe.sum, fe.ravel, fe.expand_dims, fe.median, fe.std, fe.atleast_1d, fe.clip):
        assert function(value).dtype == "float64", function
        assert function(value).dtype == fe.graph(function)(value).dtype, function
    assert fe.stack([value, value]).dtype == fe.full(2, value).dtype == "float64"
    assert fe.full(2, np.int8(3)).dtype == "int8"


def test_masked_arrays_are_refused_wherever_their_mask_would_be_lost() -> None:
    x, masked = fe.ones(3), np.ma.array([1, 2, 3.0], mask=[0, 1, 0])
    places = np.ma.array([0, 1], mask=[0, 1])
    calls: list[Callable[[], Any]] = [
        lambda: x + masked,
        lambda: x < masked,
        lambda: x @ masked,
        lambda: fe.sum(masked),
        lambda: fe.where(masked > 1, x, 0),
        lambda: x[masked > 1],
        lambda: x[places],
        lambda: fe.take(x, places),
        lambda: x.__setitem__(0, np.ma.masked),
    ]
    for call in calls:
        with pytest.raises(fe.DTypeError, match="a masked array has no place for its mask"):
            call()


def test_numpy_arrays_of_integers_are_shapes_axes_and_sections() -> None:
    pair = np.array([2, 3])
    assert fe.zeros(pair).shape == fe.arange(6).reshape(pair).shape == (2, 3)
    assert fe.sum(fe.ones((2, 3)), axis=np.array([0, 1])).tolist() == 6
    assert [part.tolist() for part in fe.split(fe.arange(4), np.array([1]))] == [[0], [1, 2, 3]]

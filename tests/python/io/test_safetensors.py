"""safetensors files: valid ones become views of one mmap, invalid ones raise a clear error."""

from __future__ import annotations

import errno
import gc
import json
import mmap
import os
import pickle
import re
import socket
import struct
import sys
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

NAMES = {
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
    "int32": "I32",
    "int64": "I64",
    "uint8": "U8",
    "bool": "BOOL",
}


def content_of(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype: str, shape: list[int], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def write(path: Path, tensors: dict[str, np.ndarray[Any, Any]], padding: int = 0) -> Path:
    header: dict[str, Any] = {"__metadata__": {"format": "np"}}
    data = b""
    for name, tensor in tensors.items():
        header[name] = entry(NAMES[tensor.dtype.name], list(tensor.shape), len(data), len(data) + tensor.nbytes)
        data += tensor.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(content_of(text + b" " * (-len(text) % 8 + padding), data))
    return path


TENSORS = {
    "a": np.arange(12, dtype="float32").reshape(3, 4),
    "b": np.arange(3, dtype="int64"),
    "c": np.array(2.5, dtype="float64"),
    "f": np.array([1.5, -2, 6e-8], dtype="float16"),
    "d": np.zeros((0, 3), dtype="float32"),
    "e": np.array([True, False]),
}


def test_tensors_are_read_and_named(tmp_path: Path) -> None:
    file = fe.io.open_safetensors(write(tmp_path / "x.safetensors", TENSORS), device="cpu")
    assert list(file) == list(TENSORS)
    assert file.metadata == {"format": "np"}
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(np.asarray(file[name]), tensor)
        assert file[name].dtype == tensor.dtype
    with pytest.raises(KeyError):
        file["nothing"]


def test_all_tensors_are_views_of_one_borrowed_mapping(tmp_path: Path) -> None:
    gc.collect()  # frees what earlier tests borrowed
    before = fe.memory_stats("cpu")
    path = write(tmp_path / "x.safetensors", TENSORS)
    file = fe.io.open_safetensors(path, device="cpu")
    arrays = list(file.values())
    after = fe.memory_stats("cpu")
    assert after.borrowed - before.borrowed == -(-path.stat().st_size // mmap.PAGESIZE) * mmap.PAGESIZE
    assert after.live == before.live
    addresses = [np.asarray(array).__array_interface__["data"][0] for array in arrays if array.size]
    assert max(addresses) - min(addresses) < path.stat().st_size
    assert not np.asarray(arrays[0]).flags.writeable


def test_device_with_memory_of_its_own_copies_a_tensor_when_it_is_first_looked_up(
    null_device: fe.Device, tmp_path: Path
) -> None:
    gc.collect()
    before = fe.memory_stats(null_device).live
    file = fe.io.open_safetensors(write(tmp_path / "x.safetensors", TENSORS), device=null_device)
    assert fe.memory_stats(null_device).live == before
    first = file["a"]
    assert first.placement.startswith("copied: ")
    live = fe.memory_stats(null_device).live
    assert 0 < live - before < TENSORS["a"].nbytes + 64  # in multiples of 64
    again = file["a"]
    assert fe.memory_stats(null_device).live == live
    again[0] = 5
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(np.asarray(file[name]), tensor)


def test_arrays_outlive_the_file_object(tmp_path: Path) -> None:
    a = fe.io.open_safetensors(write(tmp_path / "x.safetensors", TENSORS), device="cpu")["a"]
    np.testing.assert_array_equal(np.asarray(a + 1), TENSORS["a"] + 1)


def test_misaligned_tensor_is_copied(tmp_path: Path) -> None:
    file = fe.io.open_safetensors(write(tmp_path / "x.safetensors", TENSORS, padding=3), device="cpu")
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(np.asarray(file[name]), tensor)


# The bytes of nine elements: below 8 bits, the last byte is filled up.
LACKING = {"F8_E8M0": 9, "F8_E4M3FNUZ": 9, "F8_E5M2FNUZ": 9, "F6_E2M3": 7, "F6_E3M2": 7, "F4": 5}


@pytest.mark.parametrize(("dtype", "size"), LACKING.items())
def test_a_dtype_that_ferrule_lacks_is_an_error_for_that_tensor_only(tmp_path: Path, dtype: str, size: int) -> None:
    path = tmp_path / "x.safetensors"
    entries = {"h": entry(dtype, [3, 3], 0, size), "f": entry("U8", [1], size, size + 1)}
    path.write_bytes(content_of(entries, bytes(size) + b"\7"))
    file = fe.io.open_safetensors(path, device="cpu")
    assert file["f"].tolist() == [7]
    with pytest.raises(fe.UnsupportedError, match=rf"x.safetensors: tensor 'h' is {dtype}\(3, 3\)"):
        file["h"]


def test_null_metadata_and_unknown_keys_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(content_of({"__metadata__": None, "a": {**entry("U8", [2], 0, 2), "x": {"y": 1}}}, b"\1\2"))
    file = fe.io.open_safetensors(path, device="cpu")
    assert file.metadata == {}
    assert file["a"].tolist() == [1, 2]


def test_float8_and_complex_tensors_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    numbers = np.array([1 - 2j], "complex64")
    entries = {
        "c": entry("C64", [1], 0, 8),
        "e4m3": entry("F8_E4M3", [2], 8, 10),
        "e5m2": entry("F8_E5M2", [2], 10, 12),
    }
    path.write_bytes(content_of(entries, numbers.tobytes() + bytes((0x38, 0x7E, 0x3C, 0x7B))))
    file = fe.io.open_safetensors(path, device="cpu")
    assert file["c"].tolist() == [1 - 2j]
    assert file["e4m3"].tolist() == [1, 448]
    assert file["e5m2"].tolist() == [1, 57344]


BAD: dict[str, bytes] = {
    "empty": b"",
    "seven bytes": b"\0" * 7,
    "no header": struct.pack("<Q", 0),
    "header longer than the file": content_of({}, length=100),
    "header as long as memory": content_of({}, length=2**63),
    "header length overflows": content_of({}, length=2**64 - 1),
    "not JSON": content_of(b"{nonsense}"),
    "not an object": content_of(b"[1]    "),
    "not UTF-8": content_of(b'{"\xff": 1}'),
    "deep": content_of(b'{"a":' * 100_000),
    "duplicate names": content_of(
        b'{"a":%(a)s,"a":%(a)s}' % {b"a": json.dumps(entry("F32", [1], 0, 4)).encode()}, bytes(4)
    ),
    "duplicate metadata": content_of(b'{"__metadata__":{"a":"b","a":"b"}}'),
    "duplicate fields": content_of(b'{"a":{"dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[0,4]}}', bytes(4)),
    "truncated data": content_of({"a": entry("F32", [4], 0, 16)}, bytes(8)),
    "trailing bytes": content_of({"a": entry("F32", [1], 0, 4)}, bytes(8)),
    "overlap": content_of({"a": entry("F32", [2], 0, 8), "b": entry("F32", [2], 4, 12)}, bytes(12)),
    "hole": content_of({"a": entry("F32", [1], 0, 4), "b": entry("F32", [1], 8, 12)}, bytes(12)),
    "begins late": content_of({"a": entry("F32", [1], 4, 8)}, bytes(8)),
    "end before begin": content_of({"a": entry("F32", [1], 8, 4)}, bytes(8)),
    "negative offset": content_of({"a": entry("F32", [1], -4, 0)}, bytes(8)),
    "offset overflows": content_of({"a": entry("U8", [1], 2**64, 2**64 + 1)}, bytes(8)),
    "shape overflows": content_of({"a": entry("U8", [2**40, 2**40], 0, 8)}, bytes(8)),
    "shape wraps to fit": content_of({"a": entry("F32", [2**62, 2], 0, 8)}, bytes(8)),
    "negative shape": content_of({"a": entry("U8", [-1, -8], 0, 8)}, bytes(8)),
    "float in shape": content_of({"a": {"dtype": "U8", "shape": [8.0], "data_offsets": [0, 8]}}, bytes(8)),
    "bool in shape": content_of({"a": {"dtype": "U8", "shape": [True], "data_offsets": [0, 1]}}, bytes(1)),
    "shape of no elements overflows": content_of({"a": entry("U8", [2**32, 2**32, 0], 0, 0)}),
    "size and shape differ": content_of({"a": entry("F32", [3], 0, 8)}, bytes(8)),
    "unknown dtype": content_of({"a": entry("F33", [1], 0, 4)}, bytes(4)),
    "dtype is a number": content_of({"a": {"dtype": 5, "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
    "three offsets": content_of({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4, 4]}}, bytes(4)),
    "missing field": content_of({"a": {"dtype": "U8", "shape": [4]}}, bytes(4)),
    "tensor is a list": content_of({"a": []}),
    "metadata is a number": content_of({"__metadata__": 5}),
    "metadata of numbers": content_of({"__metadata__": {"a": 5}}),
}


REASONS = {
    "seven bytes": "it has 7 bytes, fewer than the 8",
    "header longer than the file": "its header would have 100 bytes, of 2 after the length",
    "header length overflows": "its header would have 18446744073709551615 bytes",
    "not JSON": "not valid JSON",
    "not UTF-8": "not UTF-8",
    "duplicate names": "'a' is there twice",
    "duplicate fields": "'dtype' is there twice",
    "truncated data": "tensor 'a' ends 8 bytes behind the end of the file: is it truncated",
    "trailing bytes": "4 bytes at the end belong to no tensor",
    "overlap": "tensor 'b' overlaps the one before it by 4 bytes",
    "hole": "a hole of 4 bytes before tensor 'b'",
    "offset overflows": "tensor 'a' has data_offsets",
    "shape overflows": "has [0-9]+ bytes, but data_offsets 8",
    "shape wraps to fit": "has 36893488147419103232 bytes, but data_offsets 8",
    "shape of no elements overflows": r"tensor 'a': the product of its shape \(4294967296, 4294967296, 0\) exceeds 64",
    "size and shape differ": "has 12 bytes, but data_offsets 8",
    "unknown dtype": "tensor 'a' has dtype 'F33'",
    "dtype is a number": "tensor 'a' has dtype 5",
}


@pytest.mark.parametrize("fault", REASONS)
def test_invalid_file_is_refused_with_the_specific_reason(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(BAD[fault])
    with pytest.raises(fe.InvalidArgumentError, match=f"bad.safetensors is not a safetensors file: .*{REASONS[fault]}"):
        fe.io.open_safetensors(path, device="cpu")


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.safetensors", TENSORS)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(fe.InvalidArgumentError, match="is not a safetensors file"):
            fe.io.open_safetensors(path, device="cpu")


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_a_clear_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    with pytest.raises(fe.InvalidArgumentError, match="is not a safetensors file: "):
        fe.io.open_safetensors(path, device="cpu")


def test_a_file_that_cannot_be_read_is_an_os_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(OSError, match=re.escape(repr(str(path)))):
            fe.io.open_safetensors(path, device="cpu")


def test_a_gguf_file_is_named(tmp_path: Path) -> None:
    fe.io.save_gguf(tmp_path / "model", {"w": np.ones(1)})
    with pytest.raises(fe.InvalidArgumentError, match=r"it is a GGUF file, which io\.open_gguf opens"):
        fe.io.open_safetensors(tmp_path / "model")


def test_an_open_file_is_not_pickled(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    fe.io.save_safetensors(path, {"w": np.ones(1)})
    file = fe.io.open_safetensors(path)
    with pytest.raises(TypeError, match=r"x\.safetensors.* has a mapped file, .*pickle dict\(file\)"):
        pickle.dumps(file)
    assert pickle.loads(pickle.dumps(dict(file)))["w"].tolist() == [1]


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_special_files_are_refused_at_once(tmp_path: Path) -> None:
    fifo, path = tmp_path / "fifo", tmp_path / "socket"
    os.mkfifo(fifo)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))
        kinds = {fifo: "a FIFO", path: "a socket", Path("/dev/zero"): "a device"}
        for special, kind in kinds.items():
            for read in (fe.io.open_safetensors, lambda path: fe.io.save_safetensors(path, {"a": TENSORS["a"]})):
                with pytest.raises(fe.IoError, match=f"{special} is {kind}, not a regular file"):
                    read(special)


def test_tensor_shapes_that_no_array_has_are_refused_when_the_tensor_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    entries = {"a": entry("U8", [1] * 9, 0, 1), "b": entry("F32", [0, 2**32, 2**32], 1, 1)}
    path.write_bytes(content_of(entries, bytes(1)))
    file = fe.io.open_safetensors(path, device="cpu")
    with pytest.raises(fe.InvalidArgumentError, match=r"x.safetensors: tensor 'a': an array has at most 8 dimensions"):
        file["a"]
    with pytest.raises(fe.InvalidArgumentError, match=r"x.safetensors: tensor 'b' has shape .*larger than memory"):
        file["b"]


def test_file_that_cannot_be_mapped_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def map_nothing(*_: object) -> object:
        raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))

    monkeypatch.setattr("ferrule.io.mapped_tensors.map_read_only", map_nothing)
    path = write(tmp_path / "x.safetensors", TENSORS, padding=3)
    monkeypatch.chdir(tmp_path)
    file = fe.io.open_safetensors(path.name, device="cpu")
    monkeypatch.chdir("/")
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(np.asarray(file[name]), tensor)
    assert file["a"].placement == "copied: the file cannot be mapped (No such device)"
    addresses = [np.asarray(file["a"]).__array_interface__["data"][0] for _ in range(2)]
    assert addresses[0] == addresses[1]  # it is read once

    file = fe.io.open_safetensors(path, device="cpu")
    os.truncate(path, path.stat().st_size - 1)
    with pytest.raises(fe.IoError, match=r"x.safetensors: tensor 'e' ends at byte .* was cut"):
        file["e"]
    write(tmp_path / "new", TENSORS, padding=3).replace(path)
    with pytest.raises(fe.IoError, match=r"x.safetensors was replaced"):
        file["a"]


@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot be cut there")
def test_looking_up_a_tensor_of_a_file_that_was_cut_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "x.safetensors", {"a": np.ones(1024, "float32"), "b": np.ones(4096, "bool")})
    file = fe.io.open_safetensors(path, device="cpu")
    os.truncate(path, path.stat().st_size - 4096)
    with pytest.raises(fe.IoError, match=r"x.safetensors: tensor 'a' is read from a file that was written to since"):
        file["a"]
    with pytest.raises(fe.IoError, match=r"x.safetensors: tensor 'b' ends at byte \d+, but the file was cut from"):
        file["b"]


def split_model(folder: Path, count: int) -> Path:
    """A model in `count` files, and its index."""
    names = {f"w{i}": f"model-{i:05}-of-{count:05}.safetensors" for i in range(count)}
    for i, (name, file) in enumerate(names.items()):
        write(folder / file, {name: np.full(3, i, "int64")})
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {"total_size": 24 * count}, "weight_map": names}))
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc; Windows has no limit of handles")
def test_index_opens_all_files_without_holding_descriptors(tmp_path: Path) -> None:
    path = split_model(tmp_path, 100)
    before = len(os.listdir("/proc/self/fd"))
    file = fe.io.open_safetensors(path, device="cpu")
    assert len(os.listdir("/proc/self/fd")) == before
    assert {name: array.tolist() for name, array in file.items()} == {f"w{i}": [i] * 3 for i in range(100)}
    assert file.metadata == {"format": "np", "total_size": "2400"}
    assert file.nbytes == sum(shard.stat().st_size for shard in tmp_path.glob("*.safetensors"))


def test_false_index_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = split_model(tmp_path, 2)
    shard = "model-00000-of-00002.safetensors"
    for text, reason in {
        "{": "is not an index of safetensors files: it is not valid JSON",
        "[]": "it has no weight_map",
        json.dumps({"weight_map": {"w0": f"../{tmp_path.name}/{shard}"}}): "tensor 'w0' is in '../.*no name of a file",
        json.dumps({"weight_map": {"w0": str(tmp_path / shard)}}): "no name of a file beside the index",
        json.dumps({"weight_map": {"w1": shard}}): f"tensor 'w1' is said to be in .*{shard}, which lacks it",
    }.items():
        path.write_text(text)
        with pytest.raises(fe.InvalidArgumentError, match=f"model.safetensors.index.json.*{reason}"):
            fe.io.open_safetensors(path, device="cpu")
    path.write_text(json.dumps({"weight_map": {"w0": "lost.safetensors"}}))
    with pytest.raises(FileNotFoundError, match=r"lost.safetensors"):
        fe.io.open_safetensors(path, device="cpu")


sizes = st.one_of(st.integers(-2, 40), st.sampled_from([2**31, 2**32, 2**63, 2**64 - 8, 1.5, None, "4"]))
entries = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F32", "U8", "I64", "BF16", "F4", "F6_E2M3", "X"]),
        "shape": st.lists(sizes, max_size=3),
        "data_offsets": st.lists(sizes, min_size=1, max_size=3),
    }
)
files = st.one_of(
    st.binary(max_size=200),
    st.builds(
        content_of, st.binary(max_size=100), st.binary(max_size=40), st.one_of(st.none(), st.integers(0, 2**64 - 1))
    ),
    st.builds(content_of, st.dictionaries(st.text(max_size=3), entries, max_size=4), st.binary(max_size=64)),
)


# Windows lets nobody write a file that is mapped, which it is until the next call of ferrule after the arrays' end.
writes_mapped_files = pytest.mark.skipif(sys.platform == "win32", reason="writes the files that it opened before")


@writes_mapped_files
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=files)
def test_random_file_opens_or_is_a_clear_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.safetensors"
    path.write_bytes(content)
    try:
        for array in fe.io.open_safetensors(path, device="cpu").values():
            np.asarray(array).sum()
    except (fe.InvalidArgumentError, fe.UnsupportedError):
        pass


@writes_mapped_files
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 400), value=st.integers(0, 255), cut=st.one_of(st.none(), st.integers(0, 500)))
def test_a_good_file_with_one_byte_changed_never_reads_outside(
    tmp_path: Path, place: int, value: int, cut: int | None
) -> None:
    path = write(tmp_path / "any.safetensors", TENSORS)
    content = bytearray(path.read_bytes())
    content[place % len(content)] = value
    path.write_bytes(bytes(content[:cut]))
    try:
        for array in fe.io.open_safetensors(path, device="cpu").values():
            np.asarray(array).sum()
    except (fe.InvalidArgumentError, fe.UnsupportedError):
        pass


def test_unknown_tensor_name_suggests_similar_names(tmp_path: Path) -> None:
    path = write(tmp_path / "x.safetensors", {"layer.w_q": TENSORS["a"], "layer.b": TENSORS["b"]})
    file = fe.io.open_safetensors(path, device="cpu")
    with pytest.raises(KeyError) as caught:
        file["layer.wq"]
    assert caught.value.args[0].startswith(f"{path} has no tensor 'layer.wq'; did you mean 'layer.w_q'")
    with pytest.raises(KeyError, match="it has 2: iterate over it"):
        file["x"]
    assert "x" not in file
    assert file.get("x") is None

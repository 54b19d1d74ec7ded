"""GGUF files: those of the package gguf open with its values, and false ones raise an error that names the place."""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import ferrule as fe
import gguf
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

NUMBERS = ("float32", "float16", "float64", "int8", "int16", "int32", "int64")
BLOCKS = ("q4_0", "q8_0", "q5_1", "tq2_0", "mxfp4")  # some of those that the package gguf encodes


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def pair(key: str | bytes, code: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", code) + value


def tensor(name: str | bytes, shape: tuple[int, ...], code: int = 0, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], code, offset)


def content(
    pairs: list[bytes] | None = None,
    tensors: list[bytes] | None = None,
    data: bytes = b"",
    version: int = 3,
    counts: tuple[int, int] | None = None,
) -> bytes:
    pairs, tensors = pairs or [], tensors or []
    tensor_count, pair_count = counts or (len(tensors), len(pairs))
    header = b"GGUF" + struct.pack("<IQQ", version, tensor_count, pair_count) + b"".join(pairs) + b"".join(tensors)
    return header + bytes(-len(header) % 32) + data


def write_reference(path: Path, arrays: dict[str, np.ndarray[Any, Any]], alignment: int = 32) -> None:
    writer = gguf.GGUFWriter(path, "mine")
    writer.add_custom_alignment(alignment)
    writer.add_uint64("big", 1 << 63)
    writer.add_float32("third", 1 / 3)
    writer.add_bool("is_it", True)
    writer.add_array("tokens", ["a", "\u00e9", ""])
    writer.add_array("scores", [0.5, -1.0])
    for name, array in arrays.items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("alignment", [8, 32, 4096])
def test_a_file_of_the_reference_has_its_values(tmp_path: Path, alignment: int) -> None:
    path = tmp_path / "model.gguf"
    arrays = {name: np.arange(24).reshape(2, 3, 4).astype(name) for name in NUMBERS}
    write_reference(path, {**arrays, "flat": np.float32([1, 2, 3]), "one": np.zeros((1, 1), "float32")}, alignment)
    file = fe.io.open_gguf(path)
    assert list(file) == [*NUMBERS, "flat", "one"]
    for name in NUMBERS:
        assert file[name].dtype == name
        np.testing.assert_array_equal(np.asarray(file[name]), arrays[name])
        assert file.tensors[name].begin % alignment == 0
    assert file.version == 3
    assert file.nbytes == path.stat().st_size
    metadata = file.metadata
    assert (metadata["general.architecture"], metadata["big"], metadata["is_it"]) == ("mine", 1 << 63, True)
    assert metadata["third"] == float(np.float32(1 / 3))
    assert (metadata["tokens"], metadata["scores"]) == (["a", "\u00e9", ""], [0.5, -1.0])


def test_arrays_borrow_the_mapped_file(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    fe.io.save_gguf(path, {"w": np.zeros((64, 64), "float32"), "q": fe.zeros((64, 64)).astype(fe.q8_0)})
    file = fe.io.open_gguf(path)
    assert file["w"].placement.startswith("borrowed"), file["w"].placement
    assert file["q"].placement.startswith("borrowed"), file["q"].placement
    changed = file["w"]
    changed[0] = 1
    assert np.asarray(file["w"]).sum() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
def test_the_memory_of_weights_that_were_repacked_is_given_back(tmp_path: Path) -> None:
    def resident() -> int:
        return int(Path("/proc/self/status").read_text().split("RssFile:")[1].split()[0]) << 10

    path, width = tmp_path / "model.gguf", 4096
    size = width * width // 32 * 18
    fe.io.save_gguf(path, {"w": fe.ones((width, width)).astype(fe.q4_0)})
    w = fe.io.open_gguf(path, device="cpu")["w"]
    product = fe.graph(lambda x: fe.linear(x, w))
    before = resident()
    assert fe.all(product(fe.ones((1, width), device="cpu")) == width)
    assert resident() - before < size // 4
    assert float(w.astype("float32").sum()) == width * width


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_of_the_reference_are_decoded(tmp_path: Path, name: str) -> None:
    values = np.random.default_rng(0).standard_normal((3, 512)).astype("float32")
    kind = gguf.GGMLQuantizationType[name.upper()]
    packed = gguf.quants.quantize(values, kind)
    path = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(path, "mine")
    writer.add_tensor("w", packed, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    w = fe.io.open_gguf(path)["w"]
    assert (w.shape, w.dtype.name) == ((3, 512), name)
    np.testing.assert_array_equal(np.asarray(w.astype("float32")), gguf.quants.dequantize(packed, kind))


def test_the_reference_reads_what_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    arrays = {name: np.arange(6).reshape(2, 3).astype(name) for name in NUMBERS}
    metadata = {
        "general.architecture": "mine",
        "small": -5,
        "big": 1 << 40,
        "huge": 1 << 63,
        "half": 0.5,
        "third": 1 / 3,
        "given": np.uint16(7),
        "yes": True,
        "tokens": ["a", "\u00e9", ""],
        "numbers": [1, 2, 1 << 35],
        "nothing": [],
        "no_bytes": np.zeros(0, "uint8"),
        "general.alignment": 64,
    }
    blocks = fe.from_packed(np.arange(2 * 68, dtype="uint8").reshape(2, 68), "q8_0")
    fe.io.save_gguf(path, {**arrays, "blocks": blocks, "strided": np.arange(12.0).reshape(3, 4).T[::2]}, metadata)
    reader = gguf.GGUFReader(path)
    assert reader.fields["no_bytes"].parts[-2][0] == gguf.GGUFValueType.UINT8
    metadata["no_bytes"] = []
    for key, value in metadata.items():
        assert reader.fields[key].contents() == value, key
    types = {key: reader.fields[key].types[-1].name for key in metadata}
    assert types["small"] == "INT32"
    assert types["big"] == "INT64"
    assert types["huge"] == "UINT64"
    assert (types["half"], types["third"]) == ("FLOAT32", "FLOAT64")
    assert (types["given"], types["yes"], types["numbers"]) == ("UINT16", "BOOL", "INT64")
    tensors = {one.name: one for one in reader.tensors}
    for name in NUMBERS:
        np.testing.assert_array_equal(tensors[name].data, arrays[name])
    np.testing.assert_array_equal(tensors["blocks"].data, np.asarray(fe.to_packed(blocks)))
    np.testing.assert_array_equal(tensors["strided"].data, np.arange(12.0).reshape(3, 4).T[::2])
    again = fe.io.open_gguf(path)
    assert again.metadata == metadata
    if sys.platform != "win32":  # which keeps files that are mapped
        fe.io.save_gguf(path, again, again.metadata)  # in place of the file that it reads
        assert fe.io.open_gguf(path).metadata == metadata


def test_what_cannot_be_saved_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    fe.io.save_gguf(path, {"w": np.float32([1])})
    before = path.read_bytes()
    for arrays, metadata, error, message in (
        ({"w": np.bool_([1])}, {}, fe.DTypeError, "'w' is bool"),
        ({"w": [1.0]}, {}, fe.InvalidArgumentError, "'w' is a list"),
        ({"": np.float32([1])}, {}, fe.InvalidArgumentError, "the name of a tensor is ''"),
        ({3: np.float32([1])}, {}, fe.InvalidArgumentError, "the name of a tensor is 3"),
        ({}, {"x": None}, fe.InvalidArgumentError, "'x' has NoneType"),
        ({}, {"x": [1, "a"]}, fe.InvalidArgumentError, "'x' has int, str"),
        ({}, {"x": 1 << 64}, fe.InvalidArgumentError, "'x' has int"),
        ({}, {"x": [0.5, (1 << 53) + 1]}, fe.InvalidArgumentError, "integer among floats that float64 cannot hold"),
        ({}, {"x": [0.5, 10**400]}, fe.InvalidArgumentError, "integer among floats that float64 cannot hold"),
        (
            {},
            {"general.alignment": 1 << 32},
            fe.InvalidArgumentError,
            "alignment is 4294967296, which is no power of two below 2\\^32",
        ),
        ({}, {"x": "\ud800"}, fe.InvalidArgumentError, "is not Unicode"),
        ({}, {"general.alignment": 24}, fe.InvalidArgumentError, "no power of two"),
    ):
        with pytest.raises(error, match=message):
            fe.io.save_gguf(path, arrays, metadata)  # type: ignore[arg-type]
        assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.gguf"]


GOOD = content([pair("a", 4, struct.pack("<I", 5))], [tensor("w", (2, 4))], bytes(32))
HUGE = 1 << 63
FALSE_FILES = {
    "empty": (b"", "the magic has 4 bytes, and 0 are left"),
    "magic": (b"GGML" + GOOD[4:], "begins with b'GGML'"),
    "version 1": (content(version=1), "version 1; ferrule reads versions 2 and 3"),
    "big-endian": (b"GGUF" + struct.pack(">I", 3) + bytes(16), "byte order is big-endian"),
    "cut in the header": (GOOD[:40], "are left|cannot be in"),
    "cut in the data": (GOOD[:-8], "ends 8 bytes behind the end of the file: is it truncated"),
    "tensor count": (content(counts=(HUGE, 0)), f"{HUGE} tensors cannot be in"),
    "pair count": (content(counts=(0, HUGE)), f"{HUGE} metadata cannot be in"),
    "length of a key": (
        content([struct.pack("<QQ", HUGE, 0)]),
        f"key 1 of 1 of the metadata has {HUGE} bytes; 65535 are",
    ),
    "length of a text": (content([pair("a", 8, struct.pack("<Q", HUGE))]), f"'a' has {HUGE} bytes"),
    "length of an array": (
        content([pair("a", 9, struct.pack("<IQ", 4, HUGE))]),
        f"{HUGE} elements of 'a' cannot be in",
    ),
    "length of texts": (content([pair("a", 9, struct.pack("<IQ", 8, HUGE))]), f"{HUGE} elements of 'a' cannot be in"),
    "text in an array": (
        content([pair("a", 9, struct.pack("<IQQ", 8, 1, HUGE))]),
        f"string 1 of 'a' has {HUGE} bytes",
    ),
    "type of metadata": (content([pair("a", 13, b"")]), "the type of 'a' is 13"),
    "deep arrays": (content([pair("a", 9, struct.pack("<IQ", 9, 1) * 40)]), "more than 8 arrays"),
    "bool": (content([pair("a", 7, b"\2")]), "neither 0 nor 1"),
    "key twice": (content([pair("a", 7, b"\1")] * 2), "the metadata has 'a' twice"),
    "key without a name": (content([pair("", 7, b"\1")]), "key 1 of 1 of the metadata is empty"),
    "key not UTF-8": (content([pair(b"\xff", 7, b"\1")]), "is not UTF-8"),
    "value not UTF-8": (content([pair("a", 8, text(b"\xff"))]), "the value of 'a' is not UTF-8"),
    "token not UTF-8": (content([pair("a", 9, struct.pack("<IQ", 8, 1) + text(b"\xff"))]), "string 1 of 'a' is not"),
    "alignment": (content([pair("general.alignment", 4, struct.pack("<I", 24))]), "no power of two"),
    "alignment of zero": (content([pair("general.alignment", 4, struct.pack("<I", 0))]), "no power of two"),
    "tensor twice": (content([], [tensor("w", (2,))] * 2, bytes(32)), "two tensors 'w'"),
    "tensor without a name": (content([], [tensor("", (2,))], bytes(32)), "name of tensor 1 of 1 is empty"),
    "name not UTF-8": (content([], [tensor(b"\xff", (2,))], bytes(32)), "not UTF-8"),
    "rank": (content([], [text("w") + struct.pack("<I", 1 << 31)], bytes(64)), "axes of tensor 'w' cannot be in"),
    "axes": (content([], [tensor("w", (2,) * 9)], bytes(2048)), "tensor 'w' has 9 axes; an array has at most 8"),
    "type of elements": (content([pair("a", 9, struct.pack("<IQ", 77, 0))]), "the elements of 'a' is 77, which does"),
    "shape": (content([], [tensor("w", (HUGE,))], bytes(32)), "larger than memory can be"),
    "product": (content([], [tensor("w", (1 << 32, 1 << 32, 0))], bytes(32)), "larger than memory can be"),
    "offset": (content([], [tensor("w", (2,), offset=HUGE)], bytes(32)), "bytes behind the end"),
    "unaligned": (content([], [tensor("w", (2,), offset=4)], bytes(32)), "at 4, which is no multiple of 32"),
    "overlap": (
        content([], [tensor("w", (16,)), tensor("v", (4,), offset=32)], bytes(64)),
        "'v' overlaps tensor 'w' by 32 bytes",
    ),
    "rows of blocks": (content([], [tensor("w", (2, 33), code=8)], bytes(128)), "no whole blocks of 32"),
}


@pytest.mark.parametrize("name", FALSE_FILES)
def test_a_false_file_is_refused(tmp_path: Path, name: str) -> None:
    raw, message = FALSE_FILES[name]
    path = tmp_path / "false.gguf"
    path.write_bytes(raw)
    with pytest.raises(fe.InvalidArgumentError, match=message) as caught:
        fe.io.open_gguf(path)
    assert "false.gguf" in str(caught.value)
    assert "(at byte " in str(caught.value)


def test_only_a_tensor_of_an_unknown_type_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    unknown = [tensor("new", (5,), code=999), tensor("old", (32,), code=9, offset=32)]
    tensors = [*unknown, tensor("w", (2,), offset=96)]
    path.write_bytes(content([], tensors, bytes(128)))
    file = fe.io.open_gguf(path)
    assert file["w"].tolist() == [0, 0]
    with pytest.raises(fe.UnsupportedError, match=r"'new' is type 999\(5,\)"):
        file["new"]
    with pytest.raises(fe.UnsupportedError, match=r"'old' is Q8_1\(32,\)"):
        file["old"]
    with pytest.raises(KeyError, match="has no tensor 'v'"):
        file["v"]


def test_version_2_and_empty_tensors(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content([], [tensor("w", (0, 4)), tensor("s", ()), tensor("q", (0, 32), code=8)], bytes(32), 2))
    file = fe.io.open_gguf(path)
    assert file.version == 2
    assert [file[name].shape for name in file] == [(0, 4), (), (0, 32)]


@given(data=st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changed_bytes_open_or_raise(tmp_path: Path, data: st.DataObject) -> None:
    pairs = [
        pair("a", 4, struct.pack("<I", 5)),
        pair("t", 9, struct.pack("<IQ", 8, 2) + text("ab") + text("")),
        pair("n", 9, struct.pack("<IQ", 9, 1) + struct.pack("<IQ2h", 3, 2, 1, 2)),
    ]
    raw = bytearray(content(pairs, [tensor("w", (2, 4)), tensor("q", (1, 32), code=8, offset=32)], bytes(96)))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place] = data.draw(st.sampled_from([0, 1, 2, 8, 9, 127, 128, 255]))
    path = tmp_path / f"{secrets.token_hex(8)}.gguf"  # Windows keeps files that are mapped
    path.write_bytes(raw[: data.draw(st.integers(0, len(raw)))] if data.draw(st.booleans()) else raw)
    try:
        file = fe.io.open_gguf(path)
    except fe.InvalidArgumentError:
        return
    for name in file:
        with contextlib.suppress(fe.UnsupportedError, fe.InvalidArgumentError):
            np.asarray(file[name].astype("float32"))


def split(folder: Path, count: int = 2, **changes: Any) -> Path:
    for number in range(count):
        metadata = {"split.no": np.uint16(number), "split.count": np.uint16(count)}
        metadata |= {"split.tensors.count": np.int32(count), "general.name": f"part {number}"}
        metadata |= {key.replace("_", "."): value for key, value in changes.items()} if number else {}
        path = folder / f"m-{number + 1:05}-of-{count:05}.gguf"
        fe.io.save_gguf(path, {f"w{number}": np.float32([number])}, metadata)
    return folder / f"m-00001-of-{count:05}.gguf"


def test_a_model_in_several_files_opens_as_one(tmp_path: Path) -> None:
    file = fe.io.open_gguf(split(tmp_path, 3))
    assert {name: file[name].item() for name in file} == {"w0": 0, "w1": 1, "w2": 2}
    assert file.metadata["general.name"] == "part 0"
    assert file.nbytes == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_a_split_model_is_saved_as_one_file(tmp_path: Path) -> None:
    file = fe.io.open_gguf(split(tmp_path))
    fe.io.save_gguf(tmp_path / "whole.gguf", file, file.metadata)
    assert list(fe.io.open_gguf(tmp_path / "whole.gguf")) == ["w0", "w1"]


@pytest.mark.skipif(sys.platform == "win32", reason="writes the files that it opened before")
def test_a_model_with_wrong_parts_is_refused(tmp_path: Path) -> None:
    first = split(tmp_path)
    second = tmp_path / "m-00002-of-00002.gguf"
    with pytest.raises(fe.InvalidArgumentError, match=r"later part of a model: open the first, m-00001-of-00002\.gguf"):
        fe.io.open_gguf(second)
    renamed = tmp_path / "other.gguf"
    renamed.write_bytes(first.read_bytes())
    with pytest.raises(fe.InvalidArgumentError, match="one of 2 files of a model, which have names"):
        fe.io.open_gguf(renamed)
    split(tmp_path, split_no=np.uint16(0))
    with pytest.raises(fe.InvalidArgumentError, match="says that it is part 0, counted from 0, of 2, not 1 of 2"):
        fe.io.open_gguf(first)
    split(tmp_path, split_count=np.uint16(7))
    with pytest.raises(fe.InvalidArgumentError, match="says that it is part 1, counted from 0, of 7, not 1 of 2"):
        fe.io.open_gguf(first)
    split(tmp_path)
    second.write_bytes(first.read_bytes())
    with pytest.raises(fe.InvalidArgumentError, match="'w0' is in"):
        fe.io.open_gguf(first)
    second.unlink()
    with pytest.raises(fe.InvalidArgumentError, match=r"m-00002-of-00002\.gguf is not there"):
        fe.io.open_gguf(first)


@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot be cut there")
def test_a_file_that_is_cut_after_it_was_opened_raises(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    fe.io.save_gguf(path, {"w": np.zeros(100_000, "float32")})
    file = fe.io.open_gguf(path)
    os.truncate(path, 4096)
    with pytest.raises(fe.IoError, match="the file was cut from"):
        file["w"]


def test_a_file_that_is_written_to_after_it_was_opened_raises(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    fe.io.save_gguf(path, {"w": np.ones(1000, "float32")})
    file = fe.io.open_gguf(path)
    size = path.stat().st_size
    os.truncate(path, size - 40)
    os.truncate(path, size)
    os.utime(path, ns=(0, 0))  # whatever the clock of the file system
    with pytest.raises(fe.IoError, match="tensor 'w' is read from a file that was written to since it was opened"):
        file["w"]


def test_a_name_is_looked_for_without_its_array(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    fe.io.save_gguf(path, {"w": np.float32([1]), "new": np.float32([1])})
    raw = path.read_bytes()
    at = raw.index(b"new") + 3 + 4 + 8  # behind the name, the rank and the size
    path.write_bytes(raw[:at] + struct.pack("<I", 999) + raw[at + 4 :])
    file = fe.io.open_gguf(path)
    assert "new" in file
    assert "old" not in file
    assert file.get("old") is None
    with pytest.raises(fe.UnsupportedError, match="tensor 'new'"):
        file.get("new")


@pytest.mark.parametrize("save", [fe.io.save_gguf, fe.io.save_safetensors])
def test_each_array_is_looked_up_once(save: Callable[..., None], tmp_path: Path) -> None:
    class Loader(Mapping[str, Any]):
        looked_up = 0

        def __len__(self) -> int:
            return 1

        def __iter__(self) -> Iterator[str]:
            return iter(["w"])

        def __getitem__(self, name: str) -> Any:
            self.looked_up += 1
            return np.full(3, self.looked_up, "float32" if self.looked_up == 1 else "float64")

    save(tmp_path / "model", Loader())
    opened = fe.io.open_gguf if save is fe.io.save_gguf else fe.io.open_safetensors
    assert opened(tmp_path / "model")["w"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("save", [fe.io.save_gguf, fe.io.save_safetensors])
def test_what_no_file_can_have_is_refused(save: Callable[..., None], tmp_path: Path) -> None:
    path, ones = tmp_path / "model", np.ones(3, "float32")
    save(path, {"w": ones})
    before = path.read_bytes()
    with pytest.raises(fe.DTypeError, match=r"save_\w+: a file has no place for the mask of tensor 'w'; fill it first"):
        save(path, {"w": np.ma.array(ones, mask=[0, 1, 0])})
    for wrong in ([("w", ones)], None):
        with pytest.raises(fe.InvalidArgumentError, match=r"save_\w+: arrays is a \w+, not a dict"):
            save(path, wrong)
    with pytest.raises(fe.InvalidArgumentError, match=r"save_\w+: metadata is a list, not a dict"):
        save(path, {}, [("a", "b")])
    for no_path in ("a\0b", "/"):
        with pytest.raises((fe.InvalidArgumentError, OSError), match=r"cannot be the path of a file|directory"):
            save(no_path, {})
    assert path.read_bytes() == before


def test_more_axes_than_an_array_can_have_are_not_saved(tmp_path: Path) -> None:
    with pytest.raises(fe.InvalidArgumentError, match="tensor 'w': an array has at most 8 dimensions, not 9"):
        fe.io.save_gguf(tmp_path / "model.gguf", {"w": np.ones((1,) * 9, "float32")})
    with pytest.raises(fe.InvalidArgumentError, match="no power of two below"):
        fe.io.save_gguf(tmp_path / "model.gguf", {}, {"general.alignment": 10**5000})


def test_inspect_lists_the_metadata_and_tensors(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    fe.io.save_gguf(
        path, {"w": np.zeros((2, 3), "float32")}, {"general.name": "mi\x1bne", "tokens": ["a"] * 5000, "nan": math.nan}
    )
    command = [sys.executable, "-m", "ferrule", "inspect", path]
    as_json = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout
    assert json.loads(as_json, parse_constant=pytest.fail)[0]["metadata"]["nan"] == "nan"
    utf8 = os.environ | {"PYTHONIOENCODING": "utf-8"}
    shown = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", env=utf8).stdout
    assert "general.name: mi\ufffdne" in shown
    assert "5000 strings" in shown
    assert "F32" in shown
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    shown = subprocess.run(command, check=True, capture_output=True, text=True, env=ascii_only).stdout
    assert "general.name: mi\\ufffdne" in shown
    path.write_bytes(path.read_bytes()[:100])
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "not a valid GGUF file" in " ".join(ended.stdout.split())  # in lines, of which the path takes a part
    fe.io.save_safetensors(path.with_suffix(".safetensors"), {"b": np.zeros((4, 5), "int8")}, {"made by": "me"})
    command[-1] = path.with_suffix(".safetensors")
    shown = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", env=utf8).stdout
    assert "made by: me" in shown
    assert "b: I8, 4 x 5" in shown

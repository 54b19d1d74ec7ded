"""Files that save_safetensors writes: read by ferrule and by the reference, and never left half written."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest
import safetensors.numpy
from ferrule import _ferrule

from tests.python.each import each

DTYPES = [name for name, row in _ferrule.DTYPES.items() if row.safetensors]


def numbers(dtype: Any, shape: tuple[int, ...]) -> fe.Array:
    return fe.reshape(fe.arange(int(np.prod(shape)), device="cpu") % 2, shape).astype(dtype)


def test_every_dtype_and_shape_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    shapes: list[tuple[int, ...]] = [(), (0,), (3,), (2, 0, 5), (3, 5)]
    arrays = {f"{dtype}{shape}": numbers(dtype, shape) for dtype in DTYPES for shape in shapes}
    fe.io.save_safetensors(path, arrays, {"café": "\U0001f600"})
    file = fe.io.open_safetensors(path, device="cpu")
    assert list(file) == list(arrays)
    assert file.metadata == {"café": "\U0001f600"}
    for name, array in arrays.items():
        assert (file[name].dtype, file[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(np.asarray(file[name]), np.asarray(array))
        assert not file[name].placement.startswith("copied")  # all are aligned


def test_reference_reads_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    arrays = {dtype: numbers(dtype, (3, 5)) for dtype in DTYPES if "float8" not in dtype and dtype != "bfloat16"}
    fe.io.save_safetensors(path, arrays)
    for name, array in safetensors.numpy.load_file(path).items():
        np.testing.assert_array_equal(array, np.asarray(arrays[name]))


def test_bytes_are_those_of_the_format(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    fe.io.save_safetensors(path, {"a": np.uint8([7]), "b": np.arange(6, dtype=">i4").reshape(2, 3)[:, ::-2]})
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    assert end % 8 == 0
    assert json.loads(content[8:end]) == {
        "a": {"dtype": "U8", "shape": [1], "data_offsets": [16, 17]},
        "b": {"dtype": "I32", "shape": [2, 2], "data_offsets": [0, 16]},
    }
    assert content[end:] == np.int32([2, 0, 5, 3]).tobytes() + b"\7"


@each(
    "arrays, metadata, reason",
    [
        ({"a": np.ones(1, "complex128")}, None, r"tensor 'a' is complex128\(1,\), and the format has no"),
        ({"q": fe.from_packed(np.zeros(34, "uint8"), "q8_0")}, None, r"q8_0\(32,\).*to_packed\(x\) has its bytes"),
        ({"a": [1, 2]}, None, "tensor 'a' is a list, not an array"),
        ({5: np.ones(1)}, None, "5 cannot be the name"),
        ({"__metadata__": np.ones(1)}, None, "'__metadata__' cannot be the name"),
        ({"\ud800": np.ones(1)}, None, "not Unicode"),
        ({}, {"step": 100}, "metadata maps str to str, not 'step' to 100"),
    ],
)
def test_unwritable_arrays_are_refused_and_the_file_stays(
    tmp_path: Path, arrays: Any, metadata: Any, reason: str
) -> None:
    path = tmp_path / "x.safetensors"
    path.write_text("before")
    with pytest.raises(fe.InvalidArgumentError, match=f"save_safetensors: .*{reason}"):
        fe.io.save_safetensors(path, arrays, metadata)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["x.safetensors"]


@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot be replaced there")
def test_a_file_can_be_written_from_its_own_arrays(tmp_path: Path) -> None:
    path, link = tmp_path / "x.safetensors", tmp_path / "link"
    fe.io.save_safetensors(path, {"w": np.float32([1, 2])})
    path.chmod(0o600)
    link.symlink_to(path)
    w = fe.io.open_safetensors(path, device="cpu")["w"]
    fe.io.save_safetensors(link, {"w": w * 10})
    assert w.tolist() == [1, 2]
    assert fe.io.open_safetensors(path, device="cpu")["w"].tolist() == [10, 20]
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["link", "x.safetensors"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_links_to_each_other_stay(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(OSError, match=r"(?i)symbolic links.*one"):
        fe.io.save_safetensors(one, {"w": np.ones(1)})
    assert one.is_symlink()
    assert other.is_symlink()


def test_errors_of_the_system_name_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.safetensors"
    with pytest.raises(FileNotFoundError, match=r"no.*x.safetensors"):
        fe.io.save_safetensors(tmp_path / "no" / "x.safetensors", {"w": np.ones(1)})

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match=r"No space left.*x.safetensors"):
        fe.io.save_safetensors(path, {"w": np.ones(1)})
    assert os.listdir(tmp_path) == []

"""The table of dtypes (csrc/sdk/ferrule/dtypes.h) agrees with the packages whose dtypes and names it has."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import ferrule as fe
import gguf
import numpy as np
import pytest
from ferrule import _ferrule

from tests.python.each import each

TABLE = _ferrule.DTYPES
PLAIN = [name for name, row in TABLE.items() if row.dtype_class != "block"]
FLOATING = [name for name in PLAIN if TABLE[name].dtype_class == "float"]
BLOCKS = [name for name, row in TABLE.items() if row.dtype_class == "block"]
KINDS = {"b": "bool", "i": "signed", "u": "unsigned", "f": "float", "c": "complex"}
IN_GGUF = [name for name, row in TABLE.items() if row.gguf >= 0]
IN_SAFETENSORS = [name for name, row in TABLE.items() if row.safetensors]


def foreign(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(import_module(TABLE[name].package), name.replace("bool", "bool_")))


@each("name", PLAIN)
def test_a_plain_dtype_is_that_of_its_package(name: str) -> None:
    known = foreign(name)
    assert fe.asarray(np.zeros(3, known)).dtype == known
    assert known.itemsize == TABLE[name].block_bytes
    assert TABLE[name].block_elements == 1
    assert TABLE[name].dtype_class == KINDS.get(known.kind, "float")


@each("name", FLOATING)
def test_a_format_is_that_of_its_package(name: str) -> None:
    row, known = TABLE[name], fe.finfo(name)
    assert row.exponent_bits + row.mantissa_bits + 1 == known.bits
    assert 2.0**-row.mantissa_bits == known.eps
    assert 2.0 ** (2 - 2 ** (row.exponent_bits - 1)) == known.smallest_normal
    with np.errstate(over="ignore"):
        assert bool(np.isinf(np.array(np.inf).astype(foreign(name)))) == row.has_infinity


@each("name", [name for name in PLAIN if TABLE[name].computed])
def test_ops_compute_in_a_dtype_that_holds_all_values(name: str) -> None:
    computed = TABLE[name].computed
    assert fe.result_type(name, computed) == computed
    assert TABLE[computed].computed == computed


@each("name", IN_GGUF)
def test_the_number_in_gguf_files_is_that_of_the_package(name: str) -> None:
    row = TABLE[name]
    known = gguf.GGMLQuantizationType(row.gguf)
    short = {"float": "F", "bfloat": "BF", "int": "I"}.get(name.rstrip("0123456789"), "")
    assert known.name == (name.upper() if name in BLOCKS else short + str(8 * row.block_bytes))
    assert gguf.GGML_QUANT_SIZES[known] == (row.block_elements, row.block_bytes)


def test_block_dtypes_are_in_gguf_files_and_public() -> None:
    assert set(BLOCKS) <= set(IN_GGUF)
    for name in BLOCKS:
        block = getattr(fe, name)
        assert (block.name, block.block_elements, block.block_bytes) == (name, *TABLE[name][1:3])


@each("name", PLAIN)
def test_plain_dtypes_are_public(name: str) -> None:
    assert getattr(fe, name) == foreign(name)


def test_names_in_safetensors_files_are_those_of_the_package(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors")
    file = tmp_path / "all.safetensors"
    fe.io.save_safetensors(file, {name: np.zeros(3, foreign(name)) for name in IN_SAFETENSORS})
    read = {name: tensor["dtype"] for name, tensor in safetensors.deserialize(file.read_bytes())}
    assert read == {name: TABLE[name].safetensors for name in IN_SAFETENSORS}

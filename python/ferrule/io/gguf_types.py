"""The types of tensors in GGUF files, by the codes of ggml."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ferrule import _ferrule


class TensorType(NamedTuple):
    """A type of ggml: elements and bytes of a block, 1 and the size for plain numbers.

    `dtype` is the dtype here, "" for a type that ferrule lacks. `block_bytes` is 0 for a type that is not known.
    """

    name: str
    code: int
    block_elements: int
    block_bytes: int
    dtype: str = ""


# The types that ferrule has, by the table of dtypes. Numbers have the names that they have in safetensors files.
TYPES = tuple(
    TensorType(row.safetensors or name.upper(), row.gguf, row.block_elements, row.block_bytes, name)
    for name, row in _ferrule.DTYPES.items()
    if row.gguf >= 0
)
# The types that ferrule lacks; only their size is known here.
_OTHERS = (
    TensorType("Q8_1", 9, 32, 36),
    TensorType("Q8_K", 15, 256, 292),
    TensorType("Q1_0", 41, 128, 18),
)


@cache
def _by_code() -> dict[int, TensorType]:
    return {one.code: one for one in (*_OTHERS, *TYPES)}


def type_of(code: int) -> TensorType:
    return _by_code().get(code) or TensorType(f"type {code}", code, 1, 0)

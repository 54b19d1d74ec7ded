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
# Those that it lacks, of which only the size is known here.
_OTHERS = (
    TensorType("Q4_1", 3, 32, 20),
    TensorType("Q5_0", 6, 32, 22),
    TensorType("Q5_1", 7, 32, 24),
    TensorType("Q8_1", 9, 32, 36),
    TensorType("Q2_K", 10, 256, 84),
    TensorType("Q3_K", 11, 256, 110),
    TensorType("Q5_K", 13, 256, 176),
    TensorType("Q8_K", 15, 256, 292),
    TensorType("IQ2_XXS", 16, 256, 66),
    TensorType("IQ2_XS", 17, 256, 74),
    TensorType("IQ3_XXS", 18, 256, 98),
    TensorType("IQ1_S", 19, 256, 50),
    TensorType("IQ4_NL", 20, 32, 18),
    TensorType("IQ3_S", 21, 256, 110),
    TensorType("IQ2_S", 22, 256, 82),
    TensorType("IQ4_XS", 23, 256, 136),
    TensorType("IQ1_M", 29, 256, 56),
    TensorType("TQ1_0", 34, 256, 54),
    TensorType("TQ2_0", 35, 256, 66),
    TensorType("MXFP4", 39, 32, 17),
    TensorType("NVFP4", 40, 64, 36),
)


@cache
def _by_code() -> dict[int, TensorType]:
    return {one.code: one for one in (*_OTHERS, *TYPES)}


def type_of(code: int) -> TensorType:
    return _by_code().get(code) or TensorType(f"type {code}", code, 1, 0)

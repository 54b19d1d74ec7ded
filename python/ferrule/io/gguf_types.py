"""The types of tensors in GGUF files, by the codes of ggml."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class TensorType(NamedTuple):
    """A type of ggml: elements and bytes of a block, 1 and the size for plain numbers.

    `dtype` is the dtype here, "" for a type that ferrule lacks. `block_bytes` is 0 for a type that is not known.
    """

    name: str
    code: int
    block_elements: int
    block_bytes: int
    dtype: str = ""


TYPES = (
    TensorType("F32", 0, 1, 4, "float32"),
    TensorType("F16", 1, 1, 2, "float16"),
    TensorType("Q4_0", 2, 32, 18, "q4_0"),
    TensorType("Q4_1", 3, 32, 20),
    TensorType("Q5_0", 6, 32, 22),
    TensorType("Q5_1", 7, 32, 24),
    TensorType("Q8_0", 8, 32, 34, "q8_0"),
    TensorType("Q8_1", 9, 32, 36),
    TensorType("Q2_K", 10, 256, 84),
    TensorType("Q3_K", 11, 256, 110),
    TensorType("Q4_K", 12, 256, 144, "q4_K"),
    TensorType("Q5_K", 13, 256, 176),
    TensorType("Q6_K", 14, 256, 210, "q6_K"),
    TensorType("Q8_K", 15, 256, 292),
    TensorType("IQ2_XXS", 16, 256, 66),
    TensorType("IQ2_XS", 17, 256, 74),
    TensorType("IQ3_XXS", 18, 256, 98),
    TensorType("IQ1_S", 19, 256, 50),
    TensorType("IQ4_NL", 20, 32, 18),
    TensorType("IQ3_S", 21, 256, 110),
    TensorType("IQ2_S", 22, 256, 82),
    TensorType("IQ4_XS", 23, 256, 136),
    TensorType("I8", 24, 1, 1, "int8"),
    TensorType("I16", 25, 1, 2, "int16"),
    TensorType("I32", 26, 1, 4, "int32"),
    TensorType("I64", 27, 1, 8, "int64"),
    TensorType("F64", 28, 1, 8, "float64"),
    TensorType("IQ1_M", 29, 256, 56),
    TensorType("BF16", 30, 1, 2, "bfloat16"),
    TensorType("TQ1_0", 34, 256, 54),
    TensorType("TQ2_0", 35, 256, 66),
    TensorType("MXFP4", 39, 32, 17),
    TensorType("NVFP4", 40, 64, 36),
)


@cache
def _by_code() -> dict[int, TensorType]:
    return {one.code: one for one in TYPES}


def type_of(code: int) -> TensorType:
    return _by_code().get(code) or TensorType(f"type {code}", code, 1, 0)

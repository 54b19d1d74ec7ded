"""Random bits. The oracle is Philox 4x32-10 in NumPy's 64-bit integers; tests/python/random compares it with the known
answers of Random123."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import Values
from ferrule.testing.model.problem import Family, Problem

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_WORD = np.uint64(0xFFFFFFFF)
_FACTORS = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
_INCREMENTS = np.array([0x9E3779B9, 0xBB67AE85], np.uint64)


def philox(counters: Values, key: Values) -> Values:
    """Return four words for each row of four words of `counters`."""
    words, key = counters.astype(np.uint64).T, key.astype(np.uint64)
    for _ in range(10):
        first, second = words[0] * _FACTORS[0], words[2] * _FACTORS[1]
        words = np.stack(
            [
                (second >> np.uint64(32)) ^ words[1] ^ key[0],
                second & _WORD,
                (first >> np.uint64(32)) ^ words[3] ^ key[1],
                first & _WORD,
            ]
        )
        key = (key + _INCREMENTS) & _WORD
    return np.ascontiguousarray(words.T).astype(np.uint32)


def random_bits(key: Values, size: int, stream: int = 0) -> Values:
    blocks = np.arange(-(-size // 4), dtype=np.uint64)
    same = np.ones_like(blocks)
    halves = [
        blocks & _WORD,
        blocks >> np.uint64(32),
        same * np.uint64(stream & 0xFFFFFFFF),
        same * np.uint64(stream >> 32),
    ]
    return philox(np.stack(halves, axis=1), key).reshape(-1)[:size]


def words() -> Family:
    """Attributes `size` and `stream`."""

    def problem(size: int, stream: int = 0) -> Problem:
        return Problem(((2,),), {"size": size, "stream": stream})

    def draw() -> SearchStrategy[Problem]:
        import hypothesis.strategies as st

        return st.builds(problem, st.integers(0, 5000), st.integers(0, 2**63 - 1))

    return Family(
        sized=lambda size: (problem(size),),
        plain=(problem(5), problem(64, 1), problem(1003, 2**40 + 3)),
        empty=(problem(0),),
        single=(problem(1),),
        large=(problem(300_007, 1),),
        draw=draw,
    )


CASES = [Case("random_bits", ("uint32",), "uint32", words(), random_bits)]

"""Dtypes of weights in blocks, as GGUF files hold them; NumPy has none."""

from __future__ import annotations

from typing import NoReturn

from ferrule import _ferrule
from ferrule.errors import DTypeError


class BlockDType:
    """A dtype whose elements share a block of bytes: a scale, and few bits for each element.

    `block_elements` elements take up `block_bytes`. The last axis of an array is a whole number of blocks.

    >>> import ferrule
    >>> ferrule.q8_0.block_elements, ferrule.q8_0.block_bytes
    (32, 34)
    """

    __slots__ = ("block_bytes", "block_elements", "name")
    kind = "V"  # to NumPy that of all that are not its own

    def __init__(self, name: str, block_elements: int, block_bytes: int) -> None:
        self.name, self.block_elements, self.block_bytes = name, block_elements, block_bytes

    @property
    def itemsize(self) -> NoReturn:
        raise DTypeError(
            f"dtype {self.name}: its elements have no size of their own; a block of {self.block_elements} takes "
            f"{self.block_bytes} bytes"
        )

    def bytes_of(self, elements: int) -> int:
        """Bytes of elements that are whole blocks."""
        return elements // self.block_elements * self.block_bytes

    def __eq__(self, other: object) -> bool:
        return other is self or (isinstance(other, str) and other == self.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"ferrule.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name


def _known(name: str) -> BlockDType:
    kind, *sizes = _ferrule.dtypes()[name]
    assert kind == "block"
    return BlockDType(name, *sizes)


q8_0, q4_0 = _known("q8_0"), _known("q4_0")
q4_K, q6_K = _known("q4_K"), _known("q6_K")  # noqa: N816  GGUF's names
# The extension keeps what it has once given for a dtype: from now on it knows these objects.
for _dtype in (q8_0, q4_0, q4_K, q6_K):
    _ferrule.dtype(_dtype.name)

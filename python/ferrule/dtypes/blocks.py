"""Block dtypes: quantized weights as GGUF files store them, which NumPy has no dtype for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ferrule import _ferrule
from ferrule.errors import DTypeError, InvalidArgumentError


class BlockDType:
    """A dtype whose elements share a block of bytes: a scale, and a few bits for each element.

    The last axis of an array holds a whole number of blocks.

    Attributes
    ----------
    name : str
        The name, such as "q8_0".
    block_elements : int
        Elements per block.
    block_bytes : int
        Bytes per block.

    Examples
    --------
    >>> fe.q8_0.block_elements, fe.q8_0.block_bytes
    (32, 34)
    >>> fe.asarray(np.ones((2, 64), "float32")).astype(fe.q8_0).nbytes
    136
    """

    __slots__ = ("block_bytes", "block_elements", "name")
    kind = "V"  # the kind that NumPy gives to dtypes of other libraries

    def __init__(self, name: str, block_elements: int, block_bytes: int) -> None:
        self.name, self.block_elements, self.block_bytes = name, block_elements, block_bytes

    @property
    def itemsize(self) -> NoReturn:
        """Always raises DTypeError: single elements of a block have no size.

        Raises
        ------
        DTypeError
            Always. `block_bytes` is the size of a block.
        """
        raise DTypeError(
            f"dtype {self.name}: its elements have no size of their own; a block of {self.block_elements} takes "
            f"{self.block_bytes} bytes"
        )

    def bytes_of(self, elements: int) -> int:
        """Return the size of whole blocks in bytes.

        Parameters
        ----------
        elements : int
            The number of elements, a multiple of `block_elements`.

        Returns
        -------
        int
            The number of bytes.

        Raises
        ------
        InvalidArgumentError
            `elements` is not a multiple of `block_elements`.

        Examples
        --------
        >>> fe.q4_0.bytes_of(64)
        36
        """
        if elements % self.block_elements:
            raise InvalidArgumentError(
                f"bytes_of: {elements} elements are not a whole number of {self.name} blocks of {self.block_elements}"
            )
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


BY_NAME = {
    name: BlockDType(name, row.block_elements, row.block_bytes)
    for name, row in _ferrule.DTYPES.items()
    if row.dtype_class == "block"
}
globals().update(BY_NAME)
for _name in BY_NAME:  # the extension caches these objects
    _ferrule.dtype(_name)

if TYPE_CHECKING:

    def __getattr__(name: str) -> BlockDType: ...

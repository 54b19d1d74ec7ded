"""Keys, and the random bits that a key gives: Philox 4x32-10 (Salmon et al. 2011)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import Shape, one_integer, sizes
from ferrule.array.numbers import perform, shown
from ferrule.array.recording import as_operand
from ferrule.dtypes.classification import as_dtype
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions.asarray import asarray
from ferrule.functions.conversion import cast
from ferrule.functions.movement import reshape, stack

if TYPE_CHECKING:
    from ferrule.loading.devices import Device

__all__ = ["bits", "key", "split"]

# Streams of one key, which share no block: the first to fourth word of a number, and the keys that `split` makes.
_WORDS, _KEYS = (0, 2, 3, 4), 1
_WORD = np.dtype("uint32")
_LONG = np.dtype("uint64")


def key(seed: SupportsIndex | Array, /, *, device: Device | str | None = None) -> Array:
    """Make a key from a seed.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1. Each seed gives another key. In a traced function it may be an argument, which each call
        checks. The integers of an array count modulo 2**64.
    device : Device or str, optional
        The device of the key, and so of the numbers made from it.

    Returns
    -------
    Array of shape (2,)
        The uint32 key.

    Raises
    ------
    InvalidArgumentError
        The seed is not an integer, is negative, or needs more than 64 bits.

    Examples
    --------
    >>> fe.random.key(7).tolist()
    [7, 0]
    """
    if isinstance(seed, Array) and (is_number(seed) or seed.shape == ()) and seed.dtype.kind in "iu":
        if is_number(seed):
            wide = recording.array_of_number(recording.number_of("seed of key", seed), _LONG)
        else:
            wide = cast(seed, _LONG)
        return stack([cast(wide, _WORD), cast(wide >> 32, _WORD)])
    number = perform("seed of key", one_integer(seed, "key", "seed"))
    words = np.array([number & 0xFFFFFFFF, number >> 32], _WORD)
    return asarray(words, device=device)


def split(key: Array, n: SupportsIndex = 2, /) -> Array:
    """Make new keys from a key.

    The numbers of the new keys are independent of each other and of those of the key itself.

    Parameters
    ----------
    key : Array of shape (2,)
        The key. The same key always gives the same new keys.
    n : int
        The number of new keys. A larger number begins with the same keys.

    Returns
    -------
    Array of shape (n, 2)
        The keys, one in each row.

    Raises
    ------
    InvalidArgumentError
        `key` is not a key, or `n` is negative.

    Examples
    --------
    >>> first, second = fe.random.split(fe.random.key(0))
    >>> fe.random.uniform(first).item() == fe.random.uniform(second).item()
    False
    """
    count = one_integer(n, "split", "n")
    if count < 0:
        raise InvalidArgumentError(f"split: n is {shown(count)}")
    return reshape(words_of("split", key, 2 * count, _KEYS), (count, 2))


def bits(key: Array, shape: Shape = (), dtype: Any = "uint32") -> Array:
    """Random integers whose bits are all independent.

    Parameters
    ----------
    key : Array of shape (2,)
        The key.
    shape : int or tuple of int
        The shape of the result.
    dtype : dtype or str
        uint8, uint16, uint32 or uint64.

    Returns
    -------
    Array
        The numbers.

    Raises
    ------
    DTypeError
        `dtype` is not an unsigned integer dtype.
    InvalidArgumentError
        `key` is not a key, or a size is negative.

    Examples
    --------
    >>> fe.random.bits(fe.random.key(0), 4).tolist()
    [1713891541, 3781805453, 3159862348, 2600524760]
    """
    return bits_for("bits", key, shape, as_dtype(dtype))


def bits_for(caller: str, key: Array, shape: Shape, dtype: np.dtype[Any]) -> Array:
    """Return what `bits` does; messages name the caller."""
    if dtype.kind != "u":
        raise DTypeError(f"{caller}: dtype is an unsigned integer dtype, not {dtype}")
    lengths = sizes_of(caller, shape)
    count = math.prod(lengths)
    if dtype == _LONG:
        low, high = words_for(caller, key, count, 2)
        return reshape(cast(low, _LONG) | (cast(high, _LONG) << 32), lengths)
    words = reshape(words_for(caller, key, count, 1)[0], lengths)
    return words if dtype == _WORD else cast(words >> (32 - 8 * dtype.itemsize), dtype)


def words_for(caller: str, key: Array, count: int, number: int) -> list[Array]:
    """Return `number` uint32 words for each of `count` numbers, as one array for the first words, and so on."""
    return [words_of(caller, key, count, stream) for stream in _WORDS[:number]]


def words_of(caller: str, key: Array, count: int, stream: int) -> Array:
    """Return `count` uint32 words of one of the streams of a key."""
    if not isinstance(key, (Array, np.ndarray)):
        call = f"random.{caller}(random.key(seed), {'shape' if isinstance(key, (tuple, list)) else '...'})"
        raise InvalidArgumentError(f"{caller}: key is made by random.key or random.split, not {key!r}; write {call}")
    key = as_operand(caller, key)
    if key.dtype != _WORD or key.shape != (2,):
        raise InvalidArgumentError(
            f"{caller}: key is made by random.key or random.split, an array of 2 uint32; this is {key.dtype}{key.shape}"
        )
    return recording.apply("random_bits", (key,), {"size": count, "stream": stream})


def sizes_of(caller: str, shape: Shape) -> tuple[int, ...]:
    """Return the shape as a tuple of int."""
    if isinstance(shape, Array) and shape.dtype == _WORD and shape.shape == (2,):
        raise InvalidArgumentError(f"{caller}: the key is the first argument, and the shape the second one")
    lengths = sizes(shape, caller)
    if any(length < 0 for length in lengths):
        raise InvalidArgumentError(f"{caller}: the shape {lengths} has a negative size")
    return lengths

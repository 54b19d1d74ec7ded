"""Random choices among elements."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex

import numpy as np

from ferrule.array.array import Array, is_number
from ferrule.array.attributes import Shape, axis_of, flag, one_integer
from ferrule.array.recording import as_operand
from ferrule.array.symbols import Symbol
from ferrule.dtypes.classification import is_floating
from ferrule.dtypes.default_dtypes import default_dtype
from ferrule.errors import InvalidArgumentError
from ferrule.functions.conversion import cast
from ferrule.functions.creation import arange
from ferrule.functions.movement import moveaxis, reshape, take
from ferrule.functions.ops import log, topk
from ferrule.functions.reduction import argmax
from ferrule.functions.sorting import argsort
from ferrule.random.distributions import gumbel, integers
from ferrule.random.keys import bits_for, sizes_of

__all__ = ["categorical", "choice", "permutation"]


def categorical(key: Array, logits: Array, axis: SupportsIndex = -1, shape: Shape | None = None) -> Array:
    """Random indices with the probabilities softmax(logits).

    Parameters
    ----------
    key : Array of shape (2,)
        The key.
    logits : Array
        The logarithms of the probabilities, up to a constant. -inf is never chosen, unless all are -inf: the index is
        0 then. The values are not checked; where there is a NaN, the index is that of the first one.
    axis : int
        The axis of `logits` to choose along.
    shape : int or tuple of int, optional
        The shape of the result. It ends with the shape of `logits` without the axis, which is the default.

    Returns
    -------
    Array
        The int64 indices.

    Raises
    ------
    InvalidArgumentError
        The axis is out of range, or `shape` does not end as it must, or `key` is not a key.

    Examples
    --------
    >>> logits = fe.log(fe.asarray([0.1, 0.2, 0.7]))
    >>> fe.random.categorical(fe.random.key(0), logits, shape=8).tolist()
    [2, 2, 2, 2, 2, 2, 2, 0]
    """
    logits = as_operand("categorical", logits, key)
    place = axis_of("categorical", axis, logits.ndim)
    if not is_floating(logits.dtype):
        logits = cast(logits, default_dtype())
    rest = (*logits.shape[:place], *logits.shape[place + 1 :])
    lengths = rest if shape is None else sizes_of("categorical", shape)
    more = lengths[: len(lengths) - len(rest)]
    if (*more, *rest) != lengths:
        raise InvalidArgumentError(
            f"categorical: shape {lengths} does not end with {rest}, the shape of logits without axis {place}"
        )
    if logits.shape[place] == 0:
        raise InvalidArgumentError(f"categorical: axis {place} of {logits.shape} is empty")
    wide = "float64" if logits.dtype == np.dtype("float64") else "float32"
    noise = gumbel(key, (*more, *logits.shape), dtype=wide)
    return argmax(noise + cast(logits, wide), axis=len(more) + place)


def permutation(key: Array, x: Array | SupportsIndex, axis: SupportsIndex = 0) -> Array:
    """A random order of the elements along an axis.

    Parameters
    ----------
    key : Array of shape (2,)
        The key.
    x : Array or int
        The array; an integer n stands for `arange(n)`.
    axis : int
        The axis.

    Returns
    -------
    Array
        The slices of x in another order. All orders have the same probability.

    Raises
    ------
    InvalidArgumentError
        `x` has 0 dimensions or is negative, or the axis is out of range, or `key` is not a key.

    Examples
    --------
    >>> fe.random.permutation(fe.random.key(0), 6).tolist()
    [0, 5, 2, 3, 4, 1]
    """
    x, is_count = _population("permutation", x)
    if is_count:
        return _order("permutation", key, x.shape[0], x.shape[0])
    place = axis_of("permutation", axis, x.ndim)
    return take(x, _order("permutation", key, x.shape[place], x.shape[place]), axis=place)


def choice(
    key: Array,
    a: Array | SupportsIndex,
    shape: Shape = (),
    replace: bool = True,
    p: Array | None = None,
    axis: SupportsIndex = 0,
) -> Array:
    """Random elements of an array.

    Parameters
    ----------
    key : Array of shape (2,)
        The key.
    a : Array or int
        The array; an integer n stands for `arange(n)`.
    shape : int or tuple of int
        The shape of the choices.
    replace : bool
        Whether an element may be chosen more than once.
    p : Array, optional
        The probability of each element, up to a common factor; by default all are the same. The values of a traced
        array are not checked: an element with a negative number or NaN is then chosen before all others, and one with
        0 where no other is left; the first of several such elements comes first.
    axis : int
        The axis of `a` to choose along.

    Returns
    -------
    Array
        The chosen slices. Their axes are in the place of the axis of `a`.

    Raises
    ------
    InvalidArgumentError
        There are too few elements to choose from, or `p` has another length, or a number that is negative or not
        finite, or too few positive ones, or `key` is not a key.

    Examples
    --------
    >>> fe.random.choice(fe.random.key(0), fe.asarray([10, 20, 30]), 5).tolist()
    [30, 10, 30, 30, 10]
    >>> sorted(fe.random.choice(fe.random.key(0), 3, 3, replace=False).tolist())
    [0, 1, 2]
    """
    population, is_count = _population("choice", a)
    place = axis_of("choice", axis, population.ndim)
    length, lengths = population.shape[place], sizes_of("choice", shape)
    count = math.prod(lengths)
    replace = flag(replace, "choice", "replace")
    if not replace and count > length:
        raise InvalidArgumentError(f"choice: {count} different ones of {length} elements do not exist")
    if length == 0 and count:
        raise InvalidArgumentError("choice: there is no element to choose")
    if count == 0:
        indices = cast(bits_for("choice", key, lengths, np.dtype("uint32")), "int64")
    elif p is not None:
        chances = as_operand("choice", p, key)
        if chances.shape != (length,):
            raise InvalidArgumentError(f"choice: p has the shape {chances.shape}, not ({length},)")
        wide = "float64" if chances.dtype == np.dtype("float64") else "float32"
        chances = cast(chances, wide)
        if not isinstance(chances._handle, Symbol):
            _check_chances(np.asarray(chances), 1 if replace else count)
        chances = log(chances)
        if replace:
            indices = categorical(key, chances, shape=lengths)
        else:  # the greatest of the sums are a sample without replacement (Yellott 1977)
            keys = gumbel(key, (length,), dtype=wide) + chances
            indices = reshape(topk(keys, count).indices, lengths)
    elif replace:
        indices = integers(key, lengths, 0, length)
    else:
        indices = reshape(_order("choice", key, length, count), lengths)
    if is_count:
        return indices
    chosen = take(moveaxis(population, place, 0), reshape(indices, (-1,)), axis=0)
    chosen = reshape(chosen, (*lengths, *chosen.shape[1:]))
    for offset in range(len(lengths)):  # the new axes go to the place of the old one
        chosen = moveaxis(chosen, len(lengths) - 1 - offset, len(lengths) - 1 - offset + place)
    return chosen


def _check_chances(chances: Any, needed: int) -> None:
    """Raise an error unless these are probabilities, up to a factor, with at least as many positive ones as needed."""
    wrong = ~(np.isfinite(chances) & (chances >= 0))
    if wrong.any():
        place = int(wrong.argmax())
        raise InvalidArgumentError(f"choice: p[{place}] is {chances[place]}, not a finite number from 0 on")
    positive = int(np.count_nonzero(chances))
    if positive < needed:
        raise InvalidArgumentError(f"choice: positive numbers in p: {positive}; at least {needed} are needed")


def _population(caller: str, x: Array | SupportsIndex) -> tuple[Array, bool]:
    """Return the array to choose from, and whether it was given by its length."""
    if isinstance(x, (Array, np.ndarray)) and not is_number(x) and x.ndim:
        return as_operand(caller, x), False
    count = one_integer(x, caller, "the number of elements")
    if count < 0:
        raise InvalidArgumentError(f"{caller}: the number of elements is {count}")
    return arange(count), True


def _order(caller: str, key: Array, length: int, count: int) -> Array:
    """Return the first `count` places of a random order.

    Two of the 64-bit keys are equal with a probability of length^2 / 2^65; the order of these two is then not random.
    """
    return argsort(bits_for(caller, key, (length,), np.dtype("uint64")))[:count]

"""Random numbers of common distributions.

Integers and uniform numbers are computed exactly, and so have the same bits on every device. The other distributions
are functions of them, such as `log` and `cos`, whose last bit may differ between devices.
"""

from __future__ import annotations

import math
from typing import Any, SupportsIndex

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import Shape, one_integer, one_real
from ferrule.array.numbers import perform, shown
from ferrule.array.recording import as_operand, number_like, number_of
from ferrule.dtypes.classification import as_dtype, is_floating
from ferrule.dtypes.default_dtypes import default_dtype
from ferrule.errors import DTypeError, InvalidArgumentError, NumberOverflowError
from ferrule.functions.conversion import cast
from ferrule.functions.movement import broadcast_to, reshape, stack
from ferrule.functions.ops import cos, log, log1p, minimum, negative, nextafter, sin, sqrt
from ferrule.random.keys import bits_for, sizes_of, words_for

__all__ = ["bernoulli", "exponential", "gumbel", "integers", "normal", "uniform"]

_WORD, _LONG = np.dtype("uint32"), np.dtype("uint64")
# The bits of a significand, and so of a uniform number: all multiples of 2^-digits below 1 are representable.
_DIGITS = {  # of a significand, by dtype
    name: row.mantissa_bits + 1
    for name, row in sorted(_ferrule.DTYPES.items(), key=lambda item: item[1].block_bytes)
    if row.dtype_class == "float" and row.computed
}


def integers(
    key: Array, shape: Shape, low: SupportsIndex, high: SupportsIndex | None = None, dtype: Any = "int64"
) -> Array:
    """Random integers, each from `low` to `high` - 1 with the same probability.

    Parameters
    ----------
    key : Array of shape (2,)
        The key.
    shape : int or tuple of int
        The shape of the result.
    low, high : int
        The bounds; `high` is excluded. With one bound the numbers are from 0 to `low` - 1.
    dtype : dtype or str
        An integer dtype.

    Returns
    -------
    Array
        The integers, with the same bits on every device.

    Raises
    ------
    DTypeError
        `dtype` is not an integer dtype.
    InvalidArgumentError
        There is no integer between the bounds, or `key` is not a key.
    NumberOverflowError
        The bounds do not fit into the dtype.

    Notes
    -----
    The result is floor(r * (high - low) / 2**b) + low with a random number r of b bits, computed exactly. b is 96, or
    128 if there are more than 2**32 integers: the probabilities of two integers differ by less than 2**-64 of
    themselves, which no number of draws can detect.

    Examples
    --------
    >>> fe.random.integers(fe.random.key(0), 8, 1, 7).tolist()
    [6, 1, 5, 5, 2, 6, 6, 5]
    """
    target = as_dtype(dtype)
    if target.kind not in "iu":
        raise DTypeError(f"integers: dtype is an integer dtype, not {target}")
    first, end = one_integer(low, "integers", "low"), 0
    if high is None:
        first, end = 0, first
    else:
        end = one_integer(high, "integers", "high")
    limits = np.iinfo(target)
    if first >= end:
        raise InvalidArgumentError(f"integers: there is no integer from {shown(first)} to below {shown(end)}")
    if first < limits.min or end - 1 > limits.max:
        raise NumberOverflowError(
            f"integers: numbers from {shown(first)} to below {shown(end)}: one does not fit into {target}"
        )
    count, lengths = end - first, sizes_of("integers", shape)
    if count == 2**64:
        offsets = bits_for("integers", key, lengths, _LONG)
    else:
        words = words_for("integers", key, math.prod(lengths), 3 if count <= 2**32 else 4)
        offsets = reshape(_scale(words, count), lengths)
    offsets = cast(offsets, target)  # modulo 2^bits, as the sum below
    return offsets if first == 0 else offsets + first


def _scale(words: list[Array], count: int) -> Array:
    """Return floor(r * count / 2^b) for the b bits of each number r, whose first word is the least significant."""
    upper, lower = count >> 32, count & 0xFFFFFFFF
    scaled: Array | None = None
    for word in (cast(one, _LONG) for one in words):
        if upper == 0 or count == 2**32:  # the product of a word, and what is carried, fit into 64 bits
            product = word * count if scaled is None else word * count + scaled
            scaled = product >> 32
            continue
        below = word * lower if scaled is None else word * lower + (scaled & 0xFFFFFFFF)
        above = word * upper if scaled is None else word * upper + (scaled >> 32)
        scaled = above + (below >> 32)
    assert scaled is not None
    return scaled


def uniform(
    key: Array, shape: Shape = (), low: float | Array = 0.0, high: float | Array = 1.0, dtype: Any = None
) -> Array:
    """Random numbers, uniform from `low` to below `high`.

    Parameters
    ----------
    key : Array of shape (2,)
        The key.
    shape : int or tuple of int
        The shape of the result.
    low, high : number or Array
        The bounds; `high` is excluded. Arrays broadcast to the shape; rounding may then give `high`, and their values
        are not checked.
    dtype : dtype or str, optional
        float32, float64, float16 or bfloat16; by default the default dtype.

    Returns
    -------
    Array
        `low + (high - low) * u`, where u is a multiple of 2**-24 (float32), 2**-53 (float64), 2**-11 (float16) or
        2**-8 (bfloat16). u has the same bits on every device.

    Raises
    ------
    DTypeError
        `dtype` is not one of these.
    InvalidArgumentError
        `low` is greater than `high`, or a bound is not finite, or `key` is not a key. A traced function checks its
        number arguments in each call.

    Examples
    --------
    >>> fe.random.uniform(fe.random.key(0), 3).tolist()
    [0.3990464210510254, 0.8805201649665833, 0.7357127666473389]
    """
    target = _floating("uniform", dtype)
    unit = _unit("uniform", key, shape, target)
    if any(isinstance(bound, Array) and not is_number(bound) for bound in (low, high)):
        start, end = (as_operand("uniform", bound, low, high) for bound in (low, high))
        return cast(unit * cast(end - start, target) + cast(start, target), target)
    for name, bound in (("low", low), ("high", high)):
        if isinstance(bound, Array):
            continue
        is_real = isinstance(bound, (int, float, np.number)) and not isinstance(bound, np.complexfloating)
        if not is_real or not -math.inf < bound < math.inf:
            raise InvalidArgumentError(f"uniform: {name} is a finite number or an array, not {bound!r}")
        one_real(int(bound) if isinstance(bound, bool) else bound, "uniform", name)  # an int may be too large
    if isinstance(low, Array) or isinstance(high, Array):
        return _between_numbers(unit, low, high)
    if low > high:
        raise InvalidArgumentError(f"uniform: low, {low!r}, is greater than high, {high!r}")
    least, greatest = float(low), float(high)
    if (least, greatest) == (0.0, 1.0):
        return unit
    with np.errstate(over="ignore"):
        start, end, width = (target.type(number) for number in (least, greatest, greatest - least))
    if not all(math.isfinite(number) for number in (start, end, width)):
        raise InvalidArgumentError(f"uniform: {target} has not {low!r}, {high!r} and their difference")
    scaled = unit * (greatest - least)
    if least:
        scaled = scaled + least
    below = np.nextafter(end, start) if end > start else end
    return minimum(scaled, float(below))  # where rounding gives `high`


def _between_numbers(unit: Array, low: float | Array, high: float | Array) -> Array:
    """Return what `uniform` makes of its numbers, for bounds of which some are number arguments of a traced call."""
    bounds: list[Any] = [bound if isinstance(bound, Array) else float(bound) for bound in (low, high)]
    width = number_of("width of uniform", bounds[1] - bounds[0])
    start, end = (number_like("uniform", bound, unit) for bound in bounds)
    scaled = unit * number_like("uniform", width, unit) + start
    return minimum(scaled, nextafter(end, start))  # where rounding gives `high`


def normal(
    key: Array, shape: Shape = (), mean: float | Array = 0.0, std: float | Array = 1.0, dtype: Any = None
) -> Array:
    """Random numbers of a normal distribution.

    Parameters
    ----------
    key : Array of shape (2,)
        The key.
    shape : int or tuple of int
        The shape of the result.
    mean, std : number or Array
        The mean and the standard deviation. Arrays broadcast to the shape; their values are not checked.
    dtype : dtype or str, optional
        float32, float64, float16 or bfloat16; by default the default dtype.

    Returns
    -------
    Array
        The numbers.

    Raises
    ------
    DTypeError
        `dtype` is not one of these.
    InvalidArgumentError
        `std` is a negative number or NaN, or `key` is not a key, or a size is negative. A traced function checks its
        number arguments in each call.

    Notes
    -----
    Two uniform numbers give two normal ones (Box & Muller 1958). In float32 none is more than 6.8 standard deviations
    from the mean, in float64 none is more than 9.5.

    Examples
    --------
    >>> x = fe.random.normal(fe.random.key(0), 10_000)
    >>> print(f"{x.mean().item():.1f} {fe.std(x).item():.1f}")
    0.0 1.0
    """
    target = _floating("normal", dtype)
    lengths = sizes_of("normal", shape)
    count = math.prod(lengths)
    wide = _computed_in(target)
    words = words_for("normal", key, (count + 1) // 2, 4 if wide == np.dtype("float64") else 2)
    if len(words) == 4:
        words = [cast(low, _LONG) | (cast(high, _LONG) << 32) for low, high in (words[:2], words[2:])]
    radius = sqrt(negative(log(_positive(words[0]))) * 2.0)
    angle = _unit_of(words[1], wide) * (2 * math.pi)
    both = stack([radius * cos(angle), radius * sin(angle)], axis=1)
    x = cast(reshape(reshape(both, (-1,))[:count], lengths), target)
    return _shift("normal", x, ("mean", mean), ("std", _check("std of normal", std)))


def exponential(key: Array, shape: Shape = (), scale: float | Array = 1.0, dtype: Any = None) -> Array:
    """Random numbers of an exponential distribution.

    Parameters
    ----------
    key : Array of shape (2,)
        The key.
    shape : int or tuple of int
        The shape of the result.
    scale : number or Array
        The mean. An array broadcasts to the shape; its values are not checked.
    dtype : dtype or str, optional
        float32, float64, float16 or bfloat16; by default the default dtype.

    Returns
    -------
    Array
        The numbers, which are positive.

    Raises
    ------
    DTypeError
        `dtype` is not one of these.
    InvalidArgumentError
        `scale` is a negative number or NaN, or `key` is not a key, or a size is negative. A traced function checks its
        number arguments in each call.

    Examples
    --------
    >>> x = fe.random.exponential(fe.random.key(0), 10_000, scale=2.0)
    >>> print(f"{x.mean().item():.1f}")
    2.0
    """
    target = _floating("exponential", dtype)
    x = cast(_exponential("exponential", key, sizes_of("exponential", shape), target), target)
    return _shift("exponential", x, ("location", 0.0), ("scale", _check("scale of exponential", scale)))


def gumbel(
    key: Array, shape: Shape = (), location: float | Array = 0.0, scale: float | Array = 1.0, dtype: Any = None
) -> Array:
    """Random numbers of a Gumbel distribution: `argmax(logits + gumbel)` chooses with probabilities softmax(logits).

    Parameters
    ----------
    key : Array of shape (2,)
        The key.
    shape : int or tuple of int
        The shape of the result.
    location, scale : number or Array
        The mode and the scale. Arrays broadcast to the shape; their values are not checked.
    dtype : dtype or str, optional
        float32, float64, float16 or bfloat16; by default the default dtype.

    Returns
    -------
    Array
        The numbers.

    Raises
    ------
    DTypeError
        `dtype` is not one of these.
    InvalidArgumentError
        `scale` is a negative number or NaN, or `key` is not a key, or a size is negative. A traced function checks its
        number arguments in each call.

    Examples
    --------
    >>> x = fe.random.gumbel(fe.random.key(0), 10_000)
    >>> print(f"{x.mean().item():.1f}")  # Euler's constant is 0.577
    0.6
    """
    target = _floating("gumbel", dtype)
    x = cast(negative(log(_exponential("gumbel", key, sizes_of("gumbel", shape), target))), target)
    return _shift("gumbel", x, ("location", location), ("scale", _check("scale of gumbel", scale)))


def bernoulli(key: Array, p: float | Array = 0.5, shape: Shape | None = None) -> Array:
    """Random truth values.

    Parameters
    ----------
    key : Array of shape (2,)
        The key.
    p : number or Array
        The probability of True, from 0 to 1. The values of an array are not checked: below 0 and NaN give False, and
        above 1 True.
    shape : int or tuple of int, optional
        The shape of the result, to which `p` broadcasts; by default the shape of `p`.

    Returns
    -------
    Array
        The results, of dtype bool.

    Raises
    ------
    InvalidArgumentError
        `p` is a number outside of [0, 1], or does not broadcast to the shape, or `key` is not a key. A traced function
        checks its number arguments in each call.

    Examples
    --------
    >>> fe.random.bernoulli(fe.random.key(0), 0.7, 4).tolist()
    [True, False, False, True]
    """
    p = _check("p of bernoulli", p)
    chance = as_operand("bernoulli", float(p) if isinstance(p, (bool, int)) else p, key)
    lengths = chance.shape if shape is None else sizes_of("bernoulli", shape)
    if chance.ndim:
        chance = broadcast_to(chance, lengths)
    wide = np.dtype("float64" if chance.dtype == np.dtype("float64") else "float32")
    return _unit("bernoulli", key, lengths, wide) < cast(chance, wide)


def _floating(caller: str, dtype: Any) -> np.dtype[Any]:
    target = default_dtype() if dtype is None else as_dtype(dtype)
    if not is_floating(target) or target.name not in _DIGITS:
        raise DTypeError(f"{caller}: dtype is one of {', '.join(_DIGITS)}, not {target}")
    return target


def _bits_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return _LONG if dtype.name == "float64" else _WORD


def _computed_in(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype("float64" if dtype.name == "float64" else "float32")


def _unit(caller: str, key: Array, shape: Shape, dtype: np.dtype[Any]) -> Array:
    return _unit_of(bits_for(caller, key, shape, _bits_of(dtype)), dtype)


def _unit_of(bits: Array, dtype: np.dtype[Any]) -> Array:
    """Return uniform numbers from 0 to below 1, exactly: the upper bits as a fraction."""
    digits = _DIGITS[dtype.name]
    return cast(bits >> (8 * bits.dtype.itemsize - digits), dtype) * 2.0**-digits


def _positive(bits: Array) -> Array:
    """Return uniform numbers between 0 and 1, without both.

    Small ones have the full precision of the dtype, and so have the logarithms of all.
    """
    width = 8 * bits.dtype.itemsize
    dtype = np.dtype("float64" if width == 64 else "float32")
    fraction = cast(bits, dtype) * 2.0**-width + 2.0 ** (-width - 1)
    return minimum(fraction, 1 - 2.0 ** -_DIGITS[dtype.name])


def _exponential(caller: str, key: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    return negative(log1p(negative(_positive(bits_for(caller, key, shape, _bits_of(dtype))))))


def _check(check: str, value: Any) -> Any:
    """Return the argument after a check of array.numbers, if it is a number; arrays are not checked."""
    if isinstance(value, Array) and is_number(value):
        return number_of(check, value)
    if isinstance(value, (bool, int, float, np.integer, np.floating)):
        perform(check, value)  # type: ignore[arg-type]
    return value


def _shift(caller: str, x: Array, location: tuple[str, float | Array], scale: tuple[str, float | Array]) -> Array:
    """Return scale * x + location in the dtype of x. Both are given with the names of the arguments."""
    for (name, factor), is_scale in ((scale, True), (location, False)):
        if isinstance(factor, (int, float)) and factor == is_scale:
            continue
        if isinstance(factor, (Array, np.ndarray, np.generic)):
            part: Any = cast(as_operand(caller, factor, x), x.dtype)
        elif isinstance(factor, (int, float)):
            part = one_real(int(factor) if isinstance(factor, bool) else factor, caller, name)
        else:
            raise InvalidArgumentError(f"{caller}: {name} is a number or an array, not {factor!r}")
        y = x * part if is_scale else x + part
        if y.shape != x.shape:
            raise InvalidArgumentError(f"{caller}: {part.shape} does not broadcast to the shape {x.shape}")
        x = y
    return x

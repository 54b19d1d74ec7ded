"""The discrete Fourier transforms that transform_functions.toml describes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, SupportsIndex

from ferrule.array.array import Array
from ferrule.array.attributes import axes_of, one_integer, one_of, sizes
from ferrule.array.numbers import shown
from ferrule.array.recording import apply, as_operand
from ferrule.dtypes.classification import is_complex, is_floating
from ferrule.dtypes.default_dtypes import default_dtype
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions.conversion import cast
from ferrule.functions.movement import pad

Norm = Literal["backward", "ortho", "forward"]
Lengths = Sequence[SupportsIndex] | None  # or axes


def fft(x: Array, /, *, n: SupportsIndex | None, axis: SupportsIndex, norm: Norm) -> Array:
    return _complex("fft", x, *_along_one("fft", n, axis), norm, inverse=False)


def ifft(x: Array, /, *, n: SupportsIndex | None, axis: SupportsIndex, norm: Norm) -> Array:
    return _complex("ifft", x, *_along_one("ifft", n, axis), norm, inverse=True)


def fftn(x: Array, /, *, s: Lengths, axes: Lengths, norm: Norm) -> Array:
    return _complex("fftn", x, s, axes, norm, inverse=False)


def ifftn(x: Array, /, *, s: Lengths, axes: Lengths, norm: Norm) -> Array:
    return _complex("ifftn", x, s, axes, norm, inverse=True)


def rfft(x: Array, /, *, n: SupportsIndex | None, axis: SupportsIndex, norm: Norm) -> Array:
    return _from_real("rfft", x, *_along_one("rfft", n, axis), norm)


def irfft(x: Array, /, *, n: SupportsIndex | None, axis: SupportsIndex, norm: Norm) -> Array:
    return _to_real("irfft", x, *_along_one("irfft", n, axis), norm)


def rfftn(x: Array, /, *, s: Lengths, axes: Lengths, norm: Norm) -> Array:
    return _from_real("rfftn", x, s, axes, norm)


def irfftn(x: Array, /, *, s: Lengths, axes: Lengths, norm: Norm) -> Array:
    return _to_real("irfftn", x, s, axes, norm)


def hfft(x: Array, /, *, n: SupportsIndex | None, axis: SupportsIndex, norm: Norm) -> Array:
    return _to_real("hfft", x, *_along_one("hfft", n, axis), norm, conjugated=True)


def ihfft(x: Array, /, *, n: SupportsIndex | None, axis: SupportsIndex, norm: Norm) -> Array:
    return _from_real("ihfft", x, *_along_one("ihfft", n, axis), norm, conjugated=True)


def _along_one(caller: str, n: SupportsIndex | None, axis: SupportsIndex) -> tuple[Lengths, Lengths]:
    """Return the lengths and axes of a transform along one axis."""
    place = one_integer(axis, caller, "axis")
    return None if n is None else (_positive(caller, one_integer(n, caller, "n"), "n"),), (place,)


def _positive(caller: str, size: int, name: str) -> int:
    if size < 1:
        raise InvalidArgumentError(f"{caller}: {name} must be at least 1, not {shown(size)}")
    return size


def _factor(caller: str, norm: object, lengths: Sequence[int], divides: str) -> float:
    """Return the factor of the sums. `divides` is the norm that divides by the number of elements."""
    one_of(("backward", "ortho", "forward"), norm, caller, "norm")
    count = math.prod(lengths)
    return 1 / count if norm == divides else 1 / math.sqrt(count) if norm == "ortho" else 1.0


def _numbers(caller: str, x: object) -> Array:
    """Return x in float32, float64 or a complex dtype: narrower floats in float32, integers in the default dtype."""
    array = as_operand(caller, x)
    if is_complex(array.dtype) or array.dtype.name in ("float32", "float64"):
        return array
    return cast(array, "float32" if is_floating(array.dtype) else default_dtype())


def _as_complex(x: Array) -> Array:
    return x if is_complex(x.dtype) else cast(x, "complex64" if x.dtype == "float32" else "complex128")


def _axes_and_lengths(caller: str, x: Array, s: Lengths, axes: Lengths) -> tuple[tuple[int, ...], list[int | None]]:
    """Return the axes, and for each the length that is asked for."""
    lengths = None if s is None else sizes(s, caller, "s")
    places = axes_of(caller, axes, x.ndim, "axes")
    if axes is None and lengths is not None:  # the last axes
        if len(lengths) > x.ndim:
            raise InvalidArgumentError(f"{caller}: s has {len(lengths)} lengths for {x.ndim} dimensions")
        places = places[x.ndim - len(lengths) :]
    if lengths is None:
        return places, [None] * len(places)
    if len(lengths) != len(places):
        raise InvalidArgumentError(f"{caller}: s has {len(lengths)} lengths for {len(places)} axes")
    return places, [None if length == -1 else _positive(caller, length, "a length of s") for length in lengths]


def _resize(caller: str, x: Array, axis: int, length: int | None) -> Array:
    """Cut an axis, or append zeros, for a transform of that length."""
    size = x.shape[axis]
    if length is None or length == size:
        if size == 0:
            raise InvalidArgumentError(f"{caller}: axis {axis} of {x.shape} is empty")
        return x
    if length < size:
        return x[(*(slice(None),) * axis, slice(length))]
    return pad(x, [(0, length - size) if k == axis else (0, 0) for k in range(x.ndim)])


def _complex(
    caller: str,
    x: object,
    s: Lengths,
    axes: Lengths,
    norm: object,
    *,
    inverse: bool,
) -> Array:
    """Transform complex numbers along axes."""
    array = _as_complex(_numbers(caller, x))
    places, lengths = _axes_and_lengths(caller, array, s, axes)
    for axis, length in zip(places, lengths, strict=True):
        array = _resize(caller, array, axis, length)
    scale = _factor(caller, norm, [array.shape[axis] for axis in places], "backward" if inverse else "forward")
    if not places:
        return array
    return apply("fft_complex", (array,), {"axes": sorted(places), "inverse": inverse, "scale": scale})


def _from_real(
    caller: str,
    x: object,
    s: Lengths,
    axes: Lengths,
    norm: object,
    *,
    conjugated: bool = False,
) -> Array:
    """Transform real numbers along axes, the last of which is halved. `conjugated`: the inverse transform."""
    array = _numbers(caller, x)
    if is_complex(array.dtype):
        raise DTypeError(f"{caller}: needs real numbers, not the dtype {array.dtype}")
    places, lengths = _axes_and_lengths(caller, array, s, axes)
    if not places:
        raise InvalidArgumentError(f"{caller}: needs at least one axis")
    for axis, length in zip(places, lengths, strict=True):
        array = _resize(caller, array, axis, length)
    scale = _factor(caller, norm, [array.shape[axis] for axis in places], "backward" if conjugated else "forward")
    *others, last = places
    result = apply("fft_real", (array,), {"axis": last, "scale": 1.0 if others else scale})
    if others:
        result = apply("fft_complex", (result,), {"axes": sorted(others), "inverse": False, "scale": scale})
    return apply("conj", (result,), {}) if conjugated else result


def _to_real(
    caller: str,
    x: object,
    s: Lengths,
    axes: Lengths,
    norm: object,
    *,
    conjugated: bool = False,
) -> Array:
    """Transform along axes back to real numbers. `conjugated`: the forward transform (hfft)."""
    array = _as_complex(_numbers(caller, x))
    places, lengths = _axes_and_lengths(caller, array, s, axes)
    if not places:
        raise InvalidArgumentError(f"{caller}: needs at least one axis")
    *others, last = places
    asked = lengths[-1]
    size = _positive(caller, 2 * (array.shape[last] - 1), "the length of the result") if asked is None else asked
    lengths[-1] = size // 2 + 1
    for axis, length in zip(places, lengths, strict=True):
        array = _resize(caller, array, axis, length)
    counts = [*(array.shape[axis] for axis in others), size]
    scale = _factor(caller, norm, counts, "forward" if conjugated else "backward")
    if conjugated:
        array = apply("conj", (array,), {})
    if others:
        array = apply("fft_complex", (array,), {"axes": sorted(others), "inverse": True, "scale": 1.0})
    return apply("fft_to_real", (array,), {"axis": last, "size": size, "scale": scale})

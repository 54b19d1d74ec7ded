"""The frequencies of discrete Fourier transforms, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ferrule.array.array import Array
from ferrule.array.attributes import axis_of, one_finite, one_integer, sizes
from ferrule.array.numbers import shown
from ferrule.array.recording import as_operand
from ferrule.dtypes.classification import is_floating, numpy_dtype
from ferrule.dtypes.default_dtypes import default_dtype
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions.arrangement import roll
from ferrule.functions.asarray import asarray

if TYPE_CHECKING:
    from ferrule.loading.devices import Device

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def fftfreq(n: SupportsIndex, /, *, d: float = 1.0, dtype: Any = None, device: Device | str | None = None) -> Array:
    """Frequencies of the elements of a transform: 0, 1, ..., then the negative ones, divided by n * d.

    Parameters
    ----------
    n : int
        The length of the transform.
    d : float
        The distance of two samples; the frequencies are in cycles per unit of it.
    dtype : dtype or str, optional
        A real floating-point dtype; by default the default dtype.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array of shape (n,)
        The frequencies.

    Raises
    ------
    InvalidArgumentError
        `n` is not a positive integer, or `d` is not a finite number other than zero.
    DTypeError
        The dtype is not real and floating-point.

    Examples
    --------
    >>> fe.fft.fftfreq(4, d=0.5).tolist()
    [0.0, 0.5, -1.0, -0.5]
    """
    count, distance, kind = _arguments("fftfreq", n, d, dtype)
    order = np.concatenate([np.arange((count + 1) // 2), np.arange(-(count // 2), 0)])
    return asarray((order / (count * distance)).astype(kind), device=device)


def rfftfreq(n: SupportsIndex, /, *, d: float = 1.0, dtype: Any = None, device: Device | str | None = None) -> Array:
    """Frequencies of the elements of a transform of real numbers: 0, 1, ..., n // 2, divided by n * d.

    Parameters
    ----------
    n : int
        The length of the transform.
    d : float
        The distance of two samples; the frequencies are in cycles per unit of it.
    dtype : dtype or str, optional
        A real floating-point dtype; by default the default dtype.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array of shape (n // 2 + 1,)
        The frequencies.

    Raises
    ------
    InvalidArgumentError
        `n` is not a positive integer, or `d` is not a finite number other than zero.
    DTypeError
        The dtype is not real and floating-point.

    Examples
    --------
    >>> fe.fft.rfftfreq(4, d=0.5).tolist()
    [0.0, 0.5, 1.0]
    """
    count, distance, kind = _arguments("rfftfreq", n, d, dtype)
    return asarray((np.arange(count // 2 + 1) / (count * distance)).astype(kind), device=device)


def _arguments(caller: str, n: SupportsIndex, d: float, dtype: Any) -> tuple[int, float, np.dtype[Any]]:
    count = one_integer(n, caller, "n")
    if not 1 <= count <= 2**40:
        raise InvalidArgumentError(f"{caller}: n must be from 1 to 2**40, not {shown(count)}")
    distance = one_finite(d, caller, "d")
    if distance == 0:
        raise InvalidArgumentError(f"{caller}: d must not be zero")
    kind = numpy_dtype(caller, default_dtype() if dtype is None else dtype)
    if not is_floating(kind):
        raise DTypeError(f"{caller}: the dtype must be real and floating-point, not {kind}")
    return count, distance, kind


def fftshift(x: Array, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Array:
    """Move the frequency zero to the middle of the axes.

    Parameters
    ----------
    x : Array
        The elements in the order of a transform.
    axes : int or sequence of int, optional
        The axes; by default all.

    Returns
    -------
    Array
        The elements in the order of ascending frequencies.

    Raises
    ------
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.fft.fftshift(fe.fft.fftfreq(4)).tolist()
    [-0.5, -0.25, 0.0, 0.25]
    """
    return _shift("fftshift", x, axes, 1)


def ifftshift(x: Array, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Array:
    """Move the frequency zero from the middle of the axes to their beginning: the inverse of fftshift.

    Parameters
    ----------
    x : Array
        The elements in the order of ascending frequencies.
    axes : int or sequence of int, optional
        The axes; by default all.

    Returns
    -------
    Array
        The elements in the order of a transform.

    Raises
    ------
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.fft.ifftshift(fe.asarray([-0.5, -0.25, 0.0, 0.25])).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    return _shift("ifftshift", x, axes, -1)


def _shift(caller: str, x: Array, axes: SupportsIndex | Sequence[SupportsIndex] | None, sign: int) -> Array:
    array = as_operand(caller, x)
    places = list(range(array.ndim)) if axes is None else [*sizes(axes, caller, "axes")]
    places = [axis_of(caller, axis, array.ndim) for axis in places]
    if not places:
        return array._another(f"{caller}()")
    distances = [n // 2 if sign > 0 else -(n // 2) for n in (array.shape[axis] for axis in places)]
    return roll(array, distances, axis=places)

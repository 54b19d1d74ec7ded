"""Discrete Fourier transforms of complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from ferrule.array.array import Array
from ferrule.fft.transforms import Norm, along_one, complex_transform


def fft(x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """Discrete Fourier transform along an axis: the sum of x[j] * exp(-2 pi i j k / n) over j.

    Parameters
    ----------
    x : Array
        The numbers; integers are converted to the default dtype.
    n : int, optional
        The length of the transform: x is cut, or zeros are appended. By default that of the axis.
    axis : int
        The axis.
    norm : {"backward", "ortho", "forward"}
        What the result is divided by: "backward" 1, "ortho" the square root of n, "forward" n.

    Returns
    -------
    Array
        Complex numbers: complex64 from float32 and complex64, complex128 from float64 and complex128.

    Raises
    ------
    InvalidArgumentError
        `n` is not a positive integer, or `norm` is another word.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> fe.fft.fft(fe.asarray([1.0, 0.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return complex_transform("fft", x, *along_one("fft", n, axis), norm, inverse=False)


def ifft(x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """Inverse discrete Fourier transform along an axis: the sum of x[j] * exp(2 pi i j k / n) over j, divided by n.

    Parameters
    ----------
    x : Array
        The numbers; integers are converted to the default dtype.
    n : int, optional
        The length of the transform: x is cut, or zeros are appended. By default that of the axis.
    axis : int
        The axis.
    norm : {"backward", "ortho", "forward"}
        What the result is divided by: "backward" n, "ortho" the square root of n, "forward" 1.

    Returns
    -------
    Array
        Complex numbers: complex64 from float32 and complex64, complex128 from float64 and complex128.

    Raises
    ------
    InvalidArgumentError
        `n` is not a positive integer, or `norm` is another word.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> fe.fft.ifft(fe.asarray([4.0, 0.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return complex_transform("ifft", x, *along_one("ifft", n, axis), norm, inverse=True)


def fftn(
    x: Array,
    /,
    *,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Discrete Fourier transform along several axes.

    Parameters
    ----------
    x : Array
        The numbers; integers are converted to the default dtype.
    s : sequence of int, optional
        The lengths of the transforms: x is cut, or zeros are appended. By default those of the axes. -1 leaves the
        length of an axis as it is.
    axes : sequence of int, optional
        The axes; by default all, or with `s` as many last ones.
    norm : {"backward", "ortho", "forward"}
        What the result is divided by: "backward" 1, "ortho" the square root of the number of elements, "forward" that
        number.

    Returns
    -------
    Array
        Complex numbers: complex64 from float32 and complex64, complex128 from float64 and complex128.

    Raises
    ------
    InvalidArgumentError
        `s` and `axes` have different lengths, an axis is named twice, a length is not positive, or `norm` is another
        word.
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.fft.fftn(fe.ones((2, 2))).tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    return complex_transform("fftn", x, s, axes, norm, inverse=False)


def ifftn(
    x: Array,
    /,
    *,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Inverse discrete Fourier transform along several axes.

    Parameters
    ----------
    x : Array
        The numbers; integers are converted to the default dtype.
    s : sequence of int, optional
        The lengths of the transforms: x is cut, or zeros are appended. By default those of the axes. -1 leaves the
        length of an axis as it is.
    axes : sequence of int, optional
        The axes; by default all, or with `s` as many last ones.
    norm : {"backward", "ortho", "forward"}
        What the result is divided by: "backward" the number of elements, "ortho" the square root of it, "forward" 1.

    Returns
    -------
    Array
        Complex numbers: complex64 from float32 and complex64, complex128 from float64 and complex128.

    Raises
    ------
    InvalidArgumentError
        `s` and `axes` have different lengths, an axis is named twice, a length is not positive, or `norm` is another
        word.
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.fft.ifftn(fe.ones((2, 2))).tolist()
    [[(1+0j), 0j], [0j, 0j]]
    """
    return complex_transform("ifftn", x, s, axes, norm, inverse=True)

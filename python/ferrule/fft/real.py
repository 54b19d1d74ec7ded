"""Discrete Fourier transforms of real numbers, and of those whose transform is real."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from ferrule.array.array import Array
from ferrule.fft.transforms import Norm, along_one, from_real, to_real


def rfft(x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """Discrete Fourier transform of real numbers along an axis.

    Parameters
    ----------
    x : Array
        Real numbers; integers are converted to the default dtype.
    n : int, optional
        The length of the transform: x is cut, or zeros are appended. By default that of the axis.
    axis : int
        The axis.
    norm : {"backward", "ortho", "forward"}
        What the result is divided by: "backward" 1, "ortho" the square root of n, "forward" n.

    Returns
    -------
    Array
        The first n // 2 + 1 elements of the result; the others are their conjugates.

    Raises
    ------
    InvalidArgumentError
        `n` is not a positive integer, or `norm` is another word.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> fe.fft.rfft(fe.asarray([1.0, 0.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j)]
    """
    return from_real("rfft", x, *along_one("rfft", n, axis), norm)


def irfft(x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """Inverse of rfft along an axis.

    Parameters
    ----------
    x : Array
        The first half of a transform of real numbers, as rfft returns it.
    n : int, optional
        The length of the result. By default 2 * (m - 1) for an axis of length m.
    axis : int
        The axis.
    norm : {"backward", "ortho", "forward"}
        What the result is divided by: "backward" n, "ortho" the square root of n, "forward" 1.

    Returns
    -------
    Array
        Real numbers: float32 from complex64, float64 from complex128.

    Raises
    ------
    InvalidArgumentError
        `n` is not a positive integer, or `norm` is another word.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> fe.fft.irfft(fe.asarray([1.0, 1.0, 1.0])).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    return to_real("irfft", x, *along_one("irfft", n, axis), norm)


def rfftn(
    x: Array,
    /,
    *,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Discrete Fourier transform of real numbers along several axes.

    Parameters
    ----------
    x : Array
        Real numbers; integers are converted to the default dtype.
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
        The first n // 2 + 1 elements along the last one of the axes, which has length n, and all along the others.

    Raises
    ------
    InvalidArgumentError
        `s` and `axes` have different lengths, an axis is named twice, a length is not positive, or `norm` is another
        word.
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.fft.rfftn(fe.ones((2, 4))).tolist()
    [[(8+0j), 0j, 0j], [0j, 0j, 0j]]
    """
    return from_real("rfftn", x, s, axes, norm)


def irfftn(
    x: Array,
    /,
    *,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Inverse of rfftn along several axes.

    Parameters
    ----------
    x : Array
        The first half of a transform of real numbers, as rfftn returns it.
    s : sequence of int, optional
        The lengths of the result. By default those of the axes, and 2 * (m - 1) for the last one, of length m. -1
        leaves the length of an axis as it is.
    axes : sequence of int, optional
        The axes; by default all, or with `s` as many last ones.
    norm : {"backward", "ortho", "forward"}
        What the result is divided by: "backward" the number of elements, "ortho" the square root of it, "forward" 1.

    Returns
    -------
    Array
        Real numbers: float32 from complex64, float64 from complex128.

    Raises
    ------
    InvalidArgumentError
        `s` and `axes` have different lengths, an axis is named twice, a length is not positive, or `norm` is another
        word.
    OutOfRangeError
        An axis is out of range.

    Examples
    --------
    >>> fe.fft.irfftn(fe.asarray([[8.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]
    """
    return to_real("irfftn", x, s, axes, norm)


def hfft(x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """Discrete Fourier transform of numbers with Hermitian symmetry along an axis, which is real.

    Parameters
    ----------
    x : Array
        The first half of the numbers, as ihfft returns it.
    n : int, optional
        The length of the result. By default 2 * (m - 1) for an axis of length m.
    axis : int
        The axis.
    norm : {"backward", "ortho", "forward"}
        What the result is divided by: "backward" 1, "ortho" the square root of n, "forward" n.

    Returns
    -------
    Array
        Real numbers: float32 from complex64, float64 from complex128.

    Raises
    ------
    InvalidArgumentError
        `n` is not a positive integer, or `norm` is another word.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> fe.fft.hfft(fe.asarray([1.0, 0.0, 0.0])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return to_real("hfft", x, *along_one("hfft", n, axis), norm, conjugated=True)


def ihfft(x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array:
    """Inverse of hfft along an axis.

    Parameters
    ----------
    x : Array
        Real numbers; integers are converted to the default dtype.
    n : int, optional
        The length of the transform: x is cut, or zeros are appended. By default that of the axis.
    axis : int
        The axis.
    norm : {"backward", "ortho", "forward"}
        What the result is divided by: "backward" n, "ortho" the square root of n, "forward" 1.

    Returns
    -------
    Array
        The first n // 2 + 1 elements of the result; the others are their conjugates.

    Raises
    ------
    InvalidArgumentError
        `n` is not a positive integer, or `norm` is another word.
    OutOfRangeError
        The axis is out of range.

    Examples
    --------
    >>> np.allclose(fe.fft.ihfft(fe.asarray([4.0, 0.0, 0.0, 0.0])), [1, 1, 1])
    True
    """
    return from_real("ihfft", x, *along_one("ihfft", n, axis), norm, conjugated=True)

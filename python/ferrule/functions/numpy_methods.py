"""Methods of `Array` with the arguments of NumPy's methods of the same names, but for reductions.

NumPy's functions call them: `numpy.clip(x, 0, 1)` is `x.clip(0, 1, out=None)`.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, Axes
from ferrule.array.attributes import refuse_out
from ferrule.array.recording import as_operand
from ferrule.errors import InvalidArgumentError
from ferrule.functions import complex_parts, creation, movement, rounding, views


class NumPyMethods(Array):
    """A source of methods, as `_Methods` in methods.py."""

    __slots__ = ()

    # ---- elements

    def clip(self, min: Any = None, max: Any = None, *, out: None = None) -> Array:
        """Return the elements limited to [min, max], see `ferrule.clip`.

        Parameters
        ----------
        min, max : number or Array, optional
            The bounds; None means no bound.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.

        Returns
        -------
        Array
            The limited elements.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or the shapes do not broadcast.

        Examples
        --------
        >>> fe.arange(4).clip(1, 2).tolist()
        [1, 1, 2, 2]
        """
        refuse_out("clip", out)
        x: Array = self
        if min is not None:
            x = recording.apply("maximum", (x, min), {})
        if max is not None:
            x = recording.apply("minimum", (x, max), {})
        return x if x is not self else self._another("clip")

    def round(self, decimals: SupportsIndex = 0, *, out: None = None) -> Array:
        """Return the elements rounded to a number of decimals, ties to even, see `ferrule.round`.

        Parameters
        ----------
        decimals : int
            The number of decimals. Negative ones round to tens, hundreds and so on.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.

        Returns
        -------
        Array
            The rounded elements.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or `decimals` is not an integer.

        Examples
        --------
        >>> fe.asarray([1.25, -2.5]).round(1).tolist()
        [1.2000000476837158, -2.5]
        """
        refuse_out("round", out)
        rounded = rounding.round(self, decimals)
        return rounded if rounded is not self else self._another("round")

    def take(self, indices: Any, axis: SupportsIndex | None = None, *, out: None = None, mode: str = "raise") -> Array:
        """Return elements at indices along an axis, see `ferrule.take`.

        Parameters
        ----------
        indices : Array or sequence of int
            The indices; negative ones count from the end.
        axis : int, optional
            The axis; by default the array is flattened.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        mode : {"raise"}
            An index out of bounds is an error.

        Returns
        -------
        Array
            The elements.

        Raises
        ------
        InvalidArgumentError
            `out` is given, `mode` is another one, or an index is out of bounds.

        Examples
        --------
        >>> fe.asarray([5, 6, 7]).take([2, 0]).tolist()
        [7, 5]
        """
        refuse_out("take", out)
        if mode != "raise":
            raise InvalidArgumentError(
                f'take: mode is "raise", not {mode!r}; clip or take the remainder of the indices'
            )
        x = self if axis is not None else movement.reshape(self, (-1,))
        places = indices if isinstance(indices, Array) else np.asarray(indices)
        if isinstance(places, np.ndarray) and places.size == 0:
            places = places.astype(np.int64)
        return movement.take(x, as_operand("take", places, x), axis=0 if axis is None else axis)

    # ---- shapes

    def ravel(self, order: str = "C") -> Array:
        """Return the elements in one dimension, in C order.

        Parameters
        ----------
        order : {"C"}
            C order is the only one.

        Returns
        -------
        Array
            An array of shape (size,).

        Raises
        ------
        InvalidArgumentError
            `order` is another one.

        Examples
        --------
        >>> fe.ones((2, 3)).ravel().shape
        (6,)
        """
        if order not in ("C", "A", "K"):
            raise InvalidArgumentError(f'ravel: order is "C", not {order!r}; use x.T.ravel() for a matrix')
        return movement.reshape(self, (-1,), copy=None if views.is_contiguous(self) else True)

    def transpose(self, *axes: Any) -> Array:
        """Return the array with its axes in another order, see `ferrule.permute_dims`.

        Parameters
        ----------
        *axes : int or tuple of int
            The axes in their new order, as one tuple or as several integers; by default they are reversed.

        Returns
        -------
        Array
            The transposed array.

        Raises
        ------
        InvalidArgumentError
            `axes` is not a permutation of the axes.

        Examples
        --------
        >>> fe.ones((2, 3, 4)).transpose(1, 0, 2).shape
        (3, 2, 4)
        """
        given: Any = axes[0] if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))) else axes
        if not given and given != 0:
            given = tuple(range(self.ndim))[::-1]
        return movement.permute_dims(self, tuple(given))

    def squeeze(self, axis: Axes = None) -> Array:
        """Return the array without axes of length 1, see `ferrule.squeeze`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to remove; by default all of length 1.

        Returns
        -------
        Array
            The elements in fewer dimensions.

        Raises
        ------
        InvalidArgumentError
            An axis has another length, or is out of range.

        Examples
        --------
        >>> fe.ones((1, 3, 1)).squeeze().shape
        (3,)
        """
        if axis is None:
            axis = tuple(place for place, size in enumerate(self.shape) if size == 1)
        return movement.squeeze(self, axis)

    # ---- parts and copies

    @property
    def real(self) -> Array:
        """The real part; real numbers are their own.

        Raises
        ------
        DTypeError
            The dtype is a block dtype.

        Examples
        --------
        >>> fe.asarray([1 + 2j]).real.tolist()
        [1.0]
        """
        if self.dtype.kind == "b":
            return views.cut(self, views.Whole())
        return complex_parts.real(self)

    @property
    def imag(self) -> Array:
        """The imaginary part, which is zero for real numbers.

        Raises
        ------
        DTypeError
            The dtype is a block dtype.

        Examples
        --------
        >>> fe.asarray([1 + 2j]).imag.tolist()
        [2.0]
        """
        return creation.zeros_like(self) if self.dtype.kind == "b" else complex_parts.imag(self)

    def copy(self, order: str = "C") -> Array:
        """Return an array of the same value that later assignments to this one do not change.

        Parameters
        ----------
        order : {"C", "A", "K"}
            The order of the elements in memory, which ferrule chooses itself; NumPy's "F" is not available.

        Returns
        -------
        Array
            The copy. Memory is shared as long as neither changes.

        Raises
        ------
        InvalidArgumentError
            The order is another one.

        Examples
        --------
        >>> x = fe.asarray([1, 2])
        >>> y = x.copy()
        >>> x[0] = 9
        >>> y.tolist()
        [1, 2]
        """
        if order not in ("C", "A", "K"):
            raise InvalidArgumentError(f"copy: order is C, A or K, not {order!r}")
        return self._copied("copy()")

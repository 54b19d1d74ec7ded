"""Reductions that are methods of `Array`, with the arguments of NumPy's methods of the same names.

NumPy's functions call them: `numpy.sum(x)` is `x.sum(axis=None, dtype=None, out=None)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule.array.array import Array, Axes
from ferrule.array.attributes import one_real, refuse_out
from ferrule.array.recording import as_operand
from ferrule.dtypes.classification import as_dtype
from ferrule.errors import InvalidArgumentError
from ferrule.functions import conversion, reduction
from ferrule.functions.intermediate_dtypes import resulting, widened
from ferrule.functions.selected_elements import mean_of, selected, variance_of
from ferrule.functions.type_information import result_type


class NumPyReductions(Array):
    """A source of methods, as `_Methods` in methods.py."""

    __slots__ = ()

    def sum(
        self,
        axis: Axes = None,
        *,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: float | None = None,
        where: Any = True,
    ) -> Array:
        """Sum over axes, see `ferrule.sum`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        dtype : dtype or str, optional
            The dtype in which it is computed, and of the result.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        keepdims : bool
            Whether reduced axes stay, with length 1.
        initial : number, optional
            A value that is reduced with the elements.
        where : Array or bool
            Which elements count; broadcast to the shape.

        Returns
        -------
        Array
            The sums.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or an axis is out of range.

        Examples
        --------
        >>> fe.ones((2, 3)).sum(axis=0).tolist()
        [2.0, 2.0, 2.0]
        """
        x = selected("sum", _in_dtype("sum", self, dtype, out), where, 0)
        return _back(reduction.sum(x, axis=axis, keepdims=keepdims, initial=initial), dtype)

    def prod(
        self,
        axis: Axes = None,
        *,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: float | None = None,
        where: Any = True,
    ) -> Array:
        """Product over axes, see `ferrule.prod`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        dtype : dtype or str, optional
            The dtype in which it is computed, and of the result.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        keepdims : bool
            Whether reduced axes stay, with length 1.
        initial : number, optional
            A value that is reduced with the elements.
        where : Array or bool
            Which elements count; broadcast to the shape.

        Returns
        -------
        Array
            The products.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or an axis is out of range.

        Examples
        --------
        >>> fe.asarray([2, 3]).prod().item()
        6
        """
        x = selected("prod", _in_dtype("prod", self, dtype, out), where, 1)
        return _back(reduction.prod(x, axis=axis, keepdims=keepdims, initial=initial), dtype)

    def mean(
        self,
        axis: Axes = None,
        *,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        where: Any = True,
    ) -> Array:
        """Arithmetic mean over axes, see `ferrule.mean`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        dtype : dtype or str, optional
            The dtype in which it is computed, and of the result.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        keepdims : bool
            Whether reduced axes stay, with length 1.
        where : Array or bool
            Which elements count; broadcast to the shape.

        Returns
        -------
        Array
            The means.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or an axis is out of range.

        Examples
        --------
        >>> fe.asarray([1.0, 2.0]).mean().item()
        1.5
        """
        x = _in_dtype("mean", self, dtype, out)
        if where is True:
            return _back(reduction.mean(x, axis=axis, keepdims=keepdims), dtype)
        means = mean_of("mean", widened(x), where, axis, keepdims)
        return _back(conversion.cast(means, resulting(x.dtype)), dtype)

    def var(
        self,
        axis: Axes = None,
        *,
        dtype: Any = None,
        out: None = None,
        ddof: float = 0.0,
        keepdims: bool = False,
        where: Any = True,
        mean: Any = None,
        correction: float | None = None,
    ) -> Array:
        """Variance over axes, see `ferrule.var`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        dtype : dtype or str, optional
            The dtype in which it is computed, and of the result.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        ddof : float
            Subtracted from the number of elements; 1 gives the unbiased estimate of the variance from a sample.
        keepdims : bool
            Whether reduced axes stay, with length 1.
        where : Array or bool
            Which elements count; broadcast to the shape.
        mean : Array, optional
            The mean with `keepdims=True`, if it is known already.
        correction : float, optional
            Another name of `ddof`, which the array API standard uses.

        Returns
        -------
        Array
            The variances.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or an axis is out of range.

        Examples
        --------
        >>> fe.asarray([1.0, 2.0, 3.0]).var(ddof=1).item()
        1.0
        """
        x = _in_dtype("var", self, dtype, out)
        less = _divisor_difference("var", ddof, correction)
        if where is True and mean is None:
            return _back(reduction.var(x, axis=axis, correction=less, keepdims=keepdims), dtype)
        variance = variance_of("var", widened(x), where, axis, less, keepdims, mean)
        return _back(conversion.cast(variance, _dtype_of_variance("var", x, mean)), dtype)

    def std(
        self,
        axis: Axes = None,
        *,
        dtype: Any = None,
        out: None = None,
        ddof: float = 0.0,
        keepdims: bool = False,
        where: Any = True,
        mean: Any = None,
        correction: float | None = None,
    ) -> Array:
        """Standard deviation over axes, see `ferrule.std`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        dtype : dtype or str, optional
            The dtype in which it is computed, and of the result.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        ddof : float
            Subtracted from the number of elements; 1 gives the unbiased estimate of the variance from a sample.
        keepdims : bool
            Whether reduced axes stay, with length 1.
        where : Array or bool
            Which elements count; broadcast to the shape.
        mean : Array, optional
            The mean with `keepdims=True`, if it is known already.
        correction : float, optional
            Another name of `ddof`, which the array API standard uses.

        Returns
        -------
        Array
            The standard deviations.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or an axis is out of range.

        Examples
        --------
        >>> fe.asarray([1.0, 2.0, 3.0]).std(ddof=1).item()
        1.0
        """
        x = _in_dtype("std", self, dtype, out)
        less = _divisor_difference("std", ddof, correction)
        if where is True and mean is None:
            return _back(reduction.std(x, axis=axis, correction=less, keepdims=keepdims), dtype)
        deviation = variance_of("std", widened(x), where, axis, less, keepdims, mean, root=True)
        return _back(conversion.cast(deviation, _dtype_of_variance("std", x, mean)), dtype)

    def max(
        self,
        axis: Axes = None,
        *,
        out: None = None,
        keepdims: bool = False,
        initial: float | None = None,
        where: Any = True,
    ) -> Array:
        """Greatest element over axes, see `ferrule.max`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        keepdims : bool
            Whether reduced axes stay, with length 1.
        initial : number, optional
            A value that is reduced with the elements.
        where : Array or bool
            Which elements count; broadcast to the shape.

        Returns
        -------
        Array
            The greatest elements.

        Raises
        ------
        InvalidArgumentError
            `out` is given, an axis is out of range, or `where` is given without `initial`.

        Examples
        --------
        >>> fe.asarray([1, 3, 2]).max().item()
        3
        """
        refuse_out("max", out)
        if where is not True and initial is None:
            raise InvalidArgumentError("max: where= needs initial=, the result where no element counts")
        x = self if initial is None else selected("max", self, where, initial)
        return reduction.max(x, axis=axis, keepdims=keepdims, initial=initial)

    def min(
        self,
        axis: Axes = None,
        *,
        out: None = None,
        keepdims: bool = False,
        initial: float | None = None,
        where: Any = True,
    ) -> Array:
        """Least element over axes, see `ferrule.min`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        keepdims : bool
            Whether reduced axes stay, with length 1.
        initial : number, optional
            A value that is reduced with the elements.
        where : Array or bool
            Which elements count; broadcast to the shape.

        Returns
        -------
        Array
            The least elements.

        Raises
        ------
        InvalidArgumentError
            `out` is given, an axis is out of range, or `where` is given without `initial`.

        Examples
        --------
        >>> fe.asarray([3, 1, 2]).min().item()
        1
        """
        refuse_out("min", out)
        if where is not True and initial is None:
            raise InvalidArgumentError("min: where= needs initial=, the result where no element counts")
        x = self if initial is None else selected("min", self, where, initial)
        return reduction.min(x, axis=axis, keepdims=keepdims, initial=initial)

    def all(
        self,
        axis: Axes = None,
        *,
        out: None = None,
        keepdims: bool = False,
        where: Any = True,
    ) -> Array:
        """Whether all elements over axes are true, see `ferrule.all`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        keepdims : bool
            Whether reduced axes stay, with length 1.
        where : Array or bool
            Which elements count; broadcast to the shape.

        Returns
        -------
        Array
            The results, of dtype bool.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or an axis is out of range.

        Examples
        --------
        >>> fe.asarray([1, 0]).all().item()
        False
        """
        refuse_out("all", out)
        x = self if where is True else selected("all", conversion.cast(as_operand("all", self), "bool"), where, True)
        return reduction.all(x, axis=axis, keepdims=keepdims)

    def any(
        self,
        axis: Axes = None,
        *,
        out: None = None,
        keepdims: bool = False,
        where: Any = True,
    ) -> Array:
        """Whether any element over axes is true, see `ferrule.any`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        keepdims : bool
            Whether reduced axes stay, with length 1.
        where : Array or bool
            Which elements count; broadcast to the shape.

        Returns
        -------
        Array
            The results, of dtype bool.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or an axis is out of range.

        Examples
        --------
        >>> fe.asarray([1, 0]).any().item()
        True
        """
        refuse_out("any", out)
        x = self if where is True else selected("any", conversion.cast(as_operand("any", self), "bool"), where, False)
        return reduction.any(x, axis=axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None, *, out: None = None, keepdims: bool = False) -> Array:
        """Index of the greatest element along an axis, see `ferrule.argmax`.

        Parameters
        ----------
        axis : int, optional
            The axis; by default the array is flattened.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        keepdims : bool
            Whether reduced axes stay, with length 1.

        Returns
        -------
        Array
            The int64 indices.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or an axis is out of range.

        Examples
        --------
        >>> fe.asarray([1, 3, 2]).argmax().item()
        1
        """
        refuse_out("argmax", out)
        return reduction.argmax(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, *, out: None = None, keepdims: bool = False) -> Array:
        """Index of the least element along an axis, see `ferrule.argmin`.

        Parameters
        ----------
        axis : int, optional
            The axis; by default the array is flattened.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.
        keepdims : bool
            Whether reduced axes stay, with length 1.

        Returns
        -------
        Array
            The int64 indices.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or an axis is out of range.

        Examples
        --------
        >>> fe.asarray([3, 1, 2]).argmin().item()
        1
        """
        refuse_out("argmin", out)
        return reduction.argmin(self, axis=axis, keepdims=keepdims)


def _divisor_difference(caller: str, ddof: object, correction: object) -> float:
    """Return what variances subtract from the number of elements."""
    return one_real(ddof, caller, "ddof") if correction is None else one_real(correction, caller, "correction")


def _in_dtype(caller: str, x: Array, dtype: Any, out: object) -> Array:
    """Return the array in the dtype in which NumPy would compute."""
    refuse_out(caller, out)
    x = as_operand(caller, x)
    return x if dtype is None else conversion.cast(x, as_dtype(dtype))


def _back(x: Array, dtype: Any) -> Array:
    """Return the result in the dtype that was asked for: sums of integers are computed in 64 bits."""
    return x if dtype is None else conversion.cast(x, as_dtype(dtype))


def _dtype_of_variance(caller: str, x: Array, mean: Any) -> np.dtype[Any]:
    dtype = resulting(x.dtype)
    return dtype if mean is None else result_type(dtype, as_operand(caller, mean, x).dtype)

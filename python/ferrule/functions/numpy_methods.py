"""Methods of `Array` with the arguments of NumPy's methods of the same names.

NumPy's functions call them: `numpy.sum(x)` is `x.sum(axis=None, dtype=None, out=None)`.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, Axes
from ferrule.array.attributes import axis_of, one_integer
from ferrule.array.recording import as_operand
from ferrule.dtypes.classification import as_dtype, is_floating
from ferrule.errors import InvalidArgumentError
from ferrule.functions import complex_parts, conversion, creation, movement, ops, reduction


class NumPyMethods(Array):
    """A source of methods, as `_Methods` in methods.py."""

    __slots__ = ()

    # ---- reductions

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
        x = _selected("sum", _in_dtype("sum", self, dtype, out), where, 0)
        result = _back(reduction.sum(x, axis=axis, keepdims=keepdims), dtype)
        return result if initial is None else result + initial

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
        x = _selected("prod", _in_dtype("prod", self, dtype, out), where, 1)
        result = _back(reduction.prod(x, axis=axis, keepdims=keepdims), dtype)
        return result if initial is None else result * initial

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
        return _back(_mean_of("mean", _floating(x), where, axis, keepdims), dtype)

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
        less = float(ddof if correction is None else correction)
        if where is True and mean is None:
            return _back(reduction.var(x, axis=axis, correction=less, keepdims=keepdims), dtype)
        variance = _variance_of("var", _floating(x), where, axis, less, keepdims, mean)
        return _back(variance, dtype)

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
        less = float(ddof if correction is None else correction)
        if where is True and mean is None:
            return _back(reduction.std(x, axis=axis, correction=less, keepdims=keepdims), dtype)
        variance = _variance_of("std", _floating(x), where, axis, less, keepdims, mean)
        return _back(ops.sqrt(variance), dtype)

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
        _refuse_out("max", out)
        if where is not True and initial is None:
            raise InvalidArgumentError("max: where= needs initial=, the result where no element counts")
        if initial is None:
            return reduction.max(self, axis=axis, keepdims=keepdims)
        x = _selected("max", self, where, initial)
        if 0 in x.shape:
            x = _with_one_more(x, axis, initial)
        return recording.apply("maximum", (reduction.max(x, axis=axis, keepdims=keepdims), initial), {})

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
        _refuse_out("min", out)
        if where is not True and initial is None:
            raise InvalidArgumentError("min: where= needs initial=, the result where no element counts")
        if initial is None:
            return reduction.min(self, axis=axis, keepdims=keepdims)
        x = _selected("min", self, where, initial)
        if 0 in x.shape:
            x = _with_one_more(x, axis, initial)
        return recording.apply("minimum", (reduction.min(x, axis=axis, keepdims=keepdims), initial), {})

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
            Of dtype bool.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or an axis is out of range.

        Examples
        --------
        >>> fe.asarray([1, 0]).all().item()
        False
        """
        _refuse_out("all", out)
        x = self if where is True else _selected("all", conversion.cast(as_operand("all", self), "bool"), where, True)
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
            Of dtype bool.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or an axis is out of range.

        Examples
        --------
        >>> fe.asarray([1, 0]).any().item()
        True
        """
        _refuse_out("any", out)
        x = self if where is True else _selected("any", conversion.cast(as_operand("any", self), "bool"), where, False)
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
        _refuse_out("argmax", out)
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
        _refuse_out("argmin", out)
        return reduction.argmin(self, axis=axis, keepdims=keepdims)

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
        _refuse_out("clip", out)
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
            The number of decimals; of floating-point numbers, it may be negative.
        out : None
            For NumPy, which passes it. Arrays never change, so it cannot be given.

        Returns
        -------
        Array
            The rounded elements.

        Raises
        ------
        InvalidArgumentError
            `out` is given, or `decimals` is negative and the elements are integers.

        Examples
        --------
        >>> fe.asarray([1.25, -2.5]).round(1).tolist()
        [1.2000000476837158, -2.5]
        """
        _refuse_out("round", out)
        places = one_integer(decimals, "round", "decimals")
        x = as_operand("round", self)
        if not is_floating(x.dtype):
            if places < 0:
                raise InvalidArgumentError(f"round: integers are rounded to at least 0 decimals, not {places}")
            return x._another("round")
        if places == 0:
            return ops.round(x)
        scale = 10.0 ** abs(places)
        return ops.round(x * scale) / scale if places > 0 else ops.round(x / scale) * scale

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
        _refuse_out("take", out)
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
            Of shape (size,).

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
        return movement.reshape(self, (-1,))

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

    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> Array:
        """Return the array with two axes exchanged.

        Parameters
        ----------
        axis1, axis2 : int
            The axes.

        Returns
        -------
        Array
            The array with the axes exchanged.

        Raises
        ------
        InvalidArgumentError
            An axis is out of range.

        Examples
        --------
        >>> fe.ones((2, 3, 4)).swapaxes(0, 2).shape
        (4, 3, 2)
        """
        order = list(range(self.ndim))
        first, second = (axis_of("swapaxes", axis, self.ndim) for axis in (axis1, axis2))
        order[first], order[second] = order[second], order[first]
        return movement.permute_dims(self, tuple(order))

    # ---- parts and copies

    @property
    def real(self) -> Array:
        """The real part; real numbers are their own.

        Examples
        --------
        >>> fe.asarray([1 + 2j]).real.tolist()
        [1.0]
        """
        return self._another("real") if self.dtype.kind == "b" else complex_parts.real(self)

    @property
    def imag(self) -> Array:
        """The imaginary part, which is zero for real numbers.

        Examples
        --------
        >>> fe.asarray([1 + 2j]).imag.tolist()
        [2.0]
        """
        return creation.zeros_like(self) if self.dtype.kind == "b" else complex_parts.imag(self)

    def conj(self) -> Array:
        """Return the complex conjugate, see `ferrule.conj`.

        Returns
        -------
        Array
            The numbers with the opposite imaginary part. Real numbers are returned unchanged.

        Raises
        ------
        DTypeError
            The dtype is bool or a block dtype.

        Examples
        --------
        >>> fe.asarray([1 + 2j]).conj().tolist()
        [(1-2j)]
        """
        return complex_parts.conj(self)

    def conjugate(self) -> Array:
        """Return the complex conjugate, as `conj` does.

        Returns
        -------
        Array
            The numbers with the opposite imaginary part. Real numbers are returned unchanged.

        Raises
        ------
        DTypeError
            The dtype is bool or a block dtype.

        Examples
        --------
        >>> fe.asarray([1 + 2j]).conjugate().tolist()
        [(1-2j)]
        """
        return complex_parts.conj(self)

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
        return self._snapshot("copy()")


def _refuse_out(caller: str, out: object) -> None:
    if out is not None:
        raise InvalidArgumentError(f"{caller}: out= cannot be given, because arrays never change; use the result")


def _in_dtype(caller: str, x: Array, dtype: Any, out: object) -> Array:
    """Return the array in the dtype in which NumPy would compute."""
    _refuse_out(caller, out)
    x = as_operand(caller, x)
    return x if dtype is None else conversion.cast(x, as_dtype(dtype))


def _back(x: Array, dtype: Any) -> Array:
    """Return the result in the dtype that was asked for: sums of integers are computed in 64 bits."""
    return x if dtype is None else conversion.cast(x, as_dtype(dtype))


def _floating(x: Array) -> Array:
    return x if is_floating(x.dtype) else conversion.cast(x, "float32")


def _mask(caller: str, where: Any, x: Array) -> Array:
    return conversion.cast(as_operand(caller, where, x), "bool")


def _selected(caller: str, x: Array, where: Any, otherwise: float) -> Array:
    """Return x with another value in place of the elements that do not count."""
    if where is True:
        return x
    x = as_operand(caller, x)
    return recording.apply("where", (_mask(caller, where, x), x, recording.number_like(caller, otherwise, x)), {})


def _count_of(caller: str, where: Any, x: Array, axis: Axes) -> Array:
    """Return how many elements count, in the dtype of x, with the reduced axes kept."""
    counts = _mask(caller, where, x)
    every = movement.broadcast_to(conversion.cast(counts, "int64"), x.shape)
    return conversion.cast(reduction.sum(every, axis=axis, keepdims=True), x.dtype)


def _mean_of(caller: str, x: Array, where: Any, axis: Axes, keepdims: bool) -> Array:
    total = reduction.sum(_selected(caller, x, where, 0), axis=axis, keepdims=True)
    return _without(total / _count_of(caller, where, x, axis), axis, keepdims)


def _variance_of(caller: str, x: Array, where: Any, axis: Axes, less: float, keepdims: bool, mean: Any) -> Array:
    center = _mean_of(caller, x, where, axis, True) if mean is None else as_operand(caller, mean, x)
    distance = x - center
    total = reduction.sum(_selected(caller, distance * distance, where, 0), axis=axis, keepdims=True)
    count = _count_of(caller, where, x, axis) - less
    return _without(total / recording.apply("maximum", (count, 0), {}), axis, keepdims)


def _without(x: Array, axis: Axes, keepdims: bool) -> Array:
    """Remove the axes that a reduction kept."""
    if keepdims:
        return x
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return movement.squeeze(x, axes)


def _with_one_more(x: Array, axis: Axes, value: float) -> Array:
    """Return x with one more element along the reduced axes that are empty: max and min have no result for none."""
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    reduced = {place % x.ndim for place in axes}
    after = [int(place in reduced and size == 0) for place, size in enumerate(x.shape)]
    attributes = {"before": [0] * x.ndim, "after": after}
    return recording.apply("pad", (x, recording.number_like("max", value, x)), attributes)

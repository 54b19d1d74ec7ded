"""Comparisons of floating-point arrays that allow for rounding, and of whole arrays."""

from __future__ import annotations

from ferrule.array.array import Array
from ferrule.array.attributes import flag, one_real
from ferrule.array.recording import apply, as_companion
from ferrule.dtypes.classification import is_inexact
from ferrule.functions.asarray import asarray
from ferrule.functions.conversion import cast
from ferrule.functions.intermediate_dtypes import widened
from ferrule.functions.reduction import all as all_of

__all__ = ["allclose", "array_equal", "isclose"]


def isclose(x1: Array, x2: Array, /, rtol: float = 1e-5, atol: float = 1e-8, *, equal_nan: bool = False) -> Array:
    """Whether elements are equal within a tolerance: |x1 - x2| <= atol + rtol * |x2|.

    Parameters
    ----------
    x1, x2 : Array
        The arrays; x2 is the reference.
    rtol, atol : float
        The relative and the absolute tolerance.
    equal_nan : bool
        Whether NaN equals NaN.

    Returns
    -------
    Array
        An array of dtype bool, in the broadcast shape. Infinities of the same sign are equal.

    Raises
    ------
    InvalidArgumentError
        The shapes do not broadcast.

    Examples
    --------
    >>> fe.isclose(fe.asarray([1.0, 2.0]), fe.asarray([1.000001, 2.1])).tolist()
    [True, False]
    """
    a, b = _both("isclose", x1, x2)
    relative = rtol if isinstance(rtol, Array) else one_real(rtol, "isclose", "rtol")
    absolute = atol if isinstance(atol, Array) else one_real(atol, "isclose", "atol")
    near = apply("less_equal", (apply("abs", (a - b,), {}), apply("abs", (b,), {}) * relative + absolute), {})
    close = apply("where", (apply("isfinite", (b,), {}), near, apply("equal", (a, b), {})), {})
    if flag(equal_nan, "isclose", "equal_nan"):
        close = close | (apply("isnan", (a,), {}) & apply("isnan", (b,), {}))
    return close


def allclose(x1: Array, x2: Array, /, rtol: float = 1e-5, atol: float = 1e-8, *, equal_nan: bool = False) -> Array:
    """Whether all elements are equal within a tolerance, see `isclose`.

    Parameters
    ----------
    x1, x2 : Array
        The arrays; x2 is the reference.
    rtol, atol : float
        The relative and the absolute tolerance.
    equal_nan : bool
        Whether NaN equals NaN.

    Returns
    -------
    Array of shape ()
        An array of dtype bool: `if` and `assert` take it as it is.

    Raises
    ------
    InvalidArgumentError
        The shapes do not broadcast.

    Examples
    --------
    >>> bool(fe.allclose(fe.asarray([1.0, 2.0]), fe.asarray([1.000001, 2.0])))
    True
    """
    return all_of(isclose(x1, x2, rtol, atol, equal_nan=equal_nan))


def array_equal(x1: Array, x2: Array, /, *, equal_nan: bool = False) -> Array:
    """Whether two arrays have the same shape and elements.

    Parameters
    ----------
    x1, x2 : Array
        The arrays.
    equal_nan : bool
        Whether NaN equals NaN.

    Returns
    -------
    Array of shape ()
        An array of dtype bool: `if` and `assert` take it as it is.

    Raises
    ------
    DTypeError
        The arrays have the same shape, and one has a block dtype.
    InvalidArgumentError
        An argument is neither an array nor a number, or `equal_nan` is not a bool.

    Examples
    --------
    >>> bool(fe.array_equal(fe.arange(3), fe.arange(3)))
    True
    >>> bool(fe.array_equal(fe.arange(3), fe.arange(4)))
    False
    """
    a, b = as_companion("array_equal", x1, x2), as_companion("array_equal", x2, x1)
    if a.shape != b.shape:
        return asarray(False)
    equal = apply("equal", (a, b), {})
    if flag(equal_nan, "array_equal", "equal_nan") and is_inexact(a.dtype) and is_inexact(b.dtype):
        equal = equal | (apply("isnan", (a,), {}) & apply("isnan", (b,), {}))
    return all_of(equal)


def _both(caller: str, x1: Array, x2: Array) -> tuple[Array, Array]:
    """Return both as floating-point or complex arrays; integers are compared in float64, half-precision in float32."""
    a, b = as_companion(caller, x1, x2), as_companion(caller, x2, x1)
    if not is_inexact(a.dtype) and not is_inexact(b.dtype):
        return cast(a, "float64"), cast(b, "float64")
    return (
        widened(a if is_inexact(a.dtype) else cast(a, b.dtype)),
        widened(b if is_inexact(b.dtype) else cast(b, a.dtype)),
    )

"""The parts of complex numbers; real numbers have an imaginary part of zero."""

from __future__ import annotations

from ferrule.array.array import Array
from ferrule.array.recording import apply, as_operand
from ferrule.dtypes.classification import is_block, is_complex
from ferrule.errors import DTypeError
from ferrule.functions import views
from ferrule.functions.creation import zeros_like

__all__ = ["conj", "imag", "real"]
ARRAY_METHODS = {"conj": "conj", "conjugate": "conj"}


def real(x: object, /) -> Array:
    """Real part, elementwise.

    Parameters
    ----------
    x : array_like
        An array of a numeric dtype.

    Returns
    -------
    Array
        The real parts: float32 for complex64, float64 for complex128. Real numbers are returned unchanged.

    Raises
    ------
    DTypeError
        The dtype is bool or a block dtype.

    Examples
    --------
    >>> fe.real(fe.asarray([1 + 2j, 3])).tolist()
    [1.0, 3.0]
    """
    array = _numeric("real", x)
    if not is_complex(array.dtype):
        return views.cut(array, views.Whole())
    return views.cut(array, views.ReadOnly("real", ()))


def imag(x: object, /) -> Array:
    """Imaginary part, elementwise.

    Parameters
    ----------
    x : array_like
        An array of a numeric dtype.

    Returns
    -------
    Array
        The imaginary parts: float32 for complex64, float64 for complex128. For real numbers they are zeros of the same
        dtype.

    Raises
    ------
    DTypeError
        The dtype is bool or a block dtype.

    Examples
    --------
    >>> fe.imag(fe.asarray([1 + 2j, 3])).tolist()
    [2.0, 0.0]
    """
    array = _numeric("imag", x)
    if not is_complex(array.dtype):
        return zeros_like(array)
    return views.cut(array, views.ReadOnly("imag", ()))


def conj(x: object, /) -> Array:
    """Complex conjugate, elementwise.

    Parameters
    ----------
    x : array_like
        An array of a numeric dtype.

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
    >>> fe.conj(fe.asarray([1 + 2j, 3 - 1j])).tolist()
    [(1-2j), (3+1j)]
    """
    array = _numeric("conj", x)
    return apply("conj", (array,), {}) if is_complex(array.dtype) else array._another("conj()")


def _numeric(caller: str, x: object) -> Array:
    array = as_operand(caller, x)
    if is_block(array.dtype) or array.dtype.kind == "b":
        raise DTypeError(f"{caller}: x is {array.dtype}{array.shape}, but needs a numeric dtype")
    return array

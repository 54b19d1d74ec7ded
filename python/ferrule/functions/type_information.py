"""Questions about dtypes: their ranges, their kinds, and what they promote to."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array, is_number
from ferrule.array.recording import number_dtype
from ferrule.dtypes.classification import as_dtype, class_of, is_block, is_inexact
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions.creation import zeros

__all__ = ["can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("signed",),
    "unsigned integer": ("unsigned",),
    "integral": ("signed", "unsigned"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("signed", "unsigned", "float", "complex"),
}


@dataclass(frozen=True)
class FloatingPointInfo:
    """The limits of a floating-point dtype; for a complex dtype, those of its parts.

    Attributes
    ----------
    bits : int
        The size of a number in bits.
    eps : float
        The distance from 1 to the next greater number.
    max, min : float
        The greatest and the lowest finite number.
    smallest_normal : float
        The smallest positive number with full precision.
    dtype : dtype
        The real dtype.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class IntegerInfo:
    """The limits of an integer dtype.

    Attributes
    ----------
    bits : int
        The size of a number in bits.
    max, min : int
        The greatest and the lowest number.
    dtype : dtype
        The dtype.
    """

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def finfo(type: Any, /) -> FloatingPointInfo:
    """Return the limits of a floating-point dtype.

    Parameters
    ----------
    type : dtype, str or Array
        A real or complex floating-point dtype, or an array of such.

    Returns
    -------
    FloatingPointInfo
        An object with the attributes `bits`, `eps`, `max`, `min`, `smallest_normal` and `dtype`. For a complex dtype
        they are the limits of its real and imaginary parts.

    Raises
    ------
    DTypeError
        The dtype is not floating-point.

    Examples
    --------
    >>> fe.finfo(fe.float32).eps
    1.1920928955078125e-07
    >>> fe.finfo(fe.bfloat16).max
    3.3895313892515355e+38
    """
    dtype = _dtype_of("finfo", type)
    if not is_inexact(dtype):
        raise DTypeError(
            f"finfo: {dtype} is not a floating-point dtype{'; iinfo takes it' if _is_integer(dtype) else ''}"
        )
    limits: Any
    if dtype.type.__module__ == "numpy":
        limits = np.finfo(dtype)
    else:
        import ml_dtypes

        limits = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return FloatingPointInfo(
        bits=int(limits.bits),
        eps=float(limits.eps),
        max=float(limits.max),
        min=float(limits.min),
        smallest_normal=float(limits.smallest_normal),
        dtype=np.dtype(limits.dtype),
    )


def iinfo(type: Any, /) -> IntegerInfo:
    """Return the limits of an integer dtype.

    Parameters
    ----------
    type : dtype, str or Array
        An integer dtype, or an array of such.

    Returns
    -------
    IntegerInfo
        An object with the attributes `bits`, `max`, `min` and `dtype`.

    Raises
    ------
    DTypeError
        The dtype is not an integer dtype.

    Examples
    --------
    >>> fe.iinfo(fe.int8).min, fe.iinfo("uint16").max
    (-128, 65535)
    """
    dtype = _dtype_of("iinfo", type)
    if not _is_integer(dtype):
        raise DTypeError(f"iinfo: {dtype} is not an integer dtype{'; finfo takes it' if is_inexact(dtype) else ''}")
    limits = np.iinfo(dtype)
    return IntegerInfo(limits.bits, int(limits.max), int(limits.min), dtype)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind.

    Parameters
    ----------
    dtype : dtype or str
        The dtype.
    kind : dtype, str or tuple of these
        A dtype, or one of the kinds "bool", "signed integer", "unsigned integer", "integral", "real floating",
        "complex floating" and "numeric". A tuple asks whether any of them fits.

    Returns
    -------
    bool
        Whether the dtype is the one given, or of that kind. Block dtypes are of no kind.

    Raises
    ------
    DTypeError
        `dtype` is not a dtype.
    InvalidArgumentError
        `kind` is neither a dtype nor a kind.

    Examples
    --------
    >>> fe.isdtype(fe.int8, "integral"), fe.isdtype(fe.int8, ("real floating", fe.int16))
    (True, False)
    """
    known = as_dtype(dtype, "isdtype")
    answers = [
        _is_of_kind(known, one) for one in (kind if isinstance(kind, tuple) else (kind,))
    ]  # checks every kind, also behind one that fits
    return any(answers)


def _is_of_kind(dtype: np.dtype[Any], kind: Any) -> bool:
    if isinstance(kind, str):
        if kind not in _KINDS:
            kinds = ", ".join(repr(name) for name in _KINDS)
            raise InvalidArgumentError(f"isdtype: kind {kind!r} is not one of {kinds}")
        return class_of(dtype) in _KINDS[kind]
    try:
        return dtype == as_dtype(kind, "isdtype")
    except DTypeError as error:
        raise InvalidArgumentError(
            f"isdtype: kind must be a dtype, a kind or a tuple of these, not {kind!r}"
        ) from error


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a dtype promotes to another one.

    Parameters
    ----------
    from_ : dtype, str or Array
        A dtype, or an array of it.
    to : dtype or str
        The other dtype.

    Returns
    -------
    bool
        Whether an op on both dtypes computes in `to`.

    Raises
    ------
    DTypeError
        An argument is not a dtype.

    Examples
    --------
    >>> fe.can_cast(fe.int8, fe.int16), fe.can_cast(fe.int16, fe.int8)
    (True, False)
    """
    source, target = _dtype_of("can_cast", from_), as_dtype(to, "can_cast")
    try:
        return _promoted(source, target) == target
    except DTypeError:
        return False


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the dtype that arrays, dtypes and Python numbers promote to.

    Parameters
    ----------
    *arrays_and_dtypes : Array, dtype, str or number
        The operands. A Python number does not change the dtype of arrays beside it, unless its kind is higher.

    Returns
    -------
    dtype
        The dtype in which an op computes.

    Raises
    ------
    DTypeError
        An argument is not a dtype, or the dtypes have no common one.
    InvalidArgumentError
        There are no arguments.

    Examples
    --------
    >>> fe.result_type(fe.int8, fe.asarray([1], dtype="int16"), 1)
    dtype('int16')
    >>> fe.result_type(fe.int8, 1.0)
    dtype('float32')
    """
    if not arrays_and_dtypes:
        raise InvalidArgumentError("result_type: takes at least one array, dtype or number")
    numbers = {kind for value in arrays_and_dtypes if (kind := _kind_of_number(value)) is not None}
    dtypes = [_dtype_of("result_type", value) for value in arrays_and_dtypes if _kind_of_number(value) is None]
    dtypes += [number_dtype("result_type", kind(1), dtypes)[0] for kind in sorted(numbers, key=_ORDER.index)]
    return functools.reduce(functools.partial(_promoted, caller="result_type"), dtypes)


_ORDER = (bool, int, float, complex)


def _kind_of_number(value: object) -> type | None:
    """Return the Python type of a number, also of a number argument of a traced function; None for other values."""
    if isinstance(value, Array):
        return {"b": bool, "i": int, "f": float}[value.dtype.kind] if is_number(value) else None
    if isinstance(value, np.generic):
        return None
    return next((kind for kind in _ORDER if isinstance(value, kind)), None)


def _dtype_of(caller: str, value: Any) -> np.dtype[Any]:
    if isinstance(value, (Array, np.ndarray, np.generic)):
        return as_dtype(value.dtype, caller)
    return as_dtype(value, caller)


@functools.cache
def _promoted(one: np.dtype[Any], other: np.dtype[Any], caller: str = "can_cast") -> np.dtype[Any]:
    """Return the dtype that `where`, which takes every dtype, gives to operands of two dtypes."""
    if one == other:
        return one
    if is_block(one) or is_block(other):
        raise DTypeError(f"{caller}: {one} and {other} have no common dtype: block dtypes do not promote")
    try:
        return recording.apply(
            "where", (zeros((), dtype="bool"), zeros((), dtype=one), zeros((), dtype=other)), {}
        ).dtype
    except InvalidArgumentError as error:
        raise DTypeError(f"{caller}: {one} and {other} have no common dtype") from error


def _is_integer(dtype: np.dtype[Any]) -> bool:
    return class_of(dtype) in ("signed", "unsigned")

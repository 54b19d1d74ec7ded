"""Conversion of integers, shapes and op attributes from what callers pass: NumPy scalars, enums, ranges."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import SupportsIndex, TypeGuard

import numpy as np

from ferrule.array.numbers import shown
from ferrule.array.op_attributes import KINDS
from ferrule.dtypes.classification import as_dtype
from ferrule.errors import Error, InvalidArgumentError, NumberOverflowError, OutOfRangeError

Shape = SupportsIndex | Sequence[SupportsIndex]


def attribute_of(op: str, name: str, value: object) -> object:
    """Convert an attribute to Python's bool, int or float, or to a dtype, according to the op's row.

    Raises InvalidArgumentError for a value of the wrong type. The core checks the rest, such as elements of lists.
    """
    given = type(value)
    if name == "dtype" and value is not None:
        return as_dtype(value)
    if given is bool:
        return value
    kind = KINDS.get(op, {}).get(name)
    if kind == "bool":
        return flag(value, op, name)
    if value is None:
        return value
    if kind == "int":
        number = one_integer(value, op, name)  # type: ignore[arg-type]
        if not -(2**63) <= number < 2**63:
            raise NumberOverflowError(f"{op}: {name} {shown(number)} does not fit into 64 bits")
        return number
    if kind == "float":
        return one_finite(value, op, name)
    if kind == "str" and given is not str:
        raise InvalidArgumentError(f"{op}: {name} must be a str, not {value!r}")
    if given is str or given is tuple or given is list:
        return value
    if kind == "list of int":
        return sizes(value, op, name)  # type: ignore[arg-type]
    return value


def flag(value: object, caller: str, name: str) -> bool:
    """Return a bool argument, which may also be NumPy's bool, 0 or 1."""
    if isinstance(value, np.bool_) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise InvalidArgumentError(f"{caller}: {name} must be True or False, not {value!r}")


def optional_flag(value: object, caller: str, name: str) -> bool | None:
    """Return a bool argument, or None, which leaves the choice to the function."""
    try:
        return None if value is None else flag(value, caller, name)
    except InvalidArgumentError:
        raise InvalidArgumentError(f"{caller}: {name} must be True, False or None, not {value!r}") from None


def one_of(choices: Iterable[str], value: object, caller: str, name: str) -> str:
    """Return a word, after checking that it is one of the choices."""
    words = list(choices)
    if isinstance(value, str) and value in words:
        return value
    *first, last = map(repr, words)
    raise InvalidArgumentError(f"{caller}: {name} must be {', '.join(first)} or {last}, not {value!r}")


def sizes(shape: Shape, caller: str, name: str = "shape") -> tuple[int, ...]:
    """Convert an integer or a sequence of integers (a shape, or axes) to a tuple of int."""
    try:
        if is_index(shape):
            found: tuple[int, ...] = (one_integer(shape, caller, name),)
        else:
            found = tuple(map(operator.index, shape))  # type: ignore[arg-type]
    except TypeError as error:
        if isinstance(error, Error):
            raise
        raise InvalidArgumentError(
            f"{caller}: {name} must be an integer or a tuple of integers, not {shape!r}"
        ) from error
    for size in found:
        if not -(2**63) <= size < 2**63:
            raise NumberOverflowError(f"{caller}: {name} {shown(size)} does not fit into 64 bits")
    return found


def is_index(value: object) -> TypeGuard[SupportsIndex]:
    """Whether operator.index() may take the value: not an array with axes, though it has `__index__`, too.

    `isinstance(value, SupportsIndex)` takes 5 µs.
    """
    return type(value) is int or (hasattr(value, "__index__") and not getattr(value, "ndim", 0))


def one_integer(value: SupportsIndex, caller: str, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError as error:
        if isinstance(error, Error):
            raise
        raise InvalidArgumentError(f"{caller}: {name} must be one integer, not {value!r}") from error


def one_real(value: object, caller: str, name: str) -> float:
    """Convert a real number to float; bools and text are none."""
    if type(value) is float:
        return value
    is_number = hasattr(value, "__float__") and not isinstance(value, (bool, np.bool_, np.complexfloating))
    try:
        if is_number:
            return float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise NumberOverflowError(f"{caller}: {name} {shown(value)} does not fit into float64") from None
    except (TypeError, InvalidArgumentError) as error:  # an array of several elements, for example
        if isinstance(error, Error) and not isinstance(error, InvalidArgumentError):
            raise
    raise InvalidArgumentError(f"{caller}: {name} must be a number, not {value!r}")


def one_finite(value: object, caller: str, name: str) -> float:
    """Like `one_real`, but refuse infinities and NaN."""
    number = one_real(value, caller, name)
    if not math.isfinite(number):
        raise InvalidArgumentError(f"{caller}: {name} must be finite, not {number}")
    return number


def refuse_more(others: tuple[object, ...], caller: str, advice: str) -> None:
    """Raise for extra arguments, which should have been part of the one before them: `concat(x, y)`."""
    if others:
        raise InvalidArgumentError(f"{caller}: too many arguments; {advice}")


def axis_of(caller: str, axis: SupportsIndex, rank: int) -> int:
    """Return the axis counted from the front, after checking its range."""
    index = one_integer(axis, caller, "axis")
    if not -rank <= index < rank:
        raise OutOfRangeError(f"{caller}: axis {shown(index)} is out of range for {rank} dimensions")
    return index % rank


def axes_of(caller: str, axis: Shape | None, rank: int, name: str = "axis") -> tuple[int, ...]:
    """Return one or several axes counted from the front, after checking that they are distinct; None means all axes."""
    if axis is None:
        return tuple(range(rank))
    axes = tuple(axis_of(caller, place, rank) for place in sizes(axis, caller, name))
    if len({*axes}) < len(axes):
        raise InvalidArgumentError(f"{caller}: an axis is named twice in {name}={axis}")
    return axes


def refuse_out(caller: str, out: object) -> None:
    if out is not None:
        raise InvalidArgumentError(f"{caller}: out= cannot be given, because arrays never change; use the result")

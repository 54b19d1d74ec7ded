"""Arguments and results of traced functions: trees of tuples, lists and dicts, taken apart and put together."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType, ModuleType, WrapperDescriptorType
from typing import Any

import numpy as np

from ferrule._devices import Device
from ferrule._symbols import Symbol
from ferrule.array import Array

# A structure is hashable, and equal for calls that one graph serves: ("array",), ("int",), ("float",),
# ("static", Static), ("tuple", type, children), ("list", children), ("dict", type, keys, children).
Structure = tuple[Any, ...]


class Identity:
    """Something without a useful `==`, which counts as equal to itself only, and is kept alive."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class Static:
    """A part of a signature, equal to others of the same key."""

    __slots__ = ("key", "value")

    def __init__(self, value: object) -> None:
        self.key = static_key(value)
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


class Function:
    """Base of callables that count as functions: they are a part of a signature by identity."""

    __slots__ = ()


class MayHoldArraysError(Exception):
    """An object that a signature cannot name: it may hold arrays, and others in the next call."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class Arguments:
    """A call's arguments, taken apart."""

    __slots__ = ("arrays", "numbers", "to_array")

    def __init__(self, to_array: Callable[[Any], Array]) -> None:
        self.arrays: list[Array] = []
        self.numbers: list[int | float] = []
        self.to_array = to_array

    def take(self, value: Any) -> Structure:
        """Collect what varies from call to call; what remains is the structure.

        Comprehensions recurse without C's stack, as map() and generators do not: too deep is a RecursionError.
        """
        kind = type(value)
        if isinstance(value, Array):
            self.arrays.append(Array._of(value._handle))  # what it is now: another thread may assign to it
            return ("array",)
        if kind is float or (kind is int and -(2**63) <= value < 2**63):
            self.numbers.append(value)
            return (kind.__name__,)
        if isinstance(value, np.ndarray) or (isinstance(value, np.generic) and not isinstance(value, (str, bytes))):
            self.arrays.append(self.to_array(value))
            return ("array",)
        if _is_tuple(value):
            return ("tuple", kind, *[self.take(part) for part in value])
        if kind is list:
            return ("list", *[self.take(part) for part in value])
        if kind is dict or kind is OrderedDict:
            return ("dict", kind, tuple(map(Static, value)), *[self.take(part) for part in value.values()])
        return ("static", Static(value))


def _is_tuple(value: object) -> bool:
    return type(value) is tuple or (isinstance(value, tuple) and hasattr(value, "_fields"))


# By identity. Like the traced function itself they may close over arrays, which are constants then.
_FUNCTIONS = (
    FunctionType,
    MethodDescriptorType,
    WrapperDescriptorType,
    np.ufunc,
    type,
    Function,
)


def static_key(value: Any) -> Hashable:
    """Equal for what a traced function cannot tell apart; raises MayHoldArraysError for what may change unnoticed."""
    kind = type(value)
    if isinstance(value, (enum.Enum, *_FUNCTIONS)):
        return Identity(value)
    if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
        return (kind, repr(value))  # -0.0 equals 0.0, and NaN nothing
    if value is None or value is Ellipsis or isinstance(value, (int, str, bytes, np.dtype, Device)):
        return (kind, value)
    if isinstance(value, slice):
        return (kind, *[static_key(part) for part in (value.start, value.stop, value.step)])
    if isinstance(value, range):
        return (kind, value.start, value.stop, value.step)
    if kind is list or _is_tuple(value):
        return (kind, *[static_key(part) for part in value])
    if kind is frozenset:
        return (kind, frozenset([static_key(part) for part in value]))
    if kind is dict or kind is OrderedDict:
        return (kind, *[(static_key(name), static_key(part)) for name, part in value.items()])
    if isinstance(value, functools.partial):
        return (kind, *[static_key(part) for part in (value.func, value.args, value.keywords)])
    if isinstance(value, (MethodType, BuiltinFunctionType)):
        if value.__self__ is None or isinstance(value.__self__, ModuleType):
            return Identity(value)
        return (kind, value.__name__, static_key(value.__self__))
    if dataclasses.is_dataclass(value) and kind.__dataclass_params__.frozen:
        fields = dataclasses.fields(value)
        return (kind, *[static_key(getattr(value, field.name)) for field in fields])
    raise MayHoldArraysError(value)


def put_together(structure: Structure, arrays: Iterator[Any], numbers: Iterator[Any]) -> Any:
    """The arguments again, with other arrays and numbers."""
    kind = structure[0]
    if kind == "array":
        return next(arrays)
    if kind in ("int", "float"):
        return next(numbers)
    if kind == "static":
        return structure[1].value
    if kind == "list":
        return [put_together(child, arrays, numbers) for child in structure[1:]]
    if kind == "dict":
        names = [name.value for name in structure[2]]
        return structure[1](zip(names, [put_together(child, arrays, numbers) for child in structure[3:]], strict=True))
    children = [put_together(child, arrays, numbers) for child in structure[2:]]
    return structure[1](*children) if hasattr(structure[1], "_fields") else tuple(children)


def result_of(value: Any, outputs: list[Array]) -> Any:
    """The structure of a traced function's result; its traced arrays are collected in `outputs`, each once.

    Ints in the structure are places in `outputs`; everything that was not traced stands as a Constant.
    """
    if isinstance(value, Array) and isinstance(value._handle, Symbol):
        for place, output in enumerate(outputs):
            if output._handle is value._handle:
                return place
        outputs.append(value)
        return len(outputs) - 1
    if isinstance(value, tuple):
        children = [result_of(child, outputs) for child in value]
        return type(value)(*children) if hasattr(value, "_fields") else tuple(children)
    if isinstance(value, list):
        return [result_of(child, outputs) for child in value]
    if isinstance(value, dict):
        return {key: result_of(child, outputs) for key, child in value.items()}
    return Identity(value)


def fill(structure: Any, results: list[Any]) -> Any:
    """The result of a call: the structure with its arrays."""
    if isinstance(structure, int):
        return results[structure]
    if isinstance(structure, Identity):
        return structure.value
    if isinstance(structure, tuple):
        children = [fill(child, results) for child in structure]
        return type(structure)(*children) if hasattr(structure, "_fields") else tuple(children)
    if isinstance(structure, list):
        return [fill(child, results) for child in structure]
    return {key: fill(child, results) for key, child in structure.items()}

"""Arguments and results of traced functions: trees of tuples, lists and dicts, taken apart and put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ferrule._symbols import Symbol
from ferrule.array import Array

# A structure is hashable, and equal for calls that one graph serves: ("array",), ("int",), ("float",),
# ("static", value), ("tuple", type, children), ("list", children), ("dict", keys, children).
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


class Arguments:
    """A call's arguments, taken apart."""

    __slots__ = ("arrays", "numbers", "to_array")

    def __init__(self, to_array: Callable[[Any], Array]) -> None:
        self.arrays: list[Array] = []
        self.numbers: list[int | float] = []
        self.to_array = to_array

    def take(self, value: Any) -> Structure:
        """Collect what varies from call to call; what remains is the structure."""
        kind = type(value)
        if kind is Array:
            self.arrays.append(value)
            return ("array",)
        if kind is int or kind is float:
            self.numbers.append(value)
            return (kind.__name__,)
        if isinstance(value, (np.ndarray, np.generic)):
            self.arrays.append(self.to_array(value))
            return ("array",)
        if isinstance(value, tuple):
            return ("tuple", kind, *map(self.take, value))
        if kind is list:
            return ("list", *map(self.take, value))
        if kind is dict:
            return ("dict", tuple(value), *map(self.take, value.values()))
        return ("static", _static(value))


def _static(value: object) -> object:
    """Part of the signature by value where that has a meaning, else by identity."""
    if value is None or isinstance(value, (str, bytes, bool, np.dtype, frozenset, complex, type)):
        return (type(value), value)
    return Identity(value)


def put_together(structure: Structure, arrays: Iterator[Any], numbers: Iterator[Any]) -> Any:
    """The arguments again, with other arrays and numbers."""
    kind = structure[0]
    if kind == "array":
        return next(arrays)
    if kind in ("int", "float"):
        return next(numbers)
    if kind == "static":
        static = structure[1]
        return static.value if isinstance(static, Identity) else static[1]
    if kind == "list":
        return [put_together(child, arrays, numbers) for child in structure[1:]]
    children = [put_together(child, arrays, numbers) for child in structure[2:]]
    if kind == "dict":
        return dict(zip(structure[1], children, strict=True))
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

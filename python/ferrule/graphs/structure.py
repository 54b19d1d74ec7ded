"""Flattening and rebuilding the arguments and results of traced functions: trees of containers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ferrule.array.array import Array
from ferrule.array.symbols import Symbol
from ferrule.graphs.containers import Kind, opened
from ferrule.graphs.static_keys import Identity, is_tuple, static_key

# A structure is hashable, and equal for calls that the same graph serves: ("array",), ("int",), ("float",),
# ("static", Static), ("tuple", type, children), ("list", children), ("dict", type, keys, children),
# ("object", Kind, children).
Structure = tuple[Any, ...]


class Static:
    """A part of a signature, which equals other parts of the same key."""

    __slots__ = ("key", "value")

    def __init__(self, value: object) -> None:
        self.key = static_key(value)
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


class Arguments:
    """The arrays and numbers of a call's arguments."""

    __slots__ = ("arrays", "given", "numbers", "to_array")

    def __init__(self, to_array: Callable[[Any], Array]) -> None:
        self.arrays: list[Array] = []
        self.given: list[Array] = []  # the caller's arrays
        self.numbers: list[int | float] = []
        self.to_array = to_array

    def take(self, value: Any) -> Structure:
        """Collect the arrays and numbers in a value, and return its structure.

        Recursion uses comprehensions, which do not use C's stack as map() and generators do: nesting that is too deep
        is a RecursionError.
        """
        kind = type(value)
        if isinstance(value, Array):
            self.given.append(value)
            self.arrays.append(Array._of(value._handle))  # its current value: another thread may assign to it
            return ("array",)
        if kind is float or (kind is int and -(2**63) <= value < 2**63):
            self.numbers.append(value)
            return (kind.__name__,)
        if isinstance(value, np.ndarray) or (isinstance(value, np.generic) and not isinstance(value, (str, bytes))):
            self.arrays.append(self.to_array(value))
            self.given.append(self.arrays[-1])
            return ("array",)
        if is_tuple(value):
            return ("tuple", kind, *[self.take(part) for part in value])
        if kind is list:
            return ("list", *[self.take(part) for part in value])
        if kind is dict or kind is OrderedDict:
            return ("dict", kind, tuple(map(Static, value)), *[self.take(part) for part in value.values()])
        found = opened(value)
        if found is None:
            return ("static", Static(value))
        take = self._take_static if found.has_static_numbers else self.take
        return ("object", found.kind, *[take(part) for part in found.parts])

    def _take_static(self, value: Any) -> Structure:
        """Collect the arrays in a value; if it is a number, it is part of the signature."""
        return ("static", Static(value)) if type(value) in (int, float) else self.take(value)


def labels_of(structure: Structure, label: str, kinds: tuple[str, ...]) -> list[str]:
    """Return the names of the parts of these kinds ("array", "int", "float") in user terms: "x", "c['k'][0]"."""
    kind = structure[0]
    if kind in kinds:
        return [label]
    parts: list[tuple[Structure, str]] = []
    if kind == "list":
        parts = [(child, f"{label}[{place}]") for place, child in enumerate(structure[1:])]
    elif kind == "tuple":
        fields = getattr(structure[1], "_fields", None)
        parts = [
            (child, f"{label}.{fields[place]}" if fields else f"{label}[{place}]")
            for place, child in enumerate(structure[2:])
        ]
    elif kind == "dict":
        pairs = zip(structure[2], structure[3:], strict=True)
        parts = [(child, f"{label}[{name.value!r}]") for name, child in pairs]
    elif kind == "object":
        parts = [(child, label + name) for name, child in zip(structure[1].labels, structure[2:], strict=True)]
    return [found for child, of_child in parts for found in labels_of(child, of_child, kinds)]


def is_among(array: Array, value: Any) -> bool:
    """Whether the result of a traced function contains this very object."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if value is array:
        return True
    if not isinstance(value, (tuple, list)):
        found = None if isinstance(value, (Array, np.ndarray)) else opened(value)
        value = () if found is None else found.parts
    return any([is_among(array, child) for child in value])  # noqa: C419  a generator would spend the C stack


def put_together(structure: Structure, arrays: Iterator[Any], numbers: Iterator[Any]) -> Any:
    """Rebuild the arguments from their structure, with other arrays and numbers."""
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
    if kind == "object":
        return structure[1].build(children)
    return structure[1](*children) if hasattr(structure[1], "_fields") else tuple(children)


class Again:
    """In the structure of a result: another object for an array that occurs earlier in it."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place


class Made:
    """In the structure of a result: an object that is built of its parts."""

    __slots__ = ("children", "kind")

    def __init__(self, kind: Kind, children: list[Any]) -> None:
        self.kind = kind
        self.children = children


class Number:
    """In the structure of a result: a Python number, by its place in the graph's Numbers."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place


def result_of(value: Any, outputs: list[Array]) -> Any:
    """Return the structure of a traced function's result, and collect its traced arrays in `outputs`, each once.

    Ints in the structure are places in `outputs`; values that were not traced are stored as Identity. Raises
    MayHoldArraysError.
    """
    if isinstance(value, Array) and isinstance(value._handle, Symbol):
        if value._handle.weak:
            return Number(value._handle.id)
        for place, output in enumerate(outputs):
            if output._handle is value._handle:
                return place if output is value else Again(place)
        outputs.append(value)
        return len(outputs) - 1
    if isinstance(value, tuple):
        children = [result_of(child, outputs) for child in value]
        return type(value)(*children) if hasattr(value, "_fields") else tuple(children)
    if isinstance(value, list):
        return [result_of(child, outputs) for child in value]
    if isinstance(value, dict):
        kind = OrderedDict if isinstance(value, OrderedDict) else dict
        return kind([(key, result_of(child, outputs)) for key, child in value.items()])
    if isinstance(value, Array):
        return Identity(value._snapshot())  # a constant, with its current value
    if isinstance(value, np.ndarray):
        return Identity(value.copy())
    if not isinstance(value, np.generic):
        found = opened(value)
        if found is not None:
            return Made(found.kind, [result_of(part, outputs) for part in found.parts])
        static_key(value)
    return Identity(value)


def has_number(structure: Any) -> bool:
    """Whether the structure of a result contains a Python number."""
    if isinstance(structure, dict):
        structure = [*structure.values()]
    elif isinstance(structure, Made):
        structure = structure.children
    if isinstance(structure, (tuple, list)):
        return any([has_number(child) for child in structure])  # noqa: C419  a generator would spend the C stack
    return isinstance(structure, Number)


def fill(structure: Any, results: list[Array], numbers: Sequence[Any]) -> Any:
    """Build the result of a call from its structure, arrays and numbers. No two calls share an array object."""
    if isinstance(structure, int):
        return results[structure]
    if isinstance(structure, Again):
        return results[structure.place]._snapshot()
    if isinstance(structure, Number):
        return numbers[structure.place]
    if isinstance(structure, Identity):
        value = structure.value
        if isinstance(value, Array):
            return value._snapshot()
        return value.copy() if isinstance(value, np.ndarray) else value
    if isinstance(structure, Made):
        return structure.kind.build([fill(child, results, numbers) for child in structure.children])
    if isinstance(structure, tuple):
        children = [fill(child, results, numbers) for child in structure]
        return type(structure)(*children) if hasattr(structure, "_fields") else tuple(children)
    if isinstance(structure, list):
        return [fill(child, results, numbers) for child in structure]
    return type(structure)([(key, fill(child, results, numbers)) for key, child in structure.items()])

"""The arrays and numbers that a traced function closes over: constants of its graphs until a name refers to others."""

from __future__ import annotations

from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from ferrule.array.array import Array
from ferrule.graphs.static_keys import Function, globals_read_by

# Where a name is found, the name, and the array and its value: (cell, "cell_contents", x, x._handle), or for a global
# variable (the globals, its name, x, x._handle). The value of a NumPy array is None: only the object is compared.
Name = tuple[Any, str, Any, Any]
# Numbers and texts are compared by value; the last part of their name is this.
_VALUES = (int, float, complex, str, np.generic)


def arrays_read_by(function: Any) -> tuple[Name, ...]:
    """Return the names by which a function, and those of its module that it calls, read arrays outside of them."""
    names: list[Name] = []
    _collect(function, names, set(), getattr(function, "__module__", None))
    return tuple(names)


def _collect(function: Any, names: list[Name], seen: set[int], module: str | None) -> None:
    while isinstance(function, (Function, MethodType)):
        function = function.__func__ if isinstance(function, MethodType) else getattr(function, "_function", None)
    if not isinstance(function, FunctionType) or id(function) in seen or function.__module__ != module:
        return
    seen.add(id(function))
    found: list[tuple[Any, str, Any]] = []
    for cell in function.__closure__ or ():
        value = _contents_of(cell)
        found.append((cell, "cell_contents", value))
    variables = function.__globals__
    found += [(variables, name, variables[name]) for name in globals_read_by(function.__code__) if name in variables]
    for place, name, value in found:
        if isinstance(value, Array):
            names.append((place, name, value, value._handle))
        elif isinstance(value, np.ndarray):
            names.append((place, name, value, None))
        elif isinstance(value, _VALUES):
            names.append((place, name, value, _VALUES))
        else:
            _collect(value, names, seen, module)


def _contents_of(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the cell is empty
        return None


def are_unchanged(names: tuple[Name, ...]) -> bool:
    """Whether all names refer to the same arrays with the same values as before."""
    for place, name, array, handle in names:
        value: Any = place.get(name) if isinstance(place, dict) else _contents_of(place)
        if handle is _VALUES:
            if value is not array and (type(value) is not type(array) or value != array):
                return False
        elif value is not array or (handle is not None and array._handle is not handle):
            return False
    return True

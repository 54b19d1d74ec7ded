"""Pickles of decorated functions: by name or by value, as the pickler does it for the functions of their module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Place:
    """Holds an object. Its pickle holds a new object of the same class, whose state comes later."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return _place_of_new, (type(self.value),)


def _place_of_new(kind: type) -> Place:
    return Place(object.__new__(kind))


def attribute_function(owner: Any, name: str, value: object) -> Callable[[], Any]:
    """Return a function that returns the value, or what a Place holds.

    It has the name of an attribute of the decorated function `owner`. So pickle saves that name, while cloudpickle and
    dill save the function with its value where they do so for functions: where the module cannot be imported elsewhere.
    """
    if isinstance(value, Place):

        def function() -> Any:
            return value.value

    else:

        def function() -> Any:
            return value

    function.__module__, function.__qualname__ = owner.__module__, f"{owner.__qualname__}.{name}"
    return function

"""Objects that traced functions take apart: dataclasses, and classes that were registered."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ferrule.array.array import Array
from ferrule.errors import InvalidArgumentError, TracingError
from ferrule.graphs.static_keys import Identity, MayHoldArraysError, static_key

T = TypeVar("T")
# The functions that take apart and build the objects of a registered class.
_REGISTERED: dict[type, tuple[Callable[[Any], Any], Callable[[Any, Sequence[Any]], Any]]] = {}
_KNOWN = (Array, np.ndarray, np.generic, list, tuple, dict, str, bytes, int, float, complex)


class Kind:
    """The class of an object, and what it has beside its parts. Equal kinds serve the same graph."""

    __slots__ = ("build", "key", "labels")

    def __init__(self, key: object, labels: Sequence[str], build: Callable[[Sequence[Any]], Any]) -> None:
        self.key = key
        self.labels = tuple(labels)  # of the parts, in user terms: ".weight"
        self.build = build

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kind) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


class Opened(NamedTuple):
    """An object that was taken apart. The numbers of a frozen dataclass are part of the signature."""

    kind: Kind
    parts: list[Any]
    has_static_numbers: bool


def register_container(
    cls: type[T], /, flatten: Callable[[T], tuple[Sequence[Any], Any]], unflatten: Callable[[Any, Sequence[Any]], T]
) -> type[T]:
    """Let traced functions take and return objects of a class, which they take apart into arrays and numbers.

    Dataclasses, tuples, lists and dicts need no registration.

    Parameters
    ----------
    cls : type
        The class. Its subclasses are registered separately.
    flatten : callable
        `flatten(x)` returns the parts of an object (arrays, numbers, containers), and what else it consists of. The
        latter is part of the signature, and must not hold arrays.
    unflatten : callable
        `unflatten(rest, parts)` returns an object of these parts, which may be traced arrays.

    Returns
    -------
    type
        The class.

    Raises
    ------
    InvalidArgumentError
        `cls` is not a class, or one that traced functions know already.

    Examples
    --------
    >>> class Layer:
    ...     def __init__(self, weight, name):
    ...         self.weight, self.name = weight, name
    >>> _ = fe.register_container(Layer, lambda x: ([x.weight], x.name), lambda name, parts: Layer(parts[0], name))
    >>> fe.graph(lambda layer: layer.weight * 2)(Layer(fe.ones(2), "first")).tolist()
    [2.0, 2.0]
    """
    if not isinstance(cls, type) or issubclass(cls, _KNOWN) or cls in _REGISTERED:
        raise InvalidArgumentError(f"register_container: takes a class that ferrule.graph does not know, not {cls!r}")
    if not callable(flatten) or not callable(unflatten):
        raise InvalidArgumentError("register_container: flatten and unflatten are functions")
    _REGISTERED[cls] = flatten, unflatten
    return cls


def opened(value: Any) -> Opened | None:
    """Take apart a dataclass or an object of a registered class; None for others, which are part of the signature.

    Raises MayHoldArraysError for a dataclass with attributes that are not fields.
    """
    kind = type(value)
    functions = _REGISTERED.get(kind)
    if functions is not None:
        return _of_registered(value, *functions)
    if not dataclasses.is_dataclass(kind):
        return None
    is_frozen = kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    if is_frozen:
        try:
            static_key(value)
        except MayHoldArraysError:
            pass
        else:
            return None
    names = [field.name for field in dataclasses.fields(kind)]
    if not {*getattr(value, "__dict__", ())} <= {*names} or not all(hasattr(value, name) for name in names):
        raise MayHoldArraysError(value)

    def build(parts: Sequence[Any]) -> Any:
        made = object.__new__(kind)  # without __init__ and __post_init__, which may need values
        for name, part in zip(names, parts, strict=True):
            object.__setattr__(made, name, part)
        return made

    labels = [f".{name}" for name in names]
    return Opened(Kind(static_key(kind), labels, build), [getattr(value, name) for name in names], is_frozen)


def _of_registered(value: Any, flatten: Callable[[Any], Any], unflatten: Callable[[Any, Sequence[Any]], Any]) -> Opened:
    result = flatten(value)
    if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[0], (list, tuple)):
        name = type(value).__qualname__
        raise TracingError(f"register_container: flatten of {name} returns (parts, rest), not {type(result).__name__}")
    parts, rest = result
    key = (Identity(type(value)), static_key(rest), len(parts))
    labels = [f"[{place}]" for place in range(len(parts))]
    return Opened(Kind(key, labels, lambda parts: unflatten(rest, parts)), list(parts), has_static_numbers=False)

"""Keys of arguments that are neither arrays nor numbers in a signature, and the arguments that are refused.

A graph keeps what its function read when it was traced. Some arguments refer to other values: a function to its
defaults, its closure and the global variables that it reads, a class to its attributes, a member of an Enum to its
value. Such an argument is part of the signature together with these values, and refused if they may hold arrays.
"""

from __future__ import annotations

import dataclasses
import dis
import enum
import functools
import logging
import re
import sys
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from pathlib import Path
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    DynamicClassAttribute,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ferrule.loading.devices import Device


class Identity:
    """An object without a useful `==`: it equals only itself, and is kept alive."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class Function:
    """Base class of callables that are part of a signature by identity, as functions are."""

    __slots__ = ()


class MayHoldArraysError(Exception):
    """An object that cannot be part of a signature: it may hold arrays, and other ones in the next call."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class _OfOne(NamedTuple):
    first: int


# Callables without defaults and closures.
_C_FUNCTIONS = (MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType, MethodWrapperType, np.ufunc)
# Types of objects in classes and closures that a function does not compute with.
_NO_VALUES = (
    DynamicClassAttribute,
    GenericAlias,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
    TypeVar,
    logging.Logger,
    re.Pattern,
    type(vars(_OfOne)["first"]),
)
# The attributes of base classes from these modules do not change.
_KNOWN_MODULES = frozenset({"abc", "builtins", "collections", "enum", "numpy", "typing"})


def static_key(value: Any, seen: set[int] | None = None) -> Hashable:
    """Return a key that is equal for values that a traced function cannot distinguish.

    Raises MayHoldArraysError for values that may change unnoticed. `seen`: the ids of functions, classes and members of
    an Enum that are part of the key already.
    """
    kind = type(value)
    seen = set() if seen is None else seen

    def key_of(part: Any) -> Hashable:
        return static_key(part, seen)

    if isinstance(value, (enum.Enum, FunctionType, type)):
        if id(value) in seen:
            return Identity(value)
        seen.add(id(value))
        return (Identity(value), *[key_of(part) for part in _brought_along(value)])
    if isinstance(value, (Function, *_C_FUNCTIONS)):  # the closure of a traced function is constant
        return Identity(value)
    if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
        return (kind, repr(value))  # `==` would not do: -0.0 == 0.0, and NaN equals nothing
    if value is None or value is Ellipsis or isinstance(value, (int, str, bytes, np.dtype, Device)):
        return (kind, value)
    if isinstance(value, slice):
        return (kind, *[key_of(part) for part in (value.start, value.stop, value.step)])
    if isinstance(value, range):
        return (kind, value.start, value.stop, value.step)
    if kind is list or is_tuple(value):
        return (kind, *[key_of(part) for part in value])
    if kind is frozenset:
        return (kind, frozenset([key_of(part) for part in value]))
    if kind is dict or kind is OrderedDict:
        return (kind, *[(key_of(name), key_of(part)) for name, part in value.items()])
    if isinstance(value, functools.partial):
        return (kind, *[key_of(part) for part in (value.func, value.args, value.keywords)])
    if isinstance(value, MethodType):
        return (kind, key_of(value.__func__), key_of(value.__self__))
    if isinstance(value, BuiltinFunctionType):
        if value.__self__ is None or isinstance(value.__self__, ModuleType):
            return Identity(value)
        return (kind, value.__name__, key_of(value.__self__))
    if dataclasses.is_dataclass(value) and kind.__dataclass_params__.frozen:
        fields = dataclasses.fields(value)
        return (key_of(kind), *[key_of(getattr(value, field.name)) for field in fields])
    raise MayHoldArraysError(value)


def is_tuple(value: object) -> bool:
    """Whether the value is a tuple or a named tuple, but not of another subclass of tuple."""
    return type(value) is tuple or (isinstance(value, tuple) and hasattr(value, "_fields"))


def _brought_along(value: enum.Enum | FunctionType | type) -> list[Any]:
    if isinstance(value, FunctionType):
        parts = [*_defaults_of(value), *_closure_of(value), *_globals_of(value)]
    elif isinstance(value, enum.Enum):
        own = [part for name, part in vars(value).items() if not name.startswith("_")]
        parts = [value.value, *own, *_attributes_of(type(value))]
    else:
        parts = [*_attributes_of(value), *(value if issubclass(value, enum.Enum) else ())]
    return [part for part in parts if not isinstance(part, _NO_VALUES)]


def _defaults_of(function: FunctionType) -> list[Any]:
    return [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]


def _closure_of(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # the cell is empty
            continue


def _globals_of(function: FunctionType) -> Iterator[Any]:
    """Yield the values of the global variables that a function reads; none if its package is installed.

    Functions and classes among them count only if they belong to the function's own module.
    """
    if is_installed(function.__module__):
        return
    for name in globals_read_by(function.__code__):
        value = function.__globals__.get(name)
        if not isinstance(value, (FunctionType, type)) or value.__module__ == function.__module__:
            yield value


@functools.lru_cache(maxsize=4096)
def is_installed(module: str | None) -> bool:
    """Whether the file of a module is in one of Python's library folders."""
    folders = Path(getattr(sys.modules.get(module or ""), "__file__", None) or "").parents
    return any(Path(prefix, lib) in folders for prefix in (sys.prefix, sys.base_prefix) for lib in ("lib", "lib64"))


@functools.lru_cache(maxsize=4096)
def globals_read_by(code: CodeType) -> tuple[str, ...]:
    names = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):  # a nested function or class
            names.update(globals_read_by(constant))
    return tuple(sorted(names))


def _attributes_of(kind: type) -> Iterator[Any]:
    """Yield the attributes of a class and of its bases, except for the members of an Enum."""
    for base in kind.__mro__:
        if base.__module__ in _KNOWN_MODULES or base.__module__.startswith("ferrule."):
            continue
        members = base.__members__ if issubclass(base, enum.Enum) else {}
        for name, value in vars(base).items():
            if isinstance(value, (staticmethod, classmethod)):
                value = value.__func__
            if name.startswith("__") and name.endswith("__") and name != "__call__":
                # Dataclasses and similar decorators generate many of these: only the defaults are the user's values.
                if isinstance(value, FunctionType):
                    yield from (part for part in _defaults_of(value) if type(part).__module__ != "dataclasses")
            elif isinstance(value, property):
                yield from (value.fget, value.fset)
            elif isinstance(value, functools.cached_property):
                yield value.func
            elif name != "_abc_impl" and name not in members and not (members and _is_of_enum(name)):
                yield value


def _is_of_enum(name: str) -> bool:
    return name.startswith("_") and name.endswith("_")  # internal attributes of Enum

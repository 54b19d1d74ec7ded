"""The values that a traced function reads from outside. They are constants of its graphs until one of them changes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator
from types import CellType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.array.host_memory import may_change
from ferrule.array.symbols import Symbol
from ferrule.graphs.changing_values import gives_changing_values
from ferrule.graphs.code_paths import Path, paths_in
from ferrule.graphs.static_keys import Function, is_installed

# Numbers and texts are compared by value.
_VALUES = (int, float, complex, str, np.generic)
_CONTAINERS = (dict, list, tuple)
_FUNCTIONS = (FunctionType, Function, MethodType, functools.partial)
_MOST = 20_000  # objects that are searched for arrays, and parts of one
_DEEPEST = 32  # of objects in objects
_MOST_NUMBERS = 256  # of a list, tuple or dict that are compared in each call


class Read(NamedTuple):
    """A place that a function reads, and what is there. The extension reads the first four parts.

    `place`: a cell, an object with attributes, a dict, list or tuple, or the global variables. `name`:
    "cell_contents", the attribute, the key or index, or None for the length. `known`: of an array its handle, of a
    number or text _VALUES, of NumPy's memory that can be written to some of its bytes, and otherwise None: then only
    the object is compared, such as a function, a dtype or None.
    """

    place: Any
    name: Any
    value: Any
    known: Any
    label: str
    is_inside: bool  # an item, an attribute or memory, and not what a name refers to


Call = Callable[[Path, Any, Any], None]  # of a path, its object, and the function whose code has it


class _Reader:
    """Collects what a function reads, and those of its module that it calls."""

    def __init__(self, module: str | None, called: Call) -> None:
        self.reads: dict[tuple[int, str], Read] = {}
        self.roots: list[tuple[Any, str]] = []
        self._module = module
        self._called = called
        self._seen: set[tuple[int, ...]] = set()

    def read(self, function: Any, passed: Collection[str] = ()) -> None:
        """Note what a function reads. `passed`: the parameters whose defaults it does not use."""
        function, itself, partials = _unwrapped(function)
        if not isinstance(function, FunctionType) or function.__module__ != self._module:
            return
        key = tuple(map(id, (function, itself, *partials)))
        if key in self._seen:
            return
        self._seen.add(key)
        code = function.__code__
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        for name, cell in cells.items():
            self._root(cell, "cell_contents", name)
        defaults = self._defaults(function, itself, partials, passed)
        for path in paths_in(code):
            if path.is_global:
                if path.name in function.__globals__:
                    value = self._root(function.__globals__, path.name, path.name)
                    self._follow(path, value, function)
            elif path.name in cells:
                self._follow(path, _contents_of(cells[path.name]), function)
            elif path.name in defaults:
                self._follow(path, defaults[path.name], function)
            elif itself is not None and code.co_varnames[:1] == (path.name,):
                self._add_root(itself, path.name)
                self._follow(path, itself, function)

    def _defaults(
        self, function: FunctionType, itself: Any, partials: list[functools.partial[Any]], passed: Collection[str]
    ) -> dict[str, Any]:
        """Note the values of parameters that are not passed: defaults, and arguments of `functools.partial`."""
        code = function.__code__
        positional = code.co_varnames[: code.co_argcount]
        places: dict[str, tuple[Any, Any]] = {}  # of each parameter, the tuple or dict and the index or key
        given = function.__defaults__ or ()
        places |= {name: (given, place) for place, name in enumerate(positional[len(positional) - len(given) :])}
        places |= {name: (function.__kwdefaults__, name) for name in function.__kwdefaults__ or ()}
        free = positional[itself is not None :]
        for partial in partials:
            places |= {name: (partial.args, place) for place, name in enumerate(free[: len(partial.args)])}
            places |= {name: (partial.keywords, name) for name in partial.keywords}
            free = free[len(partial.args) :]
        values: dict[str, Any] = {}
        for name, (place, index) in places.items():
            if name in passed:
                continue
            values[name] = value = place[index]
            if not (isinstance(place, tuple) and isinstance(value, _VALUES)):  # which cannot change
                self._root(place, index, name)
            for attribute in ("__defaults__", "__kwdefaults__"):
                if place is getattr(function, attribute) and _is_watched(value):
                    self._note(function, attribute, place, f"{function.__name__}.{attribute}", is_inside=False)
        return values

    def _root(self, place: Any, name: Any, label: str) -> Any:
        value = _contents_of(place) if isinstance(place, CellType) else place[name]
        self._note(place, name, value, label, is_inside=False)
        if isinstance(value, _FUNCTIONS):
            self.read(value)
        else:
            self._add_root(value, label)
        return value

    def _add_root(self, value: Any, label: str) -> None:
        if _may_hold(value):
            self.roots.append((value, label))

    def _follow(self, path: Path, value: Any, function: FunctionType) -> None:
        label = path.name
        for kind, name in path.steps:
            found = _item(value, name) if kind == "item" else _attribute(value, name)
            if found is None:
                break
            place, value = found
            label += f"[{name!r}]" if kind == "item" else f".{name}"
            if place is not None:
                self._note(place, name, value, label, is_inside=True)
        self._called(path, value, function)
        if isinstance(value, _FUNCTIONS):
            self.read(value)
        elif isinstance(value, _CONTAINERS):
            self._note(value, None, len(value), f"len({label})", is_inside=True)
            for name, item in _items_of(value) if len(value) <= _MOST_NUMBERS else ():
                if not isinstance(item, (Array, np.ndarray)) and not _may_hold(item):
                    self._note(value, name, item, f"{label}[{name!r}]", is_inside=True)

    def _note(self, place: Any, name: Any, value: Any, label: str, is_inside: bool) -> None:
        if not _is_watched(value):
            return
        known: Any = None
        if isinstance(value, Array):
            known = value._handle
        elif isinstance(value, np.ndarray):
            known = _ferrule.sample_of(value) if may_change(value) else None
        elif isinstance(value, _VALUES):
            known = _VALUES
        self.reads[id(place), repr(name)] = Read(place, name, value, known, label, is_inside)


def read_by(
    function: Any, called: Call, passed: Collection[str] = ()
) -> tuple[tuple[Read, ...], list[tuple[Any, str]]]:
    """Return what a function reads, and the objects of its names, which may hold arrays anywhere.

    What each path in the code leads to is passed to `called`. `passed`: the parameters that are passed in the call, so
    that their defaults are not read.
    """
    reader = _Reader(getattr(_unwrapped(function)[0], "__module__", None), called)
    reader.read(function, passed)
    return tuple(reader.reads.values()), reader.roots


def arrays_in(roots: list[tuple[Any, str]], is_used: Callable[[Array], bool]) -> Iterator[Read]:
    """Yield the places of the arrays in the objects, in their items and attributes, that are used.

    The places of the objects on the way to an array are among them.
    """
    seen: set[int] = set()
    left: list[tuple[Any, str, tuple[Read, ...]]] = [(holder, label, ()) for holder, label in roots]
    while left and len(seen) < _MOST:
        holder, label, way = left.pop()
        if id(holder) in seen or (isinstance(holder, _CONTAINERS) and len(holder) > _MOST):
            continue
        seen.add(id(holder))
        is_container = isinstance(holder, _CONTAINERS)
        place = holder if is_container else vars(holder)
        for name, value in _items_of(place):
            inner = f"{label}[{name!r}]" if is_container else f"{label}.{name}"
            if isinstance(value, Array):
                if not isinstance(value._handle, Symbol) and is_used(value):
                    yield from way
                    yield Read(place, name, value, value._handle, inner, is_inside=True)
            elif _may_hold(value) and len(way) < _DEEPEST:
                left.append((value, inner, (*way, Read(place, name, value, None, inner, is_inside=True))))


def _unwrapped(function: Any) -> tuple[Any, Any, list[functools.partial[Any]]]:
    """Return the innermost function, the `self` of a method, and the partials around it, the innermost first."""
    itself: Any = None
    partials: list[functools.partial[Any]] = []
    while isinstance(function, (Function, MethodType, functools.partial)):
        if isinstance(function, MethodType):
            function, itself = function.__func__, function.__self__
        elif isinstance(function, functools.partial):
            partials.insert(0, function)
            function = function.func
        else:
            function = getattr(function, "_function", None)
    return function, itself, partials


def _is_watched(value: Any) -> bool:
    """Whether a place with this value is compared in each call."""
    return not isinstance(value, ModuleType)


def _may_hold(value: Any) -> bool:
    """Whether the object is a container, or has attributes of its own, that may be arrays."""
    if isinstance(value, _CONTAINERS):
        return True
    known = (Array, np.ndarray, np.generic, np.dtype, type, ModuleType, *_FUNCTIONS)
    return not isinstance(value, known) and isinstance(getattr(value, "__dict__", None), dict)


def _items_of(holder: Any) -> Iterator[tuple[Any, Any]]:
    return iter(list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder)))


def _item(holder: Any, name: Any) -> tuple[Any, Any] | None:
    """Return the place of an item and its value; None if there is none."""
    if not isinstance(holder, _CONTAINERS):
        return None
    try:
        return holder, dict.__getitem__(holder, name) if isinstance(holder, dict) else holder[name]
    except (LookupError, TypeError):
        return None


def _attribute(holder: Any, name: str) -> tuple[Any, Any] | None:
    """Return the place of an attribute and its value; the place is None if it is not expected to change.

    Properties are not called: the result is None. Modules are asked: NumPy imports some of its own when they are read.
    """
    own = getattr(holder, "__dict__", None)
    if isinstance(own, dict) and name in own:
        is_fixed = isinstance(holder, ModuleType) and is_installed(holder.__name__)
        return None if is_fixed else own, own[name]
    for kind in () if isinstance(holder, _CONTAINERS) else type(holder).__mro__:
        if name in vars(kind):
            value = vars(kind)[name]
            if isinstance(value, (MemberDescriptorType, *_VALUES, *_CONTAINERS, Array, np.ndarray)):
                return (holder, getattr(holder, name)) if hasattr(holder, name) else None
            if isinstance(value, FunctionType):
                return None, MethodType(value, holder)
    if isinstance(holder, ModuleType):
        try:
            return None, getattr(holder, name)
        except (AttributeError, ImportError):
            return None
    if isinstance(holder, type) or gives_changing_values(holder):
        return holder if isinstance(holder, type) else None, getattr(holder, name, None)
    return None


def _contents_of(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the cell is empty
        return None


def changed_among(reads: tuple[Read, ...]) -> Read | None:
    """Return the first place whose value is another one than it was."""
    for read in reads:
        if has_changed(read):
            return read
    return None


def value_at(read: Read) -> Any:
    """Return what is in a place now."""
    place, name = read.place, read.name
    if name is None:
        return len(place)
    if isinstance(place, dict):
        return dict.get(place, name)
    if isinstance(place, (list, tuple)):
        return place[name] if -len(place) <= name < len(place) else None
    return _contents_of(place) if isinstance(place, CellType) else getattr(place, name, None)


def has_changed(read: Read) -> bool:
    now = value_at(read)
    if read.known is _VALUES:
        return now is not read.value and (type(now) is not type(read.value) or now != read.value)
    if read.name is None:
        return bool(now != read.value)
    if now is not read.value:
        return True
    if isinstance(read.known, bytes):
        return has_other_bytes(read)
    return read.known is not None and now._handle is not read.known


def has_other_bytes(read: Read) -> bool:
    """Return whether the memory of a NumPy array was written to."""
    return isinstance(read.known, bytes) and _ferrule.sample_of(read.value) != read.known


def put_back(read: Read) -> None:
    """Put the value of before into a place."""
    if isinstance(read.place, (dict, list)):
        read.place[read.name] = read.value
    else:
        setattr(read.place, read.name, read.value)

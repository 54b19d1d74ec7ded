"""Traced functions: they run once for each signature, on symbols; from then on the recorded graph is computed."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypeVar

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.array.numbers import Numbers
from ferrule.array.symbols import Symbol, on_thread, users_frame, users_line
from ferrule.dtypes.default_dtypes import default_dtype
from ferrule.errors import InvalidArgumentError, TracingError
from ferrule.functions.asarray import asarray
from ferrule.graphs.changing_values import is_changing, reads_environment
from ferrule.graphs.closed_over import (
    Read,
    arrays_in,
    changed_among,
    has_changed,
    has_other_bytes,
    put_back,
    read_by,
    value_at,
)
from ferrule.graphs.code_paths import Path
from ferrule.graphs.eager_comparison import difference_of
from ferrule.graphs.graph import Graph
from ferrule.graphs.options import donated_places, static_arguments
from ferrule.graphs.pickling import Place, attribute_function
from ferrule.graphs.static_keys import Function, MayHoldArraysError
from ferrule.graphs.structure import (
    Arguments,
    Static,
    Structure,
    fill,
    has_number,
    is_among,
    labels_of,
    put_together,
    result_of,
)
from ferrule.loading.device_lookup import device, handle_of
from ferrule.loading.devices import Device

if TYPE_CHECKING:
    import weakref


class CacheInfo(NamedTuple):
    """The statistics of a traced function's cache, as in functools.lru_cache."""

    hits: int
    misses: int
    maxsize: int
    currsize: int


P = ParamSpec("P")
R = TypeVar("R")


class TracedFunction(_ferrule.TracedCall, Function, Generic[P, R]):
    """A function that is computed as a graph; made by `graph`.

    Examples
    --------
    >>> @fe.graph
    ... def double(x):
    ...     return x * 2
    >>> double(fe.ones(2)).tolist()
    [2.0, 2.0]
    >>> double
    <ferrule.graph of double>
    """

    _watched: tuple[Read, ...] | None = None  # for the extension: None where `_read` is empty

    if TYPE_CHECKING:  # the extension has the call; this is its signature

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __init__(
        self,
        function: Callable[P, R],
        cache_size: int,
        on: Device | str | None,
        fallback: str,
        fuse: bool,
        donate: tuple[int, ...] = (),
        static: tuple[int | str, ...] = (),
        check: bool = False,
    ) -> None:
        if not callable(function):
            raise TracingError(f"graph: takes a function, and {function!r} is not callable")
        if fallback not in ("warn", "allow", "error"):
            raise InvalidArgumentError(f'graph: fallback is "warn", "allow" or "error", not {fallback!r}')
        if type(cache_size) is not int or not 0 <= cache_size < 2**31:
            raise InvalidArgumentError(f"graph: cache_size is a number of graphs, not {cache_size!r}")
        functools.update_wrapper(self, function, updated=())
        self._function = function
        self._fallback, self._fuse = fallback, fuse
        self._device = on
        self._donate = donated_places(donate)
        self._size = cache_size
        self._structures: dict[Structure, int] = {}
        # Numbers are never reused: a thread may hold one from before `_structures` was cleared.
        self._unused_numbers = itertools.count()
        self._calls = _ferrule.Calls(cache_size)
        self._static = static_arguments(function, static)
        self._check = check
        self._read: tuple[Read, ...] = ()
        self._warned_of: set[str] = set()
        self._is_plain = not self._donate and not self._static and not check

    def _explain(self, error: BaseException, args: tuple[Any, ...]) -> None:
        """Raise a more specific error for a failed call whose arguments are all arrays, if there is one."""
        if isinstance(error, InvalidArgumentError):
            self._refuse_donated(*self._take_apart(args, {}))

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        structure, arguments = self._take_apart(args, kwargs)
        changed = changed_among(self._read)
        if changed is not None:
            self._calls.clear()  # its graphs have the values of before as constants
            self._read, self._watched = (), None
            if changed.is_inside or has_other_bytes(changed):
                self._warn_once(
                    "changes",
                    f"{self!r}: {changed.label} has changed since the function was traced, so it is traced again, as "
                    "after each change; pass as an argument what changes between calls",
                )
        if on_thread.graph is not None or any(isinstance(array._handle, Symbol) for array in arguments.arrays):
            # Called while another function is traced, or while a graph is built by hand: inlined into that graph.
            return self._run(structure, arguments.arrays, arguments.numbers)
        if self._check:
            return self._compute_and_check(structure, arguments, args, kwargs)
        return self._compute(structure, arguments, args, kwargs)

    def _compute(
        self, structure: Structure, arguments: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Return the result of the graph of the call, which is traced if there is none."""
        handles: list[_ferrule.Array] = [array._handle for array in arguments.arrays]  # type: ignore[misc]
        number = self._number(structure, len(args), bool(kwargs))
        donation: tuple[list[bool], str] = ([], "")
        views: list[Array] = []  # of donated arrays: they keep their values
        if self._donate:
            self._refuse_donated(structure, arguments)  # before the call, which may donate them and then fail
            place = f"{self._name()}() at {users_line()}".replace("\0", "")
            donation = self._find_donated(structure, len(args)), place.encode("utf-8", "replace").decode()
            views = [
                view
                for array in itertools.compress(arguments.given, donation[0])
                for view in (array, *_ferrule.views_of(array))
                if view._handle  # a view that was not read since an assignment is cut now
            ]
        try:
            result = self._calls.run(number, handles, arguments.numbers, *donation)
        except InvalidArgumentError:
            if not self._donate:
                self._refuse_donated(structure, arguments)
            raise
        if result is NotImplemented:
            result = self._first_result(structure, arguments, number, handles, donation)
        for view in views:
            _ferrule.end_view(view)
        return result

    def _first_result(
        self,
        structure: Structure,
        arguments: Arguments,
        number: int,
        handles: list[_ferrule.Array],
        donation: tuple[list[bool], str],
    ) -> Any:
        """Trace the function, keep its graph, and return the result."""
        # No lock is held: the function may call functions that other threads trace and that call this one.
        graph, finish = self._trace(structure, arguments, donation[0] or [False] * len(handles))
        compiled = graph.compile(fallback=self._fallback, fuse=self._fuse)._compiled_handle()
        scalars_of = graph._numbers.scalars_of if arguments.numbers else None
        is_one_array = finish == 0 and len(graph.outputs) == 1
        # `scalars_of` computes the numbers of a call already. They are computed again only if the result has one.
        numbers = graph._numbers if has_number(finish) else Numbers()
        finish_all = None if is_one_array else functools.partial(_finish, finish, numbers)
        return self._calls.add(number, handles, arguments.numbers, compiled, scalars_of, finish_all, *donation)

    def _compute_and_check(
        self, structure: Structure, arguments: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Return the result of the graph, after comparing it with that of an eager run."""
        copies = [array._snapshot() for array in arguments.arrays]
        given, named = self._put_together(structure, copies, arguments.numbers)
        wanted = self._function(*given, **named)
        got = self._compute(structure, arguments, args, kwargs)
        difference = difference_of(got, wanted)
        if difference is not None:
            raise TracingError(
                f"{self!r}: {difference}. A graph repeats what the function did while it was traced: it has no "
                "effects, and keeps the values that the function read then"
            )
        return got

    def _find_donated(self, structure: Structure, count: int) -> list[bool]:
        """Return for each array of a call whether it is donated."""
        if self._donate[-1] >= count:
            raise InvalidArgumentError(f"{self!r}: argument {self._donate[-1]} is donated, and {count} are given")
        children = (*structure[0][1:], *structure[2:])
        return [place in self._donate for place, child in enumerate(children) for _ in labels_of(child, "", ("array",))]

    def _refuse_donated(self, structure: Structure, arguments: Arguments) -> None:
        """Raise an error that names the argument if an argument was donated before."""
        if any(array._donation() for array in arguments.arrays):
            for array, label in zip(arguments.arrays, self._labels(structure, "array"), strict=True):
                array._refuse_donated(f"{self._name()}(): argument {label}")

    def _take_apart(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Structure, Arguments]:
        arguments = Arguments(lambda value: asarray(value, device=self._device))
        children: list[Structure] = []
        names = (*range(len(args)), *kwargs)
        for place, value in enumerate((*args, *kwargs.values())):
            try:
                if self._static and names[place] in self._static:
                    children.append(("static", Static(value.item() if isinstance(value, np.generic) else value)))
                else:
                    children.append(arguments.take(value))
            except MayHoldArraysError as error:
                raise self._refusal(place, args, kwargs, error.value) from None
        structure = ("call", *children[: len(args)]), tuple(kwargs), *children[len(args) :]
        return structure, arguments

    def _refusal(self, place: int, args: tuple[Any, ...], kwargs: dict[str, Any], value: object) -> TracingError:
        given, kind = (*args, *kwargs.values())[place], type(value)
        which = self._names(len(args), tuple(kwargs))[place]
        verb = "is" if given is value else "holds"
        if (*range(len(args)), *kwargs)[place] in self._static:
            return TracingError(
                f"{self!r}: argument '{which}' is static, and {verb} a {kind.__module__}.{kind.__qualname__}, which "
                "may hold arrays: static arguments are numbers, strings, None, bools, dtypes, or consist of such"
            )
        if hasattr(kind, "__dlpack__") and not isinstance(value, (Array, np.ndarray)):
            return TracingError(
                f"{self!r}: argument '{which}' {verb} a {kind.__module__}.{kind.__qualname__}; pass an array instead: "
                "use ferrule.from_dlpack(x)"
            )
        return TracingError(
            f"{self!r}: argument '{which}' {verb} a {kind.__module__}.{kind.__qualname__}. A graph would keep the "
            "arrays in it as they are now, and not see when they are replaced. Pass its arrays, in a tuple, list, "
            "dict or dataclass, or register its class by ferrule.register_container; or trace a function that closes "
            "over it, such as `self.run = ferrule.graph(self._run)` of a method: then the arrays in it are constants "
            "of the graph. Other arguments are numbers, strings, None, bools, "
            "dtypes, devices, frozen dataclasses of such, and functions, classes and members of an Enum without arrays "
            "in their defaults, closures, global variables, attributes or values; what a ferrule.graph(function) "
            "closes over is constant."
        )

    def _names(self, count: int, keywords: tuple[str, ...]) -> list[str]:
        """Return the names of a call's arguments: of `count` positional ones, and of the keyword arguments."""
        names: list[str] = []
        try:
            parameters = [*inspect.signature(self._function).parameters.values()]
        except (TypeError, ValueError):
            parameters = []
        for parameter in parameters:
            if parameter.kind is parameter.VAR_POSITIONAL:
                names += [f"{parameter.name}[{place}]" for place in range(count - len(names))]
            elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                names.append(parameter.name)
        return [*names[:count], *map(str, range(len(names), count)), *keywords]

    def _number(self, structure: Structure, count: int, has_keywords: bool) -> int:
        """Return a number for the structure and the default dtype.

        For n arrays and nothing else, and float32, it is -n, as in the extension.
        """
        dtype = default_dtype()
        if dtype != "float32":
            structure = (structure, dtype)
        elif not has_keywords and count and all(child == ("array",) for child in structure[0][1:]):
            return -count
        number = self._structures.get(structure)
        if number is None:
            if len(self._structures) >= 16 * max(self._size, 1):  # most of their graphs have left the cache
                self._structures.clear()
            number = self._structures.setdefault(structure, next(self._unused_numbers))  # or another thread's
        return number

    def _trace(self, structure: Structure, arguments: Arguments, dense: Sequence[bool]) -> tuple[Graph, Any]:
        """Return the graph and the structure of the result.

        `dense`: for which arrays the graph has C-contiguous inputs; other arrays are copied to them. Donated arrays are
        among them: memory that is not dense cannot become that of a result.
        """
        graph = Graph(self._place(arguments.arrays))
        numbers = [
            graph._operand(number, label)
            for number, label in zip(arguments.numbers, self._labels(structure, "int", "float"), strict=True)
        ]
        inputs = [
            graph.input(array.shape, array.dtype) if is_dense else graph._input_like(array)
            for array, is_dense in zip(arguments.arrays, dense, strict=True)
        ]
        graph._assigned = {}
        passed = self._names(len(structure[0]) - 1, structure[1])
        read, roots = read_by(self._function, self._warn_of_changing_values, passed)
        outputs: list[Array] = []
        value: Any = None
        outer, on_thread.graph = on_thread.graph, graph
        _ferrule.count_trace(1)
        try:
            value = self._run(structure, inputs, numbers)
            finish = result_of(value, outputs)
            # A graph needs an output, even if all results are constants.
            graph.output(*(outputs or [graph.constant(np.zeros(0, np.float32))]))
        except MayHoldArraysError as error:
            kind = type(error.value)
            raise TracingError(
                f"{self!r}: the result {'is' if error.value is value else 'holds'} a {kind.__module__}."
                f"{kind.__qualname__}, whose arrays a graph cannot compute: return them in a tuple, list, dict "
                "or dataclass"
            ) from None
        finally:
            _ferrule.count_trace(-1)
            on_thread.graph = outer
            _give_back(graph._assigned.values(), value)
        graph._close()
        self._watch(read, roots, graph)
        return graph, finish

    def _watch(self, read: tuple[Read, ...], roots: list[tuple[Any, str]], graph: Graph) -> None:
        """Note what calls compare before they use a graph: what it read, unless the trace itself changed that."""
        used = arrays_in(roots, lambda array: array._handle.identity in graph._constants)  # type: ignore[union-attr]
        for one in read:
            value = value_at(one)
            if isinstance(value, Array) and isinstance(value._handle, Symbol):
                put_back(one)
                _warn_of_assignment(one.label)
        known = {(id(one.place), repr(one.name)): one for one in (*self._read, *read, *used) if not has_changed(one)}
        self._read = tuple(known.values())
        self._watched = self._read or None

    def _warn_of_changing_values(self, path: Path, value: Any, function: FunctionType) -> None:
        if reads_environment(value):
            about = "reads environment variables"
            advice = "pass the value as an argument"
        elif is_changing(value, path.argument_count):
            about = f"calls {'.'.join([path.name, *(str(name) for _, name in path.steps)])}()"
            advice = "pass the value as an argument, or use ferrule.random with a key that is an argument"
        else:
            return
        self._warn_once(
            about,
            f"{self!r}: the function {about} while it is traced, and all calls of the graph use that value; {advice}",
            (function.__code__.co_filename, path.line),
        )

    def _warn_once(self, about: str, text: str, place: tuple[str, int] | None = None) -> None:
        if about in self._warned_of:
            return
        self._warned_of.add(about)
        if place is not None:
            warnings.warn_explicit(text, UserWarning, *place)
        else:
            warnings.warn(text, UserWarning, stacklevel=users_frame()[1])

    def _run(self, structure: Structure, arrays: Sequence[Array], numbers: Sequence[Any]) -> Any:
        """Call the function with these arguments, and warn of each array among them that it assigned to."""
        given = [array._handle for array in arrays]
        args, kwargs = self._put_together(structure, arrays, numbers)
        value = self._function(*args, **kwargs)
        for array, handle, label in zip(arrays, given, self._labels(structure, "array"), strict=True):
            if array._handle is not handle and not is_among(array, value):
                _warn_of_assignment(f"argument {label}")
        return value

    def _put_together(
        self, structure: Structure, arrays: Sequence[Array], numbers: Sequence[Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        each_array, each_number = iter(arrays), iter(numbers)
        args = [put_together(child, each_array, each_number) for child in structure[0][1:]]
        named = zip(structure[1], structure[2:], strict=True)
        return args, {name: put_together(child, each_array, each_number) for name, child in named}

    def _labels(self, structure: Structure, *kinds: str) -> list[str]:
        """Return the names of the parts of the arguments that have these kinds."""
        children = (*structure[0][1:], *structure[2:])
        pairs = zip(children, self._names(len(structure[0]) - 1, structure[1]), strict=True)
        return [label for child, name in pairs for label in labels_of(child, name, kinds)]

    def _place(self, arrays: Sequence[Array]) -> Device:
        if self._device is not None:
            return device(self._device)
        return arrays[0].device if arrays else Device(handle_of(None))

    def trace(self, *args: Any, **kwargs: Any) -> Graph:
        """Return the graph that a call with these arguments computes, for C-contiguous arrays.

        Parameters
        ----------
        *args, **kwargs : object
            The arguments of the call.

        Returns
        -------
        Graph
            A new graph, whose inputs are the arrays among the arguments.

        Raises
        ------
        TracingError
            As for `graph`.

        Examples
        --------
        >>> fe.graph(lambda x: x * 2).trace(fe.ones((2, 3), device="cpu"))
        Graph(cpu:0, inputs=1, ops=1, outputs=1)
        """
        structure, arguments = self._take_apart(args, kwargs)
        return self._trace(structure, arguments, [True] * len(arguments.arrays))[0]

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        """Pickle the function without its graphs, by function and options; a decorated one as functions are pickled."""
        is_decorated = self._is_found_by_name()
        if is_decorated and protocol < 4:  # these protocols have no names of attributes
            return self.__qualname__  # type: ignore[no-any-return, attr-defined]
        on = None if self._device is None else str(self._device)
        options = (self._size, on, self._fallback, self._fuse, self._donate, (*self._static,), self._check)
        # The function comes with the state, as it may be a method of an object that has this one, or call this one.
        if is_decorated:
            return self._itself, (), (self._undecorated, True, *options)
        return object.__new__, (TracedFunction,), (self._function, False, *options)

    @functools.cached_property
    def _itself(self) -> Callable[[], Any]:
        return attribute_function(self, "_itself", Place(self))

    @functools.cached_property
    def _undecorated(self) -> Callable[[], Any]:
        return attribute_function(self, "_undecorated", self._function)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        function, is_decorated, *options = state
        if "_function" not in vars(self):  # otherwise the function was found by its name
            self.__init__(function() if is_decorated else function, *options)  # type: ignore[misc]

    def _is_found_by_name(self) -> bool:
        found: Any = sys.modules.get(getattr(self, "__module__", ""))
        for name in getattr(self, "__qualname__", "").split("."):
            found = getattr(found, name, None)
        return found is self

    def cache_info(self) -> CacheInfo:
        """Return the statistics of the cache of compiled graphs.

        Returns
        -------
        CacheInfo
            Hits, misses, maximum size and current size.

        Examples
        --------
        >>> double = fe.graph(lambda x: x * 2)
        >>> _ = double(fe.ones(2)), double(fe.ones(2)), double(fe.ones(3))
        >>> double.cache_info()
        CacheInfo(hits=1, misses=2, maxsize=64, currsize=2)
        """
        return CacheInfo(*self._calls.info())

    def cache_clear(self) -> None:
        """Remove all compiled graphs from the cache. Hits and misses go on counting.

        Examples
        --------
        >>> double = fe.graph(lambda x: x * 2)
        >>> _ = double(fe.ones(2))
        >>> double.cache_clear()
        >>> double.cache_info().currsize
        0
        """
        self._calls.clear()

    def __repr__(self) -> str:
        return f"<ferrule.graph of {self._name()}>"

    def _name(self) -> str:
        return str(getattr(self._function, "__qualname__", self._function))


def _finish(structure: Any, numbers: Numbers, results: list[Array], operands: Sequence[Any]) -> Any:
    return fill(structure, results, numbers.values_of(operands))


def _give_back(assigned: Iterable[tuple[weakref.ref[Array], _ferrule.Array]], value: Any) -> None:
    """Restore arrays that a traced function assigned to and that outlive it."""
    for reference, handle in assigned:
        array = reference()
        if array is not None:
            array._handle = handle
            if not is_among(array, value):
                _warn_of_assignment("an array from outside the function")


def _warn_of_assignment(subject: str) -> None:
    _, level = users_frame()
    warnings.warn(
        f"{subject} was assigned to inside the graph; the caller's array does not change; return the new value",
        UserWarning,
        stacklevel=level,
    )

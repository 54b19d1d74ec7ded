"""`ferrule.graph(f)`, the decorator that makes a traced function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar, overload

from ferrule.graphs.options import donated_places, static_options
from ferrule.graphs.tracing import TracedFunction
from ferrule.loading.devices import Device

P = ParamSpec("P")
R = TypeVar("R")


@overload
def graph(function: Callable[P, R], /) -> TracedFunction[P, R]: ...


@overload
def graph(
    function: None = None,
    /,
    *,
    cache_size: int = 64,
    device: Device | str | None = None,
    fallback: str = "warn",
    fuse: bool = True,
    donate: int | Sequence[int] = (),
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    check: bool = False,
) -> Callable[[Callable[P, R]], TracedFunction[P, R]]: ...


@overload
def graph(
    function: Callable[P, R],
    /,
    *,
    cache_size: int = 64,
    device: Device | str | None = None,
    fallback: str = "warn",
    fuse: bool = True,
    donate: int | Sequence[int] = (),
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    check: bool = False,
) -> TracedFunction[P, R]: ...


def graph(
    function: Callable[P, R] | None = None,
    /,
    *,
    cache_size: int = 64,
    device: Device | str | None = None,
    fallback: str = "warn",
    fuse: bool = True,
    donate: int | Sequence[int] = (),
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    check: bool = False,
) -> TracedFunction[P, R] | Callable[[Callable[P, R]], TracedFunction[P, R]]:
    """Make a function compute as a graph, which is traced and compiled once for each signature; also a decorator.

    Any thread may call the traced function at any time. Threads that make the first call of a signature at the same
    time may each run `function`; the graph that is finished first is kept.

    Parameters
    ----------
    function : callable
        The function. It runs once for each signature, with arrays that have a shape and a dtype, but no values.
    cache_size : int
        The number of graphs to keep: the least recently used ones are dropped.
    device : Device or str, optional
        The device of NumPy arrays among the arguments, and of the graph; by default that of the first array.
    fallback : {"warn", "allow", "error"}
        What to do about ops that the device does not support: run them on the CPU with a warning, run them on the CPU
        without one, or raise an error.
    fuse : bool
        Whether elementwise ops are fused.
    donate : int or tuple of int
        The places of positional arguments whose arrays the caller does not use again. A result that equals such an
        array except for a slice (`update_slice`, `x[i] = row`) is written into its memory, and only the slice is
        written. If the memory is shared with a view, a pending array or NumPy, the array is copied. A donated array
        keeps its shape and dtype; any other use is an `InvalidArgumentError` that names the call.
    static_argnums : int or tuple of int
        The places of arguments that are part of the signature: the function is traced once for each of their values,
        which may then be shapes, axes and conditions.
    static_argnames : str or tuple of str
        The same by name. A parameter is static however it is passed.
    check : bool
        For debugging: each call also runs `function` eagerly, and raises `TracingError` if the results differ by more
        than rounding: the function has an effect or reads a value that the graph does not know of.

    Returns
    -------
    TracedFunction
        Called like the function. Without `function`, a decorator is returned.

    Raises
    ------
    TracingError
        `function` is not callable. A call raises it if an argument may hold arrays, if the function needs the value of
        an array, if it returns an object other than a tuple, list or dict that may hold arrays, or if `check` finds a
        difference.
    InvalidArgumentError
        An option is invalid.

    Notes
    -----
    The signature consists of the structure of the arguments (tuples, lists, dicts, dataclasses and classes registered
    by `register_container`) and the dtype, shape, strides and device of the arrays in them. Python ints and floats are
    operands that may change between calls; Python computes what depends only on them, as without the graph. Numbers
    in frozen dataclasses are part of the signature. Arrays that the function closes over are constants; the function is
    traced again when a closure, a default or a global variable refers to another array, number or text.

    Other arguments are part of the signature. By value: None, bool, str, bytes, complex, ints beyond 64 bits, dtypes,
    types, devices, slices, frozensets, `functools.partial` and frozen dataclasses. By identity and by the values that
    they refer to (defaults, closures, global variables, attributes): functions, classes and members of an Enum. All
    other objects may hold arrays that change, and are refused; so is the `self` of a decorated method.

    Examples
    --------
    >>> @fe.graph
    ... def scaled(x, factor):
    ...     return x * factor + 1
    >>> scaled(fe.ones(2), 3).tolist(), scaled(fe.ones(2), 4).tolist()
    ([4.0, 4.0], [5.0, 5.0])
    >>> scaled.cache_info().currsize
    1
    """
    static = static_options(static_argnums, static_argnames)
    if function is None:
        return lambda decorated: TracedFunction(
            decorated, cache_size, device, fallback, fuse, donated_places(donate), static, check
        )
    return TracedFunction(function, cache_size, device, fallback, fuse, donated_places(donate), static, check)

"""NumPy's functions on arrays (NEP 18): `numpy.concatenate([x, y])` of two arrays is an array on their device.

A public function of ferrule computes the function of NumPy that has its name, where it takes the arguments; an argument
of the same name has the same meaning. NumPy's own code computes the other functions. It calls methods of `Array` where
they exist, as `numpy.sum(x)` does, and otherwise computes on the host: then the result is a NumPy array.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from ferrule.array.array import Array
from ferrule.dtypes.classification import class_of, is_complex, is_floating
from ferrule.errors import DTypeError, InvalidArgumentError, UnsupportedError
from ferrule.functions import nan_reductions
from ferrule.functions.asarray import list_beside
from ferrule.functions.type_information import finfo

# NumPy's code computes these, although ferrule has functions of these names: callers get NumPy's arrays and dtypes.
_NUMPYS_OWN = frozenset(
    (
        *("broadcast_arrays", "can_cast", "meshgrid", "result_type", "split", "unstack"),
        *("argwhere", "bincount", "compress", "flatnonzero", "histogram", "nonzero"),
        *("unique_all", "unique_counts", "unique_inverse", "unique_values"),
        *("average", "cumulative_prod", "cumulative_sum", "interp", "linspace", "ptp"),
        *("linalg.cross", "linalg.diagonal", "linalg.matrix_norm", "linalg.matrix_rank", "linalg.outer"),
        *("linalg.svdvals", "linalg.trace", "linalg.vecdot", "linalg.vector_norm"),
    )
)
_MODULES: dict[str, Any] = {"": np, "fft.": np.fft, "linalg.": np.linalg}  # NumPy's, by the names of ferrule's
_IGNORED = ("assume_unique", "kind")  # arguments that make no difference: all sorting is stable


class _Namesake(NamedTuple):
    """The function of ferrule that computes a function of NumPy, and how NumPy's arguments are passed on to it."""

    function: Callable[..., Any]
    by_position: int  # the number of leading arguments, which may have other names
    by_name: frozenset[str]  # the others that ferrule takes
    names: tuple[str, ...]  # of the arguments that NumPy takes after the leading ones
    defaults: Mapping[str, object]  # of NumPy's arguments


# Functions that sort or find NaN by means of the dtype's `kind`, beside those whose names begin with "nan".
_LOOK_FOR_NAN = frozenset(
    (
        *("argpartition", "argsort", "digitize", "lexsort", "partition", "searchsorted", "sort", "sort_complex"),
        *("intersect1d", "isin", "setdiff1d", "setxor1d", "union1d"),
        *("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
        *("histogram", "histogram2d", "histogram_bin_edges", "histogramdd", "median", "percentile", "quantile"),
        *("array_equal", "cumprod", "cumsum"),
    )
)


def call(
    like: Array,
    function: Callable[..., Any],
    types: Iterable[type],
    arguments: Sequence[Any],
    options: Mapping[str, Any],
) -> Any:
    """Compute what NumPy would: with ferrule if it has the function, and else by NumPy's own code."""
    if not all(issubclass(each, (Array, np.ndarray)) for each in types):
        return NotImplemented  # a type of another library, which may know what to do
    if isinstance(options.get("out"), np.ndarray):  # which NumPy writes
        on_host = [np.asarray(x) if isinstance(x, Array) else x for x in arguments]
        return function(*on_host, **{k: np.asarray(v) if isinstance(v, Array) else v for k, v in options.items()})
    try:
        result = _computed(function, arguments, options)
    except (DTypeError, InvalidArgumentError, UnsupportedError):
        result = None  # NumPy's code computes it, or says what is wrong
    if result is not None:
        return result
    own: Callable[..., Any] | None = getattr(function, "_implementation", None)
    if own is None:
        return _created(like, function, arguments, options)
    if function.__name__ in _LOOK_FOR_NAN or function.__name__.startswith("nan"):
        return _in_float32(function.__name__, own, arguments, options)
    return own(*arguments, **options)


def _computed(function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return what ferrule computes, or None if it does not have the function with these arguments."""
    name = function.__name__
    if name in _WRITTEN and getattr(np, name) is function:
        return _WRITTEN[name](*arguments, **options)
    namesake = _namesake(function)
    given = _passed(namesake, arguments, options) if namesake else None
    return namesake.function(*given[0], **given[1]) if namesake and given else None


@cache
def _namesake(function: Callable[..., Any]) -> _Namesake | None:
    """Return the function of ferrule of the same name. NumPy's code itself calls the methods with its arguments."""
    name = function.__name__
    module = next((own for own, numpys in _MODULES.items() if getattr(numpys, name, None) is function), None)
    if module is None or module + name in _NUMPYS_OWN:
        return None
    if not hasattr(function, "_implementation"):  # it makes an array by like=x
        return None
    namespace = getattr(Array._namespace, module[:-1]) if module else Array._namespace
    if name not in namespace.__all__:
        return None
    own = getattr(namespace, name)
    own = getattr(own, "__wrapped__", own)  # without the advice for wrong arguments
    if own.__module__.split(".")[1] not in ("functions", "fft", "linalg"):  # as `ferrule.trace`
        return None
    methods = inspect.unwrap(own).__globals__.get("ARRAY_METHODS", {})
    if not module and hasattr(Array, name) and name not in methods:
        return None
    parameters = inspect.signature(own).parameters.values()
    takes = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    leading = sum(each.kind is each.POSITIONAL_ONLY for each in parameters)
    try:
        numpys = list(inspect.signature(function).parameters.values())
    except ValueError:  # of functions in C before NumPy 2.4: one argument may follow
        return _Namesake(own, leading, frozenset(takes), tuple(takes[:1]), {})
    if any(each.kind is each.VAR_POSITIONAL for each in numpys):
        leading = sys.maxsize
    names = tuple(each.name for each in numpys[leading:] if each.kind is not each.KEYWORD_ONLY)
    return _Namesake(own, leading, frozenset(takes), names, {each.name: each.default for each in numpys})


def _passed(
    namesake: _Namesake, arguments: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]] | None:
    """Return the arguments for ferrule, or None where NumPy's have no counterpart."""
    leading, rest = arguments[: namesake.by_position], arguments[namesake.by_position :]
    if len(rest) > len(namesake.names):
        return None
    named = {}
    for name, value in (*zip(namesake.names, rest, strict=False), *options.items()):
        if name in namesake.by_name:
            if value is not namesake.defaults.get(name, ...):  # such as keepdims=<no value>
                named[name] = value
        elif name not in _IGNORED and value is not namesake.defaults.get(name):  # such as out=None
            return None
    return leading, named


def _created(like: Array, function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return what a function with `like=x` makes, on the device of x."""
    if arguments and isinstance(arguments[0], Array):  # numpy.asarray(x, dtype, like=y)
        array, *rest = arguments
        dtype = rest[0] if rest else options.get("dtype")
        return Array._namespace.asarray(array, dtype=dtype, copy=options.get("copy"), device=like.device)
    made = function(*arguments, **options)
    is_numeric = made.dtype.kind in "biufc" or class_of(made.dtype) != ""
    return Array._namespace.asarray(made, device=like.device) if is_numeric else made


def _in_float32(name: str, own: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Call NumPy's code with float32 in place of bfloat16 and float8, of which it does not know that they have NaN.

    The result is in the arrays' dtype, if that is the same for all.
    """
    dtypes: set[np.dtype[Any]] = set()

    def widened(value: Any) -> Any:
        if isinstance(value, (list, tuple)) and any(isinstance(each, (Array, list, tuple)) for each in value):
            return type(value)(map(widened, value))
        if not isinstance(value, (Array, np.ndarray)):
            return value
        if value.dtype.kind != "b":
            dtypes.add(value.dtype)
        return np.asarray(value).astype(np.float32) if _is_narrow(value.dtype) else value

    def narrowed(value: Any) -> Any:
        if isinstance(value, tuple):
            parts = map(narrowed, value)
            return value._make(parts) if hasattr(value, "_make") else tuple(parts)
        return value.astype(dtype) if getattr(value, "dtype", None) == np.float32 else value

    given = [widened(value) for value in arguments]
    named = {key: widened(value) for key, value in options.items()}
    if not any(map(_is_narrow, dtypes)):
        return own(*arguments, **options)
    (dtype,) = dtypes if len(dtypes) == 1 else (np.dtype(np.float32),)
    if name == "nan_to_num":  # the greatest float32 would become infinite
        limits = finfo(dtype)
        named = {"posinf": limits.max, "neginf": limits.min, **{k: v for k, v in named.items() if v is not None}}
    return narrowed(own(*given, **named))


def _is_narrow(dtype: np.dtype[Any]) -> bool:
    return is_floating(dtype) and dtype.type.__module__ != "numpy"


def _einsum(subscripts: Any, *operands: Any, dtype: Any = None, out: object = None, **_: Any) -> Array | None:
    if out is not None or (dtype is not None and not isinstance(subscripts, str)):
        return None
    if dtype is not None:
        operands = tuple(Array._namespace.asarray(x).astype(dtype) for x in operands)
    result: Array = Array._namespace.einsum(subscripts, *operands)
    return result


def _where(condition: Any, *values: Any) -> Array | None:
    if len(values) != 2:
        return None
    flags = condition if isinstance(condition, Array) else np.asarray(condition)
    result: Array = Array._namespace.where(flags, *values)
    return result


def _ravel(x: Any, order: str = "C") -> Array | None:
    if order != "C":
        return None
    result: Array = Array._namespace.ravel(x)
    return result


def _reshape(x: Any, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> Array | None:
    if order != "C" or (shape is None) == (newshape is None):
        return None
    result: Array = Array._namespace.reshape(x, newshape if shape is None else shape, copy=copy)
    return result


def _vdot(a: Any, b: Any) -> Array:
    """Return the product of all elements, the first ones conjugated."""
    module = Array._namespace
    device = next((x.device for x in (a, b) if isinstance(x, Array)), None)
    operands = (x if isinstance(x, Array) else list_beside("vdot", x, other, device) for x, other in ((a, b), (b, a)))
    result: Array = module.vecdot(*(module.reshape(x, (-1,)) for x in operands))
    return result


def _nan_extreme(op: Literal["argmax", "argmin"]) -> Callable[..., Array | None]:
    def function(x: Any, axis: int | None = None, out: object = None, *, keepdims: Any = False) -> Array | None:
        if out is not None or not isinstance(x, Array) or is_complex(x.dtype):
            return None
        return nan_reductions.index_of_extreme(op, x, axis, keepdims is True)

    return function


def _accumulated(name: str, substitute: float | None = None) -> Callable[..., Array | None]:
    def function(x: Any, axis: int | None = None, dtype: Any = None, out: object = None) -> Array | None:
        if out is not None or not isinstance(x, Array):
            return None
        if substitute is not None:
            x = nan_reductions.without_nan(x, substitute)
        if axis is None:
            x, axis = x.reshape(-1), 0
        result: Array = getattr(Array._namespace, name)(x, axis=axis, dtype=dtype)
        return result

    return function


_WRITTEN: dict[str, Callable[..., Array | None]] = {
    "einsum": _einsum,
    "ravel": _ravel,
    "reshape": _reshape,
    "vdot": _vdot,
    "where": _where,
    "cumprod": _accumulated("cumulative_prod"),
    "cumsum": _accumulated("cumulative_sum"),
    "nanargmax": _nan_extreme("argmax"),
    "nanargmin": _nan_extreme("argmin"),
    "nancumprod": _accumulated("cumulative_prod", 1),
    "nancumsum": _accumulated("cumulative_sum", 0),
}

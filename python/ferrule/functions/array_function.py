"""NumPy's functions on arrays (NEP 18): `numpy.concatenate([x, y])` of two arrays is an array on their device.

NumPy's own code computes the functions that are not listed here. It calls methods of `Array` where they exist, as
`numpy.sum(x)` does, and otherwise computes on the host: then the result is a NumPy array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ferrule.array.array import Array
from ferrule.dtypes.classification import class_of, is_complex, is_floating
from ferrule.errors import DTypeError, InvalidArgumentError, UnsupportedError
from ferrule.functions import nan_reductions
from ferrule.functions.asarray import list_beside
from ferrule.functions.type_information import finfo


class _Call(NamedTuple):
    """How NumPy's arguments are passed on to the function of ferrule."""

    arrays: int = 1  # the leading arguments, which are passed by position
    names: tuple[str, ...] = ()  # the next arguments, which are passed by name
    keywords: tuple[str, ...] = ()  # the others that ferrule has too
    ignored: tuple[str, ...] = ()  # those that make no difference: all sorting is stable


_NO_VALUE = getattr(np, "_NoValue", ...)  # NumPy's default of arguments for which None means something
_REDUCTION = _Call(1, ("axis",), ("keepdims",))
_CALLS = {
    "allclose": _Call(2, ("rtol", "atol", "equal_nan")),
    "argsort": _Call(1, ("axis",), ignored=("kind", "stable")),
    "array_equal": _Call(2, ("equal_nan",)),
    "broadcast_to": _Call(2),
    "concatenate": _Call(1, ("axis",)),
    "count_nonzero": _REDUCTION,
    "diff": _Call(1, ("n", "axis", "prepend", "append")),
    "dot": _Call(2),
    "dstack": _Call(1),
    "empty_like": _Call(1, ("dtype",)),
    "expand_dims": _Call(1, ("axis",)),
    "flip": _Call(1, ("axis",)),
    "full_like": _Call(2, ("dtype",)),
    "hstack": _Call(1),
    "isin": _Call(2, keywords=("invert",), ignored=("assume_unique", "kind")),
    "isclose": _Call(2, ("rtol", "atol", "equal_nan")),
    "matrix_transpose": _Call(1),
    "median": _REDUCTION,
    "moveaxis": _Call(3),
    "nanmax": _REDUCTION,
    "nanmean": _Call(1, ("axis", "dtype"), ("keepdims",)),
    "nanmedian": _REDUCTION,
    "nanmin": _REDUCTION,
    "nanprod": _Call(1, ("axis", "dtype"), ("keepdims",)),
    "nanstd": _Call(1, ("axis",), ("keepdims", "ddof")),
    "nansum": _Call(1, ("axis", "dtype"), ("keepdims",)),
    "nanvar": _Call(1, ("axis",), ("keepdims", "ddof")),
    "ones_like": _Call(1, ("dtype",)),
    "outer": _Call(2),
    "pad": _Call(2, ("mode",), ("constant_values",)),
    "percentile": _Call(2, ("axis",), ("keepdims", "method")),
    "quantile": _Call(2, ("axis",), ("keepdims", "method")),
    "repeat": _Call(2, ("axis",)),
    "roll": _Call(2, ("axis",)),
    "searchsorted": _Call(2, ("side", "sorter")),
    "sort": _Call(1, ("axis",), ignored=("kind", "stable")),
    "stack": _Call(1, ("axis",)),
    "take_along_axis": _Call(2, ("axis",)),
    "tensordot": _Call(2, ("axes",)),
    "tile": _Call(2),
    "tril": _Call(1, ("k",)),
    "triu": _Call(1, ("k",)),
    "vstack": _Call(1),
    "zeros_like": _Call(1, ("dtype",)),
}
_NORM = ("norm", None)  # of the Fourier transforms: "backward"
_TRANSFORM = _Call(1, ("n", "axis", "norm"))
_TRANSFORMS = _Call(1, ("s", "axes", "norm"))
_CALLS_OF_MODULES: dict[str, tuple[Any, dict[str, _Call]]] = {
    "": (np, _CALLS),
    "fft": (
        np.fft,
        {
            **dict.fromkeys(("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"), _TRANSFORM),
            **dict.fromkeys(("fftn", "ifftn", "rfftn", "irfftn"), _TRANSFORMS),
            **dict.fromkeys(("fftshift", "ifftshift"), _Call(1, ("axes",))),
        },
    ),
    "linalg": (
        np.linalg,
        {
            **dict.fromkeys(("cholesky", "det", "eigh", "eigvalsh", "inv", "pinv", "slogdet"), _Call()),
            **dict.fromkeys(("matrix_power", "solve"), _Call(2)),
            "qr": _Call(1, ("mode",)),
            "svd": _Call(1, ("full_matrices",)),
        },
    ),
}
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
# Functions whose arguments all go to the function of the same name.
_UNCHANGED = ("atleast_1d", "atleast_2d", "atleast_3d", "gradient")


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
    if getattr(np, name, None) is function:
        if name in _UNCHANGED:
            return getattr(Array._namespace, name)(*arguments, **options)
        if name in _WRITTEN:
            return _WRITTEN[name](*arguments, **options)
    for module, (numpys, calls) in _CALLS_OF_MODULES.items():
        if name in calls and getattr(numpys, name, None) is function:
            given = _passed(calls[name], arguments, options)
            if given is not None:
                own_module = getattr(Array._namespace, module) if module else Array._namespace
                return getattr(own_module, name)(*given[0], **given[1])
    return None


def _passed(
    how: _Call, arguments: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]] | None:
    """Return the arguments for ferrule, or None where NumPy's have no counterpart."""
    leading, rest = arguments[: how.arrays], arguments[how.arrays :]
    if len(leading) < how.arrays or len(rest) > len(how.names):
        return None
    named = dict(zip(how.names, rest, strict=False))
    known = {*how.names, *how.keywords}
    for name, value in options.items():
        if name in known:
            named[name] = value
        elif name not in how.ignored and value is not None:  # out=None, where=None
            return None
    return leading, {name: value for name, value in named.items() if value is not _NO_VALUE and (name, value) != _NORM}


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
    return _reshape(x, (-1,), order)


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

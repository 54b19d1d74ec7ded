"""NumPy's universal functions on arrays: `numpy.multiply(x, y)` is `x * y`, and `numpy.sin(x)` is `ferrule.sin(x)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ferrule.array import recording
from ferrule.array.array import Array
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions import arithmetic, complex_parts, linear_algebra, operators, ops, reduction, rounding

# The ufuncs whose name differs from that of the op.
_NAMES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
}
_REDUCTIONS: dict[str, Callable[..., Array]] = {
    "add": reduction.sum,
    "logical_and": reduction.all,
    "logical_or": reduction.any,
    "maximum": reduction.max,
    "minimum": reduction.min,
    "multiply": reduction.prod,
}
# The ufuncs that take more than the op of their name does, or have several results.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "conjugate": complex_parts.conj,
    "fmod": arithmetic.fmod,
    "frexp": ops.frexp,
    "logical_and": ops.logical_and,
    "logical_not": ops.logical_not,
    "logical_or": ops.logical_or,
    "logical_xor": ops.logical_xor,
    "matmul": linear_algebra.matmul,
    "rint": rounding.round,
}
# The ufuncs whose `dtype` is that of the operands, too.
_OF_ONE_DTYPE = ("add", "maximum", "minimum", "multiply", "subtract")
_NUMBERS = (bool, int, float, complex, np.generic)


def call(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """Compute what NumPy would, with ferrule if it has the function: then the result is an Array.

    NumPy computes the others, and those that are given `out` or other options; their results are NumPy arrays.
    """
    if not all(isinstance(x, (Array, np.ndarray, list, tuple, *_NUMBERS)) for x in inputs):
        return NotImplemented  # a type of another library, which may know what to do
    name = ufunc.__name__
    caller = f"numpy.{name}"
    outputs = options.get("out") or ()
    if any(isinstance(x, Array) for x in (outputs if isinstance(outputs, tuple) else (outputs,))):
        raise InvalidArgumentError(f"{caller}: out= is a ferrule array, which never changes; use the result")
    if method == "at" and isinstance(inputs[0], Array):
        raise DTypeError(f"{caller}.at: ferrule arrays never change; use x[key] = value")
    if method == "__call__" and options.get("where", True) is not True and not outputs:
        raise InvalidArgumentError(f"{caller}: where= leaves elements undefined; use ferrule.where")
    operands = [np.asarray(x) if isinstance(x, (list, tuple)) else x for x in inputs]
    options = {key: value for key, value in options.items() if key != "dtype" or value is not None}
    if method == "__call__" and set(options) == {"dtype"} and name in _OF_ONE_DTYPE:
        operands = [x.astype(options["dtype"]) if isinstance(x, (Array, np.ndarray)) else x for x in operands]
        options = {}
    op = _NAMES.get(name, name)
    if method == "__call__" and not options and hasattr(ufunc, "types"):
        function = _function(ufunc, op)
        if function is not None:
            return function(*operands)
    if method == "reduce" and name in _REDUCTIONS and set(options) <= {"axis", "keepdims"}:
        return _REDUCTIONS[name](operands[0], axis=options.get("axis", 0), keepdims=options.get("keepdims", False))
    options = {key: np.asarray(value) if isinstance(value, Array) else value for key, value in options.items()}
    return getattr(ufunc, method)(*(np.asarray(x) if isinstance(x, Array) else x for x in operands), **options)


def _function(ufunc: np.ufunc, op: str) -> Callable[..., Any] | None:
    """Return the function for a ufunc of NumPy itself; other libraries have ufuncs of the same names."""
    if getattr(np, ufunc.__name__, None) is not ufunc:
        return None
    if ufunc.__name__ in _FUNCTIONS:
        return _FUNCTIONS[ufunc.__name__]
    if op not in ops.__all__:
        return None
    if ufunc.nin == 2:
        return lambda left, right: operators.binary(op, left, right)
    return lambda x: recording.apply(op, (x,), {})

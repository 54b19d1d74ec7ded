"""The reductions that reduction_functions.toml describes. `axis=None` means all axes, `axis=()` none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array, Axes
from ferrule.array.attributes import axes_of, flag, one_integer, one_real, sizes
from ferrule.array.recording import apply, as_operand, number_like
from ferrule.dtypes.classification import is_block, is_floating, is_inexact, numpy_dtype
from ferrule.errors import DTypeError
from ferrule.functions import compaction
from ferrule.functions.conversion import cast
from ferrule.functions.intermediate_dtypes import intermediate, resulting, widened
from ferrule.functions.movement import reshape

_MANY = 65536


def sum(x: Array, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Array:
    total = _widened("sum", x, axis, dtype, keepdims)
    return total if initial is None else apply("add", (total, initial), {})


def prod(x: Array, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Array:
    total = _widened("prod", x, axis, dtype, keepdims)
    return total if initial is None else apply("multiply", (total, initial), {})


def mean(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    x = as_operand("mean", x)
    if is_inexact(x.dtype):  # an op as a whole is computed in float32 and rounded once
        return _reduce("mean", x, axis, keepdims)
    result = resulting(x.dtype)
    if not _has_exact_sum("mean", x, axis):
        return cast(_reduce("mean", widened(x), axis, keepdims), result)
    count = reduced_size("mean", x, axis)
    total, wide = _reduce("sum", x, axis, keepdims), intermediate(x.dtype)
    if wide == np.float64:
        return cast(apply("divide", (cast(total, "float64"), count), {}), result)
    # The quotient of a long sum in float32, which not every device exceeds: its whole part is exact.
    whole, rest = (cast(apply(op, (abs(total), count), {}), wide) for op in ("floor_divide", "remainder"))
    size = apply("add", (whole, apply("divide", (rest, count), {})), {})
    return apply("where", (apply("less", (total, 0), {}), -size, size), {})


def var(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    x, correction = as_operand("var", x), one_real(correction, "var", "correction")
    if is_floating(x.dtype):
        return _reduce("var", x, axis, keepdims, correction=correction)
    return cast(_reduce("var", widened(x), axis, keepdims, correction=correction), resulting(x.dtype))


def std(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    x, correction = as_operand("std", x), one_real(correction, "std", "correction")
    wide = widened(x)
    if axis is not None:
        axis = axes_of("std", axis, x.ndim)
    root = _reduce("var", wide, axis, keepdims, correction=correction, root=True)
    return root if wide is x else cast(root, resulting(x.dtype))


def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False, initial: Any = None) -> Array:
    return _extreme("max", x, axis, keepdims, initial)


def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False, initial: Any = None) -> Array:
    return _extreme("min", x, axis, keepdims, initial)


def ptp(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    x = as_operand("ptp", x)
    return max(x, axis=axis, keepdims=keepdims) - min(x, axis=axis, keepdims=keepdims)


def all(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _reduce("all", _as_bools("all", x), axis, keepdims)


def any(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _reduce("any", _as_bools("any", x), axis, keepdims)


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    return _index("argmax", x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    return _index("argmin", x, axis, keepdims)


def count_nonzero(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    x = as_operand("count_nonzero", x)
    if axis is None and _is_counted_by_a_kernel(x):
        count = compaction.nonzero_count(x)
        return reshape(count, (1,) * x.ndim) if flag(keepdims, "count_nonzero", "keepdims") else count
    if axis is not None:
        axis = axes_of("count_nonzero", axis, x.ndim)
    return _reduce("sum", _as_bools("count_nonzero", x), axis, keepdims)


def _is_counted_by_a_kernel(x: Array) -> bool:
    """Whether x is large and in memory, and its device has a kernel that counts. A sum is computed together with x."""
    handle = x._handle
    if x.size < _MANY:
        return False
    is_computed = isinstance(handle, _ferrule.Array) and handle.ready
    return is_computed and not is_block(x.dtype) and x.device.supports("nonzero", x.dtype)


def _widened(op: str, x: Array, axis: Axes, dtype: Any, keepdims: bool) -> Array:
    """Reduce in another dtype. Integers are reduced in 64 bits, and cast to the dtype at the end."""
    if dtype is None:
        return _reduce(op, x, axis, keepdims)
    target = numpy_dtype(op, dtype)
    if target.kind == "b":
        raise DTypeError(f"{op}: dtype bool has no sums or products")
    x = as_operand(op, x)
    is_exact = wraps(x.dtype, target) or (op == "sum" and target.kind in "fc" and _has_exact_sum(op, x, axis))
    return cast(_reduce(op, x if is_exact else cast(x, target), axis, keepdims), target)


def _has_exact_sum(op: str, x: Array, axis: Axes) -> bool:
    """Whether the elements are bools or integers whose sum fits into 64 bits."""
    if x.dtype.kind not in "biu" or x.dtype.itemsize > 4:
        return False
    return not reduced_size(op, x, axis) >> 8 * (8 - x.dtype.itemsize)


def reduced_size(op: str, x: Array, axis: Axes) -> int:
    """Return how many elements each result is reduced from."""
    return math.prod(x.shape if axis is None else [x.shape[k] for k in axes_of(op, axis, x.ndim)])


def _as_bools(op: str, x: Array) -> Array:
    return cast(as_operand(op, x), "bool")


def wraps(dtype: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether sums and products in 64 bits, cast to the target, are those of elements that were cast to it before."""
    return dtype.kind in "biu" and target.kind in "iu"


def sum_of_squares(x: Array, axis: Axes, keepdims: bool, divisor: float = 1.0, root: bool = False) -> Array:
    """Return the sum of squares over axes, divided, or the root of that. Squares that are out of range do no harm."""
    return _reduce("sum_of_squares", x, axis, keepdims, divisor=divisor, root=root)


def _reduce(op: str, x: Array, axis: Axes, keepdims: bool, **attributes: object) -> Array:
    if axis is not None:
        axes = sizes(axis, op, "axis")
        if not axes:  # the op reduces all axes for an empty list: append an axis of length 1 and reduce that
            x = as_operand(op, x)
            return reshape(_reduce(op, reshape(x, (x.size, 1)), -1, False, **attributes), x.shape)
        attributes["axis"] = axes
    return apply(op, (x,), {**attributes, "keepdims": keepdims})


def _extreme(op: str, x: Array, axis: Axes, keepdims: bool, initial: Any) -> Array:
    if initial is None:
        return _reduce(op, x, axis, keepdims)
    x = as_operand(op, x)
    if 0 in x.shape:
        x = _with_one_more(op, x, axis, initial)
    return apply(f"{op}imum", (_reduce(op, x, axis, keepdims), initial), {})


def _with_one_more(op: str, x: Array, axis: Axes, value: Any) -> Array:
    """Return x with one more element along the reduced axes that are empty: max and min have no result for none."""
    reduced = axes_of(op, axis, x.ndim)
    after = [int(place in reduced and size == 0) for place, size in enumerate(x.shape)]
    return apply("pad", (x, number_like(op, value, x)), {"before": [0] * x.ndim, "after": after})


def _index(op: str, x: Array, axis: int | None, keepdims: bool) -> Array:
    x = as_operand(op, x)
    if x.dtype == "bool":
        x = cast(x, "uint8")
    if axis is not None:
        return apply(op, (x,), {"axis": one_integer(axis, op, "axis"), "keepdims": keepdims})
    flat = x if x.ndim == 1 else apply("reshape", (x,), {"shape": (x.size,)})
    index = apply(op, (flat,), {"axis": 0, "keepdims": keepdims})
    return reshape(index, (1,) * x.ndim) if keepdims else index

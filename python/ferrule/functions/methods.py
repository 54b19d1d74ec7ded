"""The methods and operators of `Array` that call functions. They are attached to the class once both exist."""

from __future__ import annotations

import weakref
from types import FunctionType
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array, Axes, is_number
from ferrule.array.recording import apply_all, no_array
from ferrule.array.symbols import Recorder, Symbol
from ferrule.dtypes.classification import is_block, is_floating
from ferrule.errors import InvalidArgumentError
from ferrule.functions import conversion, creation, linear_algebra, movement, reduction
from ferrule.later import later

if TYPE_CHECKING:
    from ferrule.array import representation
    from ferrule.functions import indexing
    from ferrule.io import dlpack
else:
    representation = later("ferrule.array.representation")
    indexing = later("ferrule.functions.indexing")
    dlpack = later("ferrule.io.dlpack")

_OPERANDS = (int, float, complex, np.ndarray, np.generic)


class _Methods(Array):
    """No object is ever made of it: `attach` gives its functions to `Array`. As it is a subclass, type checkers hold
    these functions against the signatures that `Array` declares."""

    __slots__ = ()

    def __contains__(self, value: object) -> bool:
        equal = self == value
        return bool(reduction.any(equal)) if isinstance(equal, Array) else equal

    def __repr__(self) -> str:
        return representation.text_of(self)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        return dlpack.export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.device_of(self)

    def __reduce__(self) -> tuple[Any, ...]:
        if is_block(self.dtype):
            return creation.from_packed, (creation.to_packed(self), str(self.dtype))
        return creation.asarray, (np.array(self),)

    # ---- indexing
    def __getitem__(self, key: object) -> Array:
        return indexing.get(self, key)

    def __setitem__(self, key: object, value: object) -> None:
        """Rebinds: earlier views and exports keep the old values. What several threads assign is all there."""
        while True:
            before = self._handle
            handle = indexing.put(Array._of(before), key, value)._snapshot()._handle
            if _ferrule.replace_handle(self, before, handle):
                break
        if isinstance(handle, Symbol) and not isinstance(before, Symbol) and handle.graph._assigned is not None:
            handle.graph._assigned.append((weakref.ref(self), before))

    # ---- shapes
    @property
    def T(self) -> Array:  # noqa: N802
        """The transpose of a matrix."""
        if self.ndim != 2:
            raise InvalidArgumentError(f"T: needs 2 dimensions, not {self.ndim}; use mT or permute_dims")
        return movement.permute_dims(self, (1, 0))

    @property
    def mT(self) -> Array:  # noqa: N802
        """The last two axes exchanged."""
        return movement.matrix_transpose(self)

    def reshape(self, *shape: SupportsIndex | tuple[SupportsIndex, ...]) -> Array:
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return movement.reshape(self, sizes)  # type: ignore[arg-type]

    def astype(self, dtype: Any, *, copy: bool = True) -> Array:
        return conversion.astype(self, dtype, copy=copy)

    def flatten(self) -> Array:
        return movement.reshape(self, (-1,))

    # ---- reductions
    def sum(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        return reduction.sum(self, axis=axis, keepdims=keepdims)

    def prod(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        return reduction.prod(self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        return reduction.mean(self, axis=axis, keepdims=keepdims)

    def max(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        return reduction.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        return reduction.min(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        return reduction.all(self, axis=axis, keepdims=keepdims)

    def any(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        return reduction.any(self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Array:
        return reduction.argmax(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Array:
        return reduction.argmin(self, axis=axis, keepdims=keepdims)

    # ---- operators, but for those of _ferrule.Operators; whatever is no operand gets its own turn
    def __truediv__(self, other: object) -> Array:
        return _divide(self, other)

    def __rtruediv__(self, other: object) -> Array:
        return _divide(other, self)

    def __matmul__(self, other: object) -> Array:
        return linear_algebra.matmul(self, other) if isinstance(other, (Array, np.ndarray)) else NotImplemented

    def __rmatmul__(self, other: object) -> Array:
        return linear_algebra.matmul(other, self) if isinstance(other, np.ndarray) else NotImplemented

    def __lt__(self, other: object) -> Array:
        return _binary("less", self, other)

    def __le__(self, other: object) -> Array:
        return _binary("less_equal", self, other)

    def __gt__(self, other: object) -> Array:
        return _binary("greater", self, other)

    def __ge__(self, other: object) -> Array:
        return _binary("greater_equal", self, other)

    def __eq__(self, other: object) -> Array:  # type: ignore[override]
        return _compare("equal", self, other)

    def __ne__(self, other: object) -> Array:  # type: ignore[override]
        return _compare("not_equal", self, other)


def _operate(op: str, left: Any, *right: object) -> Array:
    """An operator of what the extension does not record at once: traced numbers, NumPy's arrays, anything else."""
    return _binary(op, left, *right) if right else _unary(op, left)


def _binary(op: str, left: object, right: object) -> Array:
    other = right if isinstance(left, Array) else left
    if not isinstance(other, (Array, *_OPERANDS)):
        return NotImplemented  # type: ignore[no-any-return]
    if is_number(left) and is_number(right):
        return _graph_of(left, right)._number_of(op, left, right)
    return apply_all(op, (left, right), {})[0]


def _compare(op: str, left: object, right: object) -> Array:
    if isinstance(right, (list, tuple)):  # not false, as what is no operand is
        raise no_array(op, right)
    return _binary(op, left, right)


def _unary(op: str, x: Array) -> Array:
    return _graph_of(x)._number_of(op, x) if is_number(x) else apply_all(op, (x,), {})[0]


def _graph_of(*numbers: object) -> Recorder:
    """Of numbers of which one is traced."""
    return next(x._handle.graph for x in numbers if isinstance(x, Array) and isinstance(x._handle, Symbol))


def _divide(left: object, right: object) -> Array:
    if isinstance(left, Array) and not is_number(left):
        left = _as_float(left, right)
    elif isinstance(right, Array) and not is_number(right):
        right = _as_float(right, left)
    result: Array = _ferrule.apply_plain("divide", left, right)
    return _binary("divide", left, right) if result is NotImplemented else result


def _as_float(array: Array, other: object) -> Array:
    """Integers divide as float32; beside a floating-point operand its dtype decides."""
    if is_floating(array.dtype):
        return array
    if isinstance(other, (Array, np.ndarray, np.generic)) and is_floating(other.dtype):
        return array
    return conversion.astype(array, "float32")


def attach() -> None:
    """Give `Array` its methods, and the extension the class. Called once, when ferrule is imported."""
    for name, member in vars(_Methods).items():
        if isinstance(member, (FunctionType, property)):
            function: Any = member.fget if isinstance(member, property) else member
            function.__qualname__ = f"{Array.__qualname__}.{name}"
            setattr(Array, name, member)
    _ferrule.set_array_class(Array, _operate)

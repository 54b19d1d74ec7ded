"""The methods and operators of `Array` that call functions. `attach` adds them once both exist."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array, Axes, is_number
from ferrule.array.recording import apply_all, no_array
from ferrule.array.symbols import Recorder, Symbol
from ferrule.dtypes.classification import is_block, is_floating
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions import conversion, linear_algebra, movement, reduction
from ferrule.functions.asarray import asarray, from_packed, to_packed
from ferrule.later import later

if TYPE_CHECKING:
    from ferrule.array import representation
    from ferrule.functions import indexing
    from ferrule.io import dlpack
    from ferrule.loading.devices import Device
else:
    representation = later("ferrule.array.representation")
    indexing = later("ferrule.functions.indexing")
    dlpack = later("ferrule.io.dlpack")

_OPERANDS = (int, float, complex, np.ndarray, np.generic)


class _Methods(Array):
    """The source of the methods that `attach` adds to `Array`; it has no instances.

    As it is a subclass, type checkers check its methods against the signatures that `Array` declares.
    """

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
            return from_packed, (to_packed(self), str(self.dtype))
        return asarray, (np.array(self),)

    # ---- indexing
    def __getitem__(self, key: object) -> Array:
        return indexing.get(self, key)

    def __setitem__(self, key: object, value: object) -> None:
        """Make this object refer to the changed value: earlier views and exports keep the old one.

        Assignments by several threads all take effect.
        """
        _change(self, lambda before: indexing.put(before, key, value))

    # ---- shapes
    @property
    def T(self) -> Array:  # noqa: N802
        """The transpose of a matrix.

        Raises
        ------
        InvalidArgumentError
            The array does not have 2 dimensions.

        Examples
        --------
        >>> fe.ones((2, 3)).T.shape
        (3, 2)
        """
        if self.ndim != 2:
            raise InvalidArgumentError(f"T: needs 2 dimensions, not {self.ndim}; use mT or permute_dims")
        return movement.permute_dims(self, (1, 0))

    @property
    def mT(self) -> Array:  # noqa: N802
        """The array with its last two axes exchanged.

        Raises
        ------
        InvalidArgumentError
            The array has fewer than 2 dimensions.

        Examples
        --------
        >>> fe.ones((4, 2, 3)).mT.shape
        (4, 3, 2)
        """
        return movement.matrix_transpose(self)

    def reshape(self, *shape: SupportsIndex | tuple[SupportsIndex, ...]) -> Array:
        """Return the elements in another shape, see `ferrule.reshape`.

        Parameters
        ----------
        *shape : int or tuple of int
            The shape, as one tuple or as several integers. One size may be -1.

        Returns
        -------
        Array
            An array of the shape.

        Raises
        ------
        InvalidArgumentError
            The shape has another number of elements.

        Examples
        --------
        >>> fe.arange(6).reshape(2, -1).tolist()
        [[0, 1, 2], [3, 4, 5]]
        """
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return movement.reshape(self, sizes)  # type: ignore[arg-type]

    def astype(self, dtype: Any, *, copy: bool = True, device: Device | str | None = None) -> Array:
        """Cast to another dtype, see `ferrule.astype`.

        Parameters
        ----------
        dtype : dtype or str
            The dtype of the result.
        copy : bool
            As in `ferrule.astype`.
        device : Device or str, optional
            The device of the result; by default that of the array.

        Returns
        -------
        Array
            The elements in the dtype.

        Raises
        ------
        DTypeError
            The dtype does not exist.

        Examples
        --------
        >>> fe.arange(3).astype("float32").tolist()
        [0.0, 1.0, 2.0]
        """
        return conversion.astype(self, dtype, copy=copy, device=device)

    def flatten(self) -> Array:
        """Return the elements in one dimension, in C order.

        Returns
        -------
        Array of shape (size,)
            The elements.

        Examples
        --------
        >>> fe.ones((2, 3)).flatten().shape
        (6,)
        """
        return movement.reshape(self, (-1,))

    # ---- reductions
    def sum(self, axis: Axes = None, *, dtype: Any = None, keepdims: bool = False) -> Array:
        """Sum over axes, see `ferrule.sum`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        dtype : dtype or str, optional
            The dtype of the result, as in `ferrule.sum`.
        keepdims : bool
            Whether reduced axes stay, with length 1.

        Returns
        -------
        Array
            The sums.

        Examples
        --------
        >>> fe.ones((2, 3)).sum(axis=0).tolist()
        [2.0, 2.0, 2.0]
        """
        return reduction.sum(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Axes = None, *, dtype: Any = None, keepdims: bool = False) -> Array:
        """Product over axes, see `ferrule.prod`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        dtype : dtype or str, optional
            The dtype of the result, as in `ferrule.prod`.
        keepdims : bool
            Whether reduced axes stay, with length 1.

        Returns
        -------
        Array
            The products.

        Examples
        --------
        >>> fe.asarray([2, 3]).prod().item()
        6
        """
        return reduction.prod(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def mean(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Arithmetic mean over axes, see `ferrule.mean`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        keepdims : bool
            Whether reduced axes stay, with length 1.

        Returns
        -------
        Array
            The means.

        Examples
        --------
        >>> fe.asarray([1.0, 2.0]).mean().item()
        1.5
        """
        return reduction.mean(self, axis=axis, keepdims=keepdims)

    def max(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Greatest element over axes, see `ferrule.max`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        keepdims : bool
            Whether reduced axes stay, with length 1.

        Returns
        -------
        Array
            The greatest elements.

        Examples
        --------
        >>> fe.asarray([1, 3, 2]).max().item()
        3
        """
        return reduction.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Least element over axes, see `ferrule.min`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        keepdims : bool
            Whether reduced axes stay, with length 1.

        Returns
        -------
        Array
            The least elements.

        Examples
        --------
        >>> fe.asarray([3, 1, 2]).min().item()
        1
        """
        return reduction.min(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Whether all elements over axes are true, see `ferrule.all`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        keepdims : bool
            Whether reduced axes stay, with length 1.

        Returns
        -------
        Array
            Of dtype bool.

        Examples
        --------
        >>> fe.asarray([1, 0]).all().item()
        False
        """
        return reduction.all(self, axis=axis, keepdims=keepdims)

    def any(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Whether any element over axes is true, see `ferrule.any`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to reduce; by default all.
        keepdims : bool
            Whether reduced axes stay, with length 1.

        Returns
        -------
        Array
            Of dtype bool.

        Examples
        --------
        >>> fe.asarray([1, 0]).any().item()
        True
        """
        return reduction.any(self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Array:
        """Index of the greatest element along an axis, see `ferrule.argmax`.

        Parameters
        ----------
        axis : int, optional
            The axis; by default the array is flattened.
        keepdims : bool
            Whether reduced axes stay, with length 1.

        Returns
        -------
        Array
            The int64 indices.

        Examples
        --------
        >>> fe.asarray([1, 3, 2]).argmax().item()
        1
        """
        return reduction.argmax(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Array:
        """Index of the least element along an axis, see `ferrule.argmin`.

        Parameters
        ----------
        axis : int, optional
            The axis; by default the array is flattened.
        keepdims : bool
            Whether reduced axes stay, with length 1.

        Returns
        -------
        Array
            The int64 indices.

        Examples
        --------
        >>> fe.asarray([3, 1, 2]).argmin().item()
        1
        """
        return reduction.argmin(self, axis=axis, keepdims=keepdims)

    # ---- operators that _ferrule.Operators does not have; NotImplemented lets Python ask the other operand
    def __truediv__(self, other: object) -> Array:
        return _divide(self, other)

    def __rtruediv__(self, other: object) -> Array:
        return _divide(other, self)

    # ---- in place: the object refers to the result, which keeps its dtype and shape
    def __iadd__(self, other: object) -> Array:
        return _in_place("+=", operator.add, self, other)

    def __isub__(self, other: object) -> Array:
        return _in_place("-=", operator.sub, self, other)

    def __imul__(self, other: object) -> Array:
        return _in_place("*=", operator.mul, self, other)

    def __itruediv__(self, other: object) -> Array:
        return _in_place("/=", operator.truediv, self, other)

    def __ifloordiv__(self, other: object) -> Array:
        return _in_place("//=", operator.floordiv, self, other)

    def __imod__(self, other: object) -> Array:
        return _in_place("%=", operator.mod, self, other)

    def __ipow__(self, other: object) -> Array:
        return _in_place("**=", operator.pow, self, other)

    def __imatmul__(self, other: object) -> Array:
        return _in_place("@=", operator.matmul, self, other)

    def __iand__(self, other: object) -> Array:
        return _in_place("&=", operator.and_, self, other)

    def __ior__(self, other: object) -> Array:
        return _in_place("|=", operator.or_, self, other)

    def __ixor__(self, other: object) -> Array:
        return _in_place("^=", operator.xor, self, other)

    def __ilshift__(self, other: object) -> Array:
        return _in_place("<<=", operator.lshift, self, other)

    def __irshift__(self, other: object) -> Array:
        return _in_place(">>=", operator.rshift, self, other)

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


def _change(x: Array, changed: Callable[[Array], Array]) -> None:
    """Make the object refer to the changed value. Changes by several threads all take effect."""
    while True:
        before = x._handle
        handle = changed(Array._of(before))._snapshot()._handle
        if _ferrule.replace_handle(x, before, handle):
            break
    if isinstance(handle, Symbol) and not isinstance(before, Symbol) and handle.graph._assigned is not None:
        handle.graph._assigned.append((weakref.ref(x), before))


def _in_place(sign: str, operate: Callable[[Any, Any], Any], x: Array, other: object) -> Array:
    if not isinstance(other, (Array, *_OPERANDS)):
        return NotImplemented  # type: ignore[no-any-return]
    if is_number(x):  # numbers never change: the name refers to another one
        return operate(x, other)  # type: ignore[no-any-return]

    def changed(before: Array) -> Array:
        result: Array = operate(before, other)
        if result.dtype != before.dtype:
            raise DTypeError(
                f"x {sign} y: the result is {result.dtype}, which x of {before.dtype} does not become in place; "
                f"write x = x {sign[:-1]} y"
            )
        if result.shape != before.shape:
            raise InvalidArgumentError(
                f"x {sign} y: the result has shape {result.shape}, which x of shape {before.shape} does not become in "
                f"place; write x = x {sign[:-1]} y"
            )
        return result

    _change(x, changed)
    return x


def _operate(op: str, left: Any, *right: object) -> Array:
    """An operator on operands that the extension does not record itself: traced numbers, NumPy arrays, others."""
    if op == "matmul":
        return _matmul(left, *right)
    return _binary(op, left, *right) if right else _unary(op, left)


def _binary(op: str, left: object, right: object) -> Array:
    other = right if isinstance(left, Array) else left
    if not isinstance(other, (Array, *_OPERANDS)):
        return NotImplemented  # type: ignore[no-any-return]
    if is_number(left) and is_number(right):
        return _graph_of(left, right)._number_of(op, left, right)
    return apply_all(op, (left, right), {})[0]


def _matmul(left: object, right: object) -> Array:
    if isinstance(left, (Array, np.ndarray)) and isinstance(right, (Array, np.ndarray)):
        return linear_algebra.matmul(left, right)
    return NotImplemented  # type: ignore[no-any-return]


def _compare(op: str, left: object, right: object) -> Array:
    if isinstance(right, (list, tuple)):  # an error, where comparison with other objects gives false
        raise no_array(op, right)
    return _binary(op, left, right)


def _unary(op: str, x: Array) -> Array:
    return _graph_of(x)._number_of(op, x) if is_number(x) else apply_all(op, (x,), {})[0]


def _graph_of(*numbers: object) -> Recorder:
    """Return the graph of the traced number among the numbers."""
    return next(x._handle.graph for x in numbers if isinstance(x, Array) and isinstance(x._handle, Symbol))


def _divide(left: object, right: object) -> Array:
    if isinstance(left, Array) and not is_number(left):
        left = _as_float(left, right)
    elif isinstance(right, Array) and not is_number(right):
        right = _as_float(right, left)
    result: Array = _ferrule.apply_plain("divide", left, right)
    return _binary("divide", left, right) if result is NotImplemented else result


def _as_float(array: Array, other: object) -> Array:
    """Cast integers to float32 for a division, unless the other operand is floating-point: then its dtype applies."""
    if is_floating(array.dtype):
        return array
    if isinstance(other, (Array, np.ndarray, np.generic)) and is_floating(other.dtype):
        return array
    return conversion.astype(array, "float32")


def attach() -> None:
    """Add the methods to `Array`, and pass the class to the extension. Called once, when ferrule is imported."""
    for name, member in vars(_Methods).items():
        if isinstance(member, (FunctionType, property)):
            function: Any = member.fget if isinstance(member, property) else member
            function.__qualname__ = f"{Array.__qualname__}.{name}"
            setattr(Array, name, member)
    _ferrule.set_array_class(Array, _operate)

"""The methods and operators of `Array` that call functions. `attach` adds them once both exist."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array, is_number
from ferrule.dtypes.classification import is_block
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions import movement, operators, reduction, views
from ferrule.functions.array_methods import ArrayMethods
from ferrule.functions.asarray import asarray, from_packed, to_packed
from ferrule.functions.numpy_methods import NumPyMethods
from ferrule.later import later

if TYPE_CHECKING:
    from ferrule.array import representation
    from ferrule.functions import array_function, basic_keys, indexing, ufuncs
    from ferrule.io import dlpack
else:
    representation = later("ferrule.array.representation")
    array_function = later("ferrule.functions.array_function")
    basic_keys = later("ferrule.functions.basic_keys")
    indexing = later("ferrule.functions.indexing")
    ufuncs = later("ferrule.functions.ufuncs")
    dlpack = later("ferrule.io.dlpack")


class _Methods(Array):
    """The source of the methods that `attach` adds to `Array`; it has no instances.

    array_methods.pyi declares them for type checkers; the build writes it from this class.
    """

    __slots__ = ()

    def __contains__(self, value: object) -> bool:
        equal = self == value
        return bool(reduction.any(equal)) if isinstance(equal, Array) else equal

    def __repr__(self) -> str:
        return representation.text_of(self)

    def _repr_html_(self) -> str:
        return representation.html_of(self)

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

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return ufuncs.call(ufunc, method, inputs, options)

    def __array_function__(
        self, function: Any, types: Iterable[type], arguments: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        return array_function.call(self, function, types, arguments, options)

    def __reduce__(self) -> tuple[Any, ...]:
        if is_block(self.dtype):
            return from_packed, (to_packed(self), str(self.dtype))
        return asarray, (np.array(self),)

    def __divmod__(self, other: object) -> tuple[Array, Array]:
        return self // other, self % other

    def __rdivmod__(self, other: object) -> tuple[Array, Array]:
        return other // self, other % self

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
            remedy = (
                "use mT or permute_dims" if self.ndim > 2 else "x[:, None] is a column, and x @ y needs no transpose"
            )
            raise InvalidArgumentError(
                f"T: needs 2 dimensions, not {self.ndim}; {remedy if self.ndim else 'x is a number'}"
            )
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
        sizes = shape[0] if len(shape) == 1 else shape
        return movement.reshape(self, sizes)  # type: ignore[arg-type]

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
        return movement.reshape(self, (-1,))._copied("flatten()")

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


def _in_place(sign: str, operate: Callable[[Any, Any], Any], x: Array, other: object) -> Array:
    if not isinstance(other, (Array, *operators.OPERANDS)):
        return NotImplemented  # type: ignore[no-any-return]
    if is_number(x):  # numbers never change: the name refers to another one
        return operate(x, other)  # type: ignore[no-any-return]

    def changed(before: Array) -> Array:
        result: Array = operate(before, other)
        if result.dtype != before.dtype:
            raise DTypeError(
                f"x {sign} y: cannot cast the result, {result.dtype}{result.shape}, to {before.dtype}, the dtype of x, "
                f"in place; write x = x {sign[:-1]} y"
            )
        if result.shape != before.shape:
            raise InvalidArgumentError(
                f"x {sign} y: the result has shape {result.shape}, which x of shape {before.shape} does not become in "
                f"place; write x = x {sign[:-1]} y"
            )
        return result

    views.change(x, changed)
    return x


SOURCES = (ArrayMethods, NumPyMethods, _Methods)


def attach() -> None:
    """Add the methods to `Array`, and pass the class to the extension. Called once, when ferrule is imported."""
    for name, member in (member for source in SOURCES for member in vars(source).items()):
        if isinstance(member, (FunctionType, property)):
            function: Any = member.fget if isinstance(member, property) else member
            function.__qualname__ = f"{Array.__qualname__}.{name}"
            if isinstance(member, FunctionType) and (member.__defaults__ or member.__kwdefaults__) and name[0] != "_":
                member = _ferrule.public(member, "ferrule")
            setattr(Array, name, member)
    _ferrule.set_array_class(
        Array,
        operators.operate,
        views.apply_steps,
        _get_item,
        _set_item,
        Array._iterated_length,
        _make_key,
        views.join_steps,
        views.ReadOnly,
    )


def _get_item(x: Array, key: object) -> Array:
    return indexing.get(x, key)


def _set_item(x: Array, key: object, value: object) -> None:
    indexing.assign(x, key, value)


def _make_key(items: tuple[Any, ...], shape: tuple[int, ...]) -> views.Step:
    return basic_keys.Key(items, shape)

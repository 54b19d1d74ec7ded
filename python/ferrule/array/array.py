"""`Array`: lazy, immutable, on one device. It behaves as NumPy's where both have a thing."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

import numpy as np

from ferrule import _ferrule
from ferrule._dtypes import is_block, is_floating
from ferrule._errors import InvalidArgumentError
from ferrule._symbols import Symbol, refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ferrule._devices import Device
    from ferrule.graphs import Graph

_OPERANDS = (int, float, complex, np.ndarray, np.generic)
_Axis = int | tuple[int, ...] | None


class Array(_ferrule.Operators):
    """Made by `asarray`, `zeros` and their like, and by ops. Ops are recorded, and computed when a value is needed."""

    __slots__ = ("__weakref__", "_handle")
    _handle: _ferrule.Array | Symbol
    __array_priority__ = 1000.0  # `numpy_array + array` is ours

    @classmethod
    def _of(cls, handle: _ferrule.Array | Symbol) -> Array:
        array = object.__new__(cls)
        array._handle = handle
        return array

    def _another(self, what: str) -> Array:
        """A new object of the same array: `another[key] = value` leaves this one as it is, as does donating it."""
        return self._anew(what, _ferrule.Array.alias)

    def _snapshot(self, what: str = "copy") -> Array:
        """A new object of the same value, which does not change when the owner of borrowed memory writes to it."""
        return self._anew(what, _ferrule.Array.snapshot)

    def _anew(self, what: str, make: Callable[[_ferrule.Array], _ferrule.Array]) -> Array:
        handle = self._handle
        try:
            return Array._of(handle if isinstance(handle, Symbol) else make(handle))
        except InvalidArgumentError:
            self._refuse_donated(what)
            raise

    # ---- what it is
    @property
    def shape(self) -> tuple[int, ...]:
        return self._handle.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._handle.dtype

    @property
    def ndim(self) -> int:
        return self._handle.ndim

    @property
    def size(self) -> int:
        size = 1
        for length in self._handle.shape:
            size *= length
        return size

    @property
    def itemsize(self) -> int:
        return self._handle.dtype.itemsize

    @property
    def nbytes(self) -> int:
        dtype: Any = self.dtype
        return int(dtype.bytes_of(self.size)) if is_block(dtype) else self.size * self.itemsize

    @property
    def device(self) -> Device:
        from ferrule._devices import Device

        device = self._handle.device
        return device if isinstance(device, Device) else Device(device)

    @property
    def placement(self) -> str:
        """How the array came to its bytes: "borrowed", "owned" (made of the caller's values), "copied: " and why,
        "lazy", ..."""
        return "traced" if isinstance(self._handle, Symbol) else self._handle.placement

    def to_device(self, device: Device | str) -> Array:
        """The array on another device. One that is there already is not copied."""
        from ferrule._devices import device as find

        handle = self._concrete("to_device()")
        target = find(device)
        if handle.device.same_as(target._handle):
            return self._another("to_device()")
        return Array._of(handle.to_device(target._handle))

    # ---- its values
    @property
    def is_ready(self) -> bool:
        """Whether nobody would have to wait who reads it now: it is computed, or has failed to be."""
        return not isinstance(self._handle, Symbol) and self._handle.ready

    def __await__(self) -> Generator[Any, None, Array]:
        """Compute the array while the event loop goes on: `await x` gives x."""
        return self._when_ready().__await__()

    async def _when_ready(self) -> Array:
        import asyncio  # which takes longer to import than all of ferrule

        handle = self._concrete("await")
        await asyncio.get_running_loop().run_in_executor(None, _ferrule.evaluate, (handle,))
        return self

    def _concrete(self, what: str) -> _ferrule.Array:
        handle = self._handle
        if isinstance(handle, Symbol):
            refuse(what, handle)
        return handle

    def _donation(self) -> str:
        """To what the array was donated, such as "donated to f() at line 3"; an empty text if it was not."""
        placement = self.placement
        return placement if placement.startswith("donated to ") else ""

    def _refuse_donated(self, what: str) -> None:
        """Raise an error that begins with what the caller wants, if the array was donated."""
        donation = self._donation()
        if donation:
            raise InvalidArgumentError(f"{what}: {self.dtype}{self.shape} was {donation}") from None

    def _computed(self, what: str, wait: bool = True) -> _ferrule.Array:
        """Without `wait` a device with queues may still compute it: shape, strides and placement are known."""
        handle = self._concrete(what)
        try:
            if not handle.ready:
                (_ferrule.evaluate if wait else _ferrule.submit)((handle,))
        except InvalidArgumentError:
            self._refuse_donated(what)
            raise
        return handle

    def _host_view(self, what: str) -> NDArray[Any] | None:
        """The bytes as a read-only NumPy array, or None when the host cannot reach them."""
        handle = self._computed(what)
        try:
            return _ferrule.host_view(handle)
        except InvalidArgumentError:
            self._refuse_donated(what)
            raise

    def _host(self, what: str) -> NDArray[Any]:
        """The bytes as a read-only NumPy array: the same ones on a host device, else a copy."""
        host = self._host_view(what)
        if host is None:
            handle = self._computed(what)
            host = np.empty(handle.shape, handle.dtype)
            handle.read_into(host)
            host.flags.writeable = False
        return host

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False and self._host_view("numpy.asarray()") is None:
            raise InvalidArgumentError(
                f"numpy.asarray: an array on {self.device} needs a copy, which copy=False forbids"
            )
        host = self._host("numpy.asarray()")
        if dtype is not None and np.dtype(dtype) != host.dtype:
            if copy is False:
                raise InvalidArgumentError(f"numpy.asarray: {host.dtype} to {np.dtype(dtype)} needs a copy")
            return host.astype(dtype)
        return host.copy() if copy else host

    def item(self) -> bool | int | float:
        """The one element as a Python number."""
        if self.size != 1:
            raise InvalidArgumentError(f"item: the array has {self.size} elements, not one")
        value: bool | int | float = self._host("item()").item()
        return value

    def tolist(self) -> Any:
        return self._host("tolist()").tolist()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise InvalidArgumentError(f"the truth of an array of {self.size} elements is ambiguous: use any or all")
        return bool(self._host("bool()").item())

    def __int__(self) -> int:
        return int(self._one("int()"))

    def __float__(self) -> float:
        return float(self._one("float()"))

    def __complex__(self) -> complex:
        return complex(self._one("complex()"))

    def __round__(self, ndigits: int | None = None) -> int | float:
        """Python's `round` of the one element; `ferrule.round` is that of arrays."""
        value: int | float = round(self._one("round()"), ndigits)
        return value

    def __index__(self) -> int:
        self._refuse_number("index()")
        if self.dtype.kind not in "iu" or self.ndim != 0:
            raise TypeError(f"only integer arrays of 0 dimensions are an index, not {self.dtype}{self.shape}")
        return int(self._one("index()"))

    def _one(self, what: str) -> Any:
        if self.size != 1:
            raise InvalidArgumentError(f"{what}: the array has {self.size} elements, not one")
        return self._host(what).item()

    def _refuse_number(self, what: str) -> None:
        """Raise TracingError when the array stands for a Python number of a traced call."""
        if is_number(self):
            refuse(what, self._handle)

    def __hash__(self) -> int:
        self._refuse_number("hash()")
        raise TypeError(
            "unhashable type: 'Array'; x.item() and x.tolist() are keys of a dict, id(x) where x itself is meant"
        )

    def __len__(self) -> int:
        self._refuse_number("len()")
        if self.ndim == 0:
            raise TypeError("len() of an array of 0 dimensions")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        self._refuse_number("iteration")
        if self.ndim == 0:
            raise TypeError("iteration over an array of 0 dimensions")
        return (self[index] for index in range(self.shape[0]))

    def __contains__(self, value: object) -> bool:
        equal = self == value
        return bool(_reductions.any(equal)) if isinstance(equal, Array) else equal

    def __repr__(self) -> str:
        from ferrule._text import text_of

        return text_of(self)

    def __str__(self) -> str:
        self._refuse_number("str()")
        return repr(self)

    def __format__(self, spec: str) -> str:
        """The one element as Python formats a number: `f"{loss:.3f}"`. Other arrays are formatted as `str` only."""
        if self.size == 1 and (spec or not isinstance(self._handle, Symbol) or is_number(self)):
            return format(self._host("format()").item(), spec)
        if spec:
            raise TypeError(
                f"format {spec!r}: the array has {self.size} elements, and only one has a format; use "
                "numpy.array2string(numpy.asarray(x), ...)"
            )
        return str(self)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        from ferrule.dlpack import export

        return export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        from ferrule.dlpack import device_of

        return device_of(self)

    def __copy__(self) -> Array:
        return self._snapshot("copy.copy()")

    def __deepcopy__(self, memo: object) -> Array:
        return self._snapshot("copy.deepcopy()")

    def __reduce__(self) -> tuple[Any, ...]:
        from ferrule.creation import asarray, from_packed, to_packed

        if is_block(self.dtype):
            return from_packed, (to_packed(self), str(self.dtype))
        return asarray, (np.array(self),)

    # ---- indexing
    def __getitem__(self, key: object) -> Array:
        from ferrule.indexing import get

        return get(self, key)

    def __setitem__(self, key: object, value: object) -> None:
        """Rebinds: earlier views and exports keep the old values. What several threads assign is all there."""
        from ferrule.indexing import put

        while True:
            before = self._handle
            handle = put(Array._of(before), key, value)._snapshot()._handle
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
        return _manipulation.permute_dims(self, (1, 0))

    @property
    def mT(self) -> Array:  # noqa: N802
        """The last two axes exchanged."""
        return _manipulation.matrix_transpose(self)

    def reshape(self, *shape: SupportsIndex | tuple[SupportsIndex, ...]) -> Array:
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return _manipulation.reshape(self, sizes)  # type: ignore[arg-type]

    def astype(self, dtype: Any, *, copy: bool = True) -> Array:
        return _manipulation.astype(self, dtype, copy=copy)

    def flatten(self) -> Array:
        return _manipulation.reshape(self, (-1,))

    # ---- reductions
    def sum(self, axis: _Axis = None, *, keepdims: bool = False) -> Array:
        return _reductions.sum(self, axis=axis, keepdims=keepdims)

    def prod(self, axis: _Axis = None, *, keepdims: bool = False) -> Array:
        return _reductions.prod(self, axis=axis, keepdims=keepdims)

    def mean(self, axis: _Axis = None, *, keepdims: bool = False) -> Array:
        return _reductions.mean(self, axis=axis, keepdims=keepdims)

    def max(self, axis: _Axis = None, *, keepdims: bool = False) -> Array:
        return _reductions.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: _Axis = None, *, keepdims: bool = False) -> Array:
        return _reductions.min(self, axis=axis, keepdims=keepdims)

    def all(self, axis: _Axis = None, *, keepdims: bool = False) -> Array:
        return _reductions.all(self, axis=axis, keepdims=keepdims)

    def any(self, axis: _Axis = None, *, keepdims: bool = False) -> Array:
        return _reductions.any(self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Array:
        return _reductions.argmax(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Array:
        return _reductions.argmin(self, axis=axis, keepdims=keepdims)

    # ---- operators, but for those of _ferrule.Operators; whatever is no operand gets its own turn
    def __truediv__(self, other: object) -> Array:
        return _divide(self, other)

    def __rtruediv__(self, other: object) -> Array:
        return _divide(other, self)

    def __matmul__(self, other: object) -> Array:
        return _linear.matmul(self, other) if isinstance(other, (Array, np.ndarray)) else NotImplemented

    def __rmatmul__(self, other: object) -> Array:
        return _linear.matmul(other, self) if isinstance(other, np.ndarray) else NotImplemented

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

    if not TYPE_CHECKING:  # which would believe in any attribute

        def __getattr__(self, name: str) -> NoReturn:
            from ferrule._other_names import method_advice

            raise AttributeError(f"'Array' object has no attribute {name!r}{method_advice(name)}", name=name)

    def __pos__(self) -> Array:
        return self._snapshot("+x")


def _operate(op: str, left: Any, *right: object) -> Array:
    """An operator of what the extension does not record at once: traced numbers, NumPy's arrays, anything else."""
    return _binary(op, left, *right) if right else _unary(op, left)


_ferrule.set_array_class(Array, _operate)


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


def _graph_of(*numbers: object) -> Graph:
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
    return _manipulation.astype(array, "float32")


# Below, because each of them needs the class above.
from ferrule import linear as _linear  # noqa: E402
from ferrule import manipulation as _manipulation  # noqa: E402
from ferrule import reductions as _reductions  # noqa: E402
from ferrule._record import apply_all, is_number, no_array  # noqa: E402

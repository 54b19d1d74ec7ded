"""`Array`: a lazy, immutable array on one device, with NumPy's behaviour where both libraries have a feature."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from ferrule import _ferrule
from ferrule.array.symbols import Symbol, refuse
from ferrule.dtypes.classification import is_block
from ferrule.errors import DTypeError, InvalidArgumentError, NumberOverflowError, UnsupportedError
from ferrule.later import later
from ferrule.loading import device_lookup
from ferrule.loading.devices import Device

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ferrule.functions.array_methods import ArrayMethods
    from ferrule.text import other_names

    class _Base(_ferrule.Operators, ArrayMethods): ...  # which ferrule.functions.methods adds

else:
    _Base = _ferrule.Operators
    other_names = later("ferrule.text.other_names")  # for messages

# The versions of the Python array API standard whose functions the module ferrule has.
_STANDARD_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
Axes = int | Sequence[int] | None


class Array(_Base):
    """An n-dimensional array on a device.

    Arrays are made by `asarray`, `zeros` and other functions, and by ops. Ops are recorded, and computed when a value
    is needed. The value of an array never changes: `x[key] = value` makes the object refer to another value.

    Examples
    --------
    >>> x = fe.asarray([[1.0, 2.0], [3.0, 4.0]], device="cpu")
    >>> x @ x + 1
    Array([[ 8., 11.],
           [16., 23.]],
          shape=(2, 2), dtype=float32, device=cpu:0)
    >>> x.shape, x.ndim, x.size, x.itemsize, x.nbytes
    ((2, 2), 2, 4, 4, 16)
    >>> np.asarray(x)
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """

    __slots__ = ("__weakref__",)
    _handle: _ferrule.Array | Symbol
    __array_priority__ = 1000.0  # `numpy_array + array` calls this class's operator
    # ferrule/__init__.py sets these two.
    _public_names: ClassVar[Collection[str]] = ()  # of ferrule, for messages
    _namespace: ClassVar[Any] = None  # the module ferrule

    def __new__(cls, *_: object, **__: object) -> Array:
        raise TypeError("Array(...) makes no array: ferrule.asarray(values), ferrule.zeros(shape) and others do")

    @classmethod
    def _of(cls, handle: _ferrule.Array | Symbol) -> Array:
        array = object.__new__(cls)
        array._handle = handle
        return array

    def _another(self, what: str) -> Array:
        """Return a new object of the same array: assigning to it, or donating it, does not affect this object."""
        return self._anew(what, _ferrule.Array.alias)

    def _snapshot(self, what: str = "copy") -> Array:
        """Return a new object of the same value, which later writes to borrowed memory do not change."""
        return self._anew(what, _ferrule.Array.snapshot)

    def _copied(self, what: str) -> Array:
        """Return a snapshot that does not keep the memory of a larger array."""
        handle = self._handle
        if isinstance(handle, Symbol) and not handle.weak:
            copied: Array = handle.graph._record_all("copy", [self], [handle.dtype], {})[0]
            return copied
        return self._anew(what, _ferrule.Array.copy)

    def _anew(self, what: str, make: Callable[[_ferrule.Array], _ferrule.Array]) -> Array:
        handle = self._handle
        try:
            return Array._of(handle if isinstance(handle, Symbol) else make(handle))
        except InvalidArgumentError:
            self._refuse_donated(what)
            raise

    # ---- attributes
    # `shape` is that of _ferrule.Operators.
    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements; for a block dtype, a `BlockDType`."""
        return self._handle.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._handle.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for length in self._handle.shape:
            size *= length
        return size

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes.

        Raises
        ------
        DTypeError
            The dtype is a block dtype.
        """
        return self._handle.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The size of the elements in bytes, as if they were contiguous."""
        dtype: Any = self.dtype
        return int(dtype.bytes_of(self.size)) if is_block(dtype) else self.size * self.itemsize

    @property
    def device(self) -> Device:
        """The device that the array is on."""
        device = self._handle.device
        return device if isinstance(device, Device) else Device(device)

    @property
    def placement(self) -> str:
        """Where the array's memory comes from.

        One of "borrowed", "owned" (made from the caller's values), "copied: " and the reason, "computed", "lazy: " and
        the reason why it is not computed, "traced", or "donated to " and the call that the array was donated to.

        Examples
        --------
        >>> x = fe.asarray([1, 2])
        >>> x.placement, (x + 1).placement
        ('owned', 'lazy: not computed yet')
        """
        return "traced" if isinstance(self._handle, Symbol) else self._handle.placement

    def to_device(self, device: Device | str, /, *, stream: object = None) -> Array:
        """Return the array on another device.

        Parameters
        ----------
        device : Device or str
            The target device, or its name.
        stream : None
            Not supported: ferrule orders copies by itself.

        Returns
        -------
        Array
            A copy on `device`; the array itself if it is there already.

        Raises
        ------
        NotFoundError
            There is no such device.
        UnsupportedError
            A stream is given.

        Notes
        -----
        In a traced function, ops on the result are computed on `device`. What the function returns lies on the device
        of its graph: bring it back with `y.to_device(x.device)`.

        Examples
        --------
        >>> fe.ones(3).to_device("cpu").device
        Device('cpu:0')
        """
        if stream is not None:
            raise UnsupportedError(f"to_device: takes no stream, as ferrule orders copies by itself: {stream!r}")
        target = device_lookup.device(device)
        if isinstance(self._handle, Symbol) and not self._handle.weak:
            placed: Array = self._handle.graph._placed(self, target)
            return placed
        handle = self._concrete("to_device()")
        if handle.device.same_as(target._handle):
            return self
        return Array._of(handle.to_device(target._handle))

    # ---- values
    @property
    def is_ready(self) -> bool:
        """Whether reading the array returns without waiting: it is computed, or its computation has failed."""
        return not isinstance(self._handle, Symbol) and self._handle.ready

    def __await__(self) -> Generator[Any, None, Array]:
        """Compute the array without blocking the event loop: `await x` returns x."""
        return self._when_ready().__await__()

    async def _when_ready(self) -> Array:
        import asyncio  # its import takes longer than that of ferrule

        handle = self._concrete("await")
        await asyncio.get_running_loop().run_in_executor(None, _ferrule.evaluate, (handle,))
        return self

    def _concrete(self, what: str) -> _ferrule.Array:
        handle = self._handle
        if isinstance(handle, Symbol):
            refuse(what, handle)
        return handle

    def _donation(self) -> str:
        """Return what the array was donated to, such as "donated to f() at line 3", or ""."""
        placement = self.placement
        return placement if placement.startswith("donated to ") else ""

    def _refuse_donated(self, what: str) -> None:
        """Raise an error that begins with `what` if the array was donated."""
        donation = self._donation()
        if donation:
            raise InvalidArgumentError(f"{what}: {self.dtype}{self.shape} was {donation}") from None

    def _computed(self, what: str, wait: bool = True) -> _ferrule.Array:
        """Compute the array and return its handle.

        Without `wait`, a device with queues may still be computing it, but its shape, strides and placement are known.
        """
        handle = self._concrete(what)
        try:
            if not handle.ready:
                (_ferrule.evaluate if wait else _ferrule.submit)((handle,))
        except InvalidArgumentError:
            self._refuse_donated(what)
            raise
        return handle

    def _host_view(self, what: str) -> NDArray[Any] | None:
        """Return the elements as a read-only NumPy view, or None if the host cannot access the memory."""
        handle = self._computed(what)
        try:
            return _ferrule.host_view(handle)
        except InvalidArgumentError:
            self._refuse_donated(what)
            raise

    def _host(self, what: str) -> NDArray[Any]:
        """Return the elements as a read-only NumPy array: a view on a host device, otherwise a copy."""
        host = self._host_view(what)
        if host is None:
            handle = self._computed(what)
            host = np.empty(handle.shape, handle.dtype)
            handle.read_into(host)
            host.flags.writeable = False
        return host

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if dtype is None and not copy:
            view: NDArray[Any] = _ferrule.view_plain(self)
            if view is not NotImplemented:
                return view
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

    def numpy(self) -> NDArray[Any]:
        """Return the elements as a NumPy array, as `numpy.asarray(x)` does.

        Returns
        -------
        numpy.ndarray
            A read-only view of an array on a host device, otherwise a copy.

        Raises
        ------
        DTypeError
            The dtype is a block dtype.
        InvalidArgumentError
            The array was donated.
        TracingError
            The array is being traced.

        Examples
        --------
        >>> fe.asarray([1, 2]).numpy()
        array([1, 2])
        """
        return self.__array__()

    def __bytes__(self) -> bytes:
        """The bytes of the elements in C order, as of a NumPy array."""
        return self._host("bytes()").tobytes()

    def __sizeof__(self) -> int:
        """The size of the object with its elements, as of a NumPy array that owns its memory."""
        return object.__sizeof__(self) + self.nbytes

    def item(self) -> bool | int | float:
        """Return the single element as a Python number.

        Returns
        -------
        bool, int, float or complex
            The element.

        Raises
        ------
        InvalidArgumentError
            The array does not have exactly one element, or was donated.
        TracingError
            The array is being traced.

        Examples
        --------
        >>> fe.sum(fe.arange(4)).item()
        6
        """
        value: bool | int | float = self._one("item()")
        return value

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers, or as one number for an array of 0 dimensions.

        Returns
        -------
        list or number
            Lists nested as deep as the array has axes.

        Raises
        ------
        DTypeError
            The dtype is a block dtype.
        InvalidArgumentError
            The array was donated.
        TracingError
            The array is being traced.

        Examples
        --------
        >>> fe.ones((2, 2)).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
        """
        return _as_list(self._host("tolist()"))

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the module `ferrule`, which has the functions of the Python array API standard.

        Raises
        ------
        InvalidArgumentError
            The module does not follow that version of the standard.
        """
        if api_version is not None and api_version not in _STANDARD_VERSIONS:
            raise InvalidArgumentError(
                f"__array_namespace__: api_version {api_version!r} is not one of {', '.join(_STANDARD_VERSIONS)}"
            )
        return self._namespace

    def __bool__(self) -> bool:
        number = _ferrule.number_plain(self)
        if number is not NotImplemented:
            return bool(number)
        if self.size != 1:
            raise InvalidArgumentError(f"the truth of an array of {self.size} elements is ambiguous: use any or all")
        return bool(self._host("bool()").item())

    def __int__(self) -> int:
        value = self._one("int()")
        if isinstance(value, complex):
            raise DTypeError(f"int(): {value} is complex")
        try:
            return int(value)
        except OverflowError as error:
            raise NumberOverflowError(f"int(): {error}") from error
        except ValueError as error:
            raise InvalidArgumentError(f"int(): {error}") from error

    def __float__(self) -> float:
        value = self._one("float()")
        if isinstance(value, complex):
            raise DTypeError(f"float(): {value} is complex")
        return float(value)

    def __complex__(self) -> complex:
        value = self._one("complex()")
        if isinstance(value, float) and value != value:
            return complex(value, value)  # as in the array API standard; Python's complex(nan) is nan+0j
        return complex(value)

    def __round__(self, ndigits: int | None = None) -> int | float:
        """Python's `round` of the single element; `ferrule.round` rounds arrays."""
        value: int | float = round(self._one("round()"), ndigits)
        return value

    def __index__(self) -> int:
        self._refuse_number("index()")
        if self.dtype.kind not in "iu" or self.ndim != 0:
            raise TypeError(f"only integer arrays of 0 dimensions are an index, not {self.dtype}{self.shape}")
        return int(self._one("index()"))

    def _one(self, what: str) -> Any:
        number = _ferrule.number_plain(self)
        if number is not NotImplemented:
            return number
        if self.size != 1:
            raise InvalidArgumentError(f"{what}: the array has {self.size} elements, not one")
        return self._host(what).item()

    def _refuse_number(self, what: str) -> None:
        """Raise TracingError if the array stands for a Python number argument of a traced function."""
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

    def _iterated_length(self) -> int:
        """Return the number of elements that iteration gives."""
        self._refuse_number("iteration")
        if self.ndim == 0:
            raise TypeError("iteration over an array of 0 dimensions")
        return self.shape[0]

    def __str__(self) -> str:
        self._refuse_number("str()")
        return repr(self)

    def __format__(self, spec: str) -> str:
        """Format the single element as a Python number: `f"{loss:.3f}"`. Other arrays only support an empty format."""
        if self.size == 1 and (spec or not isinstance(self._handle, Symbol) or is_number(self)):
            return format(self._host("format()").item(), spec)
        if spec:
            raise TypeError(
                f"format {spec!r}: the array has {self.size} elements, and only one has a format; use "
                "numpy.array2string(numpy.asarray(x), ...)"
            )
        return str(self)

    def __copy__(self) -> Array:
        return self._copied("copy.copy()")

    def __deepcopy__(self, memo: object) -> Array:
        return self._copied("copy.deepcopy()")

    def _explain_missing(self, name: str) -> NoReturn:
        """Raise the error for a public name that arrays do not have; the extension calls it."""
        advice = other_names.method_advice(name, dir(Array), Array._public_names)
        raise AttributeError(f"'Array' object has no attribute {name!r}{advice}", name=name)

    def __pos__(self) -> Array:
        return self._copied("+x")


def _as_list(values: NDArray[Any]) -> Any:
    """Return `values.tolist()`; Ctrl-C ends it between parts."""
    part = 1 << 20
    if values.size <= part:
        return values.tolist()
    rows = part * len(values) // values.size
    if rows <= 1:
        return [_as_list(row) for row in values]
    elements: list[Any] = []
    for first in range(0, len(values), rows):
        elements += values[first : first + rows].tolist()
    return elements


def is_number(value: object) -> bool:
    """Whether the value is a Python number, a number argument of a traced function, or a result computed from such."""
    if type(value) is Array:
        handle = value._handle
        return type(handle) is Symbol and handle.weak
    return type(value) in (int, float, bool)

"""Arrays of values and memory that exist: `asarray`, and the packed bytes of block dtypes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import optional_flag
from ferrule.array.host_memory import check_ndim, from_host, may_change
from ferrule.array.numbers import shown
from ferrule.array.recording import another_object, number_dtype, number_like
from ferrule.dtypes.classification import (
    DTYPE_NAMES,
    as_dtype,
    class_of,
    is_block,
    is_complex,
    is_floating,
    numpy_dtype,
)
from ferrule.dtypes.default_dtypes import default_complex_dtype, default_dtype
from ferrule.errors import (
    DTypeError,
    InvalidArgumentError,
    NumberOverflowError,
    UnsupportedError,
)
from ferrule.functions.conversion import cast, moved
from ferrule.functions.movement import stack
from ferrule.later import later
from ferrule.loading import device_lookup
from ferrule.loading.device_lookup import handle_of
from ferrule.loading.devices import Device

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ferrule.io import dlpack
else:
    dlpack = later("ferrule.io.dlpack")

__all__ = ["array", "asarray", "from_packed", "to_numpy", "to_packed"]


def asarray(
    obj: object, /, *, dtype: Any = None, device: Device | str | None = None, copy: bool | None = None
) -> Array:
    """Convert to an array: from NumPy, DLPack, the buffer protocol, Python numbers or nested lists of these.

    Parameters
    ----------
    obj : object
        An array of ferrule, NumPy or a library with `__dlpack__`, a buffer, an object with `__array__` or
        `__array_interface__`, a Python number, or nested lists or tuples.
    dtype : dtype or str, optional
        The dtype of the result; by default that of `obj`. Python numbers become int64, bool, the default dtype
        (float32) or its complex one.
    device : Device or str, optional
        The device of the result; by default that of a ferrule array, otherwise the default device.
    copy : bool, optional
        True always copies, False raises where a copy is needed, and returns an array of ferrule itself. By default the
        memory of NumPy, buffers and DLPack is borrowed where the device can borrow it; a device with memory of its own,
        such as a discrete GPU, borrows host memory only with False. Results of `__array__` are always copied.

    Returns
    -------
    Array
        In the shape of `obj`.

    Raises
    ------
    DTypeError
        ferrule does not support the dtype.
    InvalidArgumentError
        `copy=False`, and a copy is needed; or nested lists differ in length.
    NumberOverflowError
        A Python number does not fit into the dtype.

    Examples
    --------
    >>> fe.asarray([[1, 2], [3, 4]]).dtype
    dtype('int64')
    >>> fe.asarray(np.ones(3), dtype="float32").tolist()
    [1.0, 1.0, 1.0]
    """
    copy = optional_flag(copy, "asarray", "copy")
    if isinstance(obj, Array):
        element = None if dtype is None else as_dtype(dtype, "asarray")
        if copy is False:
            return _without_copy(obj, element, device)
        array = another_object(obj, "asarray", device, copy, element)
        return array if element is None else cast(array, element)
    if isinstance(obj, (list, tuple)) and _holds_arrays(obj):
        if copy is False:
            raise InvalidArgumentError(f"asarray: a {type(obj).__name__} needs a copy, which copy=False forbids")
        stacked = _stacked(obj)
        if device is not None:
            stacked = moved("asarray", stacked, device)
        return stacked if dtype is None else cast(stacked, as_dtype(dtype, "asarray"))
    dtype = None if dtype is None else numpy_dtype("asarray", dtype)
    host, borrowed = _as_numpy(obj, dtype)
    if host is None:
        shared = _from_dlpack(obj, device, copy)
        if shared is not None:
            if copy is False and dtype is not None and dtype != shared.dtype:
                raise InvalidArgumentError(f"asarray: {shared.dtype} to {dtype} needs a copy, which copy=False forbids")
            return shared if dtype is None else cast(shared, dtype)
        host, borrowed = np.array(obj), False
    if dtype is not None and host.dtype != dtype:
        if copy is False:
            raise InvalidArgumentError(f"asarray: {host.dtype} to {dtype} needs a copy, which copy=False forbids")
        host, borrowed = _converted(host, dtype), False
    if copy is False and not borrowed:
        raise InvalidArgumentError(f"asarray: a {type(obj).__name__} needs a copy, which copy=False forbids")
    return Array._of(from_host(host, handle_of(device), copy if borrowed else None, "asarray", owned=not borrowed))


def array(obj: object, /, dtype: Any = None, *, device: Device | str | None = None, copy: bool | None = True) -> Array:
    """Convert to an array that shares no memory with `obj`: `asarray` with NumPy's name and default of `copy`.

    Parameters
    ----------
    obj : object
        As in `asarray`.
    dtype : dtype or str, optional
        As in `asarray`.
    device : Device or str, optional
        As in `asarray`.
    copy : bool, optional
        As in `asarray`; by default true.

    Returns
    -------
    Array
        In the shape of `obj`.

    Raises
    ------
    DTypeError
        ferrule does not support the dtype.
    InvalidArgumentError
        Nested lists differ in length.

    Examples
    --------
    >>> fe.array([1, 2], "float32").tolist()
    [1.0, 2.0]
    """
    return asarray(obj, dtype=dtype, device=device, copy=copy)


def to_numpy(x: Array, /) -> NDArray[Any]:
    """Return the elements as a NumPy array, as `numpy.asarray(x)` does.

    Parameters
    ----------
    x : Array
        The array.

    Returns
    -------
    numpy.ndarray
        A read-only view of an array on a host device, otherwise a copy.

    Raises
    ------
    DTypeError
        The dtype is a block dtype, or x consists of no numbers.
    InvalidArgumentError
        The array was donated.
    TracingError
        The array is being traced.

    Examples
    --------
    >>> fe.to_numpy(fe.asarray([1, 2]))
    array([1, 2])
    """
    host = np.asarray(x)
    if not isinstance(x, Array) and host.dtype.kind in "OSUVMm" and class_of(host.dtype) == "":
        raise DTypeError(f"to_numpy: {_of_no_dtype(host.flat[0] if host.size else host)}")
    return host


def _without_copy(x: Array, dtype: Any, device: Device | str | None) -> Array:
    """Return x itself, so that the caller sees later assignments to it."""
    if dtype is not None and dtype != x.dtype:
        raise InvalidArgumentError(f"asarray: {x.dtype} to {dtype} needs a copy, which copy=False forbids")
    if device is not None and device_lookup.device(device) != x.device:
        raise InvalidArgumentError(f"asarray: {x.device} to {device} needs a copy, which copy=False forbids")
    return x


_NUMBERS = {bool, int, float, complex}


def _holds_arrays(obj: list[Any] | tuple[Any, ...]) -> bool:
    if {*map(type, obj)} <= _NUMBERS:  # faster than a loop in Python
        return False
    return any(isinstance(item, Array) or (isinstance(item, (list, tuple)) and _holds_arrays(item)) for item in obj)


def _stacked(obj: list[Any] | tuple[Any, ...]) -> Array:
    """Return an array of nested lists that hold arrays; numbers among these do not change their dtype."""
    parts = [_stacked(item) if isinstance(item, (list, tuple)) and _holds_arrays(item) else item for item in obj]
    like = next(part for part in parts if isinstance(part, Array))
    arrays = [
        number_like("asarray", part, like, exact=True)
        if _promotes_no_further(part, like)
        else list_beside("asarray", part, like, like.device if isinstance(like._handle, _ferrule.Array) else None)
        for part in parts
    ]
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise InvalidArgumentError(f"asarray: the parts of a list differ in shape: {', '.join(map(str, shapes))}")
    return stack(arrays)


def list_beside(caller: str, values: object, other: object, device: Device | None) -> Array:
    """Return a number or a list of numbers as an array that loses no digits beside another array or list.

    Floats and complex numbers have the dtype that one of them has beside an array of floats; beside integers they have
    64 or 128 bits, as NumPy's.
    """
    dtype: Any = None
    if isinstance(other, (Array, np.ndarray)) and not is_number(other) and not isinstance(values, Array):
        kinds = {type(number) for number in numbers_in(values)}
        number: float | complex | None = 0j if complex in kinds else 0.0 if float in kinds else None
        if number is not None and kinds <= {bool, int, float, complex}:
            with_digits = is_floating(other.dtype) or is_complex(other.dtype)
            dtype = number_dtype(caller, number, [other.dtype])[0] if with_digits else np.dtype(type(number))
    return asarray(values, dtype=dtype, device=device)


def _promotes_no_further(number: object, like: Array) -> bool:
    """Whether a Python number takes the dtype of an array beside it."""
    return type(number) in (bool, int, float) and number_dtype("asarray", number, [like.dtype])[0] == like.dtype


def _as_numpy(obj: object, dtype: Any) -> tuple[NDArray[Any] | None, bool]:
    """Return a NumPy array and whether it borrows; None for an object that only DLPack or `__array__` can read."""
    if isinstance(obj, np.ndarray):
        return obj, True
    if isinstance(obj, range):
        obj = list(obj)
    if isinstance(obj, (bool, int, float, complex, list, tuple)):
        return _of_numbers(obj, dtype), False
    if isinstance(obj, np.generic):
        return np.array(obj), False
    try:
        return np.asarray(memoryview(obj)), True  # type: ignore[arg-type]
    except (TypeError, BufferError):
        pass
    if hasattr(obj, "__dlpack__") or hasattr(obj, "__array__"):
        return None, False
    if hasattr(obj, "__array_interface__") or hasattr(obj, "__array_struct__"):  # an image of PIL, for example
        return np.asarray(obj), True
    raise DTypeError(f"asarray: {_of_no_dtype(obj)}")


def _of_numbers(obj: object, dtype: Any) -> NDArray[Any]:
    """Return an array of a number, or of nested lists of numbers."""
    host = _array_of_numpy(obj, None)
    if host.dtype.kind == "O":
        _refuse_objects(host, dtype)
    if dtype is None:
        if host.dtype.kind == "f" and host.size and np.abs(host).max() >= 2.0**63 and _are_integers_of_uint64(obj):
            return np.array(obj, dtype="uint64")
        if host.dtype.char not in "dD" or _holds_wide(obj):
            return host
        with np.errstate(over="ignore"):
            return host.astype(default_dtype() if host.dtype.kind == "f" else default_complex_dtype(), copy=False)
    if host.dtype == dtype or host.dtype.kind in "cSU":
        return _converted(host, dtype)
    return _array_of_numpy(obj, dtype)  # of the numbers themselves, so that none is rounded twice


def _array_of_numpy(obj: object, dtype: Any) -> NDArray[Any]:
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.array(obj, dtype=dtype)
    except TypeError:
        if dtype is None or dtype.isbuiltin == 1:
            raise
        return _converted(_array_of_numpy(obj, np.dtype("float64")), dtype)  # ml_dtypes takes no ints beyond int64
    except OverflowError as error:
        raise NumberOverflowError(_too_large(obj, dtype) or f"asarray: {error}") from error
    except ValueError as error:
        raise InvalidArgumentError(f"asarray: {error}") from error


def _converted(host: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return the values in a dtype; complex numbers are not cast to real ones, as in astype."""
    if host.dtype.kind in "OSU":
        raise DTypeError(f"asarray: {_of_no_dtype(host.flat[0] if host.size else host)}")
    if host.dtype.kind == "c" and dtype.kind not in "cb":
        raise DTypeError(f"asarray: {host.dtype}{host.shape} has imaginary parts, which the dtype {dtype} has not")
    with np.errstate(over="ignore", invalid="ignore"):
        return host.astype(dtype, copy=False)


def _from_dlpack(obj: object, device: Device | str | None, copy: bool | None) -> Array | None:
    """Return the array that `__dlpack__` gives; None without `__dlpack__`, or if it fails and there is `__array__`."""
    if not hasattr(obj, "__dlpack__"):
        return None
    try:
        return dlpack.from_dlpack(obj, device=device, copy=copy)
    except (AttributeError, BufferError, RuntimeError, TypeError, UnsupportedError):
        # It has a gradient or is on another device, for example; its own `__array__` converts it or explains why not.
        if copy is False or not hasattr(obj, "__array__"):
            raise
        return None


def _refuse_objects(host: NDArray[Any], dtype: Any) -> None:
    """Raise the error for values that NumPy could only store as objects; huge ints are left to the dtype, if any."""
    for item in host.flat:
        if not isinstance(item, (bool, int, float, complex)):
            raise DTypeError(f"asarray: {_of_no_dtype(item)}")
    if dtype is not None:
        return
    beyond = next(item for item in host.flat if isinstance(item, int) and not -(2**63) <= item < 2**64)
    raise NumberOverflowError(f"asarray: {beyond} does not fit into int64 or uint64")


def numbers_in(obj: object) -> Iterator[object]:
    for item in obj if isinstance(obj, (list, tuple)) else (obj,):
        if isinstance(item, (list, tuple)):
            yield from numbers_in(item)
        else:
            yield item


def _are_integers_of_uint64(obj: object) -> bool:
    """Whether the numbers are integers alone, all of which uint64 has: NumPy makes floats of them if int64 has some.

    Integers of which some need int64 and others uint64 are refused.
    """
    numbers = list(numbers_in(obj))
    if not all(isinstance(number, (int, np.integer)) for number in numbers):
        return False
    least, greatest = min(numbers), max(numbers)  # type: ignore[type-var]
    if least < 0 or greatest >= 2**64:  # type: ignore[operator]
        raise NumberOverflowError(f"asarray: no integer dtype has both {least} and {greatest}; pass dtype=")
    return True


def _too_large(obj: object, dtype: Any) -> str:
    if dtype is None or dtype.kind not in "iu":
        return ""
    limits = np.iinfo(dtype)
    beyond = [x for x in numbers_in(obj) if isinstance(x, int) and not limits.min <= x <= limits.max]
    return f"asarray: {shown(beyond[0])} does not fit into {dtype}" if beyond else ""


def _of_no_dtype(value: object) -> str:
    return (
        f"an object of type {type(value).__name__} is neither numbers nor memory that holds them; ferrule has "
        f"{', '.join(DTYPE_NAMES)}"
    )


def _holds_wide(obj: object) -> bool:
    """Whether float64 or complex128 values of NumPy are among the numbers: the result then keeps the wide dtype."""
    if isinstance(obj, (list, tuple)):
        return not {*map(type, obj)} <= _NUMBERS and any(_holds_wide(item) for item in obj)
    return isinstance(obj, (np.ndarray, np.float64, np.complex128))


def from_packed(
    packed: object, dtype: Any, /, *, device: Device | str | None = None, copy: bool | None = None
) -> Array:
    """Make an array of a block dtype from its bytes.

    Parameters
    ----------
    packed : array_like of uint8, of shape (..., bytes)
        The bytes, also as an array of ferrule. Along the last axis, whole blocks follow one another.
    dtype : BlockDType or str
        The block dtype.
    device : Device or str, optional
        The device of the result; by default that of a ferrule array, otherwise the default device.
    copy : bool, optional
        As in `asarray`.

    Returns
    -------
    Array of shape (..., elements)
        An array of `dtype`.

    Raises
    ------
    DTypeError
        `dtype` is not a block dtype, or the bytes are not uint8.
    InvalidArgumentError
        The last axis is not a whole number of blocks; or `copy=False`, and a copy is needed.

    See Also
    --------
    to_packed : The inverse.

    Examples
    --------
    >>> fe.from_packed(np.zeros((3, 68), "uint8"), "q8_0").shape
    (3, 64)
    """
    copy = optional_flag(copy, "from_packed", "copy")
    element: Any = as_dtype(dtype)
    if not is_block(element):
        raise DTypeError(f"from_packed: dtype {element} has no blocks; asarray takes its numbers")
    if isinstance(packed, Array):
        return _of_packed_array(packed, element, device, copy)
    host, borrowed = _as_numpy(packed, None)
    if host is None:
        shared = _from_dlpack(packed, device, copy)
        if shared is not None:
            return _of_packed_array(shared, element, None, False if copy is False else None)
        host, borrowed = np.array(packed), False
    check_ndim("from_packed", host.ndim)
    _shape_in_blocks(host, element)
    if host.size > 0 and host.shape[-1] > 1 and host.strides[-1] != 1:
        if copy is False:
            raise InvalidArgumentError(
                "from_packed: the bytes of a row do not follow one another: a copy is needed, which copy=False forbids"
            )
        host, borrowed = np.ascontiguousarray(host), False
    mode = {None: 2, True: 1, False: 0}[copy] if borrowed else 3
    return Array._of(_ferrule.from_packed(handle_of(device), host, element, may_change(host), mode))


def _shape_in_blocks(packed: Array | NDArray[Any], dtype: Any) -> tuple[int, ...]:
    """Return the shape of the elements that are packed in whole blocks along the last axis."""
    if packed.dtype != np.uint8:
        raise DTypeError(f"from_packed: the bytes are dtype uint8, not dtype {packed.dtype}")
    if packed.ndim == 0 or packed.shape[-1] % dtype.block_bytes:
        raise InvalidArgumentError(
            f"from_packed: the last axis of uint8{packed.shape} does not consist of whole blocks of "
            f"{dtype.block_bytes} bytes, as those of {dtype}"
        )
    return (*packed.shape[:-1], packed.shape[-1] // dtype.block_bytes * dtype.block_elements)


def _of_packed_array(packed: Array, dtype: Any, device: Device | str | None, copy: bool | None) -> Array:
    """Implement from_packed for an array of ferrule, whose memory the result shares where no copy is needed."""
    shape = _shape_in_blocks(packed, dtype)
    handle = packed._computed("from_packed()")
    rows = np.cumprod((1, *packed.shape[:0:-1]))[::-1]  # the strides of a C-contiguous array
    if packed.size and any(
        size > 1 and stride != row for size, stride, row in zip(packed.shape, handle.strides or (), rows, strict=True)
    ):
        if copy is False:
            raise InvalidArgumentError(
                f"from_packed: the bytes of uint8{packed.shape} do not follow one another: a copy is needed, which "
                "copy=False forbids"
            )
        handle = _ferrule.apply("copy", [handle], {})[0]
    return another_object(Array._of(handle.cut(0, dtype, shape)), "from_packed", device, copy)


def to_packed(x: Array, /) -> NDArray[Any]:
    """Return the bytes of an array of a block dtype, as `from_packed` takes them.

    Parameters
    ----------
    x : Array of shape (..., elements)
        An array of a block dtype.

    Returns
    -------
    numpy.ndarray of uint8, of shape (..., bytes)
        A copy of the bytes.

    Raises
    ------
    DTypeError
        x is not an array of a block dtype.

    Examples
    --------
    >>> x = fe.from_packed(np.zeros((3, 68), "uint8"), "q8_0")
    >>> fe.to_packed(x).shape
    (3, 68)
    """
    if not isinstance(x, Array) or not is_block(x.dtype):
        raise DTypeError(f"to_packed: takes an array of a block dtype, not {getattr(x, 'dtype', type(x).__name__)}")
    handle = x._computed("ferrule.to_packed")
    blocks: Any = x.dtype
    host = np.empty((*x.shape[:-1], blocks.bytes_of(x.shape[-1])), np.uint8)
    handle.read_into(host)
    return host

"""New arrays.

Without a dtype, Python numbers become int64, float32, complex64 or bool. Without a device, arrays are on the default
device.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Never, NoReturn

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.array.attributes import Shape, refuse_more, sizes
from ferrule.array.host_memory import MAX_DIMENSIONS, enough_memory, from_host, may_change
from ferrule.array.numbers import conversion, perform, shown
from ferrule.array.recording import another_object, check_range
from ferrule.array.symbols import Symbol
from ferrule.dtypes.classification import DTYPE_NAMES, as_dtype, is_block, is_complex, is_floating, numpy_dtype
from ferrule.errors import (
    DTypeError,
    Error,
    InvalidArgumentError,
    NumberOverflowError,
    OutOfMemoryError,
    UnsupportedError,
)
from ferrule.functions.conversion import astype, cast
from ferrule.functions.movement import stack
from ferrule.later import later
from ferrule.loading.device_lookup import handle_of
from ferrule.loading.devices import Device

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ferrule.io import dlpack
else:
    dlpack = later("ferrule.io.dlpack")

PAGE = 4096
# The dtypes that Python numbers get.
_OF_NUMBERS = {bool: np.bool_, int: np.int64, float: np.float32, complex: np.complex64}
# From the dtypes that NumPy gives to Python numbers, to those that ferrule gives them.
_NARROWER = {np.dtype("float64"): np.dtype("float32"), np.dtype("complex128"): np.dtype("complex64")}


def asarray(
    obj: object, /, *, dtype: Any = None, device: Device | str | None = None, copy: bool | None = None
) -> Array:
    """Convert to an array: from NumPy, DLPack, the buffer protocol, Python numbers or nested lists of these.

    Parameters
    ----------
    obj : object
        An array of ferrule, NumPy or a library with `__dlpack__`, a buffer, an object with `__array__`, a Python
        number, or nested lists or tuples.
    dtype : dtype or str, optional
        The dtype of the result; by default that of `obj`. Python numbers become int64, float32, complex64 or bool.
    device : Device or str, optional
        The device of the result; by default that of a ferrule array, otherwise the default device.
    copy : bool, optional
        True always copies, False raises where a copy is needed. By default the memory of NumPy, buffers and DLPack is
        borrowed where the device can borrow it. Results of `__array__` are always copied.

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
    if isinstance(obj, Array):
        element = None if dtype is None else as_dtype(dtype)
        array = another_object(obj, "asarray", device, copy, element)
        return array if element is None else cast(array, element)
    if isinstance(obj, (list, tuple)) and obj and all(isinstance(item, Array) for item in obj):
        return stack(obj) if dtype is None else astype(stack(obj), dtype)
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
        host, borrowed = host.astype(dtype), False
    if copy is False and not borrowed:
        raise InvalidArgumentError(f"asarray: a {type(obj).__name__} needs a copy, which copy=False forbids")
    return Array._of(from_host(host, handle_of(device), copy if borrowed else None, "asarray", owned=not borrowed))


def _as_numpy(obj: object, dtype: Any) -> tuple[NDArray[Any] | None, bool]:
    """Return a NumPy array and whether it borrows; None for an object that only DLPack or `__array__` can read."""
    if isinstance(obj, np.ndarray):
        return obj, True
    if isinstance(obj, (bool, int, float, complex, list, tuple)):
        try:
            host = np.array(obj, dtype=dtype)
        except OverflowError as error:
            raise NumberOverflowError(f"asarray: {error}") from error
        except ValueError as error:
            raise InvalidArgumentError(f"asarray: {error}") from error
        if host.dtype.kind == "O":
            _refuse_objects(host)
        if dtype is None and host.dtype in _NARROWER and not _holds_wide(obj):
            host = host.astype(_NARROWER[host.dtype])
        return host, False
    if isinstance(obj, np.generic):
        return np.array(obj), False
    try:
        return np.asarray(memoryview(obj)), True  # type: ignore[arg-type]
    except (TypeError, BufferError):
        pass
    if hasattr(obj, "__dlpack__") or hasattr(obj, "__array__"):
        return None, False
    raise DTypeError(f"asarray: {_of_no_dtype(obj)}")


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


def _refuse_objects(host: NDArray[Any]) -> NoReturn:
    """Raise the error for values that NumPy could only store as Python objects."""
    for item in host.flat:
        if not isinstance(item, (bool, int, float, complex)):
            raise DTypeError(f"asarray: {_of_no_dtype(item)}")
    beyond = next(item for item in host.flat if isinstance(item, int) and not -(2**63) <= item < 2**64)
    raise NumberOverflowError(f"asarray: {beyond} does not fit into int64 or uint64")


def _of_no_dtype(value: object) -> str:
    return (
        f"an object of type {type(value).__name__} is neither numbers nor memory that holds them; ferrule has "
        f"{', '.join(DTYPE_NAMES)}"
    )


def _holds_wide(obj: object) -> bool:
    """Whether float64 or complex128 values of NumPy are among the numbers: the result then keeps the wide dtype."""
    if isinstance(obj, (list, tuple)):
        return any(_holds_wide(item) for item in obj)
    return isinstance(obj, (np.ndarray, np.float64, np.complex128))


def from_packed(
    packed: object, dtype: Any, /, *, device: Device | str | None = None, copy: bool | None = None
) -> Array:
    """Make an array of a block dtype from its bytes.

    Parameters
    ----------
    packed : array_like of uint8, of shape (..., bytes)
        The bytes. Along the last axis, whole blocks follow one another.
    dtype : BlockDType or str
        The block dtype.
    device : Device or str, optional
        The device of the result; by default the default device.
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
    element = as_dtype(dtype)
    if not is_block(element):
        raise DTypeError(f"from_packed: dtype {element} has no blocks; asarray takes its numbers")
    host, borrowed = _as_numpy(packed, None)
    if host is None or host.dtype != np.uint8:
        what = type(packed).__name__ if host is None else f"dtype {host.dtype}"
        raise DTypeError(f"from_packed: the bytes are dtype uint8, not {what}")
    if host.ndim > MAX_DIMENSIONS:
        raise InvalidArgumentError(f"from_packed: an array has at most {MAX_DIMENSIONS} dimensions, not {host.ndim}")
    if host.ndim > 0 and host.shape[-1] > 1 and host.strides[-1] != 1:
        if copy is False:
            raise InvalidArgumentError(
                "from_packed: the bytes of a row do not follow one another: a copy is needed, which copy=False forbids"
            )
        host, borrowed = np.ascontiguousarray(host), False
    mode = {None: 2, True: 1, False: 0}[copy] if borrowed else 3
    return Array._of(_ferrule.from_packed(handle_of(device), host, element, may_change(host), mode))


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


def full(shape: Shape, fill_value: complex, *, dtype: Any = None, device: Device | str | None = None) -> Array:
    """Make an array of one value.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    fill_value : number
        The value, which must be representable in the dtype.
    dtype : dtype or str, optional
        The dtype; by default bool, int64, float32 or complex64, by the type of the value.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array
        An array of `shape`.

    Raises
    ------
    InvalidArgumentError
        The shape has a negative size, or the value is not a number.
    NumberOverflowError
        The value does not fit into the dtype.

    Examples
    --------
    >>> fe.full((2, 2), 7).tolist()
    [[7, 7], [7, 7]]
    """
    if isinstance(fill_value, (Array, np.generic)):
        fill_value = fill_value.item()
    if not isinstance(fill_value, (bool, int, float, complex)):
        raise InvalidArgumentError(f"full: the value is a number, not {fill_value!r}")
    if dtype is None:
        dtype = next(own for kind, own in _OF_NUMBERS.items() if isinstance(fill_value, kind))
    wanted = sizes(shape, "full")
    if any(size < 0 for size in wanted):
        raise InvalidArgumentError(f"full: shape ({', '.join(map(shown, wanted))}) has a negative size")
    element = as_dtype(dtype)
    if isinstance(fill_value, complex) and not is_complex(element):
        raise DTypeError(f"full: {fill_value} is complex, and no {element}")
    operation = None if element.kind == "b" else conversion(type(fill_value).__name__, element, exact=True)
    if operation is not None:
        assert isinstance(fill_value, (bool, int, float))  # complex numbers have no conversion
        fill_value = perform(operation, fill_value)
    return Array._of(_ferrule.full(handle_of(device), wanted, fill_value, element))


def zeros(shape: Shape, *more: Never, dtype: Any = np.float32, device: Device | str | None = None) -> Array:
    """Make an array of zeros.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    dtype : dtype or str
        The dtype.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array
        An array of `shape`.

    Raises
    ------
    InvalidArgumentError
        The shape has a negative size, or is not one tuple.

    Examples
    --------
    >>> fe.zeros((2, 3)).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return _filled("zeros", shape, more, 0, dtype, device)


def ones(shape: Shape, *more: Never, dtype: Any = np.float32, device: Device | str | None = None) -> Array:
    """Make an array of ones.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    dtype : dtype or str
        The dtype.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array
        An array of `shape`.

    Raises
    ------
    InvalidArgumentError
        The shape has a negative size, or is not one tuple.

    Examples
    --------
    >>> fe.ones(3, dtype="int32").tolist()
    [1, 1, 1]
    """
    return _filled("ones", shape, more, 1, dtype, device)


def empty(shape: Shape, *more: Never, dtype: Any = np.float32, device: Device | str | None = None) -> Array:
    """Make an array of a shape whose values do not matter.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    dtype : dtype or str
        The dtype.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array
        An array of `shape`. The elements are zeros: an array never changes, so uninitialized elements would be useless.

    Raises
    ------
    InvalidArgumentError
        The shape has a negative size, or is not one tuple.

    Examples
    --------
    >>> fe.empty((2, 3)).shape
    (2, 3)
    """
    return _filled("empty", shape, more, 0, dtype, device)


def _filled(
    caller: str, shape: Shape, more: tuple[object, ...], number: int, dtype: Any, device: Device | str | None
) -> Array:
    refuse_more(more, caller, f"pass the shape as one tuple, {caller}((2, 3)), and the dtype by its name: dtype=...")
    return full(sizes(shape, caller), number, dtype=dtype or np.float32, device=device)


def full_like(x: object, /, fill_value: complex, *, dtype: Any = None, device: Device | str | None = None) -> Array:
    """Make an array of one value in the shape of another array.

    Parameters
    ----------
    x : array_like
        The array that gives the shape, and the default dtype and device.
    fill_value : number
        The value, which must be representable in the dtype.
    dtype : dtype or str, optional
        The dtype; by default that of x.
    device : Device or str, optional
        The device; by default that of x.

    Returns
    -------
    Array
        An array of x's shape.

    Raises
    ------
    NumberOverflowError
        The value does not fit into the dtype.

    Examples
    --------
    >>> fe.full_like(fe.arange(3), 5).tolist()
    [5, 5, 5]
    """
    like = x if isinstance(x, Array) else asarray(x)
    return full(like.shape, fill_value, dtype=dtype or like.dtype, device=device or _device_of(like))


def zeros_like(x: object, /, *, dtype: Any = None, device: Device | str | None = None) -> Array:
    """Make an array of zeros in the shape of another array.

    Parameters
    ----------
    x : array_like
        The array that gives the shape, and the default dtype and device.
    dtype : dtype or str, optional
        The dtype; by default that of x.
    device : Device or str, optional
        The device; by default that of x.

    Returns
    -------
    Array
        An array of x's shape.

    Examples
    --------
    >>> fe.zeros_like(fe.arange(3)).tolist()
    [0, 0, 0]
    """
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: object, /, *, dtype: Any = None, device: Device | str | None = None) -> Array:
    """Make an array of ones in the shape of another array.

    Parameters
    ----------
    x : array_like
        The array that gives the shape, and the default dtype and device.
    dtype : dtype or str, optional
        The dtype; by default that of x.
    device : Device or str, optional
        The device; by default that of x.

    Returns
    -------
    Array
        An array of x's shape.

    Examples
    --------
    >>> fe.ones_like(fe.arange(3), dtype="float32").tolist()
    [1.0, 1.0, 1.0]
    """
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x: object, /, *, dtype: Any = None, device: Device | str | None = None) -> Array:
    """Make an array in the shape of another array, whose values do not matter.

    Parameters
    ----------
    x : array_like
        The array that gives the shape, and the default dtype and device.
    dtype : dtype or str, optional
        The dtype; by default that of x.
    device : Device or str, optional
        The device; by default that of x.

    Returns
    -------
    Array
        An array of x's shape. The elements are zeros.

    Examples
    --------
    >>> fe.empty_like(fe.arange(3)).dtype
    dtype('int64')
    """
    return full_like(x, 0, dtype=dtype, device=device)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: Any = None,
    device: Device | str | None = None,
) -> Array:
    """Make an array of evenly spaced numbers with a given step.

    Parameters
    ----------
    start : number
        The first number; with one argument, `stop`, and the first number is 0.
    stop : number, optional
        The end, which is not included.
    step : number
        The distance between two numbers.
    dtype : dtype or str, optional
        The dtype; by default float32 if an argument is a float, otherwise int64.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array of shape (ceil((stop - start) / step),)
        The numbers.

    Raises
    ------
    InvalidArgumentError
        An argument is not finite, or the step is 0.
    NumberOverflowError
        A number does not fit into the dtype.

    Examples
    --------
    >>> fe.arange(3).tolist(), fe.arange(1, 2, 0.5).tolist()
    ([0, 1, 2], [1.0, 1.5])
    """
    first, end = (0, start) if stop is None else (start, stop)
    for name, number in (("start", first), ("stop", end), ("step", step)):
        if not _is_finite("arange", name, number):
            raise InvalidArgumentError(f"arange: {name} is {number}, and must be finite")
    if step == 0:
        raise InvalidArgumentError("arange: step is 0")
    if dtype is None:
        dtype = np.float32 if any(isinstance(number, float) for number in (first, end, step)) else np.int64
    element = numpy_dtype("arange", dtype)
    try:
        with (
            enough_memory(f"arange from {shown(first)} to {shown(end)} in steps of {shown(step)}"),
            np.errstate(over="ignore"),
        ):
            if is_floating(element):
                # NumPy takes the difference of the first two rounded numbers as the step: for float16(1000) and
                # float16(1000.1) that is 0.
                host = np.arange(first, end, step).astype(element)
            else:
                host = np.arange(first, end, step, dtype=element)
    except OverflowError as error:
        raise NumberOverflowError(f"arange: {error}") from error
    if element.kind in "iu" and host.size:  # NumPy wraps around
        check_range("arange", int(first), element)
        check_range("arange", int(first + (host.size - 1) * step), element)
    return _owned(host, device)


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: Any = np.float32,
    device: Device | str | None = None,
    endpoint: bool = True,
) -> Array:
    """Make an array of a given number of evenly spaced numbers.

    Parameters
    ----------
    start : number
        The first number.
    stop : number
        The last number, or the end that is not included if `endpoint` is false.
    num : int
        The number of elements.
    dtype : dtype or str
        The dtype. For an integer dtype, the numbers are rounded down.
    device : Device or str, optional
        The device; by default the default device.
    endpoint : bool
        Whether `stop` is included.

    Returns
    -------
    Array of shape (num,)
        The numbers.

    Raises
    ------
    InvalidArgumentError
        `num` is not an integer from 0 on.
    NumberOverflowError
        A number does not fit into the dtype.

    Examples
    --------
    >>> fe.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    element = numpy_dtype("linspace", dtype or np.float32)
    num = _count("linspace", "num", num)
    for name, number in (("start", start), ("stop", stop)):
        _is_finite("linspace", name, number)
    with enough_memory(f"linspace of {num} numbers"):
        try:
            host = np.linspace(float(start), float(stop), num, endpoint=endpoint)
            if element.kind in "iu":  # as in NumPy
                host = np.floor(host)
        except OverflowError as error:
            raise NumberOverflowError(f"linspace: {error}") from error
    for number in host[[0, -1]] if element.kind in "iu" and host.size else ():
        check_range("linspace", perform("int", number), element)
    with np.errstate(over="ignore"):
        return _owned(host.astype(element), device)


def eye(
    rows: int, columns: int | None = None, /, *, k: int = 0, dtype: Any = np.float32, device: Device | str | None = None
) -> Array:
    """Make a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    rows : int
        The number of rows.
    columns : int, optional
        The number of columns; by default that of rows.
    k : int
        The diagonal: 0 is the main one, positive numbers are above it, negative ones below.
    dtype : dtype or str
        The dtype.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array of shape (rows, columns)
        The matrix.

    Raises
    ------
    InvalidArgumentError
        A size is not an integer from 0 on.

    Examples
    --------
    >>> fe.eye(2, 3, k=1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    rows = _count("eye", "rows", rows)
    columns = rows if columns is None else _count("eye", "columns", columns)
    with enough_memory(f"eye of shape {(rows, columns)}"):
        host = np.eye(rows, columns, k=k, dtype=numpy_dtype("eye", dtype or np.float32))
    return _owned(host, device)


def host_empty(shape: Shape, dtype: Any = np.float32, device: Device | str | None = None) -> NDArray[Any]:
    """Make an uninitialized NumPy array from which a device copies at full speed.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    dtype : dtype or str
        The dtype.
    device : Device or str, optional
        The device that will copy or borrow the memory; by default the default device.

    Returns
    -------
    numpy.ndarray
        An uninitialized array that begins at a page boundary: every device that can borrow memory can borrow it.

    Raises
    ------
    InvalidArgumentError
        The shape has a negative size, or too many dimensions.
    OutOfMemoryError
        There is not enough memory.

    Notes
    -----
    As with any NumPy array, an array made of it may borrow or copy it, and later writes do not change arrays that are
    computed already. The device's backend cannot be unloaded while it exists.

    Examples
    --------
    >>> host = fe.host_empty((2, 3))
    >>> host[...] = 1
    >>> fe.asarray(host).tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    wanted, element = sizes(shape, "host_empty"), numpy_dtype("host_empty", dtype)
    if any(size < 0 for size in wanted):
        raise InvalidArgumentError(f"host_empty: shape ({', '.join(map(shown, wanted))}) has a negative size")
    if len(wanted) > MAX_DIMENSIONS:
        raise InvalidArgumentError(f"host_empty: an array has at most {MAX_DIMENSIONS} dimensions, not {len(wanted)}")
    count = int(np.prod(wanted, dtype=object)) * element.itemsize
    rounded = -(-count // PAGE) * PAGE
    if rounded >= 2**63 - PAGE:
        raise OutOfMemoryError(f"host_empty: no machine has {shown(count)} bytes")
    with enough_memory(f"host_empty: {count} bytes for shape {wanted} of {element}"):
        memory = _ferrule.host_memory(handle_of(device), rounded + PAGE)
    start = -memory.ctypes.data % PAGE
    flat: NDArray[Any] = memory[start : start + count].view(element)
    return flat.reshape(wanted)


def _is_finite(caller: str, name: str, value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an int beyond all floats
        return True
    except TypeError as error:
        if isinstance(error, Error):
            raise
        raise InvalidArgumentError(f"{caller}: {name} is a {type(value).__name__}, and no number") from error


def _count(caller: str, name: str, value: Any) -> int:
    try:
        count = operator.index(value)
    except TypeError as error:
        raise InvalidArgumentError(f"{caller}: {name} is a {type(value).__name__}, and no integer") from error
    if not 0 <= count < 2**63:
        raise InvalidArgumentError(f"{caller}: {name} is {shown(count)}, and must be from 0 to 2**63 - 1")
    return count


def _owned(host: NDArray[Any], device: Device | str | None) -> Array:
    return Array._of(from_host(host, handle_of(device), None, "asarray", owned=True))


def _device_of(x: Array) -> Device | None:
    return x._handle.graph.device if isinstance(x._handle, Symbol) else x.device

"""New arrays.

Without a dtype, Python numbers become int64, bool, the default dtype (float32) or its complex one. Without a device,
arrays are on the default device.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import Shape, flag, one_integer, refuse_more, sizes
from ferrule.array.host_memory import check_ndim, enough_memory, from_host
from ferrule.array.numbers import conversion, perform, shown
from ferrule.array.recording import check_range
from ferrule.array.symbols import Symbol
from ferrule.dtypes.classification import as_dtype, is_complex, numpy_dtype
from ferrule.dtypes.default_dtypes import default_complex_dtype, default_dtype
from ferrule.errors import (
    DTypeError,
    Error,
    InvalidArgumentError,
    NumberOverflowError,
    OutOfMemoryError,
)
from ferrule.functions.asarray import asarray
from ferrule.loading.device_lookup import handle_of
from ferrule.loading.devices import Device

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "arange",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "host_empty",
    "linspace",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

PAGE = 4096
_LAZY = 65536  # elements from which on arange is computed only when it is needed


def full(shape: Shape, fill_value: complex, *, dtype: Any = None, device: Device | str | None = None) -> Array:
    """Make an array of one value.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    fill_value : number
        The value, which must be representable in the dtype.
    dtype : dtype or str, optional
        The dtype; by default bool, int64, the default dtype or its complex one, by the type of the value.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array
        An array of `shape`.

    Raises
    ------
    DTypeError
        The dtype is unknown or a block dtype, or a complex value is given for a real dtype.
    InvalidArgumentError
        The shape has a negative size, or the value is not a number.
    NotFoundError
        There is no such device.
    NumberOverflowError
        The value does not fit into the dtype.

    Examples
    --------
    >>> fe.full((2, 2), 7).tolist()
    [[7, 7], [7, 7]]
    """
    return _full("full", shape, fill_value, dtype, device)


def _full(caller: str, shape: Shape, fill_value: Any, dtype: Any, device: Device | str | None) -> Array:
    if isinstance(fill_value, (Array, np.generic)):
        if dtype is None and not (isinstance(fill_value, Array) and is_number(fill_value)):
            dtype = fill_value.dtype
        fill_value = fill_value.item()
    if not isinstance(fill_value, (bool, int, float, complex)):
        raise InvalidArgumentError(f"{caller}: the value is a number, not {fill_value!r}")
    if dtype is None:
        dtype = _dtype_of(fill_value)
    wanted = _shape_of(caller, shape)
    element = as_dtype(dtype, caller)
    if isinstance(fill_value, complex) and not is_complex(element):
        raise DTypeError(f"{caller}: {fill_value} is complex, but the dtype is {element}")
    operation = None if element.kind == "b" else conversion(type(fill_value).__name__, element, exact=True)
    if operation is not None:
        assert isinstance(fill_value, (bool, int, float))  # complex numbers have no conversion
        try:
            fill_value = perform(operation, fill_value)
        except NumberOverflowError:
            raise NumberOverflowError(f"{caller}: {shown(fill_value)} does not fit into {element}") from None
    if type(fill_value) is int and element.kind in "iu":
        check_range(caller, fill_value, element)
    handle = handle_of(device)
    try:
        return Array._of(_ferrule.full(handle, wanted, fill_value, element))
    except OverflowError:
        raise NumberOverflowError(f"{caller}: {shown(fill_value)} does not fit into {element}") from None


def _dtype_of(number: complex) -> Any:
    if isinstance(number, int):
        return np.bool_ if isinstance(number, bool) else np.int64
    return default_dtype() if isinstance(number, float) else default_complex_dtype()


def _shape_of(caller: str, shape: Shape) -> tuple[int, ...]:
    wanted = sizes(shape, caller)
    if any(size < 0 for size in wanted):
        raise InvalidArgumentError(f"{caller}: shape ({', '.join(map(shown, wanted))}) has a negative size")
    check_ndim(caller, len(wanted))
    return wanted


def zeros(shape: Shape, *more: Never, dtype: Any = None, device: Device | str | None = None) -> Array:
    """Make an array of zeros.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    *more
        Not accepted: pass the shape as one tuple. Further positional arguments raise InvalidArgumentError.
    dtype : dtype or str, optional
        The dtype; by default the default dtype.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array
        An array of `shape`.

    Raises
    ------
    DTypeError
        The dtype is unknown or a block dtype.
    InvalidArgumentError
        The shape has a negative size or too many dimensions, or is not one tuple.
    NotFoundError
        There is no such device.

    Examples
    --------
    >>> fe.zeros((2, 3)).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return _filled("zeros", shape, more, 0, dtype, device)


def ones(shape: Shape, *more: Never, dtype: Any = None, device: Device | str | None = None) -> Array:
    """Make an array of ones.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    *more
        Not accepted: pass the shape as one tuple. Further positional arguments raise InvalidArgumentError.
    dtype : dtype or str, optional
        The dtype; by default the default dtype.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array
        An array of `shape`.

    Raises
    ------
    DTypeError
        The dtype is unknown or a block dtype.
    InvalidArgumentError
        The shape has a negative size or too many dimensions, or is not one tuple.
    NotFoundError
        There is no such device.

    Examples
    --------
    >>> fe.ones(3, dtype="int32").tolist()
    [1, 1, 1]
    """
    return _filled("ones", shape, more, 1, dtype, device)


def empty(shape: Shape, *more: Never, dtype: Any = None, device: Device | str | None = None) -> Array:
    """Make an array of a shape whose values do not matter.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    *more
        Not accepted: pass the shape as one tuple. Further positional arguments raise InvalidArgumentError.
    dtype : dtype or str, optional
        The dtype; by default the default dtype.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array
        An array of `shape`. The elements are zeros: an array never changes, so uninitialized elements would be useless.

    Raises
    ------
    DTypeError
        The dtype is unknown or a block dtype.
    InvalidArgumentError
        The shape has a negative size or too many dimensions, or is not one tuple.
    NotFoundError
        There is no such device.

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
    return _full(caller, shape, number, default_dtype() if dtype is None else dtype, device)


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
    DTypeError
        The dtype is unknown or a block dtype, or a complex value is given for a real dtype.
    InvalidArgumentError
        The value is not a number.
    NotFoundError
        There is no such device.
    NumberOverflowError
        The value does not fit into the dtype.

    Examples
    --------
    >>> fe.full_like(fe.arange(3), 5).tolist()
    [5, 5, 5]
    """
    return _full_like("full_like", x, fill_value, dtype, device)


def _full_like(caller: str, x: object, fill_value: Any, dtype: Any, device: Device | str | None) -> Array:
    like = x if isinstance(x, Array) else asarray(x)
    element = like.dtype if dtype is None else dtype
    return _full(caller, like.shape, fill_value, element, device_of(like) if device is None else device)


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

    Raises
    ------
    DTypeError
        The dtype is unknown or a block dtype, or x does not consist of numbers.
    NotFoundError
        There is no such device.

    Examples
    --------
    >>> fe.zeros_like(fe.arange(3)).tolist()
    [0, 0, 0]
    """
    return _full_like("zeros_like", x, 0, dtype, device)


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

    Raises
    ------
    DTypeError
        The dtype is unknown or a block dtype, or x does not consist of numbers.
    NotFoundError
        There is no such device.

    Examples
    --------
    >>> fe.ones_like(fe.arange(3), dtype="float32").tolist()
    [1.0, 1.0, 1.0]
    """
    return _full_like("ones_like", x, 1, dtype, device)


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

    Raises
    ------
    DTypeError
        The dtype is unknown or a block dtype, or x does not consist of numbers.
    NotFoundError
        There is no such device.

    Examples
    --------
    >>> fe.empty_like(fe.arange(3)).dtype
    dtype('int64')
    """
    return _full_like("empty_like", x, 0, dtype, device)


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
        The dtype; by default the default dtype if an argument is a float, otherwise int64.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array of shape (ceil((stop - start) / step),)
        The numbers.

    Raises
    ------
    DTypeError
        The dtype is bool.
    InvalidArgumentError
        An argument is not finite, or the step is 0.
    NumberOverflowError
        A number does not fit into the dtype.
    OutOfMemoryError
        No machine has so much memory.

    Examples
    --------
    >>> fe.arange(3).tolist(), fe.arange(1, 2, 0.5).tolist()
    ([0, 1, 2], [1.0, 1.5])
    """
    first, end = (0, start) if stop is None else (start, stop)
    numbers: list[float] = []
    for name, value in (("start", first), ("stop", end), ("step", step)):
        number = _number("arange", name, value)
        if isinstance(number, complex) or not _is_finite("arange", name, number):
            raise InvalidArgumentError(f"arange: {name} is {number}, and must be real and finite")
        numbers.append(int(number) if isinstance(number, bool) else number)
    first, end, step = numbers
    if step == 0:
        raise InvalidArgumentError("arange: step is 0")
    if dtype is None:
        dtype = default_dtype() if any(isinstance(number, float) for number in numbers) else np.int64
    element = numpy_dtype("arange", dtype)
    if element.kind == "b":
        raise DTypeError("arange: dtype bool has no steps")
    size = _steps(first, end, step)
    if size * element.itemsize >= 2**63:
        raise OutOfMemoryError(
            f"arange: from {shown(first)} to {shown(end)} in steps of {shown(step)}: too many numbers"
        )
    if element.kind in "iu" and size:
        check_range("arange", int(first), element)
        check_range("arange", int(first + (size - 1) * step), element)
    is_whole = element.kind in "iu" and isinstance(first, int) and isinstance(step, int)
    try:
        if not is_whole:
            first, step = float(first), _difference(float(first), float(step))
        is_recordable = is_whole or (element.kind == "f" and element.itemsize >= 4)
        scale = 1.0 if is_whole else _scale_of(first, end)
        if size > _LAZY and is_recordable and scale == 1:
            return _recorded_arange(first, step, size, element, device)
        with enough_memory(f"arange: {size} numbers"), np.errstate(all="ignore"):
            places = np.arange(size)
            if is_whole:
                host = (np.uint64(first % 2**64) + places.astype(np.uint64) * np.uint64(step % 2**64)).astype(element)
            else:
                host = ((first * scale + places * (step * scale)) / scale).astype(element)
    except OverflowError as error:
        raise NumberOverflowError(f"arange: {error}") from error
    return _owned(host, device)


def _difference(first: float, step: float) -> float:
    """Return the difference of the first two numbers, which NumPy takes as the step, unless it is rounded to 0."""
    difference = first + step - first
    return difference if math.isfinite(difference) and difference != 0 else step


def _steps(first: float, end: float, step: float) -> int:
    """Return ceil((end - first) / step), exactly for integers."""
    if isinstance(first, int) and isinstance(end, int) and isinstance(step, int):
        return max(0, -((first - end) // step))
    try:
        scale = _scale_of(first, end)
        steps = (end - first if scale == 1 else end * scale - first * scale) / (step * scale)
    except OverflowError as error:
        raise NumberOverflowError(f"arange: {error}") from error
    if not math.isfinite(steps):
        raise OutOfMemoryError(
            f"arange: from {shown(first)} to {shown(end)} in steps of {shown(step)}: too many numbers"
        )
    return max(0, math.ceil(steps))


def _recorded_arange(first: float, step: float, size: int, dtype: np.dtype[Any], device: Device | str | None) -> Array:
    """Return a pending array, which takes memory only when it is computed."""
    handle = handle_of(device)
    wide = np.dtype("int64" if dtype.kind in "iu" else "float64")
    if wide.kind == "i":
        first, step = ((int(number) + 2**63) % 2**64 - 2**63 for number in (first, step))
    ends = [_ferrule.scalar(handle, wide.type(number).item(), wide) for number in (first, step)]
    return Array._of(_ferrule.apply("arange", ends, {"size": size, "dtype": dtype})[0])


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: Any = None,
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
    dtype : dtype or str, optional
        The dtype; by default the default dtype, or its complex one if a number is complex. For an integer dtype, the
        numbers are
        rounded down.
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
    DTypeError
        `start` or `stop` is complex, and the dtype is real.
    InvalidArgumentError
        `num` is not an integer from 0 on.
    NumberOverflowError
        A number does not fit into the dtype.

    Examples
    --------
    >>> fe.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    first, last = _number("linspace", "start", start), _number("linspace", "stop", stop)
    has_complex = isinstance(first, complex) or isinstance(last, complex)
    if dtype is None:
        dtype = default_complex_dtype() if has_complex else default_dtype()
    element = numpy_dtype("linspace", dtype)
    if has_complex and not is_complex(element):
        raise DTypeError(f"linspace: the numbers from {first} to {last} are complex, but the dtype is {element}")
    count, with_last = _count("linspace", "num", num), flag(endpoint, "linspace", "endpoint")
    wide = complex if has_complex else float
    with enough_memory(f"linspace: {count} numbers"), np.errstate(all="ignore"):
        try:
            host = _spaced(wide(first), wide(last), count, with_last, element)  # type: ignore[arg-type]
        except NumberOverflowError:
            raise
        except OverflowError as error:
            raise NumberOverflowError(f"linspace: {error}") from error
    return _owned(host, device)


_PART = 1 << 18  # numbers that are computed at once, in the cache


def _spaced(first: complex, last: complex, count: int, with_last: bool, element: np.dtype[Any]) -> NDArray[Any]:
    host = np.empty(count, element)
    if isinstance(first, complex) or isinstance(last, complex):
        part = np.dtype(f"f{element.itemsize // 2}")
        host.real = _spaced(first.real, last.real, count, with_last, part)
        host.imag = _spaced(first.imag, last.imag, count, with_last, part)
        return host
    scale = _scale_of(first, last)
    start, stop = first * scale, last * scale
    intervals = max(count - 1 if with_last else count, 1)
    step = (stop - start) / intervals
    for begin in range(0, count, _PART):
        places = np.arange(begin, min(begin + _PART, count), dtype=np.float64)
        numbers = places * step if step else places / intervals * (stop - start)  # a step may underflow
        numbers += start
        if with_last and begin + len(places) == count > 1:
            numbers[-1] = stop
        numbers /= scale
        if element.kind in "iu":  # as in NumPy
            numbers = np.floor(numbers)
            for number in {numbers[0], numbers[-1]}:
                if not math.isfinite(number):
                    raise NumberOverflowError(f"linspace: {number} does not fit into {element}")
                check_range("linspace", int(number), element)
        host[begin : begin + len(places)] = numbers
    return host


def _scale_of(first: float, last: float) -> float:
    """Return by what to multiply numbers so that their difference is finite."""
    is_too_wide = math.isfinite(first) and math.isfinite(last) and not math.isfinite(last - first)
    return 0.5 if is_too_wide else 1.0


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Device | str | None = None
) -> Array:
    """Make a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    n_cols : int, optional
        The number of columns; by default that of rows.
    k : int
        The diagonal: 0 is the main one, positive numbers are above it, negative ones below.
    dtype : dtype or str, optional
        The dtype; by default the default dtype.
    device : Device or str, optional
        The device; by default the default device.

    Returns
    -------
    Array of shape (n_rows, n_cols)
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
    rows = _count("eye", "n_rows", n_rows)
    columns = rows if n_cols is None else _count("eye", "n_cols", n_cols)
    diagonal = max(-rows, min(one_integer(k, "eye", "k"), columns))
    element = numpy_dtype("eye", default_dtype() if dtype is None else dtype)
    with enough_memory(f"eye: shape {(rows, columns)}"):
        host = np.eye(rows, columns, k=diagonal, dtype=element)
    return _owned(host, device)


def host_empty(shape: Shape, dtype: Any = None, device: Device | str | None = None) -> NDArray[Any]:
    """Make an uninitialized NumPy array from which a device copies at full speed.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    dtype : dtype or str, optional
        The dtype; by default the default dtype.
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
    wanted = sizes(shape, "host_empty")
    element = numpy_dtype("host_empty", default_dtype() if dtype is None else dtype)
    if any(size < 0 for size in wanted):
        raise InvalidArgumentError(f"host_empty: shape ({', '.join(map(shown, wanted))}) has a negative size")
    check_ndim("host_empty", len(wanted))
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
        raise InvalidArgumentError(f"{caller}: {name} must be a number, not {type(value).__name__}") from error


def _number(caller: str, name: str, value: Any) -> complex:
    """Return a Python number for a number of any class."""
    if isinstance(value, (Array, np.ndarray, np.generic)):
        value = value.item() if value.ndim == 0 else value
    if isinstance(value, (bool, int, float, complex)):
        return value
    raise InvalidArgumentError(f"{caller}: {name} must be a number, not {type(value).__name__}")


def _count(caller: str, name: str, value: Any) -> int:
    try:
        count = operator.index(value)
    except TypeError as error:
        if isinstance(error, Error):
            raise
        raise InvalidArgumentError(f"{caller}: {name} must be an integer, not {type(value).__name__}") from error
    if not 0 <= count < 2**63:
        raise InvalidArgumentError(f"{caller}: {name} is {shown(count)}, and must be from 0 to 2**63 - 1")
    return count


def _owned(host: NDArray[Any], device: Device | str | None) -> Array:
    return Array._of(from_host(host, handle_of(device), None, "asarray", owned=True))


def device_of(x: Array) -> Device:
    """Return the device that an array is on, or on which the graph of a traced array will be computed."""
    return x._handle.graph.device if isinstance(x._handle, Symbol) else x.device

"""Exceptions: one class for each error code of the C API, each also a subclass of the matching built-in exception."""

from __future__ import annotations

import re
import sys
from types import FrameType

from ferrule import _ferrule
from ferrule.public_names import IN_NAMESPACES, MODULES


class Error(Exception):
    """Base class of all errors of ferrule.

    Attributes
    ----------
    code : str
        The name of the error code in the C API, such as "not_found".

    Examples
    --------
    >>> try:
    ...     fe.device("abacus")
    ... except fe.Error as error:
    ...     print(type(error).__name__, error.code)
    NotFoundError not_found
    """

    code = "internal"


class _CallError(Error):
    """An error about a call: its message begins with the name of the public function that the user called."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_after_caller(message))


class InvalidArgumentError(_CallError, ValueError):
    """A value, shape, dtype or attribute is wrong.

    Examples
    --------
    >>> fe.reshape(fe.arange(6), (4, 2))
    Traceback (most recent call last):
    ferrule.errors.InvalidArgumentError: reshape: ...
    """

    code = "invalid_argument"


class DTypeError(InvalidArgumentError, TypeError):
    """The op, or ferrule as a whole, does not support the dtype.

    Examples
    --------
    >>> fe.zeros(3, dtype="flaot32")
    Traceback (most recent call last):
    ferrule.errors.DTypeError: zeros: 'flaot32' is not a dtype; did you mean 'float32'...
    """


class OutOfRangeError(InvalidArgumentError, IndexError):
    """An index, the start of a slice, or an axis is out of range.

    Examples
    --------
    >>> fe.arange(3)[3]
    Traceback (most recent call last):
    ferrule.errors.OutOfRangeError: x[key]: index 3 is out of range for axis 0 with 3 elements
    """


class NumberOverflowError(InvalidArgumentError, OverflowError):
    """A Python number does not fit into the dtype of the arrays that it is combined with.

    Examples
    --------
    >>> fe.asarray(np.uint8([1, 2])) + 300
    Traceback (most recent call last):
    ferrule.errors.NumberOverflowError: add: 300 does not fit into uint8
    """


class UnsupportedError(_CallError, NotImplementedError):
    """The request is valid, but this device, module or build does not support it.

    Examples
    --------
    >>> fe.ones(3).to_device("cpu", stream=1)
    Traceback (most recent call last):
    ferrule.errors.UnsupportedError: to_device: takes no stream, ...
    """

    code = "unsupported"


class OutOfMemoryError(_CallError, MemoryError):
    """The device or the host has too little memory.

    Examples
    --------
    >>> device = fe.device("cpu")
    >>> device.set_memory_limit(1)
    >>> fe.eval(fe.zeros(1000, device=device) + 1)
    Traceback (most recent call last):
    ferrule.errors.OutOfMemoryError: ...
    >>> device.set_memory_limit(None)
    """

    code = "out_of_memory"


class DeviceLostError(Error, RuntimeError):
    """The device is lost, together with the results on it.

    Examples
    --------
    >>> issubclass(fe.DeviceLostError, RuntimeError), fe.DeviceLostError.code
    (True, 'device_lost')
    """

    code = "device_lost"


class AbiMismatchError(Error, ImportError):
    """A module was built for another version of the binary interface.

    Examples
    --------
    >>> issubclass(fe.AbiMismatchError, ImportError), fe.AbiMismatchError.code
    (True, 'abi_mismatch')
    """

    code = "abi_mismatch"


class NotFoundError(_CallError, LookupError):
    """The named backend, device, folder or file does not exist.

    Examples
    --------
    >>> fe.device("abacus")
    Traceback (most recent call last):
    ferrule.errors.NotFoundError: ...
    """

    code = "not_found"


class IoError(Error, OSError):
    """A file cannot be read or written.

    Examples
    --------
    >>> with fe.trace("no/such/folder/run.json"):
    ...     fe.eval(fe.ones(3))
    Traceback (most recent call last):
    ferrule.errors.IoError: trace: 'no/such/folder/run.json' cannot be written: ...
    """

    code = "io"


class TimeoutError_(Error, TimeoutError):  # noqa: N801, N818
    """A wait exceeded its time limit.

    Notes
    -----
    The name ends in an underscore because `TimeoutError` is a built-in.

    Examples
    --------
    >>> issubclass(fe.TimeoutError_, TimeoutError), fe.TimeoutError_.code
    (True, 'timeout')
    """

    code = "timeout"


class CancelledError(Error):
    """The computation was cancelled.

    Examples
    --------
    >>> issubclass(fe.CancelledError, fe.Error), fe.CancelledError.code
    (True, 'cancelled')
    """

    code = "cancelled"


class InternalError(Error, RuntimeError):
    """A bug in ferrule or in a module.

    Examples
    --------
    >>> issubclass(fe.InternalError, RuntimeError), fe.InternalError.code
    (True, 'internal')
    """

    code = "internal"


class TracingError(Error, TypeError):
    """A traced function uses the value of an array, which is not known while the function is traced.

    Examples
    --------
    >>> @fe.graph
    ... def relu(x):
    ...     return x if x.sum() > 0 else x * 0
    >>> relu(fe.ones(3))
    Traceback (most recent call last):
    ferrule.errors.TracingError: bool() needs the value of an array that is being traced, ...
    """

    code = "invalid_argument"


_BY_CODE: tuple[type[Error], ...] = (
    InternalError,
    InvalidArgumentError,
    UnsupportedError,
    OutOfMemoryError,
    DeviceLostError,
    AbiMismatchError,
    NotFoundError,
    IoError,
    TimeoutError_,
    CancelledError,
    InternalError,
)


# Words after "does not fit into" at the end of a message.
_NUMBERS = frozenset({*_ferrule.DTYPES, "64 bits"})
# The messages of kernels about an index or the start of a slice that is out of range.
_OUT_OF_RANGE = re.compile(r": index -?\d+ is out of bounds for axis |: the start -?\d+ of axis \d+ is not between ")


def error_of(code: int, message: str) -> Error:
    """Return the exception for an error code and message of the C API."""
    kind = _BY_CODE[code] if 0 <= code < len(_BY_CODE) else InternalError
    if kind is InvalidArgumentError and message.rpartition(" does not fit into ")[2] in _NUMBERS:
        kind = NumberOverflowError
    elif kind is InvalidArgumentError and _OUT_OF_RANGE.search(message):
        kind = OutOfRangeError
    elif kind is InvalidArgumentError and "dtype" in message:
        kind = DTypeError
    return kind(message)


_ferrule.set_error_factory(error_of)


def _after_caller(message: str) -> str:
    """Return the message after the name of the public function that the user called, such as "random.uniform"."""
    names = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if name := _public_name(frame):
            names.append(name)
        frame = frame.f_back
    if not names:
        return message
    for name in (names[0], names[-1]):  # the function that has failed, and the one that was called
        namespace, _, function = name.rpartition(".")
        if namespace and _begins_with(function, message):
            message = f"{namespace}.{message}"
    return message if _begins_with(names[-1], message) else f"{names[-1]}: {message}"


def _begins_with(name: str, message: str) -> bool:
    return message.startswith((f"{name}:", f"{name} "))


# xarray looks up `transpose`, which is not among the public names.
_PLACES = {**MODULES, "transpose": "ferrule.functions.joining"}


def _public_name(frame: FrameType) -> str:
    """Return the name that users call the function of a frame by; "" if it is not a public function on arrays."""
    function, module = frame.f_code.co_qualname, str(frame.f_globals.get("__name__"))
    if _PLACES.get(function) == module:
        return function if module.startswith(("ferrule.functions.", "ferrule.io.")) else ""
    name = f"{module.removeprefix('ferrule.').partition('.')[0]}.{function}"
    return name if IN_NAMESPACES.get(name) == module else ""

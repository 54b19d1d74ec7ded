"""What can go wrong: one class for each code, which is also the built-in class that a programmer expects."""

from __future__ import annotations

from ferrule import _ferrule


class Error(Exception):
    """All errors of ferrule; `code` is the name of the error's kind in the C API."""

    code = "internal"


class InvalidArgumentError(Error, ValueError):
    """A value, shape, dtype or attribute is wrong."""

    code = "invalid_argument"


class DTypeError(InvalidArgumentError, TypeError):
    """A dtype that the op, or ferrule, does not take."""


class OutOfRangeError(InvalidArgumentError, IndexError):
    """An index outside of its axis."""


class NumberOverflowError(InvalidArgumentError, OverflowError):
    """A Python number that does not fit into the dtype of the arrays that it meets."""


class UnsupportedError(Error, NotImplementedError):
    """Right, but not offered by this device, module or build."""

    code = "unsupported"


class OutOfMemoryError(Error, MemoryError):
    """The device, or the host, has no memory left for this."""

    code = "out_of_memory"


class DeviceLostError(Error, RuntimeError):
    """The device is gone, and the results that were on it."""

    code = "device_lost"


class AbiMismatchError(Error, ImportError):
    """A module was built for another binary interface."""

    code = "abi_mismatch"


class NotFoundError(Error, LookupError):
    """There is no such backend, device, folder or file."""

    code = "not_found"


class IoError(Error, OSError):
    """A file could not be read or written."""

    code = "io"


class TimeoutError_(Error, TimeoutError):  # noqa: N801, N818
    """A wait took longer than it was allowed to. The name without the underscore is a built-in's."""

    code = "timeout"


class CancelledError(Error):
    """The computation was cancelled."""

    code = "cancelled"


class InternalError(Error, RuntimeError):
    """A fault of ferrule or of a module."""

    code = "internal"


class TracingError(Error, TypeError):
    """A traced function needs the value of an array, which exists only when its graph is computed."""

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


# What a number does not fit into, at the end of a message.
_NUMBERS = frozenset({*_ferrule.dtypes(), "64 bits"})


def error_of(code: int, message: str) -> Error:
    """The exception for an error of the C API."""
    kind = _BY_CODE[code] if 0 <= code < len(_BY_CODE) else InternalError
    if kind is InvalidArgumentError and message.rpartition(" does not fit into ")[2] in _NUMBERS:
        kind = NumberOverflowError
    elif kind is InvalidArgumentError and "dtype" in message:
        kind = DTypeError
    return kind(message)


_ferrule.set_error_factory(error_of)

"""The default dtype: of arrays of Python floats, and of results from integers that are no integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule import _ferrule
from ferrule.dtypes.classification import as_dtype
from ferrule.errors import DTypeError, InvalidArgumentError

_COMPLEX: dict[str, np.dtype[Any]] = {"float32": np.dtype("complex64"), "float64": np.dtype("complex128")}


def default_dtype() -> np.dtype[Any]:
    """Return the dtype of Python floats, and of arrays that are made without `dtype=`: float32, unless it was set.

    Returns
    -------
    dtype
        float32 or float64.

    Examples
    --------
    >>> fe.default_dtype()
    dtype('float32')
    """
    return _ferrule.default_dtype()


def set_default_dtype(dtype: Any, *, thread: bool = False) -> None:
    """Set the dtype of Python floats, and of arrays that are made without `dtype=`.

    It is also the dtype of results from integers and bools that are real numbers, such as quotients and means. Complex
    numbers have the complex dtype of the same precision.

    Parameters
    ----------
    dtype : dtype or str or None
        float32 or float64. None means float32, or with `thread` the default of the process.
    thread : bool
        Whether it is set for the calling thread only, where it precedes that of the process.

    Raises
    ------
    DTypeError
        The dtype is another one.
    InvalidArgumentError
        `thread` is not a bool.

    Examples
    --------
    >>> fe.set_default_dtype("float64")
    >>> fe.asarray([0.1]).dtype, (fe.asarray([1, 2]) / 2).dtype
    (dtype('float64'), dtype('float64'))
    >>> fe.set_default_dtype(None)
    """
    wanted = None if dtype is None else as_dtype(dtype, "set_default_dtype")
    if wanted is not None and wanted.name not in _COMPLEX:
        raise DTypeError(f"set_default_dtype: takes {' or '.join(_COMPLEX)}, not {wanted}")
    if not isinstance(thread, bool):
        raise InvalidArgumentError(f"set_default_dtype: thread is a bool, not a {type(thread).__name__}")
    if wanted is None and not thread:
        wanted = np.dtype("float32")
    _ferrule.set_default_dtype(wanted, thread)


def default_complex_dtype() -> np.dtype[Any]:
    """Return the dtype of complex Python numbers."""
    return _COMPLEX[_ferrule.default_dtype().name]

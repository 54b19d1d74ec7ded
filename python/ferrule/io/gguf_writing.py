"""Writing GGUF files."""

from __future__ import annotations

import os
import reprlib
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ferrule.array.array import Array
from ferrule.array.host_memory import check_ndim
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.io.gguf_header import ALIGNMENT, ARRAY, DEEPEST, MAGIC, SCALARS, STRING
from ferrule.io.gguf_types import TYPES
from ferrule.io.host_buffers import bytes_of, mapping_of, snapshot_of
from ferrule.io.regular_files import replacing

__all__ = ["save_gguf"]

_CODES = {one.dtype: one.code for one in TYPES}
_FORMS = {name: (code, form) for code, (name, form) in SCALARS.items()}
_LIMITS = {"int32": (-(1 << 31), 1 << 31), "int64": (-(1 << 63), 1 << 63), "uint64": (0, 1 << 64)}


def save_gguf(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Array | NDArray[Any]],
    metadata: Mapping[str, object] | None = None,
) -> None:
    """Write arrays and metadata to a GGUF file of version 3.

    The file is written beside `path` under another name, and then renamed: after an error, a file that was there is
    unchanged, and arrays of that file can be written to it.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    arrays : dict of str to Array or numpy.ndarray
        The arrays, by name: float32, float64, float16, bfloat16, signed integers, and block dtypes.
    metadata : dict of str to object, optional
        str, bool, int, float, NumPy's scalars, and lists of one of them. A Python int becomes the first of int32, int64
        and uint64 that holds it, a float float32 if that loses nothing, else float64; `np.uint32(1)` becomes uint32.
        `general.alignment`, 32 by default, is heeded.

    Raises
    ------
    DTypeError
        The format has no such dtype: bool, unsigned integers, complex dtypes and float8.
    InvalidArgumentError
        A value is not an array, a name is empty or no text, or the metadata have a value that the format lacks.
    OSError
        The file cannot be written.

    See Also
    --------
    open_gguf : The inverse.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.gguf")
    ...     fe.io.save_gguf(path, {"w": np.float32([[1, 2]])}, {"tokens": ["a", "b"], "count": 2})
    ...     file = fe.io.open_gguf(path)
    ...     file["w"].tolist(), file.metadata
    ([[1.0, 2.0]], {'tokens': ['a', 'b'], 'count': 2})
    """
    arrays = snapshot_of(arrays, "save_gguf")
    metadata = {} if metadata is None else mapping_of(metadata, "metadata", "save_gguf")
    alignment = _alignment(metadata.get("general.alignment", ALIGNMENT))
    header = bytearray(MAGIC + struct.pack("<IQQ", 3, len(arrays), len(metadata)))
    for key, value in metadata.items():
        header += _text(key, "a key of the metadata")
        header += _typed(key, np.uint32(alignment) if key == "general.alignment" else value)
    offset = 0
    for name, array in arrays.items():
        _refuse_unwritable(name, array)
        shape = array.shape[::-1]
        header += _text(name, "the name of a tensor")
        header += struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, _CODES[array.dtype.name], offset)
        offset += -(-array.nbytes // alignment) * alignment
    header += bytes(-len(header) % alignment)
    with replacing(Path(path)) as file:
        file.write(header)
        for array in arrays.values():
            file.write(bytes_of(array, "save_gguf()"))
            file.write(bytes(-array.nbytes % alignment))


def _alignment(given: object) -> int:
    number = int(given) if isinstance(given, (int, np.integer)) and not isinstance(given, bool) else 0
    if not 0 < number < 1 << 32 or number & (number - 1):
        is_long = isinstance(given, int) and abs(given) >= 1 << 64
        shown = "an integer of more than 64 bits" if is_long else reprlib.repr(given)
        raise InvalidArgumentError(f"save_gguf: general.alignment is {shown}, which is no power of two below 2^32")
    return number


def _text(text: object, what: str) -> bytes:
    if not isinstance(text, str) or (not text and what):
        raise InvalidArgumentError(f"save_gguf: {what} is {text!r}")
    try:
        raw = text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"save_gguf: {text!r} is not Unicode: {error}") from error
    return struct.pack("<Q", len(raw)) + raw


def _typed(key: str, value: object) -> bytes:
    """The type of the value, and the value."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        if not value.size:
            return struct.pack("<IIQ", ARRAY, _form_of(key, [*np.zeros(1, value.dtype)])[0], 0)
        value = [*value]
    if isinstance(value, (list, tuple)):
        return struct.pack("<I", ARRAY) + _elements(key, value, 1)
    code, form = _form_of(key, [value])
    raw = _text(value, "") if code == STRING else struct.pack(form, value)
    return struct.pack("<I", code) + raw


def _elements(key: str, values: list[Any] | tuple[Any, ...], depth: int) -> bytes:
    if depth > DEEPEST:
        raise InvalidArgumentError(f"save_gguf: {key!r} has lists in more than {DEEPEST} lists")
    if values and all(isinstance(one, (list, tuple)) for one in values):
        return struct.pack("<IQ", ARRAY, len(values)) + b"".join(_elements(key, one, depth + 1) for one in values)
    code, form = _form_of(key, values)
    start = struct.pack("<IQ", code, len(values))
    if code == STRING:
        return start + b"".join(_text(one, "") for one in values)
    return start + struct.pack(f"<{len(values)}{form[1]}", *values)


def _form_of(key: str, values: Iterable[Any]) -> tuple[int, str]:
    """The code and the format of the type that holds all values."""
    kinds = {_kind_of(one) for one in values}
    if kinds <= {"str"}:
        return STRING, ""
    if kinds <= {"int"}:
        name = next((name for name, (low, end) in _LIMITS.items() if all(low <= one < end for one in values)), "")
    elif kinds <= {"int", "float"}:
        numbers = _as_float64(key, values)
        with np.errstate(over="ignore"):
            is_short = np.array_equal(numbers.astype(np.float32), numbers, equal_nan=True)
        name = "float32" if is_short else "float64"
    else:
        name = next(iter(kinds)) if len(kinds) == 1 else ""
    if name not in _FORMS:
        raise InvalidArgumentError(
            f"save_gguf: {key!r} has {name if name else ', '.join(sorted(kinds))}; the format has str, bool, and "
            "integers and floats of up to 64 bits, alone or in lists of one kind"
        )
    return _FORMS[name]


def _as_float64(key: str, values: Iterable[Any]) -> NDArray[np.float64]:
    try:
        numbers = np.array([*values], np.float64)
        pairs = zip(values, numbers.tolist(), strict=True)
        is_exact = all(type(one) is float or one == number for one, number in pairs)
    except OverflowError:
        is_exact = False
    if not is_exact:
        raise InvalidArgumentError(f"save_gguf: {key!r} has an integer among floats that float64 cannot hold")
    return numbers


def _kind_of(value: object) -> str:
    if isinstance(value, str):
        return "str"
    return value.dtype.name if isinstance(value, np.generic) else type(value).__name__


def _refuse_unwritable(name: object, array: Array | NDArray[Any]) -> None:
    check_ndim(f"save_gguf: tensor {name!r}", array.ndim)
    if array.dtype.name not in _CODES:
        raise DTypeError(
            f"save_gguf: tensor {name!r} is {array.dtype}{array.shape}, and the format has no such dtype; it has "
            f"{', '.join(_CODES)}"
        )

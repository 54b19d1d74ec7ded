"""Writing safetensors files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ferrule.array.array import Array
from ferrule.dtypes.classification import is_block
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.io.host_buffers import bytes_of, mapping_of, snapshot_of
from ferrule.io.regular_files import replacing
from ferrule.io.safetensors_header import DTYPES, LONGEST_HEADER

__all__ = ["save_safetensors"]

_NAMES = {name: (written, bits) for written, (bits, name) in DTYPES.items() if name}


def save_safetensors(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Array | NDArray[Any]],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write arrays to a safetensors file.

    The file is written beside `path` under another name, and then renamed: after an error, a file that was there is
    unchanged, and arrays of that file can be written to it.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    arrays : dict of str to Array or numpy.ndarray
        The arrays, by name.
    metadata : dict of str to str, optional
        Texts to write to the header.

    Raises
    ------
    DTypeError
        The format has no such dtype: complex128 and block dtypes.
    InvalidArgumentError
        A value is not an array, or a name or the metadata are not texts.
    OSError
        The file cannot be written.

    See Also
    --------
    open_safetensors : The inverse.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     fe.io.save_safetensors(path, {"w": fe.ones((2, 3)), "b": np.arange(3)}, {"step": "100"})
    ...     file = fe.io.open_safetensors(path)
    ...     file["w"].shape, file["b"].tolist(), file.metadata
    ((2, 3), [0, 1, 2], {'step': '100'})
    """
    arrays = snapshot_of(arrays, "save_safetensors")
    metadata = None if metadata is None else mapping_of(metadata, "metadata", "save_safetensors")
    for name, array in arrays.items():
        _refuse_unwritable(name, array)
    # Elements of 8 bytes first, then of 4, and so on: so each array is aligned to its elements.
    order = sorted(arrays, key=lambda name: -_NAMES[arrays[name].dtype.name][1])
    header = _header(arrays, order, metadata)
    with replacing(Path(path)) as file:
        file.write(header)
        for name in order:
            file.write(bytes_of(arrays[name], "save_safetensors()"))


def _refuse_unwritable(name: object, array: Array | NDArray[Any]) -> None:
    if not isinstance(name, str) or name == "__metadata__":
        raise InvalidArgumentError(f"save_safetensors: {name!r} cannot be the name of a tensor")
    if array.dtype.name not in _NAMES:
        advice = "; ferrule.to_packed(x) has its bytes" if is_block(array.dtype) else ""
        raise DTypeError(
            f"save_safetensors: tensor {name!r} is {array.dtype}{array.shape}, and the format has no such dtype{advice}"
        )


def _header(arrays: Mapping[str, Array | NDArray[Any]], order: list[str], metadata: Mapping[str, str] | None) -> bytes:
    entries: dict[str, Any] = {}
    if metadata is not None:
        for key, value in metadata.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise InvalidArgumentError(f"save_safetensors: metadata maps str to str, not {key!r} to {value!r}")
        entries["__metadata__"] = dict(metadata)
    entries.update(dict.fromkeys(arrays))  # in the order of the caller
    begin = 0
    for name in order:
        array = arrays[name]
        end = begin + array.nbytes
        entries[name] = {
            "dtype": _NAMES[array.dtype.name][0],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
        begin = end
    try:
        text: bytes = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"save_safetensors: a name or the metadata are not Unicode: {error}") from error
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST_HEADER:
        raise InvalidArgumentError(
            f"save_safetensors: the names and metadata make a header of {len(text)} bytes; {LONGEST_HEADER} are allowed"
        )
    return len(text).to_bytes(8, "little") + text

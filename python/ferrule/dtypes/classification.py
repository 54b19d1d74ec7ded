"""Conversion to dtypes and their classification.

Dtypes are NumPy's. bfloat16 and the float8 dtypes are those of ml_dtypes, which is imported when one is first used.
Block dtypes are ferrule's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ferrule import _ferrule
from ferrule.errors import DTypeError
from ferrule.later import later

if TYPE_CHECKING:
    from ferrule.dtypes import blocks
    from ferrule.text import near_names
else:
    blocks = later("ferrule.dtypes.blocks")  # most programs have no block dtypes
    near_names = later("ferrule.text.near_names")  # for messages

DTYPE_NAMES = tuple(_ferrule.DTYPES)
_NOT_NUMPYS = frozenset(name for name, row in _ferrule.DTYPES.items() if row.package != "numpy")
_BY_LOWER_CASE = {name.lower(): name for name in DTYPE_NAMES}
_classes: dict[np.dtype[Any], str] = {}
_by_name: dict[str, np.dtype[Any]] = {}  # of NumPy, as far as they were asked for
_KINDS = ("bool", "unsigned", "signed", "float", "complex")


def as_dtype(dtype: Any, caller: str = "") -> np.dtype[Any]:
    """Return `numpy.dtype(dtype)`, and also accept the names of ml_dtypes before it is imported, and any case.

    A block dtype is returned as it is, and annotated as the NumPy dtype that callers use it as. With `caller`, whose
    name begins the message, a dtype that ferrule does not have is an error.
    """
    if type(dtype) is str and dtype in _by_name:
        return _by_name[dtype]
    prefix = f"{caller}: " if caller else ""
    if dtype is None:  # NumPy would make it float64
        raise DTypeError(f"{prefix}None is not a dtype{_near(dtype)}")
    if isinstance(dtype, str):
        dtype = _BY_LOWER_CASE.get(dtype.lower(), dtype)  # GGUF tools write Q4_K
        if dtype in _NOT_NUMPYS:
            return _ferrule.dtype(dtype)
    if is_block(dtype):
        return cast("np.dtype[Any]", dtype)
    try:
        if isinstance(dtype, bytes) or (isinstance(dtype, str) and dtype.lstrip("<>=|").startswith("a")):
            raise TypeError(dtype)  # NumPy would take it, with a warning
        known: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise DTypeError(f"{prefix}{dtype!r} is not a dtype{_near(dtype)}") from error
    if caller and not class_of(known):
        raise DTypeError(f"{caller}: dtype {known} is not supported; ferrule has {', '.join(DTYPE_NAMES)}")
    if type(dtype) is str and dtype in DTYPE_NAMES:
        _by_name[dtype] = known
    return known


def numpy_dtype(caller: str, dtype: Any) -> np.dtype[Any]:
    """Like `as_dtype`, but refuse block dtypes: for functions whose values NumPy computes."""
    known = as_dtype(dtype, caller)
    if is_block(known):
        raise DTypeError(f"{caller}: dtype {known} is made of float32 by astype, or of bytes by ferrule.from_packed")
    return known


def is_block(dtype: object) -> bool:
    """Whether the dtype is a block dtype, which is an object of ferrule's own class."""
    return not isinstance(dtype, np.dtype) and getattr(dtype, "block_elements", None) is not None


def _near(name: object) -> str:
    if not isinstance(name, str):
        return f"; there are {', '.join(DTYPE_NAMES)}"
    digits = _digits_in(name)  # another width is another format, which is not meant
    near = near_names.did_you_mean(name.lower(), [known for known in DTYPE_NAMES if _digits_in(known) == digits])
    return near or f"; there are {', '.join(DTYPE_NAMES)}"


def _digits_in(name: str) -> list[str]:
    return [letter for letter in name if letter.isdigit()]


def class_of(dtype: np.dtype[Any]) -> str:
    """Return "bool", "signed", "unsigned", "float", "complex" or "block", or "" for an unsupported dtype.

    NumPy's own `kind` is "V" for all dtypes of other libraries.
    """
    known = _classes.get(dtype)
    if known is None:
        row = _ferrule.DTYPES.get(dtype.name)
        if row is None:  # there may be any number of unsupported dtypes: these are not cached
            return ""
        known = _classes[dtype] = row.dtype_class
    return known


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether the dtype is a real floating-point dtype."""
    return class_of(dtype) == "float"


def is_complex(dtype: np.dtype[Any]) -> bool:
    """Whether the dtype is a complex dtype."""
    return class_of(dtype) == "complex"


def is_inexact(dtype: np.dtype[Any]) -> bool:
    """Whether the dtype is a floating-point or a complex dtype: elements can be NaN."""
    return class_of(dtype) in ("float", "complex")


def is_same_kind(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether a cast keeps the class of the dtype or widens it, as NumPy's casting="same_kind" allows."""
    return source == target or (
        class_of(source) in _KINDS and class_of(target) in _KINDS[_KINDS.index(class_of(source)) :]
    )


def _block_dtype(name: str) -> object:
    return blocks.BY_NAME[name]


_ferrule.set_block_dtype_factory(_block_dtype)

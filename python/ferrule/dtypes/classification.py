"""Dtypes are NumPy's; bfloat16 and the float8 are those of ml_dtypes, which is imported when one is first met; block
dtypes are ferrule's own."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ferrule import _ferrule
from ferrule.errors import DTypeError
from ferrule.text.near_names import did_you_mean

DTYPE_NAMES = tuple(_ferrule.dtypes())
_BLOCKS = frozenset(name for name, (kind, _, _) in _ferrule.dtypes().items() if kind == "block")
_NOT_NUMPYS = _BLOCKS | {"bfloat16", "float8_e4m3fn", "float8_e5m2"}
_classes: dict[np.dtype[Any], str] = {}
_KINDS = ("bool", "unsigned", "signed", "float", "complex")


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """What `numpy.dtype` makes of it, which knows the names of ml_dtypes only once that is imported. A block dtype is
    itself, and so is annotated as what it is used as."""
    if dtype is None:  # to NumPy it is float64
        raise DTypeError(f"None is no dtype{_near(dtype)}")
    if isinstance(dtype, str) and dtype in _NOT_NUMPYS:
        return _ferrule.dtype(dtype)
    if is_block(dtype):
        return cast("np.dtype[Any]", dtype)
    try:
        known: np.dtype[Any] = np.dtype(dtype)
        return known
    except TypeError as error:
        raise DTypeError(f"{dtype!r} is no dtype{_near(dtype)}") from error


def numpy_dtype(caller: str, dtype: Any) -> np.dtype[Any]:
    """The same for what NumPy computes: no block dtype."""
    known = as_dtype(dtype)
    if is_block(known):
        raise DTypeError(f"{caller}: dtype {known} is made of float32 by astype, or of bytes by ferrule.from_packed")
    return known


def is_block(dtype: object) -> bool:
    """Whether it is a block dtype: an object of ferrule's own."""
    return not isinstance(dtype, np.dtype) and getattr(dtype, "block_elements", None) is not None


def _near(name: object) -> str:
    return (isinstance(name, str) and did_you_mean(name, DTYPE_NAMES)) or f"; there are {', '.join(DTYPE_NAMES)}"


def class_of(dtype: np.dtype[Any]) -> str:
    """One of "bool", "signed", "unsigned", "float", "complex" and "block"; "" of a dtype that ferrule does not have.
    NumPy's own `kind` is V for each that it does not bring itself."""
    known = _classes.get(dtype)
    if known is None:
        known, _, _ = _ferrule.dtypes().get(dtype.name, ("", 0, 0))
        if known:  # others may be without number
            _classes[dtype] = known
    return known


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether it is a real floating-point dtype."""
    return class_of(dtype) == "float"


def is_complex(dtype: np.dtype[Any]) -> bool:
    """Whether it is a complex dtype."""
    return class_of(dtype) == "complex"


def is_same_kind(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether a cast keeps the class of dtypes or goes to a higher one, as NumPy's casting="same_kind"."""
    return source == target or (
        class_of(source) in _KINDS and class_of(target) in _KINDS[_KINDS.index(class_of(source)) :]
    )

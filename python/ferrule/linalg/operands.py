"""The arguments that functions of linear algebra share."""

from __future__ import annotations

from ferrule.array.array import Array
from ferrule.array.recording import apply, as_operand
from ferrule.dtypes.classification import is_complex, is_inexact
from ferrule.dtypes.default_dtypes import default_dtype
from ferrule.errors import InvalidArgumentError
from ferrule.functions.conversion import cast
from ferrule.functions.movement import matrix_transpose


def floating(caller: str, x: object, *others: object) -> Array:
    """Return x as an array of floating-point or complex numbers; integers and bool get the default dtype."""
    array = as_operand(caller, x, *others)
    return array if is_inexact(array.dtype) else cast(array, default_dtype())


def matrices(caller: str, x: object) -> Array:
    """Return x as an array of floating-point matrices."""
    array = floating(caller, x)
    if array.ndim < 2:
        raise InvalidArgumentError(f"{caller}: needs at least 2 dimensions: {array.shape}")
    return array


def square_matrices(caller: str, x: object) -> Array:
    """Return x as an array of square matrices."""
    array = matrices(caller, x)
    if array.shape[-1] != array.shape[-2]:
        raise InvalidArgumentError(f"{caller}: needs square matrices: {array.shape}")
    return array


def adjoint(x: Array) -> Array:
    """Return the conjugate transpose of the matrices."""
    turned = matrix_transpose(x)
    return apply("conj", (turned,), {}) if is_complex(x.dtype) else turned

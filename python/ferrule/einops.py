"""Makes arrays known to einops: `import ferrule.einops`, then `einops.rearrange(x, "a b -> b a")` takes an `Array`.

einops has classes for the libraries that it knows. It finds a further one, such as this, among the subclasses of its
class once that has been defined. The functions of `einops.array_api` take arrays without this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from einops import _backends

from ferrule.array.array import Array
from ferrule.dtypes.classification import is_floating
from ferrule.functions import creation, einsum, movement, repetition
from ferrule.functions.asarray import asarray


class FerruleBackend(_backends.AbstractBackend):  # type: ignore[misc, unused-ignore]
    """The backend by which einops works on an `Array`."""

    framework_name = "ferrule"

    def is_appropriate_type(self, tensor: object) -> bool:
        return isinstance(tensor, Array)

    def from_numpy(self, x: np.ndarray[Any, Any]) -> Array:
        return asarray(x)

    def to_numpy(self, x: Array) -> np.ndarray[Any, Any]:
        return np.asarray(x)

    def arange(self, start: int, stop: int) -> Array:
        return creation.arange(start, stop)

    def transpose(self, x: Array, axes: Sequence[int]) -> Array:
        return movement.permute_dims(x, axes)

    def stack_on_zeroth_dimension(self, tensors: Sequence[Array]) -> Array:
        return movement.stack(tensors)

    def tile(self, x: Array, repeats: Sequence[int]) -> Array:
        return repetition.tile(x, repeats)

    def concat(self, tensors: Sequence[Array], axis: int) -> Array:
        return movement.concat(tensors, axis=axis)

    def is_float_type(self, x: Array) -> bool:
        return is_floating(x.dtype)

    def add_axis(self, x: Array, new_position: int) -> Array:
        return movement.expand_dims(x, axis=new_position)

    def einsum(self, pattern: str, *x: Array) -> Array:
        return einsum.einsum(pattern, *x)

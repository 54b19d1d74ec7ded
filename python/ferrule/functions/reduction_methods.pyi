"""The methods of `Array` that reduce it. Generated from csrc/ops/generate/python_functions.toml."""

from typing import Any

from ferrule.array.array import Array, Axes

class ReductionMethods:
    def sum(
        self,
        axis: Axes = None,
        *,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Array: ...
    def prod(
        self,
        axis: Axes = None,
        *,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Array: ...
    def mean(
        self, axis: Axes = None, *, dtype: Any = None, out: None = None, keepdims: bool = False, where: Any = True
    ) -> Array: ...
    def var(
        self,
        axis: Axes = None,
        *,
        dtype: Any = None,
        out: None = None,
        ddof: float = 0.0,
        keepdims: bool = False,
        where: Any = True,
        mean: Any = None,
        correction: float | None = None,
    ) -> Array: ...
    def std(
        self,
        axis: Axes = None,
        *,
        dtype: Any = None,
        out: None = None,
        ddof: float = 0.0,
        keepdims: bool = False,
        where: Any = True,
        mean: Any = None,
        correction: float | None = None,
    ) -> Array: ...
    def max(
        self, axis: Axes = None, *, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Array: ...
    def min(
        self, axis: Axes = None, *, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Array: ...
    def all(self, axis: Axes = None, *, out: None = None, keepdims: bool = False, where: Any = True) -> Array: ...
    def any(self, axis: Axes = None, *, out: None = None, keepdims: bool = False, where: Any = True) -> Array: ...
    def argmax(self, axis: int | None = None, *, out: None = None, keepdims: bool = False) -> Array: ...
    def argmin(self, axis: int | None = None, *, out: None = None, keepdims: bool = False) -> Array: ...

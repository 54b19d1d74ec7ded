"""The discrete Fourier transforms. Generated from csrc/ops/generate/transform_functions.toml."""

from collections.abc import Sequence
from typing import SupportsIndex

from ferrule.array.array import Array
from ferrule.fft.transforms import Norm

__all__ = [
    "fft",
    "fftn",
    "hfft",
    "ifft",
    "ifftn",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftn",
]

def fft(x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward") -> Array: ...
def ifft(
    x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward"
) -> Array: ...
def fftn(
    x: Array,
    /,
    *,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array: ...
def ifftn(
    x: Array,
    /,
    *,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array: ...
def rfft(
    x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward"
) -> Array: ...
def irfft(
    x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward"
) -> Array: ...
def rfftn(
    x: Array,
    /,
    *,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array: ...
def irfftn(
    x: Array,
    /,
    *,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: Norm = "backward",
) -> Array: ...
def hfft(
    x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward"
) -> Array: ...
def ihfft(
    x: Array, /, *, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: Norm = "backward"
) -> Array: ...

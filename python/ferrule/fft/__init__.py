"""Discrete Fourier transforms.

The names and signatures are those of the Python array API standard. Integers are converted to the default dtype.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from ferrule import _ferrule
from ferrule.fft.complex import fft, fftn, ifft, ifftn
from ferrule.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from ferrule.fft.real import hfft, ihfft, irfft, irfftn, rfft, rfftn
from ferrule.text import other_names

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

for _name in __all__:
    globals()[_name] = _ferrule.public(globals()[_name], __name__)


if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Never:
        raise other_names.missing_name("fft", name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)  # without the modules that the imports set here

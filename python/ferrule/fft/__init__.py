"""Discrete Fourier transforms.

The names and signatures are those of the Python array API standard. Integers are converted to the default dtype.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from ferrule import _ferrule
from ferrule.fft import frequencies, transform_functions
from ferrule.fft.frequencies import *
from ferrule.fft.transform_functions import *
from ferrule.text import other_names

__all__: list[str] = []
__all__ += frequencies.__all__
__all__ += transform_functions.__all__

for _name in __all__:
    globals()[_name] = _ferrule.public(globals()[_name], __name__)


if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Never:
        raise other_names.missing_name("fft", name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)  # without the modules that the imports set here

"""Reading arrays from files, and writing them."""

from __future__ import annotations

from ferrule import _ferrule
from ferrule.io import gguf, gguf_writing, safetensors, safetensors_writing
from ferrule.io.gguf import *
from ferrule.io.gguf_writing import *
from ferrule.io.safetensors import *
from ferrule.io.safetensors_writing import *

__all__: list[str] = []
__all__ += gguf.__all__
__all__ += gguf_writing.__all__
__all__ += safetensors.__all__
__all__ += safetensors_writing.__all__

for _name in __all__:
    globals()[_name] = _ferrule.public(globals()[_name], __name__)


def __dir__() -> list[str]:
    return sorted(__all__)  # without the modules that the imports set here

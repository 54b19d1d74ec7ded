"""Reading arrays from files, and writing them."""

from __future__ import annotations

from ferrule.io.gguf import Gguf, open_gguf
from ferrule.io.gguf_writing import save_gguf
from ferrule.io.safetensors import SafeTensors, open_safetensors
from ferrule.io.safetensors_writing import save_safetensors

__all__ = ["Gguf", "SafeTensors", "open_gguf", "open_safetensors", "save_gguf", "save_safetensors"]


def __dir__() -> list[str]:
    return sorted(__all__)  # without the modules that the imports set here

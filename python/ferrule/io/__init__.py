"""Reading arrays from files."""

from __future__ import annotations

from ferrule.io.safetensors import SafeTensors, open_safetensors

__all__ = ["SafeTensors", "open_safetensors"]


def __dir__() -> list[str]:
    return sorted(__all__)  # without the modules that the imports set here

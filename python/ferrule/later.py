"""Modules of ferrule that are imported when one of their names is first used, so that `import ferrule` stays cheap."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class later:  # noqa: N801, used like a function
    """Stands for a module that is not imported yet.

    The only way in which a module of ferrule imports another one late, next to the public names of the package itself:

    >>> if TYPE_CHECKING:
    ...     from ferrule.io import dlpack
    ... else:
    ...     dlpack = later("ferrule.io.dlpack")

    A type checker sees the module. tests/python/package/test_import_arrows.py counts it as an import.
    """

    def __init__(self, module: str) -> None:
        self.__name__ = module

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        self.__dict__ = module.__dict__  # from now on this object has the attributes of the module itself
        return getattr(module, name)

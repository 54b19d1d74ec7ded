"""Late imports of modules of ferrule, which keep `import ferrule` fast."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class later:  # noqa: N801, used like a function
    """A module that is imported when one of its attributes is first used.

    Modules of ferrule import other modules late in this way only (the public names of the package are the exception):

    >>> from typing import TYPE_CHECKING
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
        self.__dict__ = module.__dict__  # from here on attribute lookup finds the module's attributes directly
        return getattr(module, name)

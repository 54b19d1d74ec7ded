"""The operations of steps: one module for each family, with a list OPERATIONS."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from ferrule.testing.programs.model.operation import Operation


@cache
def operations() -> dict[str, Operation]:
    """All operations by name: the lists OPERATIONS of the modules in this folder."""
    found: dict[str, Operation] = {}
    for module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        for one in importlib.import_module(f"{__name__}.{module}").OPERATIONS:
            assert one.name not in found, one.name
            found[one.name] = one
    return found

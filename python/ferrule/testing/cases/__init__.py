"""The cases. Each file has a list CASES, and is named after the family of its ops."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from ferrule.op_rows import OP_ROWS
from ferrule.testing.model.case import Case


@cache
def all_cases() -> dict[str, Case]:
    """The cases by name, in the order of the op rows, for the ops of this version of ferrule."""
    found: dict[str, Case] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        for case in importlib.import_module(f"{__name__}.{module}").CASES:
            if case.op in OP_ROWS:
                assert case.name not in found, case.name
                found[case.name] = case
    order = list(OP_ROWS)
    return dict(sorted(found.items(), key=lambda item: order.index(item[1].op)))
